//===- Executor.cpp - Runs tables with blocking sends ---------------------===//

#include "Executor.h"

#include <array>
#include <optional>
#include <set>

using namespace mlc::runtime::schedule;
using Kind = ActionKind;
using Key = std::array<int32_t, 3>;

namespace {

uint64_t mix(uint64_t a, uint64_t b) {
  uint64_t x = a * 0x9E3779B97F4A7C15u + b + 0x7F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

/// What a rank has of a stage.
struct Held {
  int32_t version = 0;
  /// All versions, though a real rank drops old ones.
  std::vector<uint64_t> weights;
  uint64_t sum = 0;
  bool isSharded = false, hasGradient = false, isSummed = true;
};

class Executor {
public:
  explicit Executor(const Table &table)
      : table(table), ranks(table.ranks.size()) {
    hasTransfers = table.hasTransfers();
    for (size_t r = 0; r < ranks.size(); ++r)
      for (const Action &action : table.ranks[r]) {
        Key key = keyOf(action);
        lastStage = std::max(lastStage, action.stage);
        lastSlice[action.microBatch] =
            std::max(lastSlice[action.microBatch], key[2]);
        if (action.kind == Kind::Forward) {
          owner[key] = r;
          owners[action.stage].insert(r);
          held(r, action.stage);
        }
        if (action.kind == Kind::Unshard)
          held(r, action.stage).isSharded = true;
      }
  }

  Execution run() {
    for (bool moved = true; moved && result.error.empty();) {
      moved = false;
      for (size_t r = 0; r < ranks.size(); ++r)
        while (result.error.empty() && ranks[r].next < table.ranks[r].size() &&
               step(r))
          moved = true;
    }
    for (size_t r = 0; r < ranks.size() && result.error.empty(); ++r)
      if (ranks[r].next < table.ranks[r].size())
        result.error = "waits for ever: " + toString(current(r));
    for (size_t r = 0; r < ranks.size(); ++r)
      for (const auto &[stage, of] : ranks[r].held) {
        // All ranks of a stage end with the same weights.
        uint64_t weights = of.weights.back();
        if (auto [at, isNew] = result.weights.emplace(stage, weights);
            !isNew && at->second != weights)
          result.error = "ranks differ";
        result.gradients[stage] = mix(result.gradients[stage], of.sum);
      }
    return result;
  }

private:
  struct Rank {
    size_t next = 0;
    std::map<int32_t, Held> held;
    /// What was computed or received: results and gradients, by the stage that
    /// reads them; and what the backward pass keeps.
    std::map<Key, uint64_t> activations, results, gradients, weightInputs;
  };

  static Key keyOf(const Action &action) {
    return {action.stage, action.microBatch, std::max(action.slice, 0)};
  }
  const Action &current(size_t r) const {
    return table.ranks[r][ranks[r].next];
  }
  Held &held(size_t r, int32_t stage) {
    Held &of = ranks[r].held[stage];
    if (of.weights.empty())
      of.weights.push_back(mix(17, uint64_t(stage)));
    return of;
  }
  bool fail(const std::string &what, const Action &action) {
    result.error = what + ": " + toString(action);
    return false;
  }

  bool step(size_t r) {
    const Action &action = current(r);
    switch (action.kind) {
    case Kind::Forward:
    case Kind::Backward:
    case Kind::InputGradient:
    case Kind::WeightGradient:
      if (!compute(r, action))
        return false;
      break;
    case Kind::SendForward:
    case Kind::SendBackward:
      return meet(r, action);
    case Kind::ReceiveForward:
    case Kind::ReceiveBackward: // the sender moves both
      return false;
    case Kind::ReduceGradients:
    case Kind::Unshard:
    case Kind::Step:
      return meetAll(action);
    case Kind::Reshard:
      held(r, action.stage).isSharded = true;
      break;
    default:
      break;
    }
    ++ranks[r].next;
    return true;
  }

  /// The value at `key`, of this rank; of any rank if the table has no
  /// transfers, where a value that is not there yet is waited for.
  std::optional<uint64_t> find(size_t r, std::map<Key, uint64_t> Rank::*values,
                               Key key, size_t other) {
    size_t from = hasTransfers ? r : other;
    auto found = (ranks[from].*values).find(key);
    if (found != (ranks[from].*values).end())
      return found->second;
    return std::nullopt;
  }
  bool absent(size_t r, size_t other, const char *what, const Action &action) {
    if (hasTransfers || other == r)
      fail(what, action);
    return false; // waits
  }

  bool compute(size_t r, const Action &action) {
    Held &of = held(r, action.stage);
    if (of.isSharded)
      return fail("sharded", action);
    int32_t version = action.version == kNone ? of.version : action.version;
    if (size_t(version) >= of.weights.size())
      return fail("no such version", action);
    uint64_t weights = of.weights[size_t(version)];
    Key key = keyOf(action);
    if (action.kind == Kind::Forward)
      return forward(r, action, key, weights);
    if (action.kind == Kind::WeightGradient)
      return weightGradient(r, action, key, weights);
    if (!inputGradient(r, action, key, weights))
      return false;
    return action.kind != Kind::Backward ||
           weightGradient(r, action, key, weights);
  }

  bool forward(size_t r, const Action &action, Key key, uint64_t weights) {
    uint64_t value = mix(weights, uint64_t(key[1]) << 32 | uint32_t(key[2]));
    if (ranks[r].activations.count(key))
      return fail("twice", action);
    if (action.stage > 0) {
      Key read{key[0] - 1, key[1], key[2]};
      auto input = find(r, &Rank::results, read, owner[read]);
      if (!input)
        return absent(r, owner[read], "no input", action);
      value = mix(value, *input);
    }
    if (key[2] > 0) {
      Key earlier{key[0], key[1], key[2] - 1};
      auto input = find(r, &Rank::activations, earlier, owner[earlier]);
      if (!input)
        return absent(r, owner[earlier], "no keys", action);
      value = mix(value, *input);
    }
    ranks[r].activations[key] = ranks[r].results[key] = value;
    return true;
  }

  bool inputGradient(size_t r, const Action &action, Key key,
                     uint64_t weights) {
    auto activation = ranks[r].activations.find(key);
    if (activation == ranks[r].activations.end())
      return fail("no activation", action);
    uint64_t value = mix(mix(activation->second, weights), 5);
    if (action.stage < lastStage) {
      Key reader{key[0] + 1, key[1], key[2]};
      auto gradient = find(r, &Rank::gradients, reader, owner[reader]);
      if (!gradient)
        return absent(r, owner[reader], "no gradient", action);
      value = mix(value, *gradient);
    }
    if (key[2] < lastSlice[key[1]]) {
      Key later{key[0], key[1], key[2] + 1};
      auto gradient = find(r, &Rank::gradients, later, owner[later]);
      if (!gradient)
        return absent(r, owner[later], "no gradient of keys", action);
      value = mix(value, *gradient);
    }
    if (ranks[r].gradients.count(key))
      return fail("twice", action);
    ranks[r].gradients[key] = ranks[r].weightInputs[key] = value;
    result.results[key] = value;
    return true;
  }

  bool weightGradient(size_t r, const Action &action, Key key,
                      uint64_t weights) {
    auto input = ranks[r].weightInputs.find(key);
    if (input == ranks[r].weightInputs.end())
      return fail("no input gradient", action);
    Held &of = held(r, action.stage);
    // Sums in another order have other bits.
    of.sum = mix(of.sum, mix(input->second, weights));
    ranks[r].weightInputs.erase(input);
    of.hasGradient = true;
    of.isSummed = false;
    return true;
  }

  /// A send and its receive, when both ranks stand there.
  bool meet(size_t r, const Action &send) {
    bool isForward = send.kind == Kind::SendForward;
    int32_t peer = peerOf(send);
    size_t other = owner[{peer, send.microBatch, std::max(send.slice, 0)}];
    if (ranks[other].next >= table.ranks[other].size())
      return false;
    const Action &receive = current(other);
    if (receive.kind !=
        (isForward ? Kind::ReceiveForward : Kind::ReceiveBackward))
      return false;
    // Does it wait for this rank?
    Key wanted{peerOf(receive), receive.microBatch, std::max(receive.slice, 0)};
    if (owner[wanted] != r)
      return false;
    if (wanted != keyOf(send) || receive.stage != peer)
      return fail("crossed messages", send);
    auto &values = isForward ? ranks[r].results : ranks[r].gradients;
    auto value = values.find(keyOf(send));
    if (value == values.end())
      return fail("nothing to send", send);
    (isForward ? ranks[other].results : ranks[other].gradients)[keyOf(send)] =
        value->second;
    ++ranks[r].next;
    ++ranks[other].next;
    return true;
  }

  /// A collective, when all ranks of the stage stand there.
  bool meetAll(const Action &action) {
    const std::set<size_t> &all = owners[action.stage];
    uint64_t sum = 0;
    for (size_t r : all) {
      if (ranks[r].next >= table.ranks[r].size())
        return false;
      const Action &other = current(r);
      if (other.kind != action.kind || other.stage != action.stage)
        return false;
      sum = mix(sum, held(r, action.stage).sum);
    }
    for (size_t r : all) {
      Held &of = held(r, action.stage);
      if (action.kind == Kind::Unshard) {
        of.isSharded = false;
      } else if (action.kind == Kind::ReduceGradients) {
        of.sum = sum;
        of.isSummed = true;
      } else {
        if (!of.hasGradient || (all.size() > 1 && !of.isSummed))
          return fail("no gradient", action);
        of.weights.push_back(mix(of.weights.back(), of.sum));
        ++of.version;
        of.sum = 0;
        of.hasGradient = false;
      }
      ++ranks[r].next;
    }
    return true;
  }

  const Table &table;
  std::vector<Rank> ranks;
  bool hasTransfers = false;
  int32_t lastStage = 0;
  std::map<int32_t, int32_t> lastSlice;
  std::map<Key, size_t> owner;
  std::map<int32_t, std::set<size_t>> owners;
  Execution result;
};

} // namespace

Execution execute(const Table &table) { return Executor(table).run(); }
