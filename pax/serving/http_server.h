#pragma once

#include <functional>
#include <memory>
#include <string>

#include "pax/serving/completion_api.h"
#include "pax/serving/scheduler.h"

namespace pax {

struct ServerOptions {
  std::string host = "127.0.0.1";
  int port = 8000;                 ///< 0: any free one
  std::string model_name = "pax";  ///< as answers name it
  int64_t max_body_bytes = 1 << 20;
  int64_t max_waiting = 1024;     ///< texts in the queue; more are refused with 429
  int64_t max_connections = 256;  ///< answered at a time; more wait to be accepted
  double request_seconds = 300;   ///< after which a text ends as it is
  double grace_seconds = 20;      ///< for texts under way when the server is to stop
  CompletionLimits limits;
};

/// Serves a model over HTTP: /v1/completions and /v1/chat/completions as OpenAI has them, with streaming; /v1/models,
/// /health, /metrics (Prometheus).
class HttpServer {
 public:
  /// Binds the port. Throws RuntimeError when it is taken.
  HttpServer(TextModel& model, ServerOptions options);
  ~HttpServer();

  int port() const;
  /// Answers until `stop_requested`, then takes no more connections, lets the texts under way end for `grace_seconds`
  /// and returns.
  void run(const std::function<bool()>& stop_requested);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace pax
