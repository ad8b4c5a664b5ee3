//===- Pattern.cpp - A candidate rule as two terms ------------------------===//

#include "rewrites/Generate/Pattern.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using llvm::SmallVector;

namespace mlc::generate {

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

Pattern::Pattern(const GraphStore &store, const EqualPair &pair)
    : origin(pair), catalog(&store.getCatalog()) {
  std::map<Renamed, uint8_t> known;
  // A renaming that keeps a side's value may be the point of the pair, so only
  // operands are normalized.
  before = add(store, pair.graph, known);
  after = add(store, pair.representative, known);
  putLargerFirst();
}

void Pattern::putLargerFirst() {
  int larger = int(numOperators(before)) - int(numOperators(after));
  if (larger < 0 || (larger == 0 && !hasLeavesOf(before, after)))
    std::swap(before, after);
}

/// Whether `root` has every leaf of `other`.
bool Pattern::hasLeavesOf(uint8_t root, uint8_t other) const {
  SmallVector<bool> own(nodes.size(), false), theirs(nodes.size(), false);
  collect(root, own);
  collect(other, theirs);
  for (auto [node, isOwn, isTheirs] : llvm::zip(nodes, own, theirs))
    if (node.isLeaf() && isTheirs && !isOwn)
      return false;
  return true;
}

uint8_t Pattern::add(const GraphStore &store, Renamed renamed,
                     std::map<Renamed, uint8_t> &known) {
  if (auto it = known.find(renamed); it != known.end())
    return it->second;
  const Graph &graph = store[renamed.graph];
  TermNode node;
  node.application = graph.application;
  node.type = graph.type;
  if (!node.isLeaf()) {
    node.operands.push_back(
        add(store, store.normalize({graph.a, renamed.renaming}), known));
    if (graph.b != Graph::none)
      node.operands.push_back(
          add(store,
              store.normalize(
                  store.rename({graph.b, graph.renaming}, renamed.renaming)),
              known));
  }
  nodes.push_back(node);
  return known[renamed] = nodes.size() - 1;
}

uint8_t Pattern::copy(const Pattern &from, uint8_t node, uint8_t abstracted,
                      std::map<uint8_t, uint8_t> &known) {
  if (auto it = known.find(node); it != known.end())
    return it->second;
  TermNode made = from.nodes[node];
  if (node == abstracted) {
    made.application = Graph::none;
    made.operands.clear();
  }
  for (uint8_t &operand : made.operands)
    operand = copy(from, operand, abstracted, known);
  nodes.push_back(made);
  return known[node] = nodes.size() - 1;
}

Pattern Pattern::abstracted(uint8_t node) const {
  Pattern result;
  result.origin = origin;
  result.catalog = catalog;
  std::map<uint8_t, uint8_t> known;
  result.before = result.copy(*this, before, node, known);
  result.after = result.copy(*this, after, node, known);
  return result;
}

//===----------------------------------------------------------------------===//
// Questions
//===----------------------------------------------------------------------===//

void Pattern::collect(uint8_t root, llvm::SmallVectorImpl<bool> &seen) const {
  if (seen[root])
    return;
  seen[root] = true;
  for (uint8_t operand : nodes[root].operands)
    collect(operand, seen);
}

unsigned Pattern::numOperators(uint8_t root) const {
  SmallVector<bool> seen(nodes.size(), false);
  collect(root, seen);
  unsigned count = 0;
  for (auto [node, isSeen] : llvm::zip(nodes, seen))
    count += isSeen && !node.isLeaf();
  return count;
}

unsigned Pattern::termSize(uint8_t root) const {
  unsigned size = nodes[root].isLeaf() ? 0 : 1;
  for (uint8_t operand : nodes[root].operands)
    size += termSize(operand);
  return size;
}

bool Pattern::isLinear(uint8_t root, std::set<uint8_t> &leaves,
                       std::set<uint32_t> &constants) const {
  const TermNode &node = nodes[root];
  if (node.isLeaf())
    return leaves.insert(root).second;
  for (uint32_t constant : catalog->application(node.application).constants)
    if (!constants.insert(constant).second)
      return false;
  return llvm::all_of(node.operands, [&](uint8_t operand) {
    return isLinear(operand, leaves, constants);
  });
}

bool Pattern::isLinear() const {
  for (uint8_t root : {before, after}) {
    std::set<uint8_t> leaves;
    std::set<uint32_t> constants;
    if (!isLinear(root, leaves, constants))
      return false;
  }
  return true;
}

SmallVector<uint8_t> Pattern::commonOperators() const {
  SmallVector<bool> left(nodes.size(), false), right(nodes.size(), false);
  collect(before, left);
  collect(after, right);
  SmallVector<uint8_t> common;
  for (uint8_t n = nodes.size(); n-- > 0;)
    if (left[n] && right[n] && !nodes[n].isLeaf())
      common.push_back(n);
  llvm::stable_sort(common, [&](uint8_t a, uint8_t b) {
    return numOperators(a) > numOperators(b);
  });
  return common;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

static const std::string &nameOf(const Variant &variant, Detail detail) {
  return detail == Detail::Variant ? variant.name : variant.op;
}

/// Each node's term without names of leaves, commutative operands sorted.
std::vector<std::string> Pattern::shapes(Detail detail) const {
  std::vector<std::string> result;
  for (const TermNode &node : nodes) {
    if (node.isLeaf()) {
      result.push_back("_");
      continue;
    }
    const Variant &variant = variantOf(node);
    std::vector<std::string> operands;
    for (uint8_t operand : node.operands)
      operands.push_back(result[operand]);
    if (variant.isCommutative)
      llvm::sort(operands);
    result.push_back(nameOf(variant, detail) + "(" +
                     llvm::join(operands, ", ") + ")");
  }
  return result;
}

namespace {

/// Writes terms; leaves are named in the order of their first use.
class TermWriter {
public:
  TermWriter(const Pattern &pattern, Detail detail,
             llvm::ArrayRef<std::string> shapes, llvm::ArrayRef<uint8_t> ties,
             unsigned flips)
      : pattern(pattern), detail(detail), shapes(shapes), ties(ties),
        flips(flips) {}

  std::string write(uint8_t n) {
    const TermNode &node = pattern.getNodes()[n];
    if (node.isLeaf()) {
      char next = static_cast<char>('a' + names.size());
      return names.try_emplace(n, 1, next).first->second;
    }
    const Variant &variant = pattern.variantOf(node);
    SmallVector<uint8_t, 2> operands = node.operands;
    if (variant.isCommutative && isSwapped(n, operands))
      std::swap(operands[0], operands[1]);
    std::string text = nameOf(variant, detail) + "(";
    for (auto [i, operand] : llvm::enumerate(operands))
      text += (i ? ", " : "") + write(operand);
    return text + ")";
  }

  std::map<uint8_t, std::string> names;

private:
  bool isSwapped(uint8_t n, llvm::ArrayRef<uint8_t> operands) const {
    auto tie = llvm::find(ties, n);
    if (tie != ties.end())
      return flips >> (tie - ties.begin()) & 1;
    return shapes[operands[1]] < shapes[operands[0]];
  }

  const Pattern &pattern;
  Detail detail;
  llvm::ArrayRef<std::string> shapes;
  llvm::ArrayRef<uint8_t> ties;
  unsigned flips;
};

} // namespace

std::string Pattern::text(Detail detail) const { return write(detail).text; }

std::map<uint8_t, std::string> Pattern::leafNames() const {
  return write(Detail::Variant).leaves;
}

Pattern::Written Pattern::write(Detail detail) const {
  std::vector<std::string> shape = shapes(detail);
  // For operands of one shape, choose the order with the smaller text.
  SmallVector<uint8_t> ties;
  for (auto [n, node] : llvm::enumerate(nodes))
    if (!node.isLeaf() && variantOf(node).isCommutative &&
        node.operands[0] != node.operands[1] &&
        shape[node.operands[0]] == shape[node.operands[1]] && ties.size() < 6)
      ties.push_back(n);
  Written best;
  bool isEven = numOperators(before) == numOperators(after);
  for (unsigned flips = 0; flips < (1u << ties.size()); ++flips)
    for (bool isReversed : {false, true}) {
      if (isReversed && !isEven)
        continue;
      TermWriter writer(*this, detail, shape, ties, flips);
      std::string left = writer.write(isReversed ? after : before);
      std::string text =
          left + " = " + writer.write(isReversed ? before : after);
      if (best.text.empty() || text < best.text)
        best = {std::move(text), std::move(writer.names)};
    }
  return best;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

std::optional<bool> Pattern::areEqual(unsigned i, LeafValues leafValues) const {
  std::vector<std::vector<Guided>> values;
  for (auto [n, node] : llvm::enumerate(nodes)) {
    size_t count = catalog->type(node.type).counts[i];
    if (node.isLeaf()) {
      values.push_back(leafValues(n, count));
      continue;
    }
    SmallVector<const Guided *, 2> operands;
    for (uint8_t operand : node.operands)
      operands.push_back(values[operand].data());
    values.emplace_back(count);
    catalog->run(catalog->application(node.application), i, operands,
                 values.back().data());
  }
  const std::vector<Guided> &a = values[before], &b = values[after];
  auto isDefined = [](const Guided &x) { return std::isfinite(x.guide); };
  if (!llvm::all_of(a, isDefined) || !llvm::all_of(b, isDefined))
    return std::nullopt;
  return llvm::equal(a, b, [](const Guided &x, const Guided &y) {
    return x.residue == y.residue;
  });
}

bool Pattern::agrees(uint64_t seed) const {
  unsigned compared = 0, instantiations = catalog->getNumInstantiations();
  dividedByZero = false;
  for (unsigned i = 0; i < instantiations; ++i) {
    std::optional<bool> equal = areEqual(i, [&](size_t n, size_t count) {
      return sampleValues(mix(seed + n) + i, count,
                          signsOf(n + seed, i, instantiations));
    });
    if (equal == false)
      return false;
    compared += equal.has_value();
  }
  return compared > 0 && !dividedByZero;
}

std::optional<unsigned> Pattern::coincidence() const {
  static constexpr double scales[] = {0.25, 1.0, 4.0};
  std::map<size_t, unsigned> leaves;
  for (auto [n, node] : llvm::enumerate(nodes))
    if (node.isLeaf())
      leaves.try_emplace(n, leaves.size());
  auto areEqualFor = [&](unsigned choice, unsigned i) {
    return areEqual(i, [&](size_t n, size_t count) {
      unsigned leaf = leaves[n];
      // Negative numbers also have square magnitudes, or roots of their
      // quotients would differ.
      std::vector<Guided> values =
          sampleValues(mix(choice) + n, count, Signs::Positive,
                       scales[(choice + leaf) % std::size(scales)]);
      if (choice / std::size(scales) >> leaf & 1)
        llvm::transform(values, values.begin(), negate);
      return values;
    });
  };
  // Tries every choice of signs (only of the first leaves if there are many)
  // and of three magnitudes per leaf.
  unsigned choices =
      (1u << std::min<size_t>(leaves.size(), 5)) * std::size(scales);
  unsigned instantiations = catalog->getNumInstantiations();
  bool differs = false;
  dividedByZero = false;
  for (unsigned choice = 0; choice < choices && !differs; ++choice)
    differs = areEqualFor(choice, choice % instantiations) == false;
  if (dividedByZero)
    return 0;
  if (!differs)
    return std::nullopt;
  unsigned agree = 0;
  for (unsigned i = 0; i < instantiations; ++i) {
    unsigned compared = 0;
    bool isEqual = true;
    for (unsigned choice = 0; choice < choices && isEqual; ++choice) {
      std::optional<bool> equal = areEqualFor(choice, i);
      compared += equal.has_value();
      isEqual = equal.value_or(true);
    }
    agree += isEqual && compared > 0;
  }
  return agree;
}

//===----------------------------------------------------------------------===//
// Instances
//===----------------------------------------------------------------------===//

namespace {

/// Finds terms for the leaves of `general`.
class Matcher {
public:
  Matcher(const Pattern &general, const Pattern &special)
      : general(general), special(special),
        bound(general.getNodes().size(), -1) {}

  bool match(std::vector<std::pair<uint8_t, uint8_t>> pending) {
    if (pending.empty())
      return true;
    auto [g, s] = pending.back();
    pending.pop_back();
    const TermNode &left = general.getNodes()[g],
                   &right = special.getNodes()[s];
    int previous = bound[g];
    if (previous >= 0)
      return previous == s && match(std::move(pending));
    bool fits = left.isLeaf() ||
                (!right.isLeaf() &&
                 &general.variantOf(left) == &special.variantOf(right));
    if (!fits)
      return false;
    bound[g] = s;
    auto next = pending;
    for (auto [a, b] : llvm::zip(left.operands, right.operands))
      if (!left.isLeaf())
        next.push_back({a, b});
    if (match(std::move(next)))
      return true;
    if (!left.isLeaf() && general.variantOf(left).isCommutative) {
      pending.push_back({left.operands[0], right.operands[1]});
      pending.push_back({left.operands[1], right.operands[0]});
      if (match(std::move(pending)))
        return true;
    }
    bound[g] = previous;
    return false;
  }

private:
  const Pattern &general, &special;
  std::vector<int> bound;
};

} // namespace

bool Pattern::hasInstance(const Pattern &other) const {
  return Matcher(*this, other)
             .match({{before, other.before}, {after, other.after}}) ||
         Matcher(*this, other)
             .match({{before, other.after}, {after, other.before}});
}

} // namespace mlc::generate
