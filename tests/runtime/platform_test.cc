#include "pax/runtime/platform.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pax/base/files.h"
#include "tests/runtime/testing.h"

namespace pax {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::SizeIs;

TEST(Platform, FindsTheThreeCpuPlugins) { EXPECT_THAT(installed_plugins(PAX_DEPS_DIR, "cpu"), SizeIs(3)); }

TEST(Platform, TakesTheFirstInstalledPluginByDefault) {
  EXPECT_EQ(find_plugin({.deps_dir = PAX_DEPS_DIR}), installed_plugins(PAX_DEPS_DIR, "cpu").front());
}

TEST(Platform, TakesThePluginThatIsNamed) {
  EXPECT_THAT(find_plugin({.plugin = "lammps-jax-pjrt-cpu", .deps_dir = PAX_DEPS_DIR}).string(),
              HasSubstr("cpu/lammps-jax-pjrt-cpu/plugin.so"));
}

TEST(Platform, TakesAPathAsItIs) {
  const std::string path = find_plugin({.deps_dir = PAX_DEPS_DIR});
  EXPECT_EQ(find_plugin({.name = path}), path);
}

TEST(Platform, OpensVirtualDevices) { EXPECT_THAT(default_client(4)->local_devices(), SizeIs(4)); }

TEST(Platform, SuggestsTheNearestPlatform) {
  EXPECT_THAT(error_of([] { find_plugin({.name = "cpuu"}); }),
              AllOf(HasSubstr("platform.name"), HasSubstr("Did you mean \"cpu\"?")));
}

TEST(Platform, SaysHowToInstallAPlatform) {
  const TempDirectory empty;
  EXPECT_THAT(error_of([&] { find_plugin({.name = "cuda", .deps_dir = empty.path()}); }),
              AllOf(HasSubstr("no plugin for \"cuda\""), HasSubstr("scripts/setup --platform cuda")));
}

TEST(Platform, ListsThePluginsWhenTheNamedOneIsNotThere) {
  EXPECT_THAT(error_of([] { find_plugin({.plugin = "other", .deps_dir = PAX_DEPS_DIR}); }),
              AllOf(HasSubstr("\"other\" is not installed"), HasSubstr("xla-cpu-pjrt")));
}

TEST(Platform, RefusesANegativeDeviceCount) {
  EXPECT_THAT(error_of([] { open_client({.cpu_device_count = -1}); }), HasSubstr("platform.cpu_device_count: -1"));
}

}  // namespace
}  // namespace pax
