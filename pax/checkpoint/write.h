#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "pax/array/tree.h"
#include "pax/checkpoint/disk.h"

namespace pax {

/// All that a checkpoint holds.
struct Checkpoint {
  int64_t step = 0;
  HostTree state;
  /// Small texts by relative path: input state, provenance.
  std::map<std::string, std::string> items;
  /// For writing: arrays to be held in pieces of this shape, such as the shards of a mesh, so that a host which needs
  /// one piece reads no other. Other arrays are one piece.
  Tree<Shape> pieces;
};

/// Writes `folder`/checkpoint_%08d in the form of layout.h, replacing one of the same step. It has the name only when
/// all of it is on the disk; after an error, or a crash at any moment, what was there before is still there. Throws
/// RuntimeError naming file and reason.
void write_checkpoint(Disk& disk, const std::filesystem::path& folder, const Checkpoint& checkpoint);

}  // namespace pax
