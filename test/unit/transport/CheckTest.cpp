//===- CheckTest.cpp - Programs that do not fit together are refused ------===//

#include "runtime/transport/Check.h"

#include <catch2/catch.hpp>

using namespace mlc::runtime;
using namespace mlc::runtime::transport;
using Catch::Contains;

static std::string problem(const std::vector<Program> &programs) {
  std::vector<Traffic> traffic;
  Status status = runTogether(programs, 8, traffic);
  CHECK(status.code == MLC_INTERNAL);
  return status.message;
}

static Range data(int64_t offset, int64_t length) {
  return {Place::Data, offset, length};
}

static Step step(std::vector<Transfer> transfers) { return {transfers, {}}; }

TEST_CASE("two ranks that both send first wait for ever", "[check]") {
  auto rank = [](int peer) {
    return Program{0,
                   {step({{Transfer::Send, peer, data(0, 4)}}),
                    step({{Transfer::Receive, peer, data(4, 4)}})}};
  };
  CHECK_THAT(problem({rank(1), rank(0)}),
             Contains("rank 0, step 0 waits for ever: a deadlock"));
  // In one step they pass.
  auto both = [](int peer) {
    return Program{0,
                   {step({{Transfer::Send, peer, data(0, 4)},
                          {Transfer::Receive, peer, data(4, 4)}})}};
  };
  std::vector<Traffic> traffic;
  CHECK(runTogether({both(1), both(0)}, 8, traffic).ok());
  CHECK(traffic[1].sentElements == 4);
  CHECK(traffic[1].sentMessages == 1);
}

TEST_CASE("a send without a receive, and one of another length", "[check]") {
  Program send{0, {step({{Transfer::Send, 1, data(0, 4)}})}};
  CHECK_THAT(problem({send, {}}), Contains("rank 0, step 0 waits for ever"));
  Program receive{0, {step({{Transfer::Receive, 0, data(0, 3)}})}};
  CHECK_THAT(problem({send, receive}), Contains("sends 4 elements"));
}

TEST_CASE("races and ranges within a step", "[check]") {
  Program race{0,
               {step({{Transfer::Send, 1, data(0, 4)},
                      {Transfer::ReceiveAdd, 1, data(3, 4)}})}};
  CHECK_THAT(problem({race, race}),
             Contains("a receive into what another transfer uses"));
  Program beyond{2, {step({{Transfer::Send, 1, {Place::Scratch, 1, 2}}})}};
  CHECK_THAT(problem({beyond, {}}), Contains("beyond its memory"));
  Program itself{0, {step({{Transfer::Send, 0, data(0, 1)}})}};
  CHECK_THAT(problem({itself, {}}), Contains("a rank that is none"));
  Program wide{0, {{{}, {{LocalStep::Add, data(0, 4), data(2, 4)}}}}};
  CHECK_THAT(problem({wide}), Contains("a sum or copy beyond its memory"));
}
