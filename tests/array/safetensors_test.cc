#include "pax/array/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>

#include "pax/base/error.h"
#include "pax/base/files.h"

namespace pax {
namespace {

using ::testing::HasSubstr;

/// The message of the error that `call` throws, or "" when it throws none.
template <class F>
std::string error_of(F call) {
  try {
    call();
  } catch (const RuntimeError& error) {
    return error.what();
  }
  return "";
}

/// A safetensors file of that header and so many zero bytes of data.
std::string file_of(std::string_view header, size_t data_bytes) {
  std::string text(8, '\0');
  const uint64_t size = header.size();
  std::memcpy(text.data(), &size, 8);
  return text.append(header).append(data_bytes, '\0');
}

class Safetensors : public ::testing::Test {
 protected:
  std::string error_for(std::string_view contents) {
    std::ofstream(path_, std::ios::binary) << contents;
    return error_of([&] { read_safetensors(path_); });
  }

  TempDirectory folder_;
  std::filesystem::path path_ = folder_.path() / "x.safetensors";
};

TEST_F(Safetensors, ReadsBackWhatWasWritten) {
  HostTree tree;
  tree["a/odd"] = HostArray::of<uint8_t>({1, 2, 3}, {3});
  tree["b"] = HostArray::of<double>({1.5, -2}, {2, 1});
  tree["c"] = HostArray::scalar(BFloat16(3.0f));
  tree["empty"] = HostArray(TensorType{DType::kF32, {0, 7}});
  write_safetensors(path_, tree, {{"format", "pt"}});

  const SafetensorsReader reader(path_);
  EXPECT_EQ(reader.metadata().at("format"), "pt");
  const HostTree got = reader.read_all();
  ASSERT_EQ(got.size(), tree.size());
  for (const auto& [name, array] : tree) {
    EXPECT_EQ(got.at(name).type(), array.type()) << name;
    EXPECT_EQ(got.at(name).to_doubles(), array.to_doubles()) << name;
  }
}

TEST_F(Safetensors, CopiesTensorsThatTheFileLeftUnaligned) {
  std::string file = file_of(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                             R"("b":{"dtype":"F32","shape":[1],"data_offsets":[1,5]}})",
                             5);
  const float value = 2.5f;
  std::memcpy(file.data() + file.size() - 4, &value, 4);
  write_file_atomically(path_, file);
  EXPECT_EQ(read_safetensors(path_).at("b").item(), 2.5);
}

TEST_F(Safetensors, RefusesHeaderLengthsBeyondTheFile) {
  std::string file(16, '\0');
  file[7] = 0x10;  // 2^60
  EXPECT_THAT(error_for(file), HasSubstr("x.safetensors: header of 1152921504606846976 bytes"));
  file[7] = 0;
  file[0] = 9;
  EXPECT_THAT(error_for(file), HasSubstr("header of 9 bytes, but the file has only 16"));
  EXPECT_THAT(error_for(""), HasSubstr("0 bytes are too few"));
}

TEST_F(Safetensors, RefusesOverlapsGapsAndOffsetsOutsideTheFile) {
  constexpr std::string_view kPair = R"({{"a":{{"dtype":"U8","shape":[4],"data_offsets":[{},{}]}},)"
                                     R"("b":{{"dtype":"U8","shape":[4],"data_offsets":[{},{}]}}}})";
  const auto error = [&](int a, int b, int c, int d, size_t data) {
    return error_for(file_of(fmt::format(fmt::runtime(kPair), a, b, c, d), data));
  };
  EXPECT_EQ(error(0, 4, 4, 8, 8), "");
  EXPECT_THAT(error(0, 4, 2, 6, 8), HasSubstr("tensor \"b\" begins at byte 2 but the one before it ends at 4"));
  EXPECT_THAT(error(0, 4, 6, 10, 10), HasSubstr("begins at byte 6"));
  EXPECT_THAT(error(0, 4, 4, 8, 7), HasSubstr("tensor \"b\" ends at byte 8 but the file holds 7"));
  EXPECT_THAT(error(0, 4, 4, 8, 9), HasSubstr("tensors take 8 bytes but the file holds 9"));
  EXPECT_THAT(error(4, 0, 4, 8, 8), HasSubstr("data_offsets are 4 to 0"));
}

TEST_F(Safetensors, RefusesBadEntriesNamingTheTensor) {
  const auto error = [&](std::string_view entry) { return error_for(file_of(fmt::format(R"({{"w":{}}})", entry), 4)); };
  EXPECT_THAT(error(R"({"dtype":"C64","shape":[],"data_offsets":[0,4]})"), HasSubstr("tensor \"w\": element type"));
  EXPECT_THAT(error(R"({"dtype":"F32","shape":[-1],"data_offsets":[0,4]})"), HasSubstr("-1 is not a whole number"));
  EXPECT_THAT(error(R"({"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,4]})"), HasSubstr("too large"));
  EXPECT_THAT(error(R"({"dtype":"F32","shape":[2],"data_offsets":[0,4]})"), HasSubstr("f32[2] takes 8 bytes"));
  EXPECT_THAT(error(R"({"dtype":"F32"})"), HasSubstr("needs dtype, shape and data_offsets"));
  EXPECT_THAT(error("[]"), HasSubstr("needs dtype"));
}

TEST_F(Safetensors, RefusesHeadersThatAreNotAnObjectOfUniqueNames) {
  EXPECT_THAT(error_for(file_of("[1]", 0)), HasSubstr("not a JSON object"));
  EXPECT_THAT(error_for(file_of("{\"a\"", 0)), HasSubstr("not valid JSON"));
  EXPECT_THAT(error_for(file_of(std::string(100000, '['), 0)), HasSubstr("nested too deeply"));
  const std::string entry = R"("w":{"dtype":"U8","shape":[4],"data_offsets":[0,4]})";
  EXPECT_THAT(error_for(file_of("{" + entry + "," + entry + "}", 4)), HasSubstr("tensor \"w\" comes twice"));
}

TEST_F(Safetensors, SurvivesAnyCutAndAnyFlippedBit) {
  write_safetensors(path_, {{"a", HostArray::of<float>({1, 2}, {2})}, {"b", HostArray::scalar(int8_t{3})}});
  const std::string good = read_file(path_);
  for (size_t size = 0; size < good.size(); ++size) EXPECT_NE(error_for(good.substr(0, size)), "") << size;
  for (size_t bit = 0; bit < 8 * good.size(); ++bit) {
    std::string bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << bit % 8));
    error_for(bad);
  }
}

TEST_F(Safetensors, NamesTheTensorThatIsMissing) {
  write_safetensors(path_, {{"a", HostArray::scalar(1.0f)}});
  EXPECT_THAT(error_of([&] { SafetensorsReader(path_).read("b"); }), HasSubstr("has no tensor \"b\""));
}

TEST_F(Safetensors, RefusesToWriteFourBitIntegers) {
  const HostTree tree = {{"q", HostArray(TensorType{DType::kS4, {2}})}};
  EXPECT_THAT(error_of([&] { write_safetensors(path_, tree); }), HasSubstr("tensor \"q\": safetensors has no int4"));
}

}  // namespace
}  // namespace pax
