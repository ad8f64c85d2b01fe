#include "pax/checkpoint/digest.h"

#include <fmt/format.h>

#include "pax/base/hash.h"

namespace pax {
namespace {

void add(Digest& digest, std::string_view name, const HostArray& array) {
  const auto bytes = array.bytes();
  digest.update(fmt::format("{} {}\n", name, to_string(array.type())));
  digest.update({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

}  // namespace

std::string state_digest(int64_t step, const HostTree& state) {
  Digest digest;
  digest.update(fmt::format("step {}\n", step));
  for (const auto& [name, array] : state) add(digest, name, array);
  return digest.hex();
}

std::string state_digest(const CheckpointReader& checkpoint) {
  Digest digest;
  digest.update(fmt::format("step {}\n", checkpoint.step()));
  for (const auto& [name, type] : checkpoint.types()) add(digest, name, checkpoint.read(name));
  return digest.hex();
}

}  // namespace pax
