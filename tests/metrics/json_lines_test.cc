#include "pax/metrics/json_lines.h"

#include <gtest/gtest.h>

#include <cmath>

#include "pax/base/files.h"

namespace pax {
namespace {

TEST(JsonLines, KeepsTheOrderAndTheTypesOfFields) {
  EXPECT_EQ(to_json(JsonFields{{"a", int64_t{3}}, {"b", 0.5}, {"c", std::string("x\"y")}}),
            R"({"a": 3, "b": 0.5, "c": "x\"y"})");
}

TEST(JsonLines, WritesNullForWhatJsonLacks) {
  EXPECT_EQ(to_json(JsonFields{{"loss", NAN}, {"norm", INFINITY}}), R"({"loss": null, "norm": null})");
}

TEST(JsonLines, WritesALineForEachStep) {
  const TempDirectory folder;
  JsonLinesWriter writer(folder.path() / "metrics.jsonl");
  writer.write(1, {{"loss", 2.0}});
  writer.write(2, {{"loss", 1.0}});
  writer.close();
  EXPECT_EQ(read_file(folder.path() / "metrics.jsonl"), "{\"step\": 1, \"loss\": 2.0}\n{\"step\": 2, \"loss\": 1.0}\n");
}

TEST(JsonLines, ARestartDropsLaterStepsAndLinesThatWereCutShort) {
  const TempDirectory folder;
  const auto path = folder.path() / "metrics.jsonl";
  write_file_atomically(path, "{\"step\": 9, \"loss\": 2.0}\n{\"step\": 10}\n{\"step\": 11}\n{\"step\": 9, \"lo");
  JsonLinesWriter writer(path, 10);
  writer.write(11, {});
  writer.close();
  EXPECT_EQ(read_file(path), "{\"step\": 9, \"loss\": 2.0}\n{\"step\": 10}\n{\"step\": 11}\n");
}

}  // namespace
}  // namespace pax
