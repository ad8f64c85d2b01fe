#include <gmock/gmock.h>
#include <httplib.h>
#include <signal.h>

#include <fstream>
#include <random>
#include <thread>

#include "tests/serving/trained_run.h"

namespace pax {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

/// A server of the trained run, in a process of its own.
class Server : public TrainedRun {
 protected:
  static constexpr int kPort = 18471;

  void start(const std::vector<std::string>& more = {}) {
    std::vector<std::string> args = verb("serve", {"--port", std::to_string(kPort), "--slots", "4"});
    args.insert(args.end(), more.begin(), more.end());
    process_ = std::make_unique<Paxml>(args);
    for (int i = 0; i < 600; ++i) {
      if (client().Get("/health")) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    FAIL() << "the server did not start: " << stop().err;
  }
  Ended stop() {
    process_->signal(SIGTERM);
    const Ended ended = process_->wait();
    process_.reset();
    return ended;
  }
  void TearDown() override {
    if (process_ == nullptr) return;
    EXPECT_EQ(stop().exit_code, 0);
  }

  static httplib::Client client() {
    httplib::Client client("127.0.0.1", kPort);
    client.set_read_timeout(120);
    return client;
  }
  static httplib::Result post(const json& body, const char* path = "/v1/completions") {
    return client().Post(path, body.dump(), "application/json");
  }
  static std::string metric(const std::string& name) {
    const std::string text = client().Get("/metrics")->body;
    const size_t at = text.find("\npax_" + name + " ");
    return at == std::string::npos ? ""
                                   : text.substr(at + name.size() + 6, text.find('\n', at + 1) - at - name.size() - 6);
  }

  std::unique_ptr<Paxml> process_;
};

json greedy(const std::string& prompt, int tokens) {
  return {{"prompt", prompt}, {"max_tokens", tokens}, {"temperature", 0}};
}

TEST_F(Server, CompletesAsGenerateDoes) {
  start();
  const auto answer = post(greedy("in the ", 12));
  ASSERT_TRUE(answer);
  ASSERT_EQ(answer->status, 200) << answer->body;
  const json body = json::parse(answer->body);
  const Ended generated =
      paxml(verb("generate", {"--prompt", "in the ", "--temperature", "0", "--max_decode_steps", "12", "--json"}));
  EXPECT_EQ(body["choices"][0]["text"], last_json(generated)["samples"][0]["text"]);
  EXPECT_EQ(body["object"], "text_completion");
  EXPECT_EQ(body["usage"]["prompt_tokens"], 7);
  EXPECT_EQ(body["usage"]["total_tokens"], 7 + int(body["usage"]["completion_tokens"]));
}

TEST_F(Server, StreamsTheSameTextPieceByPiece) {
  start();
  json request = greedy("the ", 10);
  const std::string whole = json::parse(post(request)->body)["choices"][0]["text"];
  request["stream"] = true;
  request["stream_options"] = {{"include_usage", true}};
  const std::string events = post(request)->body;
  EXPECT_TRUE(events.ends_with("data: [DONE]\n\n"));
  std::string text;
  int pieces = 0;
  for (const std::string& line : split(events, '\n')) {
    if (!line.starts_with("data: {")) continue;
    const json event = json::parse(line.substr(6));
    if (event["choices"].empty()) {
      EXPECT_GT(event["usage"]["completion_tokens"], 0);
      continue;
    }
    text += std::string(event["choices"][0]["text"]);
    ++pieces;
  }
  EXPECT_EQ(text, whole);
  EXPECT_GT(pieces, 3);
}

TEST_F(Server, ChatsAndTellsLogprobs) {
  start();
  const json request{{"messages", {{{"role", "user"}, {"content", "in"}}}},
                     {"max_tokens", 3},
                     {"logprobs", true},
                     {"top_logprobs", 2}};
  const json body = json::parse(post(request, "/v1/chat/completions")->body);
  EXPECT_EQ(body["object"], "chat.completion");
  EXPECT_EQ(body["choices"][0]["message"]["role"], "assistant");
  EXPECT_EQ(body["choices"][0]["logprobs"]["content"][0]["top_logprobs"].size(), 2u);
}

TEST_F(Server, AnswersTwoHundredClientsAtOnceAsItAnswersOne) {
  start();
  const std::string alone = json::parse(post(greedy("word ", 8))->body)["choices"][0]["text"];
  std::atomic<int> right = 0;
  std::vector<std::thread> clients;
  for (int i = 0; i < 200; ++i) {
    clients.emplace_back([&, i] {
      json request = greedy("word ", 8);
      request["stream"] = i % 2 == 0;
      const auto answer = post(request);
      if (!answer || answer->status != 200) return;
      std::string text;
      if (i % 2 == 0) {
        for (const std::string& line : split(answer->body, '\n')) {
          if (line.starts_with("data: {")) text += std::string(json::parse(line.substr(6))["choices"][0]["text"]);
        }
      } else {
        text = json::parse(answer->body)["choices"][0]["text"];
      }
      right += text == alone ? 1 : 0;
    });
  }
  for (std::thread& each : clients) each.join();
  EXPECT_EQ(right, 200);
}

TEST_F(Server, FreesTheSlotOfAClientThatLeaves) {
  start({"--seqlen", "1000"});
  for (int i = 0; i < 8; ++i) {
    json request = greedy("a", 900);
    request["stream"] = true;
    request["ignore_eos"] = true;
    httplib::Request leaving;
    leaving.method = "POST";
    leaving.path = "/v1/completions";
    leaving.body = request.dump();
    leaving.content_receiver = [](const char*, size_t, uint64_t, uint64_t) { return false; };
    client().send(leaving);
  }
  for (int i = 0; i < 100 && metric("texts_active") != "0"; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  EXPECT_EQ(metric("texts_active"), "0");
  EXPECT_EQ(post(greedy("a", 2))->status, 200);
}

TEST_F(Server, RefusesWhatIsTooMuch) {
  start({"--max_waiting", "2", "--max_body_bytes", "2000"});
  EXPECT_EQ(post(greedy(std::string(4000, 'a'), 2))->status, 413);
  json many = greedy("a", 2);
  many["n"] = 20;
  EXPECT_EQ(post(many)->status, 429);
  EXPECT_EQ(post(greedy("a", 2))->status, 200);
}

TEST_F(Server, SaysWhatIsWrongWithARequest) {
  start();
  const std::vector<std::pair<std::string, const char*>> mistakes{
      {"{", "not JSON"},
      {"[]", "JSON object"},
      {"{}", "prompt: a text is needed"},
      {R"({"prompt": 3})", "prompt:"},
      {R"({"prompt": [999999]})", "not in the model's vocabulary"},
      {R"({"prompt": [-1]})", "token ids"},
      {R"({"prompt": "a", "temperature": -1})", "temperature is -1"},
      {R"({"prompt": "a", "top_p": 2})", "p is 2"},
      {R"({"prompt": "a", "max_tokens": 0})", "max_decode_steps is 0"},
      {R"({"prompt": "a", "max_tokens": "many"})", "max_tokens: a number"},
      {R"({"prompt": "a", "n": 100000})", "n is 100000"},
      {R"({"prompt": "a", "stop": [""]})", "stop:"},
      {R"({"prompt": "a", "presence_penalty": 1})", "presence_penalty"},
      {R"({"prompt": ")" + std::string(100, 'a') + "\"}", "leave no room to write"},
  };
  for (const auto& [body, message] : mistakes) {
    const auto answer = client().Post("/v1/completions", body, "application/json");
    ASSERT_TRUE(answer) << body;
    EXPECT_GE(answer->status, 400) << body;
    EXPECT_THAT(std::string(json::parse(answer->body)["error"]["message"]), HasSubstr(message)) << body;
  }
  EXPECT_EQ(client().Get("/nothing")->status, 404);
}

TEST_F(Server, LivesThroughGarbage) {
  start();
  std::mt19937 random(3);
  const std::string good = R"({"prompt": "in the", "max_tokens": 2, "stop": ["x"], "n": 1, "logprobs": 1})";
  for (int i = 0; i < 150; ++i) {
    std::string body = good;
    for (unsigned k = 0; k < 1 + random() % 6; ++k) body[random() % body.size()] = static_cast<char>(random());
    const auto answer = client().Post("/v1/completions", body, "application/json");
    ASSERT_TRUE(answer) << body;
    ASSERT_TRUE(json::accept(answer->body)) << body;
  }
  for (int i = 0; i < 50; ++i) {  // Not HTTP at all.
    const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{.sin_family = AF_INET, .sin_port = htons(kPort), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    ASSERT_EQ(::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    std::string noise(random() % 400, ' ');
    for (char& c : noise) c = static_cast<char>(random());
    (void)!::write(fd, noise.data(), noise.size());
    ::close(fd);
  }
  EXPECT_EQ(post(greedy("a", 2))->status, 200);
}

TEST_F(Server, LetsTextsEndWhenAskedToStop) {
  start({"--seqlen", "400"});
  json request = greedy("in ", 150);
  request["ignore_eos"] = true;
  int status = 0;
  size_t tokens = 0;
  std::thread asking([&] {
    const auto answer = post(request);
    if (!answer) return;
    status = answer->status;
    tokens = json::parse(answer->body)["usage"]["completion_tokens"];
  });
  for (int i = 0; i < 100 && metric("texts_active") != "1"; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  EXPECT_EQ(stop().exit_code, 0);
  asking.join();
  EXPECT_EQ(status, 200);
  EXPECT_EQ(tokens, 150u);
}

}  // namespace
}  // namespace pax
