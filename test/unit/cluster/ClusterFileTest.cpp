//===- ClusterFileTest.cpp - Clusters as JSON -----------------------------===//

#include "simulator/cluster/ClusterFile.h"
#include "Samples.h"
#include "runtime/plan/Nearest.h"
#include "simulator/iteration/Iteration.h"
#include <chrono>
#include <cstdlib>
#include <random>

using namespace mlc;
using namespace mlc::simulator;

namespace {

const std::string good = R"({
  "name": "two",
  "description": "two nodes",
  "devices": {"d": {"flops_per_second": {"f32": {"value": 1e12, "source": "s"}},
    "memory_bytes": {"value": 16000000000, "source": "s"},
    "memory_bytes_per_second": {"value": 1e11, "source": "s"}}},
  "nodes": [{"count": 2, "ranks": 4, "device": "d"}],
  "levels": [
    {"name": "in", "medium": "pcie", "ranks": 4,
     "latency_seconds": {"value": 0, "source": "s"},
     "bytes_per_second": {"value": [[2, 1e9], [4, 2e9]], "source": "s"}},
    {"name": "out", "medium": "network", "ranks": 8,
     "latency_seconds": {"value": 1e-6, "source": "s"},
     "bytes_per_second": {"value": 3e9, "source": "s"},
     "shared_bytes_per_second": {"value": 4e9, "source": "s"}}]
})";

std::string refusal(const std::string &text) {
  Cluster cluster;
  const auto begin = std::chrono::steady_clock::now();
  std::string message = readCluster(text, cluster).message;
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(1));
  return message;
}

/// `good` with the first `from` replaced.
std::string with(const std::string &from, const std::string &to) {
  std::string text = good;
  const size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

} // namespace

TEST_CASE("a cluster file is read and written") {
  Cluster cluster;
  runtime::Status status = readCluster(good, cluster);
  INFO(status.message);
  REQUIRE(status.ok());
  CHECK(cluster.countRanks() == 8);
  CHECK(cluster.levels[0].bandwidth.at(3) == 1e9);
  CHECK(cluster.levels[1].sharedBytesPerSecond->value == 4e9);
  CHECK(cluster.deviceOf(7).flops("f32") == 1e12);
  CHECK(cluster.deviceOf(7).flops("f16") == 0);
  const std::string text = writeCluster(cluster);
  Cluster again;
  REQUIRE(readCluster(text, again).ok());
  CHECK(writeCluster(again) == text);
}

TEST_CASE("shipped clusters are read, and give every number a source") {
  CHECK(shippedClusters().size() >= 6);
  for (const std::string &name : shippedClusters()) {
    Cluster cluster;
    runtime::Status status = openCluster(name, cluster);
    INFO(name << ": " << status.message);
    REQUIRE(status.ok());
    CHECK("cluster:" + cluster.name == name);
  }
  Cluster cluster;
  CHECK_THAT(openCluster("cluster:a100", cluster).message,
             Catch::Contains("no such cluster ships with mlc; there are "
                             "cluster:a100-800g, "));
}

TEST_CASE("what is wrong in a cluster file is named") {
  const std::pair<std::string, std::string> cases[] = {
      {with("3e9", "0"), "levels[1].bytes_per_second.value: expected a number "
                         "above 0 and at most 1e+21, not 0"},
      {with("3e9", "-1"), "levels[1].bytes_per_second.value: expected a number "
                          "above 0 and at most 1e+21, not -1"},
      {with("1e-6", "-1e-6"), "levels[1].latency_seconds.value: expected a "
                              "number from 0 and at most 3600, not -1e-06"},
      {with("3e9", "\"3 GB\""),
       "levels[1].bytes_per_second.value: expected a number, not a string"},
      {with("\"count\": 2", "\"count\": 1000000000"),
       "nodes[0].count: expected a whole number from 1 to 65536, not "
       "1000000000"},
      {with("\"count\": 2", "\"count\": 65536"),
       "nodes[0].count: makes 262144 ranks; a cluster has at most 65536"},
      {with("latency_seconds", "latency_second"),
       "levels[0].latency_seconds: is missing; give it"},
      {with("\"name\": \"two\"", "\"name\": \"two\", \"nods\": 1"),
       "nods: is unknown; do you mean 'nodes'?"},
      {with("\"source\": \"s\"", "\"source\": \"\""),
       "devices.d.flops_per_second.f32.source: expected a text, not an empty "
       "one"},
      {with("\"device\": \"d\"", "\"device\": \"e\""),
       "nodes[0].device: 'e' is unknown; give one of d"},
      {with("pcie", "pcei"),
       "levels[0].medium: 'pcei' is unknown; do you mean 'pcie'? or give one "
       "of nvlink, pcie, network, memory"},
      {with("\"ranks\": 8", "\"ranks\": 6"),
       "levels[1].ranks: 6 is not the 4 of the level before, two or more "
       "times"},
      {with("\"count\": 2", "\"count\": 3"),
       "levels[1].ranks: the last level connects all 12 ranks, not 8"},
      {with("[4, 2e9]", "[2, 2e9]"),
       "levels[0].bytes_per_second.value: expected [ranks, bytes per second] "
       "pairs with more ranks in each"},
      {"[]", "a cluster file: expected an object, not an array"},
  };
  for (const auto &[text, message] : cases)
    CHECK(refusal(text) == message);
  CHECK_THAT(refusal(with("3e9", "NaN")), Catch::StartsWith("line 14, column"));
  CHECK_THAT(refusal(with("3e9", "1e999")),
             Catch::Contains("line 14") || Catch::Contains("not inf"));
  CHECK_THAT(refusal(good.substr(0, good.size() / 2)),
             Catch::StartsWith("line "));
  CHECK_THAT(refusal(with("\"name\": \"two\"",
                          "\"name\": \"two\", \"name\": \"two\"")),
             Catch::Contains("name"));
}

TEST_CASE("no beginning and no byte of a file breaks its reader") {
  Cluster cluster;
  for (size_t i = 0; i < good.size(); ++i) {
    CHECK(!readCluster(good.substr(0, i), cluster).ok());
    std::string text = good;
    for (char c : {'0', '"', '{', ']', '\x80'}) {
      text[i] = c;
      if (readCluster(text, cluster).ok())
        CHECK(cluster.countRanks() > 0);
    }
  }
}

/// `text` with a few changes: bytes, pieces of it elsewhere, numbers, an end.
static std::string changed(std::string text, std::mt19937_64 &random) {
  static const char *const pieces[] = {"0",
                                       "-1",
                                       "1e308",
                                       "1e999",
                                       "null",
                                       "true",
                                       "[]",
                                       "{}",
                                       "\"\"",
                                       ",",
                                       "\n",
                                       "NaN",
                                       "9223372036854775807"};
  auto below = [&](size_t n) { return static_cast<size_t>(random() % n); };
  for (size_t change = 0; change < 1 + below(3) && !text.empty(); ++change) {
    const size_t at = below(text.size());
    const size_t length = std::min(below(24), text.size() - at);
    switch (below(5)) {
    case 0:
      text[at] = static_cast<char>(random());
      break;
    case 1:
      text.erase(at, length);
      break;
    case 2:
      text.insert(below(text.size()), text.substr(at, length));
      break;
    case 3:
      text.replace(at, length / 4, pieces[below(std::size(pieces))]);
      break;
    case 4:
      if (below(8) == 0)
        text.resize(at);
      break;
    }
  }
  return text;
}

TEST_CASE("changed files are refused, or they are clusters") {
  const char *full = std::getenv("MLC_TESTS");
  const int count = full && std::string(full) == "full" ? 100'000 : 6'000;
  std::vector<std::string> texts = {good};
  for (const EmbeddedClusterFile &file : embeddedClusterFiles())
    texts.push_back(file.text);
  const std::string table =
      "gpus,global_batch,micro_batch,hidden,heads,layers,sequence,tensor,data,"
      "pipeline,iteration_ms\n2,16,8,1024,16,24,1024,1,1,2,372.16\n"
      "8,32,4,1024,16,24,1024,2,2,2,219.7\n";
  std::mt19937_64 random(32);
  int read = 0, rows = 0;
  Cluster whole;
  REQUIRE(openCluster("cluster:a100-800g", whole).ok());
  for (int i = 0; i < count; ++i) {
    Cluster cluster;
    runtime::Status status =
        readCluster(changed(texts[i % texts.size()], random), cluster);
    if (status.ok()) {
      ++read;
      const int last = cluster.countRanks() - 1;
      if (Network(cluster).transfer(0, last, 1000) < 0)
        FAIL("a negative time");
      if (last > 0 &&
          timeOf(cluster, makeCall(runtime::transport::Collective::AllReduce,
                                   runtime::transport::Algorithm::Ring,
                                   std::vector<int>{0, last}, 1000)) < 0)
        FAIL("a negative time");
      Cluster again;
      if (!readCluster(writeCluster(cluster), again).ok())
        FAIL("what is written cannot be read");
    } else if (status.message.empty()) {
      FAIL("an error without a message");
    }
    std::vector<Iteration> found;
    rows += readIterations(changed(table, random), whole, found).ok();
  }
  CHECK(read > count / 50);
  CHECK(rows > count / 50);
}

TEST_CASE("the nearest name is the one with the fewest changes") {
  using runtime::nearestName;
  CHECK(nearestName("latency_second", {"bytes", "latency_seconds"}) ==
        "latency_seconds");
  CHECK(nearestName("bandwidth", {"bytes", "latency_seconds"}).empty());
  CHECK(nearestName("x", {}).empty());
  CHECK(nearestName("nods", {"node", "nodes"}) == "node");
}
