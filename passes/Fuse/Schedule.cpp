//===- Schedule.cpp - The order of a program's steps ----------------------===//
//
// Collectives begin as early as possible, so that kernels overlap with them.
// Gathers are the exception: their results have the size of the whole, and with
// split weights (ZeRO-3) all could begin at once. So they begin in the order in
// which they are read, only as far ahead of their readers as a window of bytes
// allows. ExecBuilder limits the memory of reduce-scatters.
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/TypeUtilities.h"
#include "passes/Fuse/Collectives.h"
#include "passes/Fuse/Grouping.h"
#include "llvm/ADT/SetVector.h"
#include <queue>

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace mlc {

namespace {

/// Dependences and properties of a group.
struct Node {
  SmallVector<unsigned> producers, consumers;
  unsigned position = 0;
  bool isCollective = false;
  /// Bytes of a gather's result, if it is read; 0: not such a gather.
  int64_t bytes = 0;
};

/// Delays gathers.
class Gathers {
public:
  Gathers(ArrayRef<Node> nodes, ArrayRef<unsigned> order, int64_t window)
      : nodes(nodes), order(order), window(window), readAt(nodes.size(), 0),
        isTaken(nodes.size(), false) {}

  SmallVector<unsigned> place() {
    findReaders();
    for (auto [at, i] : llvm::enumerate(order)) {
      if (nodes[i].bytes)
        continue;
      begin(at);
      take(i);
    }
    return std::move(placed);
  }

private:
  /// Finds where in the order each gather is first read by an op that is no
  /// gather.
  void findReaders() {
    std::vector<unsigned> at(nodes.size());
    for (auto [place, i] : llvm::enumerate(order))
      at[i] = place;
    for (unsigned i : llvm::reverse(order)) {
      if (!nodes[i].bytes)
        continue;
      readAt[i] = order.size();
      for (unsigned reader : nodes[i].consumers)
        readAt[i] = std::min(readAt[i],
                             nodes[reader].bytes ? readAt[reader] : at[reader]);
      waiting.push_back(i);
    }
    // If gathers feed each other, the first goes first.
    std::reverse(waiting.begin(), waiting.end());
    llvm::stable_sort(
        waiting, [&](unsigned a, unsigned b) { return readAt[a] < readAt[b]; });
  }

  /// Begins the gathers that are read at `at`, and as many later ones as fit.
  void begin(unsigned at) {
    bool isFull = false;
    llvm::erase_if(waiting, [&](unsigned i) {
      bool isDue = readAt[i] <= at;
      isFull |= !isDue && ahead > 0 && nodes[i].bytes > window - ahead;
      if (!isDue && (isFull || !canBegin(i)))
        return false;
      take(i);
      ahead += nodes[i].bytes;
      unread.push_back(i);
      return true;
    });
    llvm::erase_if(unread, [&](unsigned i) {
      if (readAt[i] > at)
        return false;
      ahead -= nodes[i].bytes;
      return true;
    });
  }

  bool canBegin(unsigned i) const {
    return llvm::all_of(nodes[i].producers,
                        [&](unsigned other) { return isTaken[other]; });
  }

  void take(unsigned i) {
    isTaken[i] = true;
    placed.push_back(i);
  }

  ArrayRef<Node> nodes;
  ArrayRef<unsigned> order;
  const int64_t window;
  std::vector<unsigned> readAt;
  std::vector<bool> isTaken;
  SmallVector<unsigned> waiting, unread, placed;
  /// Bytes of gathers that have begun and are not read yet.
  int64_t ahead = 0;
};

} // namespace

/// Of the groups that are ready, takes collectives first, then the one that
/// ends first in the program.
static SmallVector<unsigned> orderEarly(ArrayRef<Node> nodes,
                                        ArrayRef<unsigned> all) {
  using Entry = std::tuple<bool, unsigned, unsigned>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
  std::vector<size_t> waiting(nodes.size());
  auto push = [&](unsigned i) {
    ready.push({!nodes[i].isCollective, nodes[i].position, i});
  };
  for (unsigned i : all) {
    waiting[i] = nodes[i].producers.size();
    if (waiting[i] == 0)
      push(i);
  }
  SmallVector<unsigned> order;
  while (!ready.empty()) {
    unsigned i = std::get<2>(ready.top());
    ready.pop();
    order.push_back(i);
    for (unsigned consumer : nodes[i].consumers)
      if (--waiting[consumer] == 0)
        push(consumer);
  }
  return order;
}

int64_t Grouping::bytesOf(ValueRange values) const {
  constexpr int64_t most = int64_t(1) << 50;
  int64_t sum = 0;
  for (Value value : values) {
    int64_t bytes = elementBytes(getElementTypeOrSelf(value.getType()));
    for (IntExpr dim : shapes.of(value))
      if (!dim.isConstant() ||
          __builtin_mul_overflow(bytes, dim.getConstant(), &bytes))
        return most;
    sum = std::min(most, sum + std::min(most, bytes));
  }
  return sum;
}

FailureOr<SmallVector<unsigned>> Grouping::schedule(int64_t window) const {
  std::vector<Node> nodes(groups.size());
  SmallVector<unsigned> all;
  for (auto [i, group] : llvm::enumerate(groups)) {
    if (group.ops.empty())
      continue;
    all.push_back(i);
    nodes[i].position = position.at(group.ops.back());
    nodes[i].isCollective = isCollective(group.opaque);
    llvm::SetVector<unsigned> producers;
    for (Operation *op : group.ops)
      for (unsigned producer : producersOf(op))
        if (producer != i)
          producers.insert(producer);
    nodes[i].producers.assign(producers.begin(), producers.end());
    for (unsigned producer : producers)
      nodes[producer].consumers.push_back(i);
  }
  for (unsigned i : all)
    if (isa_and_nonnull<dist::AllGatherOp>(groups[i].opaque) &&
        !nodes[i].consumers.empty())
      nodes[i].bytes = bytesOf(groups[i].opaque->getResults());
  SmallVector<unsigned> order = orderEarly(nodes, all);
  if (order.size() != all.size())
    return failure();
  return Gathers(nodes, order, window).place();
}

} // namespace mlc
