#include "pax/checkpoint/reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pax/checkpoint/layout.h"
#include "pax/checkpoint/write.h"
#include "tests/checkpoint/testing.h"

namespace pax {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::ElementsAre;
using testing::error_of;
using ::testing::HasSubstr;
using testing::overwrite;
using testing::sample;

namespace fs = std::filesystem;

/// States that the real Orbax wrote (write_with_orbax.py).
class OrbaxState : public ::testing::TestWithParam<const char*> {
 protected:
  const fs::path path_ = fs::path(PAX_SOURCE_DIR) / "tests/checkpoint/orbax" / GetParam();
};

TEST_P(OrbaxState, ReadsBackInFull) {
  const CheckpointReader reader(path_);
  EXPECT_EQ(reader.step(), 17);
  const HostTree state = reader.read_all();
  ASSERT_EQ(state.size(), 8u);
  EXPECT_EQ(to_string(state.at("mdl_vars/params/lm/scale").type()), "bf16[4]");
  EXPECT_THAT(state.at("mdl_vars/params/lm/scale").to_doubles(), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(state.at("extra_state/mask").values<bool>(), ElementsAre(true, false, true));
  EXPECT_EQ(state.at("opt_states_0/0/count").values<int64_t>()[0], 17);
  EXPECT_EQ(state.at("opt_states_0/0/m").to_doubles(), std::vector<double>(12, 0.5));
  for (int layer = 0; layer < 3; ++layer) {
    const HostArray& w = state.at("mdl_vars/params/lm/x_layers_" + std::to_string(layer) + "/w");
    ASSERT_EQ(to_string(w.type()), "f32[4,6]");
    for (size_t i = 0; i < 24; ++i) EXPECT_EQ(w.values<float>()[i], static_cast<float>(i) + static_cast<float>(layer));
  }
}

TEST_P(OrbaxState, ReadsABoxAcrossChunks) {
  const HostArray part = CheckpointReader(path_).read("mdl_vars/params/lm/x_layers_0/w", {{1, 2}, {2, 3}});
  EXPECT_EQ(to_string(part.type()), "f32[2,3]");
  EXPECT_THAT(part.values<float>(), ElementsAre(8, 9, 10, 14, 15, 16));
}

INSTANTIATE_TEST_SUITE_P(Forms, OrbaxState,
                         ::testing::Values("zarr2_files", "zarr2_ocdbt", "zarr3_files", "zarr3_ocdbt"),
                         [](const auto& info) { return std::string(info.param); });

class Reader : public ::testing::Test {
 protected:
  void SetUp() override {
    testing::QuickDisk disk;
    write_checkpoint(disk, folder_.path(), sample(7));
  }
  std::string open_error() {
    return error_of([&] { CheckpointReader(path_).read_all(); });
  }

  TempDirectory folder_;
  fs::path path_ = folder_.path() / checkpoint_name(7);
};

TEST_F(Reader, ReadsOnlyTheBoxWanted) {
  const CheckpointReader reader(path_);
  EXPECT_THAT(reader.read("mdl_vars/params/lm/w", {{0, 1}, {2, 2}}).values<float>(), ElementsAre(8, 9, 11, 12));
  EXPECT_THAT(reader.read("mdl_vars/params/lm/w", {{1, 0}, {1, 3}}).values<float>(), ElementsAre(10, 11, 12));
  EXPECT_EQ(reader.read("mdl_vars/params/lm/w", {{1, 0}, {0, 3}}).size_bytes(), 0u);
  EXPECT_THAT(error_of([&] {
                reader.read("mdl_vars/params/lm/w", {{1, 0}, {2, 3}});
              }),
              HasSubstr("[2,3] at [1,0] does not lie inside f32[2,3]"));
}

TEST_F(Reader, SuggestsTheNameThatWasMeant) {
  EXPECT_THAT(error_of([&] { CheckpointReader(path_).read("mdl_vars/params/lm/scales"); }),
              HasSubstr("Did you mean \"mdl_vars/params/lm/scale\"?"));
}

TEST_F(Reader, ListsWithoutReadingArrays) {
  fs::remove(path_ / "state/mdl_vars.params.lm.w/0.0");
  EXPECT_EQ(CheckpointReader(path_).types().size(), 4u);
  EXPECT_THAT(open_error(), HasSubstr("state/mdl_vars.params.lm.w/0.0: missing"));
}

TEST_F(Reader, FindsEveryCutAndEveryFlippedBit) {
  for (const auto& entry : fs::recursive_directory_iterator(path_)) {
    if (!entry.is_regular_file() || entry.path().filename() == "_CHECKPOINT_METADATA") continue;
    if (entry.path().parent_path().filename() == "metadata") continue;  // only Paxml reads it
    const std::string good = read_file(entry.path());
    const std::string name = entry.path().filename().string();
    for (size_t bit = 0; bit<8 * good.size(); bit += good.size()> 100 ? 61 : 1) {
      std::string bad = good;
      bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << bit % 8));
      overwrite(entry.path(), bad);
      EXPECT_NE(error_of([&] {
                  CheckpointReader reader(path_);
                  reader.read_all();
                  reader.items();
                }),
                "")
          << name << " bit " << bit;
    }
    overwrite(entry.path(), std::string_view(good).substr(0, good.size() / 2));
    EXPECT_NE(error_of([&] {
                CheckpointReader reader(path_);
                reader.read_all();
                reader.items();
              }),
              "")
        << name << " cut";
    overwrite(entry.path(), good);
  }
  EXPECT_EQ(open_error(), "");
}

TEST_F(Reader, PassesOverForeignFiles) {
  overwrite(path_ / "notes.txt", "x");
  overwrite(path_ / "state/model.pkl", "x");
  fs::create_directories(path_ / "state/other.array");
  EXPECT_EQ(open_error(), "");
  EXPECT_EQ(CheckpointReader(path_).types().size(), 4u);
}

TEST(ReaderErrors, SayWhatIsNoCheckpoint) {
  const TempDirectory folder;
  EXPECT_THAT(error_of([&] { CheckpointReader(folder.path()); }), HasSubstr("is not a checkpoint"));
  EXPECT_THAT(error_of([&] { CheckpointReader(folder.path() / "none"); }), HasSubstr("no such folder"));
  overwrite(folder.path() / "pytorch_model.bin", "\x80\x02");
  EXPECT_THAT(error_of([&] { CheckpointReader(folder.path()); }), HasSubstr("is not a checkpoint"));
  fs::create_directories(folder.path() / "checkpoint_00000001.orbax-checkpoint-tmp-7/state");
  EXPECT_THAT(error_of([&] { CheckpointReader(folder.path() / "checkpoint_00000001.orbax-checkpoint-tmp-7"); }),
              HasSubstr("never committed"));
}

/// A zarr v2 array named w with this metadata and this chunk.
std::string zarr2_error(std::string_view metadata, std::string_view chunk) {
  const TempDirectory folder;
  fs::create_directories(folder.path() / "w");
  overwrite(folder.path() / "w/.zarray", metadata);
  overwrite(folder.path() / "w/0", chunk);
  return error_of([&] { CheckpointReader(folder.path()).read_all(); });
}

std::string zarray(std::string_view shape, std::string_view chunks, std::string_view rest) {
  return fmt::format(R"({{"zarr_format":2,"shape":{},"chunks":{},"order":"C","filters":null,{}}})", shape, chunks,
                     rest);
}

constexpr std::string_view kFloat = R"("dtype":"<f4","compressor":null,"fill_value":null)";

TEST(Zarr, ReadsAPlainArray) { EXPECT_EQ(zarr2_error(zarray("[2]", "[2]", kFloat), "01234567"), ""); }

TEST(Zarr, RefusesWhatCannotBeRead) {
  EXPECT_THAT(zarr2_error(zarray("[2]", "[2]", kFloat), "0123456"),
              HasSubstr("w/0: 7 bytes, but [2] of float32 takes 8"));
  EXPECT_THAT(zarr2_error(zarray("[3]", "[2]", kFloat), "01234567"), HasSubstr("w/1: a chunk is missing"));
  EXPECT_THAT(zarr2_error(zarray("[2]", "[0]", kFloat), ""), HasSubstr("not a plausible shape"));
  EXPECT_THAT(zarr2_error(zarray("[-2]", "[2]", kFloat), ""), HasSubstr("not a plausible shape"));
  EXPECT_THAT(zarr2_error(zarray("[2,2]", "[2]", kFloat), ""), HasSubstr("chunks [2] for an array [2,2]"));
  EXPECT_THAT(zarr2_error(zarray("[1099511627776,1099511627776]", "[1,1]", kFloat), ""), HasSubstr("plausible"));
  EXPECT_THAT(zarr2_error(zarray("[2]", "[2]", R"("dtype":">f4","compressor":null,"fill_value":0)"), ""),
              HasSubstr("element type \">f4\" is not supported"));
  EXPECT_THAT(zarr2_error(zarray("[2]", "[2]", R"("dtype":"<f4","compressor":{"id":"blosc"},"fill_value":0)"), ""),
              HasSubstr("codec \"blosc\" is not supported"));
  EXPECT_THAT(zarr2_error("{", ""), HasSubstr("w/.zarray: damaged"));
  EXPECT_THAT(
      zarr2_error(zarray("[2]", "[2]", R"("dtype":"<f4","compressor":{"id":"zstd"},"fill_value":0)"), "xxxxxxxx"),
      HasSubstr("damaged zstd data"));
}

TEST(Zarr, FailsBeforeItAsksForMoreMemoryThanThereIs) {
  EXPECT_THAT(
      zarr2_error(zarray("[17592186044416]", "[17592186044416]", R"("dtype":"<f4","compressor":null,"fill_value":0)"),
                  ""),
      HasSubstr("do not fit into this machine's"));
}

}  // namespace
}  // namespace pax
