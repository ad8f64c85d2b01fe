// write_sample DIR: the checkpoint that read_with_orbax.py knows, as DIR/checkpoint_00000007.
#include "pax/checkpoint/write.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  using pax::BFloat16;
  using pax::HostArray;
  pax::Checkpoint checkpoint{.step = 7};
  checkpoint.items["train_input/process_0-of-1"] = "{\"batches\": 7}";
  checkpoint.state["step"] = HostArray::scalar(int32_t{7});
  checkpoint.state["mdl_vars/params/lm/w"] = HostArray::of<float>({0, 1, 2, 3, 4, 5}, {2, 3});
  checkpoint.state["mdl_vars/params/lm/scale"] = HostArray::of<BFloat16>({BFloat16(1.5f), BFloat16(-2)}, {2});
  checkpoint.state["mdl_vars/params/lm/mask"] = HostArray::of<bool>({true, false}, {2, 1});
  checkpoint.state["opt_states_0/0/m"] = HostArray::of<double>({0.125}, {1});
  pax::HostArray small(pax::TensorType{pax::DType::kF8E4M3FN, {3}});
  small.mutable_bytes()[1] = std::byte{0x38};  // 1.0
  checkpoint.state["opt_states_0/0/q"] = small;
  pax::Disk disk;
  pax::write_checkpoint(disk, argv[1], checkpoint);
  return 0;
}
