#include "pax/pjrt/compile_options.h"

#include <gtest/gtest.h>

#include "pax/base/error.h"

namespace pax {
namespace {

// Bytes as protoc writes them for the fields that xla/pjrt/proto/compile_options.proto numbers.
TEST(CompileOptions, WritesOneDevice) {
  const std::string build("\x20\x01\x28\x01\x30\x01\x4a\x09\x08\x01\x10\x01\x1a\x03\x0a\x01\x00\x98\x01\x01", 20);
  EXPECT_EQ(serialize({}), std::string("\x1a\x14") + build);
}

TEST(CompileOptions, GivesEachPartitionItsDevice) {
  const std::string bytes = serialize({.num_partitions = 2, .device_ids = {3, 300}});
  EXPECT_NE(bytes.find(std::string("\x1a\x03\x0a\x01\x03\x1a\x04\x0a\x02\xac\x02", 11)), std::string::npos);
}

TEST(CompileOptions, WritesFlagsOfXlaByTheirTypes) {
  const std::string bytes = serialize({.xla_flags = {{"a", true}, {"b", std::string("x")}, {"c", int64_t{300}}}});
  EXPECT_NE(bytes.find(std::string("\x3a\x07\x0a\x01"
                                   "a\x12\x02\x10\x01",
                                   9)),
            std::string::npos);
  EXPECT_NE(bytes.find(std::string("\x3a\x08\x0a\x01"
                                   "b\x12\x03\x0a\x01x",
                                   10)),
            std::string::npos);
  EXPECT_NE(bytes.find(std::string("\x3a\x08\x0a\x01"
                                   "c\x12\x03\x18\xac\x02",
                                   10)),
            std::string::npos);
}

TEST(CompileOptions, RefusesTooFewDeviceIds) {
  EXPECT_THROW(serialize({.num_partitions = 2, .device_ids = {0}}), RuntimeError);
}

}  // namespace
}  // namespace pax
