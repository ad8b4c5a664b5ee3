//===- Moves.cpp - How a value gets to the ranks that read it -------------===//

#include "runtime/schedule/Moves.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

using namespace mlc::runtime;

std::vector<schedule::Move>
schedule::findMoves(int64_t stage, const std::vector<int> &makers,
                    const std::vector<ValueReader> &readers) {
  std::vector<Move> moves;
  auto distance = [&](int64_t reader) {
    return std::pair(reader < stage, std::abs(reader - stage));
  };
  for (const ValueReader &reader : readers)
    for (int to : reader.ranks) {
      if (std::find(makers.begin(), makers.end(), to) != makers.end())
        continue;
      auto known =
          std::find_if(moves.begin(), moves.end(),
                       [&](const Move &move) { return move.to == to; });
      if (known == moves.end())
        moves.push_back({makers.front(), to, reader.stage});
      else if (distance(reader.stage) < distance(known->stage))
        known->stage = reader.stage;
    }
  return moves;
}
