#include "pax/data/dataset_identity.h"

#include "pax/base/error.h"
#include "pax/base/files.h"
#include "pax/base/hash.h"
#include "pax/base/text.h"

namespace pax::data {
namespace {

constexpr size_t kWholeFile = size_t{64} << 20;
constexpr size_t kEnd = size_t{1} << 20;
constexpr size_t kSample = 4096;
constexpr size_t kSamples = 1000;

void add_contents(Digest& digest, std::string_view bytes) {
  if (bytes.size() <= kWholeFile) {
    digest.update(bytes);
    return;
  }
  digest.update(bytes.substr(0, kEnd)).update(bytes.substr(bytes.size() - kEnd));
  for (size_t i = 1; i < kSamples; ++i) digest.update(bytes.substr(bytes.size() / kSamples * i, kSample));
}

}  // namespace

DatasetIdentity identify_files(std::span<const std::filesystem::path> files) {
  Digest digest;
  uint64_t total = 0;
  for (const std::filesystem::path& path : files) {
    const MappedFile file(path);
    const std::string name = path.filename().string();
    digest.update(fmt::format("{}:{}:{}\n", name.size(), name, file.text().size()));
    add_contents(digest, file.text());
    total += file.text().size();
  }
  std::string name = files.empty() ? "no files" : files.front().filename().string();
  if (files.size() > 1) name += fmt::format(" and {} more", files.size() - 1);
  return {fmt::format("{} ({} bytes)", name, with_commas(static_cast<int64_t>(total))), digest.hex()};
}

}  // namespace pax::data
