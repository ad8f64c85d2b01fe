#include "pax/checkpoint/orbax_metadata.h"

#include <nlohmann/json.hpp>

#include "pax/base/error.h"
#include "pax/base/text.h"
#include "pax/checkpoint/layout.h"

namespace pax {
namespace {

using Json = nlohmann::json;

constexpr int kDictKey = 2;  // orbax.checkpoint.metadata.tree.KeyType.DICT
constexpr double kPaxmlVersion = 1.1;
constexpr std::string_view kPyTreeHandler =
    "orbax.checkpoint._src.handlers.pytree_checkpoint_handler.PyTreeCheckpointHandler";
constexpr std::string_view kJsonHandler =
    "orbax.checkpoint._src.handlers.json_checkpoint_handler.JsonCheckpointHandler";

std::string handlers_metadata(const Json& handlers, double time) {
  const auto nanoseconds = static_cast<int64_t>(time * 1e9);
  return Json{{"item_handlers", handlers},
              {"metrics", Json::object()},
              {"performance_metrics", Json::object()},
              {"init_timestamp_nsecs", nanoseconds},
              {"commit_timestamp_nsecs", nanoseconds},
              {"custom_metadata", Json::object()}}
      .dump();
}

/// How Python prints the tuple of a path's parts: "('a', 'b')".
std::string python_tuple(const std::vector<std::string>& parts) {
  std::string text = "(";
  for (const std::string& part : parts) text += (text.size() > 1 ? ", '" : "'") + part + "'";
  return text + (parts.size() == 1 ? ",)" : ")");
}

}  // namespace

std::string orbax_tree_metadata(const Tree<TensorType>& types) {
  Json tree = Json::object();
  for (const auto& [path, type] : types) {
    const std::vector<std::string> parts = split(path, '/');
    Json keys = Json::array();
    for (const std::string& part : parts) keys.push_back({{"key", part}, {"key_type", kDictKey}});
    const std::vector<int64_t> dims(type.shape.begin(), type.shape.end());
    tree[python_tuple(parts)] = {
        {"key_metadata", keys},
        {"value_metadata", {{"value_type", "np.ndarray"}, {"skip_deserialize", false}, {"write_shape", dims}}}};
  }
  return Json{{"tree_metadata", tree},
              {"use_ocdbt", false},
              {"use_zarr3", false},
              {"store_array_data_equal_to_fill_value", true},
              {"custom_metadata", nullptr}}
      .dump();
}

std::string orbax_item_metadata(double time) { return handlers_metadata(kPyTreeHandler, time); }

std::string orbax_checkpoint_metadata(double time) {
  return handlers_metadata({{kStateItem, kPyTreeHandler}, {kMetadataItem, kJsonHandler}}, time);
}

std::string paxml_metadata(const Tree<TensorType>& types) {
  Json mdl_vars = Json::object();
  for (const auto& [path, type] : types) {
    const std::vector<std::string> parts = split(path, '/');
    if (parts[0] != "mdl_vars") continue;
    Json* node = &mdl_vars;
    for (size_t i = 1; i < parts.size(); ++i) node = &(*node)[parts[i]];
    *node = {{"_array_metadata_tag", true},
             {"is_optax_masked_node", false},
             {"unpadded_shape", std::vector<int64_t>(type.shape.begin(), type.shape.end())},
             {"dtype", dtype_name(type.dtype)}};
  }
  return Json{{"version", kPaxmlVersion}, {"train_state_metadata", {{"mdl_vars", mdl_vars}}}}.dump();
}

std::map<std::string, std::string> parse_orbax_tree_metadata(std::string_view where, std::string_view json) {
  try {
    const Json parsed = Json::parse(json);
    std::map<std::string, std::string> paths;
    for (const auto& [tuple, entry] : parsed.at("tree_metadata").items()) {
      const std::string kind = entry.at("value_metadata").at("value_type").get<std::string>();
      if (kind == "None" || kind == "Dict" || kind == "List" || kind == "string") continue;
      std::vector<std::string> parts;
      for (const Json& key : entry.at("key_metadata")) parts.push_back(key.at("key").get<std::string>());
      const std::string name = join(parts, ".");
      if (name.empty() || name.starts_with(".") || name.find('/') != std::string::npos ||
          name.find('\0') != std::string::npos) {
        fail<RuntimeError>("{}: {} is not the name of an array", where, json_quote(name));
      }
      paths.emplace(name, join(parts, "/"));
    }
    return paths;
  } catch (const Json::exception& error) {
    fail<RuntimeError>("{}: damaged: {}", where, error.what());
  }
}

}  // namespace pax
