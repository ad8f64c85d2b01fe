#include "pax/interop/huggingface/import.h"

#include <fmt/format.h>

#include <algorithm>

#include "pax/base/error.h"
#include "pax/base/files.h"
#include "pax/checkpoint/write.h"
#include "pax/config/yaml.h"
#include "pax/data/hf_tokenizer.h"
#include "pax/data/sentencepiece_tokenizer.h"
#include "pax/data/text_input.h"
#include "pax/layers/transformers/stacked_transformer.h"
#include "pax/optim/adam.h"
#include "pax/optim/schedules.h"
#include "pax/task/decoding/decoder.h"
#include "pax/trainer/experiment.h"
#include "pax/trainer/hooks/checkpoint_hook.h"

namespace pax::hf {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kKept[] = {"config.json",
                                      "generation_config.json",
                                      "tokenizer.json",
                                      "tokenizer.model",
                                      "tokenizer_config.json",
                                      "special_tokens_map.json",
                                      "vocab.json",
                                      "merges.txt",
                                      "vocab.txt",
                                      "added_tokens.json",
                                      "spiece.model",
                                      "preprocessor_config.json",
                                      "chat_template.jinja"};

/// The folder's tokenizer, or bytes where there is none that we read.
Tpl<data::Tokenizer> tokenizer_of(const fs::path& folder) {
  for (const char* name : {"tokenizer.json", "tokenizer.model", "spiece.model", "vocab.json"}) {
    if (!fs::exists(folder / name)) continue;
    if (std::string_view(name).ends_with(".model")) {
      data::SentencePieceTokenizer::Config tokenizer;
      tokenizer.path = (folder / name).string();
      return tokenizer;
    }
    data::HfTokenizer::Config tokenizer;
    tokenizer.path = (folder / name).string();
    return tokenizer;
  }
  return data::BytesTokenizer::Config{};
}

/// Switches low-rank additions on in every attention of a stack.
void set_lora(config::AnyTpl stack, int64_t rank) {
  if (stack.has_field("block")) return set_lora(stack.get<Tpl<TransformerStack>>("block"), rank);
  const auto layers = stack.get<LayerTemplates>("transformer_layer_params_tpl");
  std::vector<Tpl<TransformerLayer>> all;
  if (const auto* one = std::get_if<0>(&layers)) {
    all = {*one};
  } else {
    all = std::get<1>(layers);
  }
  for (const Tpl<TransformerLayer>& layer : all) {
    Tpl<Attention> attention = layer.get<Tpl<Attention>>("tr_atten_tpl");
    if (!attention.try_set("lora_rank", rank)) {
      fail<ConfigError>("--lora: {} takes no low-rank additions", attention.class_name());
    }
  }
}

config::Value rules_of(const ImportRequest& request) {
  config::Value rules = config::Value::map();
  config::Value all = config::Value::list();
  config::Value pair = config::Value::list();
  pair.items = {config::Value::of("(.*)"), config::Value::of("{}")};
  all.items = {pair};
  rules.add("load_rules", all);
  if (request.lora_rank > 0) {
    config::Value ignored = config::Value::list();
    ignored.items = {config::Value::of(".*/lora_[ab]$")};
    rules.add("ignore_rules", ignored);
  }
  config::Value by_checkpoint = config::Value::map();
  by_checkpoint.add(fs::absolute(request.out).lexically_normal().string(), rules);
  return by_checkpoint;
}

/// Rows of up to 512 ids, fewer where the model has seen no longer ones.
int64_t row_length(const HfConfig& config) {
  return std::min<int64_t>(512, config.size("max_position_embeddings", config.size("n_positions", 512)));
}

ExperimentConfig experiment_of(const ImportRequest& request, const HfConfig& config, const Tpl<BaseModel>& model) {
  ExperimentConfig out;
  out.task.name = "hf_" + config.model_type();
  out.task.model = model.clone();
  data::TextInput::Config input;
  input.name = "text";
  input.path = request.data;
  input.batch_size = 8;
  input.seq_len = row_length(config);
  input.tokenizer = tokenizer_of(fs::absolute(request.out / "hf"));
  if (model.has_field("lm_tpl")) out.input = input;  // others need pairs of texts, or images
  if (out.task.model.has_field("decoder_tpl")) {
    out.task.model.set("decoder_tpl.seqlen", *input.seq_len);
    const std::vector<int64_t> eos = config.ids("eos_token_id");
    if (eos.size() == 1) out.task.model.set("decoder_tpl.eos_id", OneOrMore(eos[0]));
    if (eos.size() > 1) out.task.model.set("decoder_tpl.eos_id", OneOrMore(eos));
  }
  if (request.lora_rank > 0)
    set_lora(out.task.model.get<Tpl<TransformerStack>>("lm_tpl.stacked_transformer_tpl"), request.lora_rank);
  TrainConfig& train = out.task.train;
  Adam::Config adam;
  adam.learning_rate = request.lora_rank > 0 ? 1e-3 : 2e-5;
  adam.clip_gradient_norm_to_value = 1.0;
  adam.lr_schedule = ConstantSchedule::Config{};
  train.learner.set("optimizer", adam);
  train.learner.set("loss_name", "total_loss");
  if (request.lora_rank > 0) {
    train.learner.set("bprop_variable_inclusion", std::vector<std::string>{".*/lora_[ab]$"});
  }
  train.num_train_steps = 1000;
  train.save_interval_steps = 500;
  train.summary_interval_steps = 10;
  train.init_from_checkpoint_rules = rules_of(request);
  return out;
}

void keep_files(const ImportRequest& request, const WeightFiles& files, const std::vector<std::string>& unused) {
  const fs::path kept = request.out / "hf";
  fs::create_directories(kept);
  for (const std::string_view name : kKept) {
    if (fs::exists(request.folder / name)) write_file_atomically(kept / name, read_file(request.folder / name));
  }
  HostTree extra;
  for (const std::string& name : unused) extra.emplace(name, files.read(name));
  if (!extra.empty()) write_safetensors(kept / "extra.safetensors", extra);
}

}  // namespace

ImportSummary import_folder(const ImportRequest& request) {
  const fs::path config_path = request.folder / "config.json";
  if (!fs::exists(config_path)) {
    fail<ConfigError>("{}: is no Hugging Face folder: it has no config.json", request.folder.string());
  }
  const HfConfig config(read_file(config_path), config_path.string());
  const WeightFiles files(request.folder);
  ImportedModel model = import_model(config, files);
  fs::create_directories(request.out / "checkpoints");
  keep_files(request, files, model.unused);

  ImportSummary summary{.model_type = config.model_type(),
                        .num_params = 0,
                        .experiment = request.out / "experiment.yaml",
                        .unused = model.unused};
  for (const auto& [name, value] : model.variables) summary.num_params += value.shape().num_elements();
  const ExperimentConfig experiment = experiment_of(request, config, model.model);
  write_file_atomically(summary.experiment, config::print(experiment, {.only_changed = true, .comments = false}));
  Checkpoint checkpoint;
  checkpoint.state = to_checkpoint_names(std::move(model.variables));
  checkpoint.state["step"] = HostArray::scalar<int32_t>(0);
  Disk disk;
  write_checkpoint(disk, request.out / "checkpoints", checkpoint);
  return summary;
}

}  // namespace pax::hf
