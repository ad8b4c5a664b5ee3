//===- ScheduleTest.cpp - Sums, bytes and orders of every algorithm -------===//

#include "Samples.h"
#include "runtime/transport/Check.h"

#include <catch2/catch.hpp>

using namespace mlc::runtime;
using namespace mlc::runtime::transport;

static int64_t sent(const std::vector<Traffic> &traffic) {
  int64_t all = 0, received = 0;
  for (const Traffic &one : traffic) {
    all += one.sentElements;
    received += one.receivedElements;
  }
  REQUIRE(all == received);
  return all;
}

/// What an all-reduce leaves on every rank.
static std::vector<std::vector<char>> reduced(Request request, Samples samples,
                                              mlc_dtype type,
                                              int64_t *elements = nullptr) {
  std::vector<Program> programs;
  Status status = makePrograms(request, programs);
  INFO(status.message);
  REQUIRE(status.ok());
  std::vector<Traffic> traffic;
  status = runTogether(programs, request.elements, traffic, samples.pointers(),
                       type);
  INFO(status.message);
  REQUIRE(status.ok());
  if (elements)
    *elements = sent(traffic);
  return samples.data;
}

TEST_CASE("every algorithm sends exactly its formula's bytes", "[schedule]") {
  std::mt19937 random(1);
  for (int64_t n : {2, 3, 4, 5, 8})
    for (int64_t m : {1, 7, (1 << 20) + 3})
      for (Algorithm algorithm : allAlgorithms) {
        // N workers, beside which a separate server is one rank more.
        const bool server = algorithm == Algorithm::Server;
        const int ranks = static_cast<int>(n + server);
        if (!takes(algorithm, ranks))
          continue;
        INFO(name(algorithm) << " N=" << n << " M=" << m);
        Request request{Collective::AllReduce, algorithm, ranks, m};
        Samples samples(random, MLC_U8, ranks, static_cast<int>(n), m, true);
        int64_t elements = 0;
        auto results = reduced(request, samples, MLC_U8, &elements);
        for (auto &result : results)
          REQUIRE(result == samples.sum);
        int64_t want = 2 * (n - 1) * m;
        if (server)
          want = 2 * n * m;
        if (algorithm == Algorithm::Naive)
          want = n * (n - 1) * m;
        if (algorithm == Algorithm::Butterfly)
          want = n * (n == 2 ? 1 : n == 4 ? 2 : 3) * m;
        CHECK(elements == want);
        CHECK(expectedElements(request) == want);
      }
}

TEST_CASE("random sizes and types: the sum, the same bits", "[schedule]") {
  std::mt19937 random(2);
  for (int trial = 0; trial < 600; ++trial) {
    const int ranks = 1 + static_cast<int>(random() % 13);
    const int64_t elements =
        static_cast<int64_t>(random() % (trial % 3 ? 40 : 2000));
    const mlc_dtype type = sampleTypes[random() % std::size(sampleTypes)];
    for (Algorithm algorithm : allAlgorithms) {
      if (!takes(algorithm, ranks))
        continue;
      INFO(name(algorithm) << " N=" << ranks << " M=" << elements << " "
                           << mlc_dtype_name(type));
      Request request{Collective::AllReduce, algorithm, ranks, elements};
      Samples exact(random, type, ranks, workers(request), elements, true);
      for (auto &result : reduced(request, exact, type))
        REQUIRE(result == exact.sum);
      Samples any(random, type, ranks, workers(request), elements, false);
      auto results = reduced(request, any, type);
      for (auto &result : results)
        REQUIRE(result == results[0]);
    }
  }
}

TEST_CASE("algorithms of one order of additions give one result",
          "[schedule]") {
  std::mt19937 random(3);
  for (int ranks : {2, 3, 4, 5, 8})
    for (mlc_dtype type : {MLC_F32, MLC_BF16}) {
      Samples samples(random, type, ranks, ranks, 101, false);
      auto result = [&](Algorithm algorithm) {
        return reduced({Collective::AllReduce, algorithm, ranks, 101}, samples,
                       type)[0];
      };
      CHECK(result(Algorithm::Naive) == result(Algorithm::Colocated));
      if ((ranks & (ranks - 1)) == 0) {
        CHECK(result(Algorithm::Tree) == result(Algorithm::Butterfly));
        CHECK(result(Algorithm::Tree) == result(Algorithm::HalvingDoubling));
      }
      Samples served(random, type, ranks + 1, ranks, 101, false);
      auto workersOnly = served;
      workersOnly.data.pop_back();
      CHECK(reduced({Collective::AllReduce, Algorithm::Server, ranks + 1, 101},
                    served, type)[0] ==
            reduced({Collective::AllReduce, Algorithm::Naive, ranks, 101},
                    workersOnly, type)[0]);
    }
}

TEST_CASE("whole sums and parts of them have the same bits", "[schedule]") {
  std::mt19937 random(5);
  for (int ranks : {2, 3, 5})
    for (Algorithm algorithm : {Algorithm::Colocated, Algorithm::Naive}) {
      Samples samples(random, MLC_F32, ranks, ranks, 101, false);
      const int64_t first = 101 - 7 * (ranks - 1);
      Request request{Collective::ReduceScatter, algorithm, ranks, 101};
      request.parts.assign(ranks, 7); // not those of partOf
      request.parts[0] = first;
      int64_t sent = 0;
      auto parts = reduced(request, samples, MLC_F32, &sent);
      CHECK(sent == expectedElements(request));
      auto whole = reduced({Collective::AllReduce, algorithm, ranks, 101},
                           samples, MLC_F32)[0];
      for (int r = 0; r < ranks; ++r) {
        const int64_t begin = r ? first + 7 * (r - 1) : 0;
        const int64_t width = 4, end = begin + request.parts[r];
        for (int64_t i = begin * width; i < end * width; ++i)
          CHECK(parts[r][i] == whole[i]);
      }
    }
}

TEST_CASE("the other collectives", "[schedule]") {
  std::mt19937 random(4);
  for (int ranks = 1; ranks <= 9; ++ranks)
    for (int64_t elements : {0, ranks, 5 * ranks, 17}) {
      INFO("N=" << ranks << " M=" << elements);
      auto run = [&](Collective collective, const Samples &samples) {
        Request request{collective, Algorithm::Ring, ranks, elements};
        int64_t all = 0;
        auto results = reduced(request, samples, MLC_U8, &all);
        CHECK(all == expectedElements(request));
        return results;
      };
      Samples samples(random, MLC_U8, ranks, ranks, elements, true);
      auto scattered = run(Collective::ReduceScatter, samples);
      auto gathered = run(Collective::AllGather, samples);
      for (int r = 0; r < ranks; ++r) {
        Part part = partOf(elements, ranks, r);
        for (int64_t i = part.begin; i < part.end; ++i) {
          CHECK(scattered[r][i] == samples.sum[i]);
          for (int other = 0; other < ranks; ++other)
            CHECK(gathered[other][i] == samples.data[r][i]);
        }
      }
      for (auto &result : run(Collective::Broadcast, samples))
        CHECK(result == samples.data[0]);
      if (elements % ranks)
        continue;
      auto exchanged = run(Collective::AllToAll, samples);
      const int64_t each = elements / ranks;
      for (int a = 0; a < ranks; ++a)
        for (int b = 0; b < ranks; ++b)
          for (int64_t i = 0; i < each; ++i)
            CHECK(exchanged[a][b * each + i] == samples.data[b][a * each + i]);
    }
}

TEST_CASE("what an algorithm does not do is refused with a remedy",
          "[schedule]") {
  auto message = [](Request request, int rank = 0) {
    Program program;
    Status status = makeProgram(request, rank, program);
    CHECK(status.code == MLC_USAGE);
    return status.message;
  };
  using Catch::Contains;
  CHECK_THAT(message({Collective::AllReduce, Algorithm::Butterfly, 6, 4}),
             Contains("take halving-doubling"));
  CHECK_THAT(message({Collective::AllReduce, Algorithm::Server, 1, 4}),
             Contains("take colocated"));
  CHECK_THAT(message({Collective::AllToAll, Algorithm::Ring, 3, 4}),
             Contains("take a multiple"));
  CHECK_THAT(message({Collective::AllReduce, Algorithm::Ring, 0, 4}),
             Contains("take 1 to 65536"));
  CHECK_THAT(message({Collective::AllReduce, Algorithm::Ring, 3, -1}),
             Contains("take fewer"));
  CHECK_THAT(message({Collective::AllReduce, Algorithm::Naive, 65536,
                      INT64_MAX / 65536}),
             Contains("take fewer"));
  CHECK_THAT(message({Collective::AllReduce, Algorithm::Ring, 3, 4}, 3),
             Contains("ranks count from 0"));
}

TEST_CASE("parts cover all elements", "[schedule]") {
  for (int64_t elements : {0, 1, 7, 100})
    for (int parts : {1, 2, 3, 8}) {
      int64_t end = 0;
      for (int p = 0; p < parts; ++p) {
        Part part = partOf(elements, parts, p);
        CHECK(part.begin == end);
        CHECK(part.end - part.begin - elements / parts <= 1);
        end = part.end;
      }
      CHECK(end == elements);
    }
}

TEST_CASE("algorithms have names", "[schedule]") {
  for (Algorithm algorithm : allAlgorithms) {
    Algorithm parsed{};
    REQUIRE(parseAlgorithm(name(algorithm), parsed));
    CHECK(parsed == algorithm);
  }
  Algorithm parsed{};
  CHECK_FALSE(parseAlgorithm("star", parsed));
  CHECK(algorithmNames() == "server, colocated, naive, ring, tree, butterfly, "
                            "halving-doubling, own");
}
