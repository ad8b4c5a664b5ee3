//===- PlanTest.cpp - Plans, and the JSON that they are written in --------===//

#include "runtime/plan/Plan.h"
#include "runtime/plan/Json.h"
#include "runtime/schedule/Table.h"
#include <catch2/catch.hpp>
#include <random>

using namespace mlc::runtime;
using Catch::Matchers::Contains;

namespace {

std::string problemOf(const std::string &text) {
  json::Value value;
  return json::parse(text, value).message;
}

std::string problemOf(const std::string &text, bool trains) {
  Plan plan;
  Status status = Plan::parse(text, trains, plan);
  CHECK((status.ok() || status.code == MLC_BAD_FILE));
  return status.message;
}

/// What is written of what is read.
std::string readAndWritten(const std::string &text, bool trains) {
  Plan plan;
  Status status = Plan::parse(text, trains, plan);
  CHECK(status.message.empty());
  return plan.text();
}

} // namespace

TEST_CASE("JSON is read in its order", "[plan]") {
  json::Value value;
  REQUIRE(json::parse(" {\"b\": [1, -2.5e1, true, null, \"\\u00e4\\ud83d\\ude00"
                      "\\n\"], \"a\": {}, \"c\": 9223372036854775807}\n",
                      value)
              .ok());
  const auto *object = value.get<json::Object>();
  REQUIRE(object);
  REQUIRE(object->size() == 3);
  CHECK((*object)[0].first == "b");
  CHECK((*object)[1].first == "a");
  CHECK((*object)[1].second.get<json::Object>());
  CHECK(*(*object)[2].second.get<int64_t>() == INT64_MAX);
  const auto &array = *(*object)[0].second.get<json::Array>();
  REQUIRE(array.size() == 5);
  CHECK(*array[0].get<int64_t>() == 1);
  CHECK(*array[1].get<double>() == -25);
  CHECK(*array[2].get<bool>());
  CHECK(array[3].get<std::nullptr_t>());
  CHECK(*array[4].get<std::string>() == "\xc3\xa4\xf0\x9f\x98\x80\n");
}

TEST_CASE("what is no JSON is named with its place", "[plan]") {
  for (auto [text, message] : {
           std::pair("", "line 1, column 1: expected a value"),
           {"{\n \"a\" 1}", "line 2, column 6: expected ':'"},
           {"{\"a\": 1,}", "expected a key, a string"},
           {"[1 2]", "expected ',' or ']'"},
           {"{\"a\": 1, \"a\": 2}", "the key \"a\" is there twice"},
           {"\"a", "expected '\"', the end of a string"},
           {"\"\\x\"", "expected an escape that JSON has"},
           {"\"\\ud800\"", "expected the second half of a pair of surrogates"},
           {"\"\xff\"", "expected a string of UTF-8"},
           {"\"\n\"", "expected no control character in a string"},
           {"01", "expected a value"},
           {"1.", "expected a digit"},
           {"9223372036854775808", "expected a number that 64 bits hold"},
           {"1e999", "expected a number that 64 bits hold"},
           {"nul", "expected a value"},
           {"{} x", "expected the end of the text"},
       })
    CHECK_THAT(problemOf(text), Contains(message));
  CHECK_THAT(problemOf(std::string(100, '[')), Contains("no more than 64"));
  CHECK_THAT(problemOf(std::string(1 << 20, '[')), Contains("no more than 64"));
}

TEST_CASE("many keys take no long time", "[plan]") {
  std::string text = "{\"mesh\": {\"a\": 2}, \"shard\": {";
  for (int i = 0; i < 300000; ++i)
    text += (i ? ", \"" : "\"") + std::to_string(i) + "\": \"a\"";
  CHECK_THAT(problemOf(text + "}}", false),
             Contains("there are more than 16384 tensors"));
}

TEST_CASE("any bytes are read or refused", "[plan]") {
  const std::string all[] = {
      "{\"mesh\": {\"data\": 2, \"b\": 3}, \"shard\": "
      "{\"x*\": \"data+b,-\"}, \"algorithm\": \"ring\"}",
      "{\"model\": {\"file\": \"m\", \"blake3\": \"" + std::string(64, 'a') +
          "\"}, \"cluster\": \"c\", \"mesh\": {\"data\": 1, \"stage\": 2}, "
          "\"micro_batches\": 4, \"schedule\": \"1f1b\", \"stages\": "
          "[{\"until\": \"a\", \"ranks\": \"0\"}, {\"ranks\": \"1\"}], "
          "\"predicted\": {\"seconds\": 1e-3, \"bound\": 2}}"};
  std::mt19937 random(1);
  const std::string alphabet = "{}[]\",:+-0123456789eE.\\u\ntruefalsn\xff";
  for (int i = 0; i < 20000; ++i) {
    std::string text = all[i % 2];
    for (unsigned changes = 1 + random() % 4; changes; --changes) {
      const size_t at = random() % text.size();
      const char c = alphabet[random() % alphabet.size()];
      if (random() % 3 == 0)
        text.erase(at, 1 + random() % 5);
      else if (random() % 2)
        text[at] = c;
      else
        text.insert(at, 1, c);
      if (text.empty())
        text = " ";
    }
    Plan plan;
    if (Plan::parse(text, random() % 2, plan).ok()) {
      // What is written means the same.
      Plan again;
      CHECK(Plan::parse(plan.text(), plan.training.has_value(), again).ok());
      CHECK(again.text() == plan.text());
    }
  }
}

TEST_CASE("a plan says what it is for", "[plan]") {
  const std::string hash(64, '0');
  const std::string text =
      "{\n  \"model\": {\"file\": \"m.onnx\", \"blake3\": \"" + hash +
      "\"},\n  \"cluster\": \"cluster:k80-4\",\n"
      "  \"mesh\": {\"data\": 1, \"stage\": 2},\n  \"accumulate\": 4,\n"
      "  \"stages\": [{\"until\": \"a\", \"ranks\": \"0\"}, {\"ranks\": "
      "\"1\"}],\n  \"schedule\": \"1f1b\",\n"
      "  \"predicted\": {\"seconds\": 0.1, \"bound\": 1e-09}\n}\n";
  CHECK(readAndWritten(text, true) == text);
  Plan plan;
  REQUIRE(Plan::parse(text, true, plan).ok());
  CHECK(plan.origin.checkModel("m", hash).ok());
  CHECK_THAT(plan.origin.checkModel("m", std::string(64, '1')).message,
             Contains("is another model than the plan is for"));
  // Ranks without ends: the stages are made equally heavy.
  const std::string places =
      "{\n  \"mesh\": {\"data\": 1, \"stage\": 2},\n  \"stages\": [{"
      "\"ranks\": \"0\"}, {\"ranks\": \"1\"}, {\"ranks\": \"0\"}, "
      "{\"ranks\": \"1\"}]\n}\n";
  CHECK(readAndWritten(places, true) == places);
  // Chimera has each stage on two ranks.
  const std::string both =
      "{\n  \"mesh\": {\"data\": 1, \"stage\": 2},\n  \"accumulate\": 2,\n"
      "  \"stages\": [{\"ranks\": \"0-1\"}, {\"ranks\": \"0-1\"}],\n"
      "  \"schedule\": \"chimera\"\n}\n";
  CHECK(readAndWritten(both, true) == both);
}

TEST_CASE("a plan is of a model in stages", "[plan]") {
  const std::string text =
      "{\n  \"mesh\": {\"stage\": 2},\n  \"micro_batches\": 4,\n"
      "  \"stages\": [{\"until\": \"a\"}, {}],\n  \"schedule\": "
      "\"gpipe\"\n}\n";
  CHECK(readAndWritten(text, false) == text);
  // Ranks that share the micro-batches of a stage.
  const std::string shared =
      "{\n  \"mesh\": {\"stage\": 3},\n  \"micro_batches\": 4,\n"
      "  \"stages\": [{\"ranks\": \"0-1\"}, {\"ranks\": \"2\"}]\n}\n";
  CHECK(readAndWritten(shared, false) == shared);
  CHECK(readAndWritten("{\"micro_batches\": 4, \"stages\": [{\"ranks\": "
                       "\"0-1\"}, {\"ranks\": \"2\"}]}",
                       false) == shared);
  // A rank for each stage unless the mesh says how many there are.
  CHECK(readAndWritten("{\"stages\": 3}", false) ==
        "{\n  \"mesh\": {\"stage\": 3},\n  \"stages\": 3\n}\n");
  Plan plan;
  REQUIRE(Plan::parse("{\"stages\": 4, \"mesh\": {\"stage\": 2}, "
                      "\"micro_batches\": 2}",
                      false, plan)
              .ok());
  schedule::Table table;
  REQUIRE(plan.forward->makeTable(table).ok());
  CHECK(table.text() == "0F0,0F1,2F0,2F1\n1F0,1F1,3F0,3F1\n");
  for (auto [given, message] :
       {std::pair("{\"stages\": 2, \"mesh\": {\"data\": 2}}",
                  "'data' would split them"),
        {"{\"micro_batches\": 2}", "two stages at least"},
        {"{\"stages\": [{\"mesh\": {\"data\": 1}}, {\"mesh\": {\"data\": "
         "1}}]}",
         "meshes of stages are of training"},
        {"{\"stages\": 5000}", "has 1 to 4096 stages"},
        {"{\"stages\": 2, \"micro_batches\": 2000000}",
         "1 to 1048576 micro-batches"},
        {"{\"stages\": 2, \"micro_batches\": -1}",
         "1 to 1048576 micro-batches"},
        {"{\"stages\": 2, \"accumulate\": 2}", "is of mlc train"},
        {"{\"stages\": 2, \"mesh\": {\"stage\": 2}, \"shard\": {\"x\": "
         "\"stage\"}}",
         "leave shardings and the algorithm out"},
        {"{\"stages\": 2, \"micro_batches\": 4, \"schedule\": \"ampnet\"}",
         "the schedule ampnet has no forward passes"}})
    CHECK_THAT(problemOf(given, false), Contains(message));
}

TEST_CASE("a plan has one text", "[plan]") {
  const std::string model = "{\n  \"mesh\": {\"data\": 2, \"fsdp\": 2},\n"
                            "  \"shard\": {\"x\": \"data+fsdp\",\n"
                            "            \"w*\": \"-,fsdp\"},\n"
                            "  \"algorithm\": \"ring\"\n}\n";
  CHECK(readAndWritten(model, false) == model);
  CHECK(readAndWritten("{\"algorithm\": \"ring\", \"shard\": {\"x\": "
                       "\"data+fsdp\", \"w*\": \"-,fsdp\"}, \"mesh\": "
                       "{\"data\": 2, \"fsdp\": 2}}",
                       false) == model);
  const std::string training = "{\n  \"mesh\": {\"data\": 4},\n  \"zero\": 3,\n"
                               "  \"fusion\": \"horovod\",\n"
                               "  \"bucket_bytes\": 5,\n"
                               "  \"prefetch_limit\": 0,\n"
                               "  \"batch_statistics\": \"local\"\n}\n";
  CHECK(readAndWritten(training, true) == training);
  // The first bucket is as large as the others where nothing is said of it.
  CHECK(
      readAndWritten("{\"bucket_bytes\": 64, \"mesh\": {\"data\": 2}, "
                     "\"first_bucket_bytes\": 64}",
                     true) ==
      readAndWritten("{\"mesh\": {\"data\": 2}, \"bucket_bytes\": 64}", true));
  const std::string first = "{\n  \"mesh\": {\"data\": 2},\n"
                            "  \"bucket_bytes\": 64,\n"
                            "  \"first_bucket_bytes\": 1048576\n}\n";
  CHECK(readAndWritten(first, true) == first);
  // Defaults are left out.
  CHECK(readAndWritten("{\"mesh\": {\"data\": 4}, \"zero\": 0, "
                       "\"bucket_bytes\": 26214400, \"first_bucket_bytes\": "
                       "1048576, \"fusion\": \"ddp\", \"staleness\": 0}",
                       true) == "{\n  \"mesh\": {\"data\": 4}\n}\n");
  Plan one, other;
  REQUIRE(Plan::parse(training, true, one).ok());
  REQUIRE(Plan::parse("{\"mesh\": {\"data\": 4}}", true, other).ok());
  CHECK(one.hash().size() == 64);
  CHECK(one.hash() != other.hash());
}

TEST_CASE("ranks have the stages of their line", "[plan]") {
  auto stagesOf = [](const char *text, int64_t rank) {
    Plan plan;
    Status status = Plan::parse(text, true, plan);
    INFO(status.message);
    REQUIRE(status.ok());
    return plan.training->stagesOf(rank);
  };
  using Stages = std::vector<bool>;
  const char *whole = "{\"mesh\": {\"data\": 1}, \"stages\": 2}";
  CHECK(stagesOf(whole, 0) == Stages{true, true});
  const char *two = "{\"mesh\": {\"data\": 2, \"stage\": 2}, \"stages\": 4, "
                    "\"accumulate\": 2}";
  for (int64_t rank : {0, 2})
    CHECK(stagesOf(two, rank) == Stages{true, false, true, false});
  for (int64_t rank : {1, 3})
    CHECK(stagesOf(two, rank) == Stages{false, true, false, true});
  // The tensor axis is the last, so it changes before the stage does.
  const char *three = "{\"mesh\": {\"data\": 1, \"stage\": 2, \"tensor\": 2}, "
                      "\"stages\": 2, \"shard\": {\"w\": \"tensor\"}, "
                      "\"accumulate\": 2}";
  for (int64_t rank : {0, 1})
    CHECK(stagesOf(three, rank) == Stages{true, false});
  CHECK(stagesOf(three, 2) == Stages{false, true});
  // Each rank of Chimera has a stage of both replicas.
  const char *chimera =
      "{\"mesh\": {\"data\": 1, \"stage\": 4}, \"stages\": 4, "
      "\"schedule\": \"chimera\", \"accumulate\": 4}";
  CHECK(stagesOf(chimera, 1) == Stages{false, true, true, false});
}

TEST_CASE("what is no plan is named", "[plan]") {
  for (auto [text, message] : {
           std::pair("[]", "a plan is a JSON object, not an array"),
           {"{\"mash\": 1}", "\"mash\": is no key of a plan; there are mesh, "},
           {"{\"mesh\": 2}", "\"mesh\": expected an object"},
           {"{\"mesh\": {\"a\": 1.5}}", "expected a whole number of ranks"},
           {"{\"mesh\": {\"a\": 0}}", "the axis 'a' has 0 ranks"},
           {"{\"mesh\": {\"a b\": 2}}", "other characters than letters"},
           {"{\"mesh\": {\"a\": 65536, \"b\": 2}}", "more than 65536 ranks"},
           {"{\"mesh\": {\"a\": 2}, \"shard\": {\"x\": \"b\"}}",
            "\"shard\": \"x\": 'b' is no axis of the mesh"},
           {"{\"mesh\": {\"a\": 2, \"b\": 2}, \"shard\": {\"x\": \"b+a\"}}",
            "'b' stands before 'a'; give them in the order of the mesh, a+b"},
           {"{\"mesh\": {\"a\": 2}, \"shard\": {\"x\": 1}}",
            "expected a string, \"AXIS,-\", not a number"},
           {"{\"shard\": {\"x\": \"-\"}}", "has no \"mesh\""},
           {"{\"mesh\": {\"a\": 2}, \"algorithm\": \"best\"}",
            "there is no algorithm 'best'"},
           {"{\"mesh\": {\"a\": 3}, \"algorithm\": \"butterfly\"}",
            "along the axis a: the algorithm butterfly"},
           {"{\"mesh\": {\"a\": 2}, \"algorithm\": \"server\"}",
            "give colocated"},
           {"{\"mesh\": {\"a\": 2}, \"zero\": 1}", "\"zero\": is of mlc train"},
       })
    CHECK_THAT(problemOf(text, false), Contains(message));
  for (auto [text, message] : {
           std::pair("{}", "has no \"mesh\""),
           {"{\"mesh\": {\"a\": 2}}", "training has the axis \"data\""},
           {"{\"mesh\": {\"data\": 2, \"t\": 2}}",
            "the axis 't' splits nothing"},
           {"{\"mesh\": {\"data\": 2}, \"zero\": 4}", "no stage 4 of ZeRO"},
           {"{\"mesh\": {\"data\": 2}, \"zero\": -1}", "from 0 on, not -1"},
           {"{\"mesh\": {\"data\": 1}, \"zero\": 1}", "and there is one"},
           {"{\"mesh\": {\"data\": 2}, \"zero\": 300}", "no stage 255 of"},
           {"{\"mesh\": {\"data\": 2}, \"bucket_bytes\": 0}",
            "a bucket has at least one byte"},
           {"{\"mesh\": {\"data\": 2}, \"fusion\": \"x\"}",
            "expected \"ddp\" or \"horovod\", not \"x\""},
           {"{\"mesh\": {\"data\": 2}, \"staleness\": 2}",
            "staleness is of the algorithm server"},
           {"{\"mesh\": {\"data\": 2}, \"prefetch_limit\": 5}",
            "a prefetch limit is of ZeRO's stages 2 and 3"},
           {"{\"mesh\": {\"data\": 2}, \"algorithm\": \"server\", \"zero\": 1}",
            "not taken beside the algorithm server"},
           {"{\"mesh\": {\"data\": 2}, \"shard\": {\"w\": \"b\"}}",
            "'b' is no axis of the mesh"},
       })
    CHECK_THAT(problemOf(text, true), Contains(message));
}
