#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "pax/base/text.h"
#include "tests/cli/paxml.h"

namespace pax {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string last_line(const std::string& text) {
  std::string last;
  for (const std::string& line : split(text, '\n')) {
    if (!line.empty()) last = line;
  }
  return last;
}

TEST(Plan, OfUnknownTopologyNamesNearOnes) {
  const Ended ended = paxml({"plan", "--exp", "LmCloudSpmdTest", "--topology", "v4-9"});
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_THAT(ended.err, AllOf(HasSubstr("\"v4-9\""), HasSubstr("Did you mean \"v4-8\"")));
}

TEST(Plan, OfMeshThatDoesNotMatchNamesBothNumbers) {
  const Ended ended = paxml({"plan", "--exp", "C4Spmd16BAdam32Replicas", "--topology", "v4-8"});
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_THAT(ended.err, AllOf(HasSubstr("32 devices"), HasSubstr("v4-8 has 4")));
}

TEST(Plan, WithoutItsPluginNamesTheCommandThatGetsIt) {
  const Ended ended =
      paxml({"plan", "--exp", "LmCloudSpmdTest", "--topology", "v5e-1", "--set", "platform.deps_dir=/nonexistent"});
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_THAT(ended.err, HasSubstr("scripts/setup --platform tpu"));
}

TEST(Plan, ForVirtualDevicesWritesTextJsonAndHtml) {
  const TempDirectory files;
  const std::string html = (files.path() / "plan.html").string();
  const Ended ended = paxml({"plan", "--exp", "LmCloudSpmdTest", "--topology", "cpux2", "--fdl.ICI_MESH_SHAPE=[1,2,1]",
                             "--json", "--html", html});
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("memory a device:"));
  const auto json = nlohmann::json::parse(last_line(ended.out));
  EXPECT_EQ(json.at("topology"), "cpux2");
  EXPECT_EQ(json.at("fits"), true);
  EXPECT_GT(json.at("peak_bytes_per_device").get<int64_t>(), json.at("memory").at("weights").get<int64_t>());
  EXPECT_THAT(read_file(html), HasSubstr("<title>lm.lm_cloud.LmCloudSpmdTest on cpux2</title>"));
}

TEST(Plan, SweepsOverRematPoliciesAndRanksThem) {
  const Ended ended = paxml({"plan", "--exp", "LmCloudSpmdTest", "--topology", "cpux1", "--fdl.ICI_MESH_SHAPE=[1,1,1]",
                             "--fdl.MAX_SEQ_LEN=64", "--fdl.VOCAB_SIZE=128", "--sweep", "remat", "--json"});
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  const auto rows = nlohmann::json::parse(last_line(ended.out));
  ASSERT_GE(rows.size(), 5u);
  for (const auto& row : rows) {
    EXPECT_EQ(row.at("error"), "");
    EXPECT_GT(row.at("peak_bytes_per_device"), 0);
  }
}

}  // namespace
}  // namespace pax
