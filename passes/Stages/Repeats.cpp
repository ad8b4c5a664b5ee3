//===- Repeats.cpp - Layers that a model repeats --------------------------===//

#include "passes/Stages/Repeats.h"
#include "dialects/Module/CompileTime.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Stages/Divide.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

namespace mlc {

std::vector<int64_t> Repeats::standsFor(int64_t part) const {
  const int64_t inside = part - hasBegin;
  if (inside < parts)
    return {part};
  if (inside >= 2 * parts)
    return {part + (count - 3) * parts};
  std::vector<int64_t> all;
  for (int64_t copy = 1; copy + 1 < count; ++copy)
    all.push_back(part + (copy - 1) * parts);
  return all;
}

std::vector<std::vector<int64_t>> Repeats::neighbours(int64_t part,
                                                      int64_t other) const {
  // 0, 1 and 2 are repeats; -1 is before, and 3 behind them.
  auto repeatOf = [&](int64_t one) {
    const int64_t inside = one - hasBegin;
    return inside < 0 ? -1 : std::min<int64_t>(inside / parts, 3);
  };
  const int64_t own = repeatOf(part), to = repeatOf(other);
  const std::vector<int64_t> all = standsFor(other);
  std::vector<std::vector<int64_t>> found;
  for (int64_t copy = 1; own == 1 && copy + 1 < count; ++copy)
    // Its neighbours are as far off as they are here.
    found.push_back({to == 0 || to == 1 || to == 2 ? other + (copy - 1) * parts
                                                   : all.front()});
  if (own == 1)
    return found;
  if (to != 1)
    return {all};
  if (own == 0)
    return {{all.front()}};
  return {own == 2 ? std::vector<int64_t>{all.back()} : all};
}

namespace {

/// Finds the longest row of operators each of which is like the one so many
/// behind it.
class RepeatFinder {
public:
  RepeatFinder(func::FuncOp main, ArrayRef<Operation *> operators)
      : main(main), operators(operators) {
    for (auto [i, op] : llvm::enumerate(operators))
      places[op] = i;
  }

  /// Where the row begins and ends, and how far alike operators are apart;
  /// false if none is long enough.
  bool find();
  size_t begin = 0, end = 0, length = 0;

private:
  bool isAlike(Operation *a, Operation *b, size_t distance) const;
  bool isAlike(Value a, Value b, size_t distance) const;

  func::FuncOp main;
  ArrayRef<Operation *> operators;
  llvm::DenseMap<Operation *, size_t> places;
};

} // namespace

bool RepeatFinder::isAlike(Value a, Value b, size_t distance) const {
  if (a == b)
    return true;
  if (a.getType() != b.getType())
    return false;
  Operation *one = a.getDefiningOp(), *other = b.getDefiningOp();
  if (!one || !other) {
    auto isWeight = [&](Value value) {
      auto argument = dyn_cast<BlockArgument>(value);
      return argument && func::FuncOp(main).getArgAttr(argument.getArgNumber(),
                                                       kParameterAttr);
    };
    return isWeight(a) && isWeight(b);
  }
  auto place = places.find(one), otherPlace = places.find(other);
  if (place == places.end() || otherPlace == places.end())
    return place == otherPlace && isAlike(one, other, distance);
  return place->second + distance == otherPlace->second &&
         cast<OpResult>(a).getResultNumber() ==
             cast<OpResult>(b).getResultNumber();
}

bool RepeatFinder::isAlike(Operation *a, Operation *b, size_t distance) const {
  return a->getName() == b->getName() &&
         a->getNumOperands() == b->getNumOperands() &&
         a->getNumRegions() == 0 && b->getNumRegions() == 0 &&
         a->getAttrDictionary() == b->getAttrDictionary() &&
         a->getResultTypes() == b->getResultTypes() &&
         llvm::all_of(
             llvm::zip(a->getOperands(), b->getOperands()), [&](auto pair) {
               return isAlike(std::get<0>(pair), std::get<1>(pair), distance);
             });
}

bool RepeatFinder::find() {
  constexpr size_t leastCount = 6, mostLength = 4096;
  size_t covered = 0;
  for (size_t by = 1; by < mostLength && by * leastCount <= operators.size();
       ++by) {
    size_t run = 0;
    for (size_t i = 0; i + by < operators.size(); ++i) {
      run = isAlike(operators[i], operators[i + by], by) ? run + 1 : 0;
      const size_t all = run / by + 1;
      if (all < leastCount || run + by <= covered)
        continue;
      covered = run + by;
      length = by;
      begin = i + 1 - run;
      end = i + 1 + by;
    }
  }
  return covered > 0;
}

namespace {

/// Shortens a model whose repeats are known.
class Shortener {
public:
  Shortener(func::FuncOp main, ArrayRef<Operation *> operators, size_t begin,
            size_t end, size_t length)
      : main(main), operators(operators.begin(), operators.end()), begin(begin),
        end(end), length(length) {
    for (auto [i, op] : llvm::enumerate(operators))
      places[op] = i;
  }

  /// Begins repeats where least crosses, if nodes end there.
  void align();
  /// Joins several to one, and cuts each into parts, so that there are about
  /// `most`. False if nodes do not end between them.
  bool cut(size_t most, Repeats &repeats);
  void shorten(Repeats &repeats);

private:
  /// The name of the node that ends before an operator; empty if none does.
  StringRef endBefore(size_t place) const;
  using Note = llvm::function_ref<void(StringRef, StringRef)>;
  void noteWeights(Value value, Value like, const Note &note);
  void nameAll(Repeats &repeats);

  func::FuncOp main;
  SmallVector<Operation *> operators;
  llvm::DenseMap<Operation *, size_t> places;
  size_t begin, end, length, count = 0;
  SmallVector<size_t> cuts; ///< of a repeat
};

} // namespace

/// Notes the names of weights that two values are made of alike.
void Shortener::noteWeights(Value value, Value like, const Note &note) {
  auto nameOf = [&](Value argument) {
    auto name = main.getArgAttrOfType<StringAttr>(
        cast<BlockArgument>(argument).getArgNumber(), "mlc.name");
    return name ? name.getValue() : StringRef();
  };
  if (isa<BlockArgument>(value) && isa<BlockArgument>(like)) {
    note(nameOf(value), nameOf(like));
    return;
  }
  // Operators on weights alone are few in a row.
  Operation *op = value.getDefiningOp(), *other = like.getDefiningOp();
  if (!op || !other || places.contains(op) ||
      op->getNumOperands() != other->getNumOperands())
    return;
  note(nodeOf(op), nodeOf(other));
  for (auto [one, two] : llvm::zip(op->getOperands(), other->getOperands()))
    noteWeights(one, two, note);
}

StringRef Shortener::endBefore(size_t place) const {
  const StringRef name = nodeOf(operators[place - 1]);
  // A node's operators stand together; a later one may have the name, too.
  for (size_t i = place; i < operators.size() && i < place + length; ++i)
    if (nodeOf(operators[i]) == name)
      return StringRef();
  return name;
}

void Shortener::align() {
  const SmallVector<uint64_t> crossing =
      countCrossing(operators, places, operators.size());
  size_t best = begin;
  for (size_t at = begin; at < begin + length; ++at)
    if (at > 0 && !endBefore(at).empty() && crossing[at] < crossing[best])
      best = at;
  begin = best;
  count = (end - begin) / length;
}

bool Shortener::cut(size_t most, Repeats &repeats) {
  const size_t joined = std::max<size_t>(1, (count + most - 1) / most);
  length *= joined;
  count /= joined;
  if (count < 4)
    return false;
  SmallVector<uint64_t> weights;
  llvm::DenseMap<Operation *, size_t> inside;
  for (size_t i = 0; i < length; ++i) {
    weights.push_back(weigh(operators[begin + i]));
    inside[operators[begin + i]] = i;
  }
  const size_t parts =
      std::min(weights.size(), std::max<size_t>(1, most / count));
  cuts = divideEvenly(weights, int64_t(parts));
  moveToNarrowCuts(
      countCrossing(ArrayRef(operators).slice(begin, length), inside, length),
      cuts);
  // Cuts inside a node are no cuts.
  llvm::erase_if(cuts, [&](size_t at) {
    return at < length && endBefore(begin + at).empty();
  });
  repeats.count = int64_t(count);
  repeats.parts = int64_t(cuts.size());
  repeats.hasBegin = begin > 0;
  if (repeats.hasBegin)
    repeats.allEnds.push_back(endBefore(begin).str());
  for (size_t repeat = 0; repeat < count; ++repeat)
    for (size_t at : cuts)
      repeats.allEnds.push_back(endBefore(begin + repeat * length + at).str());
  // The last part has operators, too.
  return begin + count * length < operators.size() &&
         !llvm::is_contained(repeats.allEnds, "");
}

/// Notes what nodes and weights of repeats that are left out are called.
void Shortener::nameAll(Repeats &repeats) {
  for (size_t i = begin + length; i < begin + 2 * length; ++i)
    for (size_t copy = 1; copy + 1 < count; ++copy) {
      Operation *own = operators[i],
                *other = operators[i + (copy - 1) * length];
      auto note = [&](StringRef name, StringRef otherName) {
        // Operators that no node was made into have no name.
        if (name.empty())
          return;
        std::vector<std::string> &all = repeats.names[name];
        if (all.size() < copy)
          all.push_back(otherName.str());
      };
      note(nodeOf(own), nodeOf(other));
      for (auto [value, like] :
           llvm::zip(own->getOperands(), other->getOperands()))
        noteWeights(value, like, note);
    }
}

void Shortener::shorten(Repeats &repeats) {
  nameAll(repeats);
  const size_t left = begin + 2 * length, last = begin + (count - 1) * length;
  llvm::DenseMap<Operation *, size_t> removed;
  for (size_t i = left; i < last; ++i)
    removed[operators[i]] = i;
  // What the last repeats gave is what the second, or the first, gives now.
  auto replace = [&](OpOperand &operand) {
    auto result = dyn_cast<OpResult>(operand.get());
    auto it = result ? removed.find(result.getOwner()) : removed.end();
    if (it == removed.end())
      return;
    size_t to = it->second - (count - 3) * length;
    if (it->second < begin + (count - 3) * length)
      to = begin + length + (it->second - begin) % length;
    operand.set(operators[to]->getResult(result.getResultNumber()));
  };
  for (Operation &op : main.getBody().front())
    if (!removed.contains(&op))
      llvm::for_each(op.getOpOperands(), replace);
  for (size_t i = last; i > left; --i)
    operators[i - 1]->erase();
  // What only they read of weights.
  for (Operation &op :
       llvm::make_early_inc_range(llvm::reverse(main.getBody().front())))
    if (op.use_empty() && op.getNumResults() > 0)
      op.erase();
}

std::optional<Repeats> shortenRepeats(ModuleOp module, size_t most) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  if (!main || !main.getBody().hasOneBlock())
    return std::nullopt;
  const SmallVector<Operation *> operators = listOperators(main);
  RepeatFinder finder(main, operators);
  if (!finder.find())
    return std::nullopt;
  Shortener shortener(main, operators, finder.begin, finder.end, finder.length);
  shortener.align();
  Repeats repeats;
  if (!shortener.cut(most, repeats))
    return std::nullopt;
  const size_t first = size_t(repeats.hasBegin + 2 * repeats.parts),
               last = repeats.allEnds.size() - size_t(repeats.parts);
  for (size_t i = 0; i < repeats.allEnds.size(); ++i)
    if (i < first || i >= last)
      repeats.ends.push_back(repeats.allEnds[i]);
  shortener.shorten(repeats);
  return repeats;
}

} // namespace mlc
