#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/invocation.h"
#include "pax/base/text.h"
#include "pax/interop/huggingface/import.h"

namespace pax::cli {
namespace {

int import_command(const hf::ImportRequest& request, bool json) {
  const hf::ImportSummary done = hf::import_folder(request);
  fmt::print("{}: {} parameters of {} in {}\n", done.model_type, with_commas(done.num_params), request.folder.string(),
             request.out.string());
  if (!done.unused.empty()) {
    fmt::print("{} tensors are not part of the model and are kept for export: {}\n", done.unused.size(),
               join(done.unused, ", "));
  }
  fmt::print("fine-tune with: paxml train --config {} --job_log_dir NEW_DIR --set input.path=FILE\n",
             done.experiment.string());
  if (json) {
    const nlohmann::json out{{"model_type", done.model_type},
                             {"num_params", done.num_params},
                             {"experiment", done.experiment.string()},
                             {"unused", done.unused}};
    fmt::print("{}\n", out.dump());
  }
  return kDone;
}

int export_command(const hf::ExportRequest& request, bool json) {
  const hf::ExportSummary done = hf::export_folder(request);
  fmt::print("step {}: {} tensors in {}{}\n", done.step, done.tensors, request.out.string(),
             done.merged_lora ? ", low-rank additions merged" : "");
  if (json) {
    const nlohmann::json out{{"step", done.step}, {"tensors", done.tensors}, {"merged_lora", done.merged_lora}};
    fmt::print("{}\n", out.dump());
  }
  return kDone;
}

}  // namespace

void add_huggingface_commands(CLI::App& app, Invocation& invocation) {
  const auto import = std::make_shared<hf::ImportRequest>();
  CLI::App* from = app.add_subcommand("import", "Make a run from another program's model")->require_subcommand(1);
  CLI::App* import_hf = from->add_subcommand("hf", "From a Hugging Face folder");
  import_hf->add_option("folder", import->folder, "config.json and safetensors files")->required();
  import_hf->add_option("--out", import->out, "The run's directory")->required();
  import_hf->add_option("--data", import->data, "Text file to fine-tune on, for the experiment");
  import_hf->add_option("--lora", import->lora_rank, "Train low-rank additions of this rank only");
  import_hf->add_flag("--json", invocation.common.json, "As JSON");
  import_hf->callback([import, &invocation] {
    invocation.command = [import, &invocation] { return import_command(*import, invocation.common.json); };
  });

  const auto out = std::make_shared<hf::ExportRequest>();
  CLI::App* to = export_verb(app);
  CLI::App* export_hf = to->add_subcommand("hf", "As a Hugging Face folder");
  export_hf->add_option("run", out->run, "A run's directory, or a checkpoint")->required();
  export_hf->add_option("--out", out->out, "The new folder")->required();
  export_hf->add_option("--like", out->like, "Folder with the config.json; unset: what the run was imported from");
  export_hf->add_option("--step", out->step, "Of this step instead of the newest");
  export_hf->add_option("--max-file-bytes", out->max_file_bytes, "Larger models are written as several files");
  export_hf->add_flag("--json", invocation.common.json, "As JSON");
  export_hf->callback([out, &invocation] {
    invocation.command = [out, &invocation] { return export_command(*out, invocation.common.json); };
  });
}

}  // namespace pax::cli
