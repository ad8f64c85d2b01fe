#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace pax {

// Names in a run's directory, as Paxml and Orbax use them:
//
//   checkpoints/checkpoint_00000100/
//     state/                       Orbax's PyTree item: one zarr folder an array, `mdl_vars.params.lm.w/{.zarray,0.0}`
//       _METADATA  _sharding  _CHECKPOINT_METADATA
//     metadata/metadata            Paxml's: version, unpadded shapes
//     train_input/process_0-of-1   and other small items
//     pax_checksums.json           size and CRC-32C of every file above
//     commit_success.txt           written last; names the checksum of the checksums
//
// A checkpoint is written under a name with kTemporaryInfix in it and renamed when all of it is on the disk.

inline constexpr std::string_view kStateItem = "state";
inline constexpr std::string_view kMetadataItem = "metadata";
inline constexpr std::string_view kChecksumsFile = "pax_checksums.json";
inline constexpr std::string_view kCommitMarker = "commit_success.txt";
inline constexpr std::string_view kTemporaryInfix = ".orbax-checkpoint-tmp-";

/// "checkpoint_00000100"
std::string checkpoint_name(int64_t step);

/// The step of a name that `checkpoint_name` could have made; nothing for any other name.
std::optional<int64_t> step_of_checkpoint_name(std::string_view name);

/// True for names of checkpoints that were being written or removed.
bool is_temporary_name(std::string_view name);

/// The folder of array `params/lm/w`: "params.lm.w". Throws RuntimeError for names that cannot be a folder or that
/// another name would share.
std::string array_folder_name(std::string_view array);

/// Throws RuntimeError unless `item` is a relative path of plain names that stays inside the checkpoint.
void require_item_name(std::string_view item);

}  // namespace pax
