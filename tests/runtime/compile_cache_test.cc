#include "pax/runtime/compile_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pax/base/files.h"
#include "tests/runtime/testing.h"

namespace pax {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;

constexpr std::string_view kDouble = R"(module @double {
func.func public @main(%0: tensor<2xf32>) -> (tensor<2xf32>) {
  %1 = "stablehlo.add"(%0, %0) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  "func.return"(%1) : (tensor<2xf32>) -> ()
}
})";

constexpr std::string_view kSquare = R"(module @square {
func.func public @main(%0: tensor<2xf32>) -> (tensor<2xf32>) {
  %1 = "stablehlo.multiply"(%0, %0) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  "func.return"(%1) : (tensor<2xf32>) -> ()
}
})";

class CompileCacheTest : public ::testing::Test {
 protected:
  fs::path folder() const { return directory_.path() / "executables"; }

  /// Compiles with a fresh cache object, as a second start would, and runs on {1, 3}.
  std::vector<double> start(std::string_view program = kDouble) {
    CompileCache cache(folder());
    const LoadedExecutable executable = cache.compile(*client_, program, {});
    compiles_ = cache.compiles();
    hits_ = cache.hits();
    return executable.execute({client_->to_device(HostArray::of({1.0f, 3.0f}, {2}))})[0].to_host().to_doubles();
  }

  fs::path only_file() const { return fs::directory_iterator(folder())->path(); }

  TempDirectory directory_;
  std::shared_ptr<const Client> client_ = default_client();
  int64_t compiles_ = 0;
  int64_t hits_ = 0;
};

TEST_F(CompileCacheTest, CompilesNothingAtTheSecondStart) {
  start();
  EXPECT_EQ(compiles_, 1);
  EXPECT_THAT(start(), ElementsAre(2, 6));
  EXPECT_EQ(compiles_, 0);
  EXPECT_EQ(hits_, 1);
}

TEST_F(CompileCacheTest, TellsProgramsApart) {
  start(kDouble);
  EXPECT_THAT(start(kSquare), ElementsAre(1, 9));
  EXPECT_EQ(compiles_, 1);
}

TEST_F(CompileCacheTest, TellsOptionsApart) {
  CompileCache cache(folder());
  const auto two = default_client(2);
  cache.compile(*two, kDouble, {.num_partitions = 1});
  cache.compile(*two, kDouble, {.num_partitions = 2});
  EXPECT_EQ(cache.compiles(), 2);
}

TEST_F(CompileCacheTest, TellsPluginsApart) {
  CompileCache cache(folder());
  for (const auto& path : installed_plugins(PAX_DEPS_DIR, "cpu")) {
    cache.compile(*Client::create(Plugin::load(path)), kDouble, {});
  }
  EXPECT_EQ(cache.compiles(), 3);
}

TEST_F(CompileCacheTest, CompilesAnewWhenTheFileIsDamaged) {
  start();
  std::string bytes = read_file(only_file());
  bytes[bytes.size() / 2] ^= 1;
  write_file_atomically(only_file(), bytes);
  EXPECT_THAT(start(), ElementsAre(2, 6));
  EXPECT_EQ(compiles_, 1);
  start();
  EXPECT_EQ(hits_, 1) << "the damaged file was replaced";
}

TEST_F(CompileCacheTest, CompilesAnewWhenTheFileIsCutShort) {
  start();
  for (const size_t size : {0, 10, 60}) {
    fs::resize_file(only_file(), size);
    EXPECT_THAT(start(), ElementsAre(2, 6));
    EXPECT_EQ(compiles_, 1);
  }
}

TEST_F(CompileCacheTest, WorksWithoutAFolderToWriteIn) {
  write_file_atomically(folder(), "a file where the folder should be");
  EXPECT_THAT(start(), ElementsAre(2, 6));
}

TEST_F(CompileCacheTest, KeepsNothingWithoutAPath) {
  CompileCache cache{fs::path()};
  cache.compile(*client_, kDouble, {});
  cache.compile(*client_, kDouble, {});
  EXPECT_EQ(cache.compiles(), 2);
}

}  // namespace
}  // namespace pax
