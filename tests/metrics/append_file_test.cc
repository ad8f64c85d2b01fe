#include "pax/metrics/append_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "pax/base/error.h"
#include "pax/base/files.h"

namespace pax {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

template <class F>
std::string error_of(F call) {
  try {
    call();
  } catch (const RuntimeError& error) {
    return error.what();
  }
  return "";
}

/// Limits the size of files that this process may write, while it lives.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() { setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_{};
};

TEST(AppendFile, AddsRecordsInOrderToWhatIsThere) {
  const TempDirectory folder;
  const auto path = folder.path() / "new" / "log";
  AppendFile(path).append("one\n");
  AppendFile file(path);
  for (int i = 0; i < 10000; ++i) file.append("x");
  file.close();
  EXPECT_EQ(read_file(path), "one\n" + std::string(10000, 'x'));
}

TEST(AppendFile, TellsOfAFullDiskAtTheNextCallAndAtClose) {
  const TempDirectory folder;
  const auto path = folder.path() / "log";
  const FileSizeLimit limit(4096);
  AppendFile file(path);
  file.append(std::string(8192, 'x'));
  std::string error;
  for (int i = 0; i < 100000 && error.empty(); ++i) error = error_of([&] { file.append("more"); });
  EXPECT_THAT(error, AllOf(HasSubstr(path.string()), HasSubstr("File too large")));
  EXPECT_EQ(error_of([&] { file.close(); }), error);
}

TEST(AppendFile, NamesAFolderThatCannotBeMade) {
  const TempDirectory folder;
  write_file_atomically(folder.path() / "file", "");
  EXPECT_THAT(error_of([&] { AppendFile(folder.path() / "file" / "log"); }), HasSubstr("file/log: cannot open"));
}

}  // namespace
}  // namespace pax
