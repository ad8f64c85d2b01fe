#include "pax/checkpoint/manager.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pax/checkpoint/layout.h"
#include "tests/checkpoint/same_state.h"
#include "tests/checkpoint/testing.h"

namespace pax {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using testing::error_of;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::same_state;
using testing::sample;
using ::testing::StartsWith;
using testing::types_of;

const Tree<TensorType> kExpected = types_of(sample(0).state);

class Manager : public ::testing::Test {
 protected:
  std::unique_ptr<CheckpointManager> open(CheckpointManager::Config config = {}) {
    return std::make_unique<CheckpointManager>(job_.path(), config, std::make_shared<testing::QuickDisk>());
  }
  /// Commits the samples of these steps.
  void save(std::initializer_list<int64_t> steps, const CheckpointManager::Config& config = {}) {
    const auto manager = open(config);
    for (const int64_t step : steps) manager->save(sample(step));
    manager->close();
  }
  std::filesystem::path path(int64_t step) const { return job_.path() / "checkpoints" / checkpoint_name(step); }
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(job_.path() / "checkpoints")) {
      if (entry.path().filename() != ".lock") names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  TempDirectory job_;
};

TEST_F(Manager, StartsWithNothing) { EXPECT_FALSE(open()->restore_latest(kExpected)); }

TEST_F(Manager, RestoresTheNewestCommittedOne) {
  save({10, 20});
  EXPECT_TRUE(same_state(open()->restore_latest(kExpected).value(), sample(20)));
  EXPECT_TRUE(same_state(open()->restore(10, kExpected), sample(10)));
}

TEST_F(Manager, SavesAtTheStartAndWhenTheIntervalIsDue) {
  const auto manager = open({.save_interval_steps = 10});
  EXPECT_TRUE(manager->should_save(3));
  manager->save(sample(3));
  manager->wait();
  EXPECT_FALSE(manager->should_save(4));
  EXPECT_TRUE(manager->should_save(10));
  manager->save(sample(10));
  EXPECT_FALSE(manager->should_save(10));
}

TEST_F(Manager, KeepsTheNewest) {
  save({1, 2, 3, 4}, {.save_max_to_keep = 2, .save_keep_interval_duration = ""});
  EXPECT_THAT(names(), ElementsAre("checkpoint_00000003", "checkpoint_00000004"));
}

TEST_F(Manager, MovesOldOnesAsideWhenAsked) {
  save({1, 2}, {.save_max_to_keep = 1, .save_keep_interval_duration = "", .todelete_subdir = "old"});
  EXPECT_THAT(names(), ElementsAre("checkpoint_00000002", "old"));
  EXPECT_TRUE(std::filesystem::exists(job_.path() / "checkpoints/old/checkpoint_00000001"));
}

TEST_F(Manager, PassesOverOneWithoutItsCommitMarker) {
  save({10, 20});
  std::filesystem::remove(path(20) / kCommitMarker);
  const auto manager = open();
  EXPECT_EQ(manager->restore_latest(kExpected).value().step, 10);
  EXPECT_TRUE(manager->should_save(20) || !manager->is_saved(20));
  manager->save(sample(20));
  manager->close();
  EXPECT_TRUE(same_state(open()->restore_latest(kExpected).value(), sample(20)));
}

TEST_F(Manager, PassesOverFoldersThatOnlyHaveTheName) {
  save({10});
  std::filesystem::create_directories(path(20));
  EXPECT_EQ(open()->restore_latest(kExpected).value().step, 10);
}

TEST_F(Manager, PassesOverARenamedOne) {
  save({10, 15});
  std::filesystem::rename(path(15), path(20));
  EXPECT_EQ(open()->restore_latest(kExpected).value().step, 10);
}

TEST_F(Manager, GoesBackWhenTheNewestIsDamagedAndReplacesIt) {
  save({10, 20});
  const auto file = path(20) / "state/mdl_vars.params.lm.w/0.0";
  std::string bytes = read_file(file);
  bytes[5] ^= 1;
  testing::overwrite(file, bytes);
  const auto manager = open();
  EXPECT_TRUE(same_state(manager->restore_latest(kExpected).value(), sample(10)));
  EXPECT_FALSE(manager->is_saved(20));
  manager->save(sample(20));
  manager->close();
  EXPECT_TRUE(same_state(open()->restore_latest(kExpected).value(), sample(20)));
}

TEST_F(Manager, RefusesToStartAnewWhenAllAreDamaged) {
  save({10});
  testing::overwrite(path(10) / "state/step/0", "");
  EXPECT_THAT(error_of([&] { open()->restore_latest(kExpected); }),
              AllOf(HasSubstr("state/step/0: 0 bytes, but 4 were saved"), HasSubstr("no other checkpoint is left")));
}

TEST_F(Manager, NamesEveryWeightOfAnotherModel) {
  save({10});
  Tree<TensorType> expected = kExpected;
  expected.erase("mdl_vars/params/lm/scale");
  expected["mdl_vars/params/lm/w"].shape = {3, 2};
  expected["mdl_vars/params/lm/bias"] = {DType::kF32, {3}};
  const std::string error = error_of([&] { open()->restore_latest(expected); });
  EXPECT_THAT(error, StartsWith(path(10).string() + ": is of another model"));
  EXPECT_THAT(error, HasSubstr("1 of another type: mdl_vars/params/lm/w (f32[2,3] there, f32[3,2] here)"));
  EXPECT_THAT(error, HasSubstr("1 missing there: mdl_vars/params/lm/bias"));
  EXPECT_THAT(error, HasSubstr("1 not in this model: mdl_vars/params/lm/scale"));
}

TEST_F(Manager, ClearsWhatInterruptedWritesLeftAndNothingElse) {
  save({10});
  const auto folder = job_.path() / "checkpoints";
  std::filesystem::create_directories(folder / "checkpoint_00000020.orbax-checkpoint-tmp-123/state");
  std::filesystem::create_directories(folder / "mine.orbax-checkpoint-tmp-123");
  testing::overwrite(folder / "notes.txt", "keep");
  open();
  EXPECT_THAT(names(), ElementsAre("checkpoint_00000010", "mine.orbax-checkpoint-tmp-123", "notes.txt"));
}

TEST_F(Manager, RefusesASecondProcessNamingTheFirst) {
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const CheckpointManager manager(job_.path(), {});
    [[maybe_unused]] const ssize_t told = ::write(ready[1], "x", 1);
    ::pause();
    ::_exit(0);
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  EXPECT_THAT(error_of([&] { open(); }),
              AllOf(HasSubstr("in use by another process"), HasSubstr(std::to_string(child))));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_NO_THROW(open());
}

TEST_F(Manager, ThrowsWhatWentWrongInTheBackgroundAtEachLaterCall) {
  save({5});
  const auto manager = open();
  {
    const testing::FileSizeLimit limit(1024);
    Checkpoint large = sample(10);
    large.state["big"] = HostArray(TensorType{DType::kF32, {100000}});
    manager->save(large);
    EXPECT_THAT(error_of([&] { manager->wait(); }), HasSubstr("File too large"));
  }
  EXPECT_THAT(error_of([&] { manager->check(); }), HasSubstr("state/big/0"));
  EXPECT_THAT(error_of([&] { manager->save(sample(15)); }), HasSubstr("File too large"));
  EXPECT_THAT(error_of([&] { manager->close(); }), HasSubstr("File too large"));
  EXPECT_THAT(names(), ElementsAre("checkpoint_00000005"));
}

TEST_F(Manager, MemoryStaysFlatOverManySaves) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "AddressSanitizer keeps freed memory, so the resident size says nothing here";
#endif
  const auto resident_mb = [] {
    long pages = 0;
    std::ifstream statm("/proc/self/statm");
    statm >> pages >> pages;
    return pages * ::sysconf(_SC_PAGESIZE) >> 20;
  };
  const auto manager = open({.save_max_to_keep = 2});
  long early = 0;
  for (int64_t step = 1; step <= 50; ++step) {
    Checkpoint checkpoint{.step = step};
    checkpoint.state["w"] = HostArray(TensorType{DType::kF32, {2'000'000}});
    manager->save(std::move(checkpoint));
    manager->wait();
    if (step == 5) early = resident_mb();
  }
  EXPECT_LT(resident_mb(), early + 20);
}

TEST(ManagerConfig, RefusesDurationsWithoutAUnit) {
  config::Errors errors;
  CheckpointManager::Config{.save_keep_interval_duration = "12"}.validate(errors);
  EXPECT_THAT(errors.messages(), ElementsAre(HasSubstr("\"12\" is not a duration")));
}

TEST(ManagerConfig, AcceptsItsDefaults) {
  config::Errors errors;
  CheckpointManager::Config{}.validate(errors);
  EXPECT_THAT(errors.messages(), IsEmpty());
}

}  // namespace
}  // namespace pax
