#include "pax/serving/http_server.h"

#include <fmt/format.h>
#include <httplib.h>

#include <atomic>
#include <ctime>
#include <nlohmann/json.hpp>
#include <thread>

#include "pax/base/error.h"
#include "pax/base/log.h"
#include "pax/serving/reply.h"

namespace pax {
namespace {

using std::chrono::milliseconds;

constexpr auto kLook = milliseconds(250);  // How often a silent stream looks for its client.
constexpr int kReadSeconds = 10, kKeepAliveSeconds = 5;

/// Threads that answer connections. When all are busy, the connections that wait hold up the accepting thread: what
/// comes then stays with the operating system.
class BoundedThreads final : public httplib::TaskQueue {
 public:
  explicit BoundedThreads(int64_t threads) : pool_(static_cast<size_t>(threads)), room_(threads) {}
  void enqueue(std::function<void()> task) override {
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return room_ > 0; });
      --room_;
    }
    pool_.enqueue([this, task = std::move(task)] {
      task();
      {
        const std::lock_guard lock(mutex_);
        ++room_;
      }
      changed_.notify_one();
    });
  }
  void shutdown() override { pool_.shutdown(); }

 private:
  httplib::ThreadPool pool_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int64_t room_;
};

void set_error(httplib::Response& response, int status, std::string_view message) {
  response.status = status;
  response.set_content(error_json(status, message) + "\n", "application/json");
}

}  // namespace

class HttpServer::Impl {
 public:
  Impl(TextModel& model, ServerOptions options)
      : model_(model),
        options_(std::move(options)),
        scheduler_(model.steps(), model.vocab_limit(), options_.max_waiting) {
    server_.new_task_queue = [this] { return new BoundedThreads(options_.max_connections); };
    server_.set_payload_max_length(static_cast<size_t>(options_.max_body_bytes));
    server_.set_read_timeout(kReadSeconds);
    server_.set_write_timeout(kReadSeconds);
    server_.set_keep_alive_timeout(kKeepAliveSeconds);
    server_.set_tcp_nodelay(true);
    server_.set_socket_options([this](socket_t socket) {
      const int yes = 1;
      setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
      socket_ = socket;
    });
    server_.set_error_handler([this](const httplib::Request&, httplib::Response& response) { fill_error(response); });
    server_.set_exception_handler([](const httplib::Request&, httplib::Response& response, std::exception_ptr) {
      set_error(response, 500, "the server could not answer");
    });
    add_routes();
    port_ = options_.port == 0 ? server_.bind_to_any_port(options_.host) : options_.port;
    const bool bound = options_.port == 0 ? port_ > 0 : server_.bind_to_port(options_.host, options_.port);
    if (!bound) {
      fail<RuntimeError>("serve: {}:{} cannot be listened on; it may be taken: give another --port", options_.host,
                         options_.port);
    }
    // The library lets five clients wait to be accepted; a burst of more would be turned away.
    ::listen(socket_, static_cast<int>(options_.max_waiting));
  }

  int port() const { return port_; }

  void run(const std::function<bool()>& stop_requested) {
    std::thread listening([this] { server_.listen_after_bind(); });
    while (!stop_requested()) std::this_thread::sleep_for(milliseconds(50));
    stopping_ = true;
    scheduler_.drain();
    server_.stop();
    const auto end = Reply::Clock::now() + std::chrono::duration<double>(options_.grace_seconds);
    while (Reply::Clock::now() < end && busy()) std::this_thread::sleep_for(milliseconds(20));
    scheduler_.stop();
    listening.join();
  }

 private:
  bool busy() const {
    const SchedulerStats stats = scheduler_.stats();
    return stats.waiting + stats.active > 0;
  }

  void add_routes() {
    server_.Post("/v1/completions", [this](const httplib::Request& request, httplib::Response& response) {
      complete(Api::kCompletions, request, response);
    });
    server_.Post("/v1/chat/completions", [this](const httplib::Request& request, httplib::Response& response) {
      complete(Api::kChat, request, response);
    });
    server_.Get("/v1/models", [this](const httplib::Request&, httplib::Response& response) {
      const nlohmann::json model{
          {"id", options_.model_name}, {"object", "model"}, {"created", created_}, {"owned_by", "pax"}};
      response.set_content(nlohmann::json{{"object", "list"}, {"data", {model}}}.dump(), "application/json");
    });
    server_.Get("/health", [this](const httplib::Request&, httplib::Response& response) {
      if (stopping_) return set_error(response, 503, "the server is stopping");
      const nlohmann::json health{{"status", "ok"}, {"checkpoint_step", model_.checkpoint_step()}};
      response.set_content(health.dump(), "application/json");
    });
    server_.Get("/metrics", [this](const httplib::Request&, httplib::Response& response) {
      response.set_content(metrics(), "text/plain; version=0.0.4");
    });
  }

  /// Bodies of errors that come from the HTTP library.
  void fill_error(httplib::Response& response) {
    count(response.status);
    if (!response.body.empty()) return;
    const char* message = response.status == 404   ? "there is no such page"
                          : response.status == 413 ? "the body is too large"
                                                   : "the request cannot be answered";
    set_error(response, response.status, message);
  }

  void count(int status) {
    const std::lock_guard lock(mutex_);
    ++answers_[status];
  }

  void complete(Api api, const httplib::Request& request, httplib::Response& response) {
    try {
      if (stopping_) throw BadRequest{503, "the server is stopping"};
      CompletionRequest parsed = parse_completion(api, request.body, model_, options_.limits);
      const auto deadline = Reply::Clock::now() + std::chrono::duration_cast<Reply::Clock::duration>(
                                                      std::chrono::duration<double>(options_.request_seconds));
      const auto reply = std::make_shared<Reply>(std::move(parsed), model_.tokenizer(), deadline);
      if (!scheduler_.submit(reply->sequences())) {
        throw BadRequest{stopping_ ? 503 : 429,
                         stopping_ ? "the server is stopping" : "too many requests wait; try later"};
      }
      if (reply->request().stream) {
        stream(reply, response);
      } else {
        answer(*reply, response);
      }
    } catch (const BadRequest& bad) {
      set_error(response, bad.status, bad.message);
    }
  }

  AnswerHead head_of(const Reply& reply) {
    return {.api = reply.request().api,
            .id = fmt::format("{}-{}", reply.request().api == Api::kChat ? "chatcmpl" : "cmpl", ++last_id_),
            .model = options_.model_name,
            .created = static_cast<int64_t>(std::time(nullptr)),
            .prompt_tokens = reply.prompt_tokens(),
            .completion_tokens = reply.completion_tokens(),
            .logprobs = reply.request().sampling.logprobs >= 0};
  }

  void answer(Reply& reply, httplib::Response& response) {
    const std::vector<Choice> choices = reply.wait();
    if (!reply.error().empty()) throw BadRequest{500, reply.error()};
    finish(reply);
    response.set_content(answer_json(head_of(reply), choices, model_.tokenizer()), "application/json");
  }

  void stream(const std::shared_ptr<Reply>& reply, httplib::Response& response) {
    const AnswerHead head = head_of(*reply);
    response.set_header("Cache-Control", "no-cache");
    response.set_chunked_content_provider(
        "text/event-stream",
        [this, reply, head](size_t, httplib::DataSink& sink) { return send_piece(*reply, head, sink); },
        [this, reply](bool) {
          finish(*reply);
          reply->abandon();
        });
  }

  /// One event of a stream; false when the client is gone.
  bool send_piece(Reply& reply, AnswerHead head, httplib::DataSink& sink) {
    const auto send = [&](const std::string& text) { return sink.write(text.data(), text.size()); };
    while (true) {
      if (const std::optional<Choice> piece = reply.next(kLook)) {
        return send(stream_event(head, {*piece}, model_.tokenizer()));
      }
      if (reply.ended()) break;
      if (!sink.is_writable()) return false;
    }
    if (!reply.error().empty() && !send("data: " + error_json(500, reply.error()) + "\n\n")) return false;
    head.completion_tokens = reply.completion_tokens();
    if (reply.request().usage_in_stream && !send(stream_event(head, {}, model_.tokenizer()))) return false;
    if (!send("data: [DONE]\n\n")) return false;
    sink.done();
    return true;
  }

  void finish(const Reply& reply) {
    count(200);
    const std::lock_guard lock(mutex_);
    if (reply.first_token_seconds() > 0) {
      first_token_seconds_ += reply.first_token_seconds();
      ++first_tokens_;
    }
  }

  std::string metrics() const {
    const SchedulerStats stats = scheduler_.stats();
    std::string text;
    const auto add = [&](const char* name, const char* type, double value) {
      text += fmt::format("# TYPE pax_{} {}\npax_{} {}\n", name, type, name, value);
    };
    add("texts_waiting", "gauge", static_cast<double>(stats.waiting));
    add("texts_active", "gauge", static_cast<double>(stats.active));
    add("slots", "gauge", static_cast<double>(stats.slots));
    add("texts_finished_total", "counter", static_cast<double>(stats.finished));
    add("tokens_total", "counter", static_cast<double>(stats.tokens));
    add("prompt_tokens_total", "counter", static_cast<double>(stats.prompt_tokens));
    add("steps_total", "counter", static_cast<double>(stats.steps));
    add("step_seconds_total", "counter", stats.step_seconds);
    add("compiles_total", "counter", static_cast<double>(model_.compile_count()));
    const std::lock_guard lock(mutex_);
    add("first_token_seconds_sum", "counter", first_token_seconds_);
    add("first_token_seconds_count", "counter", static_cast<double>(first_tokens_));
    text += "# TYPE pax_answers_total counter\n";
    for (const auto& [status, count] : answers_)
      text += fmt::format("pax_answers_total{{status=\"{}\"}} {}\n", status, count);
    return text;
  }

  TextModel& model_;
  const ServerOptions options_;
  const int64_t created_ = static_cast<int64_t>(std::time(nullptr));
  int port_ = 0;
  std::atomic<bool> stopping_ = false;
  std::atomic<int64_t> last_id_ = 0;
  mutable std::mutex mutex_;
  std::map<int, int64_t> answers_;
  double first_token_seconds_ = 0;
  int64_t first_tokens_ = 0;
  Scheduler scheduler_;
  httplib::Server server_;
  socket_t socket_ = INVALID_SOCKET;  ///< that listens
};

HttpServer::HttpServer(TextModel& model, ServerOptions options)
    : impl_(std::make_unique<Impl>(model, std::move(options))) {}
HttpServer::~HttpServer() = default;
int HttpServer::port() const { return impl_->port(); }
void HttpServer::run(const std::function<bool()>& stop_requested) { impl_->run(stop_requested); }

}  // namespace pax
