#include "pax/base/log.h"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

namespace pax {
namespace {

spdlog::logger& logger() {
  static const auto instance = [] {
    auto made = std::make_shared<spdlog::logger>("pax", std::make_shared<spdlog::sinks::stderr_color_sink_mt>());
    made->set_pattern("%H:%M:%S %^%l%$ %v");
    return made;
  }();
  return *instance;
}

}  // namespace

void log_line(LogLevel level, std::string_view message) {
  const auto spd_level = level == LogLevel::kInfo      ? spdlog::level::info
                         : level == LogLevel::kWarning ? spdlog::level::warn
                                                       : spdlog::level::err;
  logger().log(spd_level, message);
}

}  // namespace pax
