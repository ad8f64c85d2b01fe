#include "tests/cli/paxml.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

namespace pax {
namespace {

void redirect(const std::filesystem::path& path, int fd) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  ::dup2(file, fd);
  ::close(file);
}

}  // namespace

Paxml::Paxml(const std::vector<std::string>& args, const std::vector<std::string>& variables) {
  std::vector<char*> argv{const_cast<char*>(PAXML_PROGRAM)};
  for (const std::string& arg : args) argv.push_back(const_cast<char*>(arg.c_str()));
  argv.push_back(nullptr);
  pid_ = ::fork();
  if (pid_ != 0) return;
  redirect(files_.path() / "out", STDOUT_FILENO);
  redirect(files_.path() / "err", STDERR_FILENO);
  ::setenv("XDG_CACHE_HOME", PAXML_TEST_CACHE, 1);
  for (const std::string& variable : variables) ::putenv(const_cast<char*>(variable.c_str()));
  ::execv(argv[0], argv.data());
  ::_exit(127);
}

void Paxml::signal(int number) const { ::kill(pid_, number); }

Ended Paxml::wait() {
  int status = 0;
  ::waitpid(pid_, &status, 0);
  Ended ended;
  ended.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  ended.out = read_file(files_.path() / "out");
  ended.err = read_file(files_.path() / "err");
  return ended;
}

Ended paxml(const std::vector<std::string>& args, const std::vector<std::string>& variables) {
  return Paxml(args, variables).wait();
}

std::vector<std::string> tiny_experiment(const std::filesystem::path& text, int steps) {
  return {"--exp",
          "lm.text.ByteLmSmall",
          "--fdl.NUM_LAYERS=1",
          "--fdl.MODEL_DIMS=16",
          "--fdl.HIDDEN_DIMS=32",
          "--fdl.DIMS_PER_HEAD=8",
          "--fdl.MAX_SEQ_LEN=32",
          "--fdl.PERCORE_BATCH_SIZE=2",
          "--fdl.DROPOUT_PROB=0.1",
          fmt::format("--fdl.NUM_TRAIN_STEPS={}", steps),
          "--set",
          "input.path=" + text.string()};
}

void write_text(const std::filesystem::path& path, size_t bytes) {
  static const char* const kWords[] = {"in ", "the ", "beginning ", "was ", "a ", "word\n", "and ", "light "};
  std::string text;
  uint32_t state = 1;
  while (text.size() < bytes) {
    state = state * 1664525u + 1013904223u;
    text += kWords[state >> 29];
  }
  text.resize(bytes);
  write_file_atomically(path, text);
}

}  // namespace pax
