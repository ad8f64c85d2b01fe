#include "pax/trainer/stop_signal.h"

#include <csignal>

namespace pax {
namespace {

// A signal handler can reach nothing but this.
volatile std::sig_atomic_t stop_requested = 0;

void on_signal(int signal) {
  if (signal == SIGINT && stop_requested != 0) {
    std::signal(SIGINT, SIG_DFL);
    std::raise(SIGINT);
  }
  stop_requested = 1;
}

void handle(int signal, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  sigaction(signal, &action, nullptr);
}

}  // namespace

StopSignal::StopSignal() {
  stop_requested = 0;
  handle(SIGTERM, on_signal);
  handle(SIGINT, on_signal);
}

StopSignal::~StopSignal() {
  handle(SIGTERM, SIG_DFL);
  handle(SIGINT, SIG_DFL);
}

bool StopSignal::requested() const { return stop_requested != 0; }

}  // namespace pax
