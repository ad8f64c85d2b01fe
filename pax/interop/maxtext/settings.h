#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pax/config/errors.h"
#include "pax/config/value.h"

namespace pax::maxtext {

/// What becomes of a key: mapped exactly, mapped with other mechanics, refused when it is changed, ignored.
enum class Treatment : char { kMap = 'a', kApproximate = 'b', kRefuse = 'c', kIgnore = 'd' };

/// A key of MaxText's base.yml.
struct Key {
  std::string name;
  std::string default_text;
  Treatment treatment = Treatment::kMap;
  std::string note;
};

/// Every key that MaxText knows, by name.
const std::map<std::string, Key, std::less<>>& keys();

/// One preset: column and cell.
using ModelRow = std::map<std::string, std::string, std::less<>>;
/// MaxText's model presets by name.
const std::map<std::string, ModelRow, std::less<>>& models();

/// Devices of a slice of the topology ("v5p-128"); nothing when MaxText has no such topology.
std::optional<int64_t> topology_devices(std::string_view name);

/// The rows of a table of tab-separated cells, the heading included.
std::vector<std::vector<std::string>> read_table(std::string_view text);

/// A resolved MaxText config: defaults, files with their parents, the model preset, arguments.
class Settings {
 public:
  /// Unknown keys, doubled settings and unknown models go into `errors`.
  Settings(std::span<const std::filesystem::path> files, std::span<const std::string> arguments,
           config::Errors& errors);

  const config::Value& value(std::string_view key) const;
  int64_t integer(std::string_view key) const;
  double number(std::string_view key) const;
  bool flag(std::string_view key) const;
  /// "" for null.
  std::string text(std::string_view key) const;
  std::vector<std::string> list(std::string_view key) const;
  /// Whether the value differs from base.yml's.
  bool is_changed(std::string_view key) const;

 private:
  void read_file(const std::filesystem::path& file, int depth, config::Errors& errors);
  void set(const std::string& key, config::Value value, std::string_view from, config::Errors& errors);
  void apply_model(const std::string& name, config::Errors& errors);

  std::map<std::string, config::Value, std::less<>> values_;
  std::set<std::string, std::less<>> from_model_;
};

}  // namespace pax::maxtext
