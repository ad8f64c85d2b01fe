#include <gmock/gmock.h>

#include "tests/serving/trained_run.h"

namespace pax {
namespace {

using ::testing::HasSubstr;

class Generate : public TrainedRun {
 protected:
  static nlohmann::json sample(const std::vector<std::string>& more, size_t i = 0) {
    std::vector<std::string> args = verb("generate", more);
    args.push_back("--json");
    const Ended ended = paxml(args);
    EXPECT_EQ(ended.exit_code, 0) << ended.err;
    return last_json(ended)["samples"][i];
  }
};

TEST_F(Generate, WritesOnFromAPrompt) {
  const Ended ended = paxml(verb("generate", {"--prompt", "in the", "--max_decode_steps", "9"}));
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_FALSE(ended.out.empty());
  EXPECT_THAT(ended.err, HasSubstr("6 prompt tokens"));
}

TEST_F(Generate, WritesTheSameForTheSameSeed) {
  const std::vector<std::string> more{"--prompt", "a", "--temperature", "1", "--max_decode_steps", "12", "--seed"};
  const auto with = [&](const char* seed) {
    std::vector<std::string> args = more;
    args.push_back(seed);
    return sample(args)["ids"];
  };
  EXPECT_EQ(with("5"), with("5"));
  EXPECT_NE(with("5"), with("6"));
}

TEST_F(Generate, OfTopPZeroIsThatOfTemperatureZero) {
  const auto with = [](const char* option, const char* value) {
    return sample({"--prompt", "the ", option, value, "--max_decode_steps", "8"})["ids"];
  };
  EXPECT_EQ(with("--p", "0"), with("--temperature", "0"));
  EXPECT_EQ(with("--k", "1"), with("--temperature", "0"));
}

TEST_F(Generate, EndsWhenTheCacheIsFull) {
  const nlohmann::json text = sample({"--prompt", "abc", "--max_decode_steps", "1000", "--eos_id", "319"});
  EXPECT_EQ(text["finish_reason"], "length");
  EXPECT_EQ(text["ids"].size(), 30u);  // 32 positions; the last token is written, not read
}

TEST_F(Generate, WritesSeveralSamples) {
  const std::vector<std::string> more{"--prompt", "a", "--temperature", "2", "--num_samples", "3"};
  EXPECT_NE(sample(more, 0)["ids"], sample(more, 2)["ids"]);
}

TEST_F(Generate, ASampleOfSeveralEqualsTheOneOfItsSeed) {
  const std::vector<std::string> one{"--prompt", "in", "--temperature", "1", "--seed", "8"};
  const std::vector<std::string> two{"--prompt", "in", "--temperature", "1", "--seed", "7", "--num_samples", "2"};
  EXPECT_EQ(sample(one)["ids"], sample(two, 1)["ids"]);
}

TEST_F(Generate, NeverWritesIdsThatTheTokenizerDoesNotKnow) {
  for (const auto& id :
       sample({"--prompt", "a", "--temperature", "50", "--seqlen", "400", "--max_decode_steps", "380"})["ids"]) {
    ASSERT_LT(id, 259);
  }
}

TEST_F(Generate, EndsBeforeAStopText) {
  const nlohmann::json whole = sample({"--prompt", "in ", "--max_decode_steps", "16"});
  const std::string text = whole["text"];
  ASSERT_GE(text.size(), 6u);
  const std::string stop = text.substr(3, 2);
  const nlohmann::json cut = sample({"--prompt", "in ", "--max_decode_steps", "16", "--stop", stop});
  EXPECT_EQ(cut["text"], text.substr(0, text.find(stop)));
  EXPECT_EQ(cut["finish_reason"], "stop");
}

TEST_F(Generate, TellsLogprobsAndEntropy) {
  const nlohmann::json text = sample({"--prompt", "in ", "--max_decode_steps", "3", "--logprobs", "2"});
  EXPECT_EQ(text["logprobs"].size(), text["ids"].size());
  EXPECT_LE(text["logprobs"][0]["logprob"], 0.0);
  EXPECT_EQ(text["logprobs"][0]["top"].size(), 2u);
}

/// A command that must fail, and what it must say.
struct Mistake {
  std::vector<std::string> more;
  const char* message;
};

TEST_F(Generate, SaysWhatIsWrong) {
  const std::vector<Mistake> mistakes{
      {{"--prompt", std::string(40, 'a')}, "40 tokens leave no room to write: a text has 32"},
      {{}, "no prompt; give --prompt"},
      {{"--prompt", "a", "--temperature", "-1"}, "temperature is -1"},
      {{"--prompt", "a", "--p", "1.5"}, "p is 1.5"},
      {{"--prompt", "a", "--max_decode_steps", "0"}, "max_decode_steps is 0"},
      {{"--prompt", "a", "--step", "77"}, "77"},
      {{"--prompt", "a", "--ema"}, "keeps none"},
  };
  for (const Mistake& mistake : mistakes) {
    const Ended ended = paxml(verb("generate", mistake.more));
    EXPECT_NE(ended.exit_code, 0) << mistake.message;
    EXPECT_THAT(ended.err, HasSubstr(mistake.message));
  }
}

TEST_F(Generate, SaysThatThereIsNoCheckpoint) {
  std::vector<std::string> args = verb("generate", {"--prompt", "a"});
  *std::ranges::find(args, run_dir().string()) = file("nothing").string();
  const Ended ended = paxml(args);
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.err, HasSubstr(file("nothing").string()));
}

TEST_F(Generate, BeginsAnEmptyPromptWithTheBeginningToken) {
  EXPECT_EQ(paxml(verb("generate", {"--prompt", "", "--max_decode_steps", "3"})).exit_code, 0);
}

class Eval : public TrainedRun {};

TEST_F(Eval, IsNotDoneAgainUnlessAsked) {
  const nlohmann::json first = last_json(paxml(verb("eval", {"--json"})));
  EXPECT_EQ(first["step"], 4);
  const nlohmann::json second = last_json(paxml(verb("eval", {"--json"})));
  EXPECT_EQ(second["done_before"], 1);
  EXPECT_EQ(second["eval"], first["eval"]);
  EXPECT_TRUE(std::filesystem::exists(run_dir() / "eval_out" / "held_out" / "eval_out_4_shard_0.jsonl"));
  EXPECT_EQ(last_json(paxml(verb("eval", {"--json", "--redo"})))["done_before"], 0);
}

TEST_F(Eval, WaitsOnlyWhenAsked) {
  const Ended once = paxml(verb("eval", {"--step", "9"}));
  EXPECT_EQ(once.exit_code, 1);
  EXPECT_THAT(once.err, HasSubstr("9"));
  EXPECT_EQ(paxml(verb("eval", {"--continuous", "--wait", "1"})).exit_code, 0);
}

class Decode : public TrainedRun {};

TEST_F(Decode, WritesALineForEachRow) {
  const Ended ended = paxml(verb("decode", {"--json", "--prompt_tokens", "8", "--max_batches", "1"}));
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  const nlohmann::json result = last_json(ended);
  const auto lines = split(read_file(std::string(result["files"]["held_out"])), '\n');
  ASSERT_EQ(lines.size(), 3u);  // two rows, and what is after the last newline
  const nlohmann::json row = nlohmann::json::parse(lines[0]);
  EXPECT_EQ(row["prefix_length"], 8);
  EXPECT_EQ(std::string(row["decoded"]).substr(0, 7), std::string(row["original"]).substr(0, 7));
  EXPECT_GT(result["metrics"]["held_out"]["decoded_length"]["value"], 8);
  EXPECT_EQ(last_json(paxml(verb("decode", {"--json"})))["done_before"], 1);
}

class Score : public TrainedRun {};

TEST_F(Score, ChoosesTheLikelierAnswer) {
  write_file_atomically(
      file("q.jsonl"),
      "{\"query\": \"in the \", \"choices\": [\"word\", \"\\u0001\\u0002\\u0003\\u0004\"], \"gold\": 0}\n"
      "{\"context\": \"a \", \"choices\": [\"~~~~\", \"the \", \"##\"], \"label\": 1}\n");
  const Ended ended = paxml(verb("score", {file("q.jsonl").string(), "--json", "--rows", "4"}));
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  const nlohmann::json result = last_json(ended);
  EXPECT_EQ(result["questions"].size(), 2u);
  EXPECT_EQ(result["questions"][0]["log_likelihoods"].size(), 2u);
  EXPECT_EQ(result["questions"][0]["tokens"][0], 4);
  const Ended one = paxml(verb("score", {file("q.jsonl").string(), "--json", "--rows", "1"}));
  EXPECT_NEAR(last_json(one)["questions"][1]["log_likelihoods"][2], result["questions"][1]["log_likelihoods"][2], 1e-4);
}

TEST_F(Score, NamesTheLineThatIsWrong) {
  write_file_atomically(file("bad.jsonl"), "{\"query\": \"a\", \"choices\": [\"b\"]}\n{\"query\": 3}\n");
  const Ended ended = paxml(verb("score", {file("bad.jsonl").string()}));
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.err, HasSubstr("bad.jsonl:2"));
}

}  // namespace
}  // namespace pax
