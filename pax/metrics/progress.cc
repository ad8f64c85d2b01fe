#include "pax/metrics/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <utility>
#include <vector>

#include "pax/base/text.h"

namespace pax {
namespace {

constexpr int kBarCells = 24;
constexpr std::string_view kClearLine = "\r\x1b[K";

/// 12345 as "12.3k".
std::string short_number(double value) {
  for (const auto& [limit, unit] : {std::pair(1e9, "G"), std::pair(1e6, "M"), std::pair(1e3, "k")}) {
    if (value >= limit) return fmt::format("{:.1f}{}", value / limit, unit);
  }
  return fmt::format("{:.0f}", value);
}

/// The parts of a line beside the step, most wanted first.
std::vector<std::string> details(const Progress& progress) {
  std::vector<std::string> parts;
  if (progress.loss) parts.push_back(fmt::format("loss {:.4f}", *progress.loss));
  if (progress.tokens_per_s) parts.push_back(short_number(*progress.tokens_per_s) + " tokens/s");
  if (progress.mfu) parts.push_back(fmt::format("MFU {:.1f}%", 100 * *progress.mfu));
  if (progress.seconds_left) parts.push_back("left " + human_duration(*progress.seconds_left));
  return parts;
}

std::string step_text(const Progress& progress) {
  return fmt::format("step {}/{}", with_commas(progress.step), with_commas(progress.total_steps));
}

int terminal_columns(int fd) {
  winsize size{};
  return ::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

std::chrono::steady_clock::duration seconds(double count) {
  return std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double>(count));
}

}  // namespace

std::string human_duration(double duration) {
  if (!std::isfinite(duration) || duration < 0 || duration > 1e10) return "?";
  const auto total = static_cast<int64_t>(std::llround(duration));
  const int64_t days = total / 86400;
  const int64_t hours = total / 3600 % 24;
  const int64_t minutes = total / 60 % 60;
  if (days > 0) return fmt::format("{}d {}h", days, hours);
  if (hours > 0) return fmt::format("{}h {}m", hours, minutes);
  if (minutes > 0) return fmt::format("{}m {}s", minutes, total % 60);
  return fmt::format("{}s", total);
}

std::string render_line(const Progress& progress) {
  std::vector<std::string> parts = details(progress);
  parts.insert(parts.begin(), step_text(progress));
  return join(parts, "  ");
}

std::string render_bar(const Progress& progress, int columns) {
  const double total = static_cast<double>(std::max<int64_t>(progress.total_steps, 1));
  const double share = std::clamp(static_cast<double>(progress.step) / total, 0.0, 1.0);
  const auto filled = static_cast<int>(share * kBarCells);
  std::string text = fmt::format("{:3.0f}% [", std::floor(100 * share));
  text.append(static_cast<size_t>(filled), '=').append(static_cast<size_t>(kBarCells - filled), ' ').append("]");
  std::vector<std::string> parts = details(progress);
  parts.insert(parts.begin(), step_text(progress));
  for (const std::string& part : parts) {
    if (text.size() + 2 + part.size() <= static_cast<size_t>(std::max(columns, 0))) text += "  " + part;
  }
  return text.substr(0, static_cast<size_t>(std::max(columns, 0)));
}

ProgressDisplay::ProgressDisplay() : ProgressDisplay(Options{}) {}

ProgressDisplay::ProgressDisplay(Options options)
    : options_(options), terminal_(::isatty(options.fd) == 1), thread_([this] { run(); }) {}

ProgressDisplay::~ProgressDisplay() {
  {
    const std::scoped_lock lock(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void ProgressDisplay::update(const Progress& progress) {
  const std::scoped_lock lock(mutex_);
  pending_ = progress;
}

void ProgressDisplay::message(std::string_view line) {
  {
    const std::scoped_lock lock(mutex_);
    messages_.append(line).append("\n");
  }
  changed_.notify_all();
}

void ProgressDisplay::run() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  const auto interval = seconds(terminal_ ? options_.bar_interval_s : options_.line_interval_s);
  std::unique_lock lock(mutex_);
  auto next = std::chrono::steady_clock::now() + seconds(options_.bar_interval_s);
  while (!closed_) {
    changed_.wait_until(lock, next, [&] { return closed_ || !messages_.empty(); });
    const bool due = std::chrono::steady_clock::now() >= next;
    if (!due && !closed_ && !terminal_) {
      write(std::exchange(messages_, ""));
      continue;
    }
    if (due && pending_) next = std::chrono::steady_clock::now() + interval;
    if (due && !pending_) next = std::chrono::steady_clock::now() + seconds(options_.bar_interval_s);
    draw(lock);
  }
  draw(lock);
  if (terminal_ && !bar_.empty()) write("\n");
}

void ProgressDisplay::draw(std::unique_lock<std::mutex>& lock) {
  const std::string messages = std::exchange(messages_, "");
  const std::optional<Progress> progress = std::exchange(pending_, std::nullopt);
  lock.unlock();
  std::string text = messages;
  if (terminal_) {
    if (progress) bar_ = render_bar(*progress, terminal_columns(options_.fd) - 1);
    if (progress || !messages.empty()) text = std::string(kClearLine) + messages + bar_;
  } else if (progress) {
    text += render_line(*progress) + "\n";
  }
  write(text);
  lock.lock();
}

void ProgressDisplay::write(std::string_view text) const {
  while (!text.empty()) {
    const ssize_t written = ::write(options_.fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text.remove_prefix(static_cast<size_t>(written));
  }
}

}  // namespace pax
