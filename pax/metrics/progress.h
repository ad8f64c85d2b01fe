#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

namespace pax {

/// What a user wants to know of a run in progress. What is not known is left out.
struct Progress {
  int64_t step = 0;
  int64_t total_steps = 0;
  std::optional<double> loss;
  std::optional<double> tokens_per_s;
  /// Share of the devices' peak FLOP/s that the model uses, 0 to 1.
  std::optional<double> mfu;
  std::optional<double> seconds_left;
};

/// "step 420/1,000  loss 1.2345  12.3k tokens/s  MFU 41.0%  left 1m 23s"
std::string render_line(const Progress& progress);

/// A bar that fills with the step, and what of the line has room beside it: `columns` characters at most.
std::string render_bar(const Progress& progress, int columns);

/// 83 seconds as "1m 23s".
std::string human_duration(double seconds);

/// Shows progress on a terminal as a bar that is redrawn, elsewhere as a line every few seconds. Drawn by its own
/// thread: `update` only leaves the newest value. A terminal that has gone is ignored.
class ProgressDisplay {
 public:
  struct Options {
    int fd = 2;
    double bar_interval_s = 0.1;
    double line_interval_s = 10;
  };
  ProgressDisplay();
  explicit ProgressDisplay(Options options);
  /// Draws the last value, and ends the line.
  ~ProgressDisplay();
  ProgressDisplay(const ProgressDisplay&) = delete;
  ProgressDisplay& operator=(const ProgressDisplay&) = delete;

  void update(const Progress& progress);
  /// Prints a line of its own, above the bar.
  void message(std::string_view line);

 private:
  void run();
  /// Needs `lock` held; writes outside of it.
  void draw(std::unique_lock<std::mutex>& lock);
  void write(std::string_view text) const;

  const Options options_;
  const bool terminal_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Progress> pending_;
  std::string messages_;
  std::string bar_;
  bool closed_ = false;
  std::thread thread_;
};

}  // namespace pax
