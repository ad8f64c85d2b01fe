// Every call that saving makes to the file system fails once, or is the last one before the process dies.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "pax/checkpoint/layout.h"
#include "pax/checkpoint/manager.h"
#include "tests/checkpoint/same_state.h"
#include "tests/checkpoint/testing.h"

namespace pax {
namespace {

using testing::error_of;
using ::testing::HasSubstr;
using testing::same_state;
using testing::types_of;

/// A disk on which the call number `broken` fails, or from that call on all do (the process is as good as dead).
class BrokenDisk final : public testing::QuickDisk {
 public:
  enum class Mode { kOnce, kForGood };
  BrokenDisk(int broken, Mode mode) : broken_(broken), mode_(mode) {}

  int calls() const { return calls_; }

  void make_folders(const std::filesystem::path& path) override { count(), Disk::make_folders(path); }
  OpenFile create(const std::filesystem::path& path) override { return count(), Disk::create(path); }
  void write(const OpenFile& file, std::span<const std::byte> bytes, size_t offset) override {
    const bool fails = is_broken();
    Disk::write(file, fails ? bytes.first(bytes.size() / 2) : bytes, offset);
    if (fails) fail<RuntimeError>("{}: injected", file.path().string());
  }
  void flush(const OpenFile& file) override { count(), QuickDisk::flush(file); }
  void flush_folder(const std::filesystem::path& path) override { count(), QuickDisk::flush_folder(path); }
  void move(const std::filesystem::path& from, const std::filesystem::path& to) override {
    count(), Disk::move(from, to);
  }
  void exchange(const std::filesystem::path& first, const std::filesystem::path& second,
                const std::filesystem::path& spare) override {
    count(), Disk::exchange(first, second, spare);
  }
  void remove(const std::filesystem::path& path) override { count(), Disk::remove(path); }

 private:
  bool is_broken() {
    const int call = calls_++;
    return mode_ == Mode::kOnce ? call == broken_ : call >= broken_;
  }
  void count() {
    if (is_broken()) throw RuntimeError("injected");
  }

  const int broken_;
  const Mode mode_;
  std::atomic<int> calls_ = 0;
};

constexpr int kNever = 1 << 30;

/// As little as a checkpoint can be, so that there are few calls.
Checkpoint small(int64_t step) {
  return {.step = step, .state = {{"mdl_vars/w", HostArray::of<int64_t>({step, step}, {2})}}};
}

const Tree<TensorType> kExpected = types_of(small(0).state);
const CheckpointManager::Config kKeepOne{.save_max_to_keep = 1, .save_keep_interval_duration = ""};

std::unique_ptr<CheckpointManager> open(const std::filesystem::path& job) {
  return std::make_unique<CheckpointManager>(job, kKeepOne, std::make_shared<testing::QuickDisk>());
}

/// Saves step 1, then step 2 on a disk whose call `broken` fails, and returns the error of that.
std::string save_on_broken_disk(const std::filesystem::path& job, int64_t second, int broken, BrokenDisk::Mode mode,
                                int& calls) {
  open(job)->save(small(1));
  Checkpoint checkpoint = small(second);
  checkpoint.items["note"] = "second";
  const auto disk = std::make_shared<BrokenDisk>(broken, mode);
  const std::string error = error_of([&] {
    CheckpointManager manager(job, kKeepOne, disk);
    manager.save(checkpoint);
    manager.close();
  });
  calls = disk->calls();
  return error;
}

class Failure : public ::testing::TestWithParam<std::tuple<BrokenDisk::Mode, int64_t>> {};

TEST_P(Failure, OfAnyCallLeavesTheOldOrTheNewCheckpointWhole) {
  const auto [mode, second] = GetParam();
  Checkpoint renewed = small(second);
  renewed.items["note"] = "second";
  int calls = 0;
  save_on_broken_disk(TempDirectory().path(), second, kNever, mode, calls);
  const int all = calls;
  EXPECT_GT(all, 20);
  for (int broken = 0; broken < all; ++broken) {
    const TempDirectory job;
    const std::string error = save_on_broken_disk(job.path(), second, broken, mode, calls);
    EXPECT_THAT(error, HasSubstr("injected")) << broken;
    const auto manager = open(job.path());
    const std::optional<Checkpoint> found = manager->restore_latest(kExpected);
    ASSERT_TRUE(found) << broken;
    EXPECT_TRUE(same_state(*found, small(1)) || same_state(*found, renewed)) << broken;
    manager->save(renewed);
    manager->close();
    EXPECT_TRUE(same_state(open(job.path())->restore_latest(kExpected).value(), renewed)) << broken;
  }
}

INSTANTIATE_TEST_SUITE_P(EachCall, Failure,
                         ::testing::Combine(::testing::Values(BrokenDisk::Mode::kOnce, BrokenDisk::Mode::kForGood),
                                            ::testing::Values(1, 2)),
                         [](const auto& info) {
                           const bool once = std::get<0>(info.param) == BrokenDisk::Mode::kOnce;
                           return std::string(once ? "Once" : "ForGood") +
                                  (std::get<1>(info.param) == 1 ? "SameStep" : "NextStep");
                         });

}  // namespace
}  // namespace pax
