#pragma once

#include <map>
#include <string>
#include <string_view>

#include "pax/array/tree.h"

namespace pax {

/// Orbax's `_METADATA` of a PyTree item: the path of every array as keys of dictionaries, held in zarr v2 folders.
std::string orbax_tree_metadata(const Tree<TensorType>& types);

/// Orbax's `_CHECKPOINT_METADATA` of a PyTree item, and of the checkpoint that holds it as `state` beside the JSON item
/// `metadata`; committed at `time` (seconds since 1970).
std::string orbax_item_metadata(double time);
std::string orbax_checkpoint_metadata(double time);

/// Paxml's metadata/metadata, version 1.1: unpadded shape and element type of each of `mdl_vars`.
std::string paxml_metadata(const Tree<TensorType>& types);

/// Tree path ("a/0/b") of each stored array, by its name in the store ("a.0.b"), from `_METADATA`. Throws RuntimeError,
/// beginning with `where`, when the text is damaged or names leave the checkpoint.
std::map<std::string, std::string> parse_orbax_tree_metadata(std::string_view where, std::string_view json);

}  // namespace pax
