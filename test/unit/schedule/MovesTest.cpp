//===- MovesTest.cpp - How a value gets to the ranks that read it ---------===//

#include "runtime/schedule/Moves.h"

#include <catch2/catch.hpp>
#include <tuple>

using namespace mlc::runtime::schedule;

namespace {

using Found = std::vector<std::tuple<int, int, int64_t>>;

Found movesOf(int64_t stage, const std::vector<int> &makers,
              const std::vector<ValueReader> &readers) {
  Found found;
  for (const Move &move : findMoves(stage, makers, readers))
    found.emplace_back(move.from, move.to, move.stage);
  return found;
}

} // namespace

TEST_CASE("a value goes once to each rank that reads it", "[moves]") {
  CHECK(movesOf(1, {1}, {}) == Found{});
  // A rank does not send to itself.
  CHECK(movesOf(1, {1}, {{1, {1}}, {3, {1}}}) == Found{});
  CHECK(movesOf(1, {1}, {{2, {2}}, {3, {3}}}) == Found{{1, 2, 2}, {1, 3, 3}});
  // Of several stages of a rank the nearest behind takes it, whatever the
  // order.
  CHECK(movesOf(1, {1}, {{5, {0}}, {3, {0}}}) == Found{{1, 0, 3}});
  CHECK(movesOf(1, {1}, {{3, {0}}, {5, {0}}}) == Found{{1, 0, 3}});
  // One behind comes earlier than one before; else the nearest before.
  CHECK(movesOf(3, {1}, {{2, {0}}, {6, {0}}}) == Found{{1, 0, 6}});
  CHECK(movesOf(3, {1}, {{0, {0}}, {2, {0}}}) == Found{{1, 0, 2}});
}

TEST_CASE("of ranks that have all made a value the first sends it", "[moves]") {
  CHECK(movesOf(0, {0, 3}, {{1, {1, 2}}}) == Found{{0, 1, 1}, {0, 2, 1}});
  CHECK(movesOf(0, {0, 3}, {{1, {0, 3}}}) == Found{});
  CHECK(movesOf(0, {2, 3}, {{1, {0, 3}}}) == Found{{2, 0, 1}});
}
