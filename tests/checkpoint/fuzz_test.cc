// Damaged files of every format end in a RuntimeError or in arrays, never in a crash, a hang or a huge allocation.

#include <gtest/gtest.h>

#include <random>

#include "pax/checkpoint/checksums.h"
#include "pax/checkpoint/ocdbt_format.h"
#include "pax/checkpoint/orbax_metadata.h"
#include "pax/checkpoint/reader.h"
#include "tests/checkpoint/testing.h"

namespace pax {
namespace {

namespace fs = std::filesystem;

using testing::error_of;
using testing::overwrite;

/// `text` with a few changes: bits flipped, pieces cut, doubled, or filled.
std::string mutated(std::string text, std::mt19937& random) {
  const auto pick = [&](size_t below) { return below == 0 ? 0 : random() % below; };
  for (size_t changes = 1 + pick(4); changes-- > 0 && !text.empty();) {
    const size_t at = pick(text.size());
    switch (pick(6)) {
      case 0:
        text[at] = static_cast<char>(text[at] ^ (1 << pick(8)));
        break;
      case 1:
        text[at] = static_cast<char>(pick(256));
        break;
      case 2:
        text.resize(at);
        break;
      case 3:
        text.insert(at, text.substr(pick(text.size()), pick(16)));
        break;
      case 4:
        text.replace(at, 1, "\xff\xff\xff\xff\xff\xff\xff\xff\x7f");
        break;
      default:
        text.replace(at, 1, "99999999999");
    }
  }
  return text;
}

class FuzzOrbaxState : public ::testing::TestWithParam<const char*> {};

TEST_P(FuzzOrbaxState, DamagedFilesEndInAnErrorOrInArrays) {
  const TempDirectory folder;
  const fs::path state = folder.path() / "state";
  fs::copy(fs::path(PAX_SOURCE_DIR) / "tests/checkpoint/orbax" / GetParam(), state, fs::copy_options::recursive);
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(state)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::mt19937 random(1);
  for (int round = 0; round < 400; ++round) {
    const fs::path& file = files[random() % files.size()];
    const std::string good = read_file(file);
    overwrite(file, mutated(good, random));
    error_of([&] { CheckpointReader(folder.path()).read_all(); });
    overwrite(file, good);
  }
  EXPECT_EQ(error_of([&] { CheckpointReader(folder.path()).read_all(); }), "");
}

INSTANTIATE_TEST_SUITE_P(Forms, FuzzOrbaxState,
                         ::testing::Values("zarr2_files", "zarr2_ocdbt", "zarr3_files", "zarr3_ocdbt"),
                         [](const auto& info) { return std::string(info.param); });

/// Checksums keep most changes from the parsers of OCDBT: here they get them without.
TEST(FuzzOcdbt, BodiesOfNodesAndManifestsEndInAnErrorOrInEntries) {
  const fs::path root = fs::path(PAX_SOURCE_DIR) / "tests/checkpoint/orbax/zarr2_ocdbt";
  const std::string manifest =
      ocdbt::open_envelope("manifest", ocdbt::kManifestMagic, read_file(root / "manifest.ocdbt"));
  const ocdbt::NodePlace place = ocdbt::parse_manifest("manifest", manifest).root.at(0);
  const std::string file = read_file(root / place.file.path);
  const std::string node = ocdbt::open_envelope("node", ocdbt::kNodeMagic, file.substr(place.offset, place.length));
  std::mt19937 random(2);
  for (int round = 0; round < 50000; ++round) {
    ocdbt::NodePlace at = place;
    at.height = static_cast<uint8_t>(round % 2);
    std::string body = mutated(node, random);
    if (!body.empty()) body[0] = static_cast<char>(at.height);
    error_of([&] { ocdbt::parse_node("node", body, at); });
    error_of([&] { ocdbt::parse_manifest("manifest", mutated(manifest, random)); });
  }
}

TEST(FuzzJson, MetadataEndsInAnErrorOrInValues) {
  const fs::path root = fs::path(PAX_SOURCE_DIR) / "tests/checkpoint/orbax";
  const std::string tree = read_file(root / "zarr2_files/_METADATA");
  const std::string zarr2 = read_file(root / "zarr2_files/mdl_vars.params.lm.x_layers_0.w/.zarray");
  const std::string zarr3 = read_file(root / "zarr3_files/mdl_vars.params.lm.x_layers_0.w/zarr.json");
  const std::string checksums = to_json(Checksums{.step = 3, .commit_time = 1.5, .files = {{"a", {3, {1}}}}});
  std::mt19937 random(3);
  for (int round = 0; round < 5000; ++round) {
    error_of([&] { parse_orbax_tree_metadata("tree", mutated(tree, random)); });
    error_of([&] { parse_zarr2("zarr", mutated(zarr2, random)); });
    error_of([&] { parse_zarr3("zarr", mutated(zarr3, random)); });
    error_of([&] { parse_checksums("sums", mutated(checksums, random)); });
  }
}

}  // namespace
}  // namespace pax
