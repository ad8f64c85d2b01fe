#include "pax/interop/huggingface/weight_files.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "pax/base/error.h"
#include "pax/base/files.h"
#include "pax/base/text.h"

namespace pax::hf {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr const char* kSingle = "model.safetensors";
constexpr const char* kIndex = "model.safetensors.index.json";
constexpr size_t kMaxIndexBytes = 200'000'000;

[[noreturn]] void refuse_folder(const fs::path& folder) {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const std::string ending = entry.path().extension().string();
    if (ending == ".bin" || ending == ".pt" || ending == ".pth" || ending == ".ckpt" || ending == ".pkl") {
      fail<RuntimeError>(
          "{}: is a pickle, which runs code when it is read; save the model with safe_serialization=True "
          "and import its safetensors files",
          entry.path().string());
    }
  }
  fail<RuntimeError>("{}: has neither {} nor {}", folder.string(), kSingle, kIndex);
}

Json parse_index(const fs::path& path) {
  std::error_code error;
  if (fs::file_size(path, error) > kMaxIndexBytes) {
    fail<RuntimeError>("{}: an index of {} bytes is too large", path.string(), fs::file_size(path));
  }
  const auto shallow = [&](int depth, Json::parse_event_t, Json&) {
    if (depth > 5) fail<RuntimeError>("{}: nested too deeply", path.string());
    return true;
  };
  try {
    Json json = Json::parse(read_file(path), shallow);
    if (!json.is_object() || !json.contains("weight_map") || !json["weight_map"].is_object()) {
      fail<RuntimeError>("{}: has no weight_map", path.string());
    }
    return json["weight_map"];
  } catch (const Json::exception& reason) {
    fail<RuntimeError>("{}: is not valid JSON: {}", path.string(), reason.what());
  }
}

/// Only plain names: an index must not lead out of its folder.
void require_plain_name(const fs::path& index, std::string_view tensor, const std::string& file) {
  const bool plain = file.find_first_of("/\\") == std::string::npos && file.find('\0') == std::string::npos &&
                     !file.starts_with('.') && file.ends_with(".safetensors");
  if (!plain) {
    fail<RuntimeError>("{}: tensor {} is said to be in {}, which is not the name of a safetensors file in this folder",
                       index.string(), json_quote(tensor), json_quote(file));
  }
}

}  // namespace

WeightFiles::WeightFiles(const fs::path& path) {
  if (!fs::is_directory(path)) {
    if (path.extension() != ".safetensors" && fs::exists(path)) {
      fail<RuntimeError>("{}: is not a safetensors file; pickles are not read", path.string());
    }
    open(path);
  } else if (fs::exists(path / kIndex)) {
    open_index(path / kIndex);
  } else if (fs::exists(path / kSingle)) {
    open(path / kSingle);
  } else {
    refuse_folder(path);
  }
}

void WeightFiles::open(const fs::path& file) {
  files_.push_back(std::make_unique<SafetensorsReader>(file));
  paths_.push_back(file);
  for (const auto& [name, type] : files_.back()->types()) {
    if (!places_.emplace(name, files_.size() - 1).second) {
      fail<RuntimeError>("{}: tensor {} is in {}, too", file.string(), json_quote(name),
                         paths_[places_.at(name)].string());
    }
    types_.emplace(name, type);
  }
}

void WeightFiles::open_index(const fs::path& index) {
  const Json map = parse_index(index);
  std::map<std::string, std::vector<std::string>> by_file;
  for (const auto& [tensor, file] : map.items()) {
    if (!file.is_string())
      fail<RuntimeError>("{}: the file of tensor {} is not a text", index.string(), json_quote(tensor));
    require_plain_name(index, tensor, file.get<std::string>());
    by_file[file.get<std::string>()].push_back(tensor);
  }
  for (const auto& [file, tensors] : by_file) {
    const fs::path path = index.parent_path() / file;
    if (!fs::exists(path)) {
      fail<RuntimeError>("{}: tensor {} is said to be in {}, which is missing", index.string(), json_quote(tensors[0]),
                         file);
    }
    open(path);
    for (const std::string& tensor : tensors) {
      if (!files_.back()->types().contains(tensor)) {
        fail<RuntimeError>("{}: tensor {} is said to be in {}, which does not have it", index.string(),
                           json_quote(tensor), file);
      }
    }
  }
}

HostArray WeightFiles::read(std::string_view name) const {
  const auto at = places_.find(name);
  if (at == places_.end()) fail<RuntimeError>("there is no tensor {}", json_quote(name));
  return files_[at->second]->read(name);
}

void write_weight_files(const fs::path& directory, const HostTree& tensors, size_t max_file_bytes) {
  const std::map<std::string, std::string> metadata{{"format", "pt"}};
  std::vector<HostTree> files(1);
  size_t total = 0, in_file = 0;
  for (const auto& [name, array] : tensors) {
    if (in_file > 0 && in_file + array.size_bytes() > max_file_bytes) {
      files.emplace_back();
      in_file = 0;
    }
    files.back().emplace(name, array);
    in_file += array.size_bytes();
    total += array.size_bytes();
  }
  if (files.size() == 1) {
    write_safetensors(directory / kSingle, files[0], metadata);
    return;
  }
  Json map = Json::object();
  for (size_t i = 0; i < files.size(); ++i) {
    const std::string file = fmt::format("model-{:05}-of-{:05}.safetensors", i + 1, files.size());
    write_safetensors(directory / file, files[i], metadata);
    for (const auto& [name, array] : files[i]) map[name] = file;
  }
  const Json index{{"metadata", {{"total_size", total}}}, {"weight_map", map}};
  write_file_atomically(directory / kIndex, index.dump(2) + "\n");
}

}  // namespace pax::hf
