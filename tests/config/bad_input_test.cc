#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pax/base/error.h"
#include "pax/config/yaml.h"

namespace pax::config {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string error_of(std::string_view text, const ReadLimits& limits = {}) {
  try {
    read_yaml(text, "f.yaml", limits);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no error";
}

TEST(ReadYaml, NamesTheLineOfBadSyntax) { EXPECT_THAT(error_of("a: 1\nb: [1\n"), StartsWith("f.yaml:")); }

TEST(ReadYaml, RefusesDuplicateKeys) {
  EXPECT_EQ(error_of("a: 1\nb: 2\na: 3\n"), "f.yaml:3: the key \"a\" stands twice in one mapping");
}

TEST(ReadYaml, RefusesSeveralDocuments) { EXPECT_THAT(error_of("a: 1\n---\nb: 2\n"), HasSubstr("f.yaml:2: a second")); }

TEST(ReadYaml, RefusesNulBytes) {
  EXPECT_EQ(error_of(std::string_view("a: 1\nb: \0", 9)), "f.yaml:2: a NUL byte; this is not a text file");
}

TEST(ReadYaml, RefusesWrongUtf8) { EXPECT_EQ(error_of("a: 1\nb: \xff\n"), "f.yaml:2: not well-formed UTF-8"); }

TEST(ReadYaml, RefusesFilesThatAreTooLarge) {
  EXPECT_THAT(error_of(std::string(10'000'001, 'a')), HasSubstr("10000001 bytes are too many for a config"));
}

TEST(ReadYaml, RefusesDeepNesting) {
  EXPECT_THAT(error_of(std::string(5000, '[') + std::string(5000, ']')), HasSubstr("nested deeper than 100 levels"));
}

TEST(ReadYaml, RefusesAliasBombs) {
  std::string text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int k = 0; k < 10; ++k) text += before + (k < 9 ? ", " : "]\n");
  }
  EXPECT_THAT(error_of(text), HasSubstr("more than 1000000 values, aliases expanded"));
}

TEST(ReadYaml, RefusesBombsOfLongText) {
  std::string text = "a: &a " + std::string(1'000'000, 'x') + "\nb: [";
  for (int i = 0; i < 1000; ++i) text += "*a, ";
  EXPECT_THAT(error_of(text + "*a]\n"), HasSubstr("bytes of text, aliases expanded"));
}

TEST(ReadYaml, RefusesAliasesOfWhatTheyAreIn) { EXPECT_THAT(error_of("a: &a [*a]"), HasSubstr("is a loop")); }

TEST(ReadYaml, RefusesAliasesOfNothing) { EXPECT_THAT(error_of("a: *b"), StartsWith("f.yaml:1: ")); }

TEST(ReadYaml, RefusesForeignTags) {
  EXPECT_THAT(error_of("a: !!python/object:os.system {}"), HasSubstr("has no meaning here"));
}

TEST(ReadYaml, RefusesKeysThatAreNoNames) { EXPECT_THAT(error_of("? [a]\n: b"), HasSubstr("a key must be a name")); }

TEST(ReadYaml, ReadsScalarsAsYamlDoes) {
  const Value value = read_yaml("[1, -2.5e3, true, null, '1', x, 0x1f, .inf, 12e, '', +7, 1.2.3, -, \"a\\tb\"]");
  using Kind = Value::Kind;
  const std::vector<Kind> kinds = {Kind::kInt,    Kind::kReal,   Kind::kBool,   Kind::kNull,   Kind::kString,
                                   Kind::kString, Kind::kInt,    Kind::kReal,   Kind::kString, Kind::kString,
                                   Kind::kInt,    Kind::kString, Kind::kString, Kind::kString};
  ASSERT_EQ(value.items.size(), kinds.size());
  for (size_t i = 0; i < kinds.size(); ++i) EXPECT_EQ(value.items[i].kind, kinds[i]) << i;
  EXPECT_EQ(value.items[6].integer, 31);
  EXPECT_EQ(value.items[13].text, "a\tb");
}

TEST(ReadYaml, AnEmptyTextIsNull) { EXPECT_TRUE(read_yaml("# nothing\n").is_null()); }

}  // namespace
}  // namespace pax::config
