#pragma once

#include <string>
#include <string_view>

#include "pax/config/registry.h"
#include "pax/config/value.h"
#include "pax/task/single_task.h"

namespace pax {

/// Reads the JSON that Fiddle writes (fiddle.experimental.serialization.dump_json) into plain values: buildables become
/// mappings with `__class__`, shared ones get an anchor, references to enumerators and dtypes become their names.
/// Throws ConfigError with `source` and the place: bad JSON, unknown kinds of nodes, loops, texts beyond `max_values`
/// values.
config::Value read_fiddle(std::string_view json, std::string_view source, size_t max_values = 200'000);

/// The task in a dump of `SomeExperiment().task()`. Throws one ConfigError with every class and member that is not
/// known here, each with its path.
SingleTask task_from_fiddle(std::string_view json, std::string_view source, const config::Registry& registry);

/// The task as JSON that fiddle.experimental.serialization.load_json reads where Paxml and Praxis are installed.
std::string task_to_fiddle(const SingleTask& task);

}  // namespace pax
