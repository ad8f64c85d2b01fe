// save_loop JOB_LOG_DIR STEPS: a training run in miniature for kill_test. Goes on from the newest checkpoint, adds to
// every weight at each step, saves each step, and prints the digest of the final state.
#include <cstdio>
#include <cstdlib>

#include "pax/checkpoint/digest.h"
#include "pax/checkpoint/manager.h"
#include "tests/checkpoint/testing.h"

namespace {

pax::HostTree initial_state() {
  pax::HostTree state;
  for (int i = 0; i < 6; ++i) {
    state["mdl_vars/params/w" + std::to_string(i)] =
        pax::HostArray(pax::TensorType{pax::DType::kS64, {10'000 * i + 1}});
  }
  return state;
}

/// A new array, as the old one may still be on its way to the disk.
pax::HostArray next(const pax::HostArray& array) {
  pax::HostArray result(array.type());
  const auto before = array.values<int64_t>();
  const auto after = result.mutable_values<int64_t>();
  for (size_t i = 0; i < before.size(); ++i) {
    after[i] = static_cast<int64_t>(static_cast<uint64_t>(before[i]) * 3 + i + 1);  // wraps round
  }
  return result;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 3) return 2;
  const int64_t steps = std::atoll(argv[2]);
  pax::CheckpointManager manager(argv[1], {.save_interval_steps = 1, .save_max_to_keep = 2},
                                 std::make_shared<pax::testing::QuickDisk>());
  pax::Checkpoint now{.step = 0, .state = initial_state()};
  pax::Tree<pax::TensorType> types;
  for (const auto& [name, array] : now.state) types.emplace(name, array.type());
  if (auto found = manager.restore_latest(types)) now = std::move(*found);
  while (now.step < steps) {
    ++now.step;
    for (auto& [name, array] : now.state) array = next(array);
    manager.save(now);
  }
  manager.close();
  std::printf("%s\n", pax::state_digest(now.step, now.state).c_str());
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
