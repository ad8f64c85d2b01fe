// What may be wrong with a plugin, with plugins built to be wrong.

#include "pax/pjrt/plugin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pax/base/files.h"
#include "pax/pjrt/client.h"
#include "pax/pjrt/topology.h"

namespace pax {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string stub(const std::string& name) { return std::string(PAX_STUB_DIR) + "/" + name + ".so"; }

/// The message of the error that `action` throws.
template <class Action>
std::string error_of(Action action) {
  try {
    action();
  } catch (const RuntimeError& error) {
    return error.what();
  }
  return "(no error)";
}

template <class Action>
PluginError::Code code_of(Action action) {
  try {
    action();
  } catch (const PluginError& error) {
    return error.code();
  }
  ADD_FAILURE() << "no PluginError";
  return PluginError::Code::kOther;
}

TEST(PluginLoad, NamesAMissingFile) {
  EXPECT_THAT(error_of([] { Plugin::load("/nowhere/plugin.so"); }), HasSubstr("/nowhere/plugin.so: no such plugin"));
}

TEST(PluginLoad, RefusesAFileThatIsNoLibrary) {
  const TempDirectory directory;
  const auto path = directory.path() / "text.so";
  write_file_atomically(path, "hello");
  EXPECT_THAT(error_of([&] { Plugin::load(path); }), AllOf(HasSubstr(path.string()), HasSubstr("cannot load")));
}

TEST(PluginLoad, RefusesALibraryWithoutEntryPoint) {
  EXPECT_THAT(error_of([] { Plugin::load(stub("not_a_plugin")); }),
              AllOf(HasSubstr("not_a_plugin.so"), HasSubstr("no entry point GetPjrtApi")));
}

TEST(PluginLoad, RefusesAPluginWithoutTable) {
  EXPECT_THAT(error_of([] { Plugin::load(stub("no_table")); }), HasSubstr("no function table"));
}

TEST(PluginLoad, RefusesAnotherMajorVersionNamingBoth) {
  EXPECT_THAT(error_of([] { Plugin::load(stub("other_major")); }),
              AllOf(HasSubstr("other_major.so"), HasSubstr("PJRT 7.81"), HasSubstr("this program: 0.81")));
}

TEST(PluginLoad, RefusesATableTooShortForErrors) {
  EXPECT_THAT(error_of([] { Plugin::load(stub("ancient")); }), AllOf(HasSubstr("PJRT 0.1"), HasSubstr("newer plugin")));
}

TEST(PluginLoad, RefusesATableThatCannotTellErrors) {
  EXPECT_THAT(error_of([] { Plugin::load(stub("no_error_message")); }),
              AllOf(HasSubstr("no_error_message.so"), HasSubstr("cannot report errors")));
}

TEST(PluginLoad, TellsWhyAPluginDoesNotStartInOneLine) {
  EXPECT_THAT(error_of([] { Plugin::load(stub("fails_to_start")); }),
              AllOf(HasSubstr("fails_to_start.so"), HasSubstr("no device; was found"), Not(HasSubstr("\n"))));
}

TEST(PluginCall, WorksOnAnOlderMinorVersionUpToTheEndOfItsTable) {
  const auto plugin = Plugin::load(stub("older"));
  EXPECT_EQ(plugin->version(), (PluginVersion{0, 10}));
  EXPECT_EQ(code_of([&] { Client::create(plugin); }), PluginError::Code::kResourceExhausted);
}

TEST(PluginCall, NamesPathAndBothVersionsBeyondTheEndOfAnOlderTable) {
  const auto plugin = Plugin::load(stub("older"));
  // Found by the size alone: the memory behind the table is not looked at.
  Executable executable(plugin, nullptr);
  EXPECT_THAT(error_of([&] { executable.memory_stats(); }),
              AllOf(HasSubstr("older.so"), HasSubstr("PJRT 0.10"), HasSubstr("this program: 0.81"),
                    HasSubstr("PJRT_Executable_GetCompiledMemoryStats is newer than this plugin")));
}

TEST(PluginCall, WorksOnANewerMinorVersion) {
  const auto plugin = Plugin::load(stub("newer"));
  EXPECT_EQ(plugin->version(), (PluginVersion{0, 999}));
  EXPECT_EQ(code_of([&] { Client::create(plugin); }), PluginError::Code::kResourceExhausted);
}

TEST(PluginCall, NamesAFunctionThatThePluginLeavesOut) {
  const auto plugin = Plugin::load(stub("good"));
  EXPECT_THAT(error_of([&] { Topology::create(plugin, "v4:2x2x1"); }),
              AllOf(HasSubstr("good.so"), HasSubstr("PJRT_TopologyDescription_Create is left out")));
}

TEST(PluginCall, KnowsUnimplementedFromOtherErrors) {
  const auto plugin = Plugin::load(stub("good"));
  EXPECT_EQ(code_of([&] { plugin->attributes(); }), PluginError::Code::kUnimplemented);
  EXPECT_THAT(error_of([&] { plugin->attributes(); }), HasSubstr("PJRT_Plugin_Attributes: not in this stub"));
}

TEST(PluginCall, RefusesFfiHandlersWhereThereIsNoFfi) {
  const auto plugin = Plugin::load(stub("good"));
  EXPECT_EQ(code_of([&] { plugin->register_ffi_handler("name", nullptr); }), PluginError::Code::kUnimplemented);
}

TEST(PluginIdentity, DiffersBetweenLibraries) {
  EXPECT_NE(Plugin::load(stub("good"))->identity(), Plugin::load(stub("newer"))->identity());
}

}  // namespace
}  // namespace pax
