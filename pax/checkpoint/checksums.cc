#include "pax/checkpoint/checksums.h"

#include <charconv>
#include <nlohmann/json.hpp>

#include "pax/base/error.h"

namespace pax {
namespace {

using Json = nlohmann::json;

constexpr int kFormat = 1;

uint32_t parse_crc(std::string_view where, const std::string& hex) {
  uint32_t crc = 0;
  const auto parsed = std::from_chars(hex.data(), hex.data() + hex.size(), crc, 16);
  if (parsed.ec != std::errc() || parsed.ptr != hex.data() + hex.size() || hex.size() != 8) {
    fail<RuntimeError>("{}: \"{}\" is not a checksum", where, hex);
  }
  return crc;
}

}  // namespace

size_t block_count(size_t bytes) { return bytes / kChecksumBlock + (bytes % kChecksumBlock == 0 ? 0 : 1); }

std::string to_json(const Checksums& checksums) {
  Json files = Json::object();
  for (const auto& [name, file] : checksums.files) {
    std::vector<std::string> sums;
    for (const uint32_t crc : file.crc32c) sums.push_back(fmt::format("{:08x}", crc));
    files[name] = {{"bytes", file.bytes}, {"crc32c", sums}};
  }
  return Json{{"format", kFormat},
              {"step", checksums.step},
              {"commit_time", checksums.commit_time},
              {"block_bytes", kChecksumBlock},
              {"files", files}}
      .dump(1);
}

Checksums parse_checksums(std::string_view where, std::string_view json) {
  try {
    const Json parsed = Json::parse(json);
    if (parsed.at("format").get<int>() != kFormat || parsed.at("block_bytes").get<size_t>() != kChecksumBlock) {
      fail<RuntimeError>("{}: format {} of block size {} is not known to this version", where,
                         parsed.at("format").dump(), parsed.at("block_bytes").dump());
    }
    Checksums checksums{.step = parsed.at("step").get<int64_t>(),
                        .commit_time = parsed.at("commit_time").get<double>()};
    for (const auto& [name, file] : parsed.at("files").items()) {
      FileChecksums sums{.bytes = file.at("bytes").get<size_t>()};
      for (const Json& crc : file.at("crc32c")) sums.crc32c.push_back(parse_crc(where, crc.get<std::string>()));
      if (sums.crc32c.size() != block_count(sums.bytes)) {
        fail<RuntimeError>("{}: {} has {} checksums for {} bytes", where, name, sums.crc32c.size(), sums.bytes);
      }
      checksums.files.emplace(name, std::move(sums));
    }
    return checksums;
  } catch (const Json::exception& error) {
    fail<RuntimeError>("{}: damaged: {}", where, error.what());
  }
}

}  // namespace pax
