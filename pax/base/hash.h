#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace pax {

/// 64-bit xxHash of `bytes`: stable across machines and versions, not cryptographic.
uint64_t hash64(std::string_view bytes, uint64_t seed = 0);

/// 128-bit xxHash of everything given to `update`, as 32 hexadecimal digits: names files by content.
class Digest {
 public:
  Digest();
  ~Digest();
  Digest(const Digest&) = delete;
  Digest& operator=(const Digest&) = delete;

  Digest& update(std::string_view bytes);
  std::string hex() const;

 private:
  void* state_;
};

}  // namespace pax
