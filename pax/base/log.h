#pragma once

#include <fmt/core.h>

#include <string_view>

namespace pax {

enum class LogLevel { kInfo, kWarning, kError };

/// One line on standard error: time, level, message. Safe from any thread.
void log_line(LogLevel level, std::string_view message);

template <class... Args>
void log_info(fmt::format_string<Args...> format, Args&&... args) {
  log_line(LogLevel::kInfo, fmt::format(format, std::forward<Args>(args)...));
}

template <class... Args>
void log_warning(fmt::format_string<Args...> format, Args&&... args) {
  log_line(LogLevel::kWarning, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace pax
