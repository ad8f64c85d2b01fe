// print_state CHECKPOINT: a line for each array: name, type, bytes in hexadecimal.
#include <cstdio>

#include "pax/checkpoint/reader.h"

int main(int argc, char** argv) try {
  if (argc != 2) return 2;
  for (const auto& [name, array] : pax::CheckpointReader(argv[1]).read_all()) {
    std::printf("%s %s ", name.c_str(), to_string(array.type()).c_str());
    for (const std::byte byte : array.bytes()) std::printf("%02x", static_cast<unsigned>(byte));
    std::printf("\n");
  }
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
