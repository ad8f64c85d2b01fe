#include "pax/interop/huggingface/weight_files.h"

#include <gmock/gmock.h>

#include <fstream>

#include "pax/base/error.h"
#include "pax/base/files.h"

namespace pax::hf {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class WeightFilesTest : public ::testing::Test {
 protected:
  void write(const std::string& name, const std::string& contents) {
    std::ofstream(folder_.path() / name, std::ios::binary) << contents;
  }
  void write_index(const std::string& weight_map) {
    write("model.safetensors.index.json", R"({"weight_map": )" + weight_map + "}");
  }
  std::string error() {
    try {
      const WeightFiles files(folder_.path());
    } catch (const RuntimeError& error) {
      return error.what();
    }
    return "";
  }

  const HostTree tensors_{{"a", HostArray::of<float>({1, 2}, {2})}, {"b", HostArray::of<float>({3}, {1})}};
  TempDirectory folder_;
};

TEST_F(WeightFilesTest, ShardsReadBackAsOneModel) {
  write_weight_files(folder_.path(), tensors_, 8);
  EXPECT_TRUE(std::filesystem::exists(folder_.path() / "model-00001-of-00002.safetensors"));
  const WeightFiles files(folder_.path());
  EXPECT_EQ(files.types().size(), 2u);
  EXPECT_EQ(files.read("b").to_doubles(), std::vector<double>{3});
}

TEST_F(WeightFilesTest, OneFileHasNoIndex) {
  write_weight_files(folder_.path(), tensors_, 1000);
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "model.safetensors.index.json"));
  EXPECT_EQ(WeightFiles(folder_.path()).read("a").to_doubles(), (std::vector<double>{1, 2}));
}

TEST_F(WeightFilesTest, AnIndexDoesNotLeadOutOfItsFolder) {
  for (const std::string file : {"../secret.safetensors", "/etc/x.safetensors", "a\\\\b.safetensors", ".safetensors",
                                 "model.bin", "sub/model.safetensors"}) {
    write_index(R"({"w": ")" + file + R"("})");
    EXPECT_THAT(error(), AllOf(HasSubstr("index.json"), HasSubstr("\"w\""), HasSubstr("not the name"))) << file;
  }
}

TEST_F(WeightFilesTest, AnIndexNamesFilesAndTensorsThatAreThere) {
  write_index(R"({"w": "gone.safetensors"})");
  EXPECT_THAT(error(), AllOf(HasSubstr("gone.safetensors"), HasSubstr("w"), HasSubstr("missing")));
  write_safetensors(folder_.path() / "gone.safetensors", tensors_);
  EXPECT_THAT(error(), AllOf(HasSubstr("gone.safetensors"), HasSubstr("\"w\""), HasSubstr("does not have it")));
}

TEST_F(WeightFilesTest, ATensorIsInOneFile) {
  write_safetensors(folder_.path() / "x.safetensors", tensors_);
  write_safetensors(folder_.path() / "y.safetensors", tensors_);
  write_index(R"({"a": "x.safetensors", "b": "y.safetensors"})");
  EXPECT_THAT(error(), AllOf(HasSubstr("x.safetensors"), HasSubstr("y.safetensors"), HasSubstr("\"a\"")));
}

TEST_F(WeightFilesTest, PicklesAreRefused) {
  write("pytorch_model.bin", "\x80\x02}q\x00.");
  EXPECT_THAT(error(), AllOf(HasSubstr("pytorch_model.bin"), HasSubstr("pickle")));
}

TEST_F(WeightFilesTest, AnEmptyFolderSaysWhatItLacks) { EXPECT_THAT(error(), HasSubstr("model.safetensors")); }

TEST_F(WeightFilesTest, ADamagedIndexIsNamed) {
  write("model.safetensors.index.json", R"({"weight_map": {"a": 3}})");
  EXPECT_THAT(error(), AllOf(HasSubstr("index.json"), HasSubstr("\"a\"")));
  write("model.safetensors.index.json", "{");
  EXPECT_THAT(error(), HasSubstr("index.json"));
}

}  // namespace
}  // namespace pax::hf
