#pragma once

#include <filesystem>
#include <span>
#include <string>

namespace pax::data {

/// What a saved position belongs to.
struct DatasetIdentity {
  std::string name;         ///< for people: "corpus.txt (5,218,102 bytes)"
  std::string fingerprint;  ///< of names, sizes and contents
};

/// Of files by base name, size and content. Up to 64 MiB a file all bytes count; of larger files the head, the tail and
/// a thousand samples between.
DatasetIdentity identify_files(std::span<const std::filesystem::path> files);

}  // namespace pax::data
