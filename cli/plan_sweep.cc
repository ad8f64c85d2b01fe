#include "cli/plan_sweep.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>

#include <map>

#include "pax/base/error.h"
#include "pax/base/files.h"
#include "pax/base/log.h"
#include "pax/base/text.h"

extern char** environ;

namespace pax::cli {
namespace {

/// The last line of `text` that is not empty.
std::string last_line(const std::string& text) {
  std::string last;
  for (std::string& line : split(text, '\n')) {
    if (!line.empty()) last = std::move(line);
  }
  return last;
}

/// A plan being made by another process.
struct Job {
  size_t index = 0;
  std::filesystem::path out, err;
};

pid_t start(std::vector<std::string> args, const Job& job) {
  std::vector<char*> argv;
  for (std::string& arg : args) argv.push_back(arg.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 1, job.out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  posix_spawn_file_actions_addopen(&files, 2, job.err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  pid_t pid = 0;
  const int error = ::posix_spawn(&pid, "/proc/self/exe", &files, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  if (error != 0) fail<RuntimeError>("--sweep: a process cannot be started (error {})", error);
  return pid;
}

}  // namespace

std::vector<SweepRow> sweep(const std::vector<std::string>& args, const std::vector<Alternative>& alternatives,
                            size_t jobs) {
  const TempDirectory files;
  std::vector<SweepRow> rows(alternatives.size());
  std::map<pid_t, Job> running;
  size_t next = 0, done = 0;
  while (done < alternatives.size()) {
    while (next < alternatives.size() && running.size() < jobs) {
      std::vector<std::string> all = args;
      for (const std::string& constant : alternatives[next]) all.push_back("--fdl." + constant);
      const Job job{next, files.path() / fmt::format("{}.out", next), files.path() / fmt::format("{}.err", next)};
      running[start(std::move(all), job)] = job;
      ++next;
    }
    int status = 0;
    const auto ended = running.extract(::wait(&status));
    if (ended.empty()) continue;
    const Job& job = ended.mapped();
    SweepRow& row = rows[job.index];
    row = sweep_row(alternatives[job.index], last_line(read_file(job.out)));
    if (!row.error.empty()) row.error = last_line(read_file(job.err));
    ++done;
    log_info("{} of {}: {}", done, alternatives.size(), join(row.alternative, " "));
  }
  return rows;
}

}  // namespace pax::cli
