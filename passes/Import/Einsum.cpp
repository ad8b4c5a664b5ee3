//===- Einsum.cpp - ONNX's Einsum as sums and matrix products -------------===//
//
// Operands are combined from the left. A label that neither the result nor a
// later operand has is summed as early as possible.
//
//===----------------------------------------------------------------------===//

#include "passes/Import/Einsum.h"
#include "dialects/Graph/ComputeOps.h"
#include "dialects/Graph/PointwiseOps.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

namespace mlc {

namespace {

/// A letter, or from `firstUnnamed` on a dim of `...`.
using Label = int;
using Labels = SmallVector<Label>;
constexpr Label firstUnnamed = 256;

struct Term {
  Value value;
  Labels labels; // of its dims
};

class Einsum {
public:
  explicit Einsum(Node &n) : n(n) {}
  LogicalResult run();

private:
  LogicalResult parse();
  std::optional<Labels> labelsOf(StringRef text, int64_t unnamed);
  LogicalResult findDims();
  void takeDiagonal(Term &term);
  void sum(Term &term, llvm::function_ref<bool(Label)> isKept);
  void order(Term &term, ArrayRef<Label> labels);
  Term product(Term a, Term b, llvm::function_ref<bool(Label)> isKept);
  Dims dimsOfLabels(ArrayRef<Label> labels) {
    Dims dims;
    for (Label label : labels)
      dims.push_back(extents.at(label));
    return dims;
  }
  IntExpr count(ArrayRef<Label> labels) {
    return getNumElements(n.context(), dimsOfLabels(labels));
  }

  Node &n;
  SmallVector<Term> terms;
  Labels result;
  int64_t mostUnnamed = 0;
  std::map<Label, IntExpr> extents;
};

} // namespace

/// The labels of "ab...c", where `...` stands for `unnamed` dims.
std::optional<Labels> Einsum::labelsOf(StringRef text, int64_t unnamed) {
  Labels labels;
  bool hasDots = false;
  while (!text.empty()) {
    if (!hasDots && text.consume_front("...")) {
      hasDots = true;
      for (int64_t i = mostUnnamed - unnamed; i < mostUnnamed; ++i)
        labels.push_back(firstUnnamed + i);
      continue;
    }
    if (!llvm::isAlpha(text.front()))
      return std::nullopt;
    labels.push_back(text.front());
    text = text.drop_front();
  }
  return labels;
}

LogicalResult Einsum::parse() {
  std::string equation = n.stringAttr("equation", "");
  llvm::erase_if(equation, [](char c) { return c == ' '; });
  auto [left, right] = StringRef(equation).split("->");
  SmallVector<StringRef> texts;
  left.split(texts, ',');
  if (texts.size() != n.numInputs())
    return n.invalid("has another number of terms than of inputs");
  SmallVector<int64_t> unnamed;
  for (auto [i, text] : llvm::enumerate(texts)) {
    int64_t letters = llvm::count_if(text, llvm::isAlpha);
    unnamed.push_back(text.contains("...") ? n.rank(i) - letters : 0);
    mostUnnamed = std::max(mostUnnamed, unnamed.back());
  }
  llvm::SmallDenseMap<Label, int> uses;
  for (auto [i, text] : llvm::enumerate(texts)) {
    std::optional<Labels> labels = labelsOf(text, unnamed[i]);
    if (!labels || int64_t(labels->size()) != n.rank(i) ||
        n.type(i) != n.type(0))
      return n.invalid("has a term that does not fit its input, or inputs of "
                       "several types");
    for (Label label : *labels)
      ++uses[label];
    terms.push_back({n.value(i), *labels});
  }
  if (StringRef(equation).contains("->")) {
    std::optional<Labels> labels =
        labelsOf(right, right.contains("...") ? mostUnnamed : 0);
    if (!labels || (mostUnnamed && !right.contains("...")))
      return n.invalid("has a result that cannot be read");
    result = *labels;
  } else {
    for (int64_t i = 0; i < mostUnnamed; ++i)
      result.push_back(firstUnnamed + i);
    for (Label label = 0; label < firstUnnamed; ++label)
      if (uses.lookup(label) == 1)
        result.push_back(label);
  }
  for (Label label : result)
    if (!uses.lookup(label) || llvm::count(result, label) != 1)
      return n.invalid("has a result with an index that is repeated or in no "
                       "term");
  return success();
}

/// Finds the extent of each label. Dims of one element are ignored if others of
/// the label have more, as in NumPy.
LogicalResult Einsum::findDims() {
  for (Term &term : terms)
    if (!term.value)
      return failure();
  for (Term &term : terms)
    for (auto [label, dim] : llvm::zip(term.labels, dimsOf(term.value))) {
      auto [it, isNew] = extents.try_emplace(label, dim);
      if (!isNew && it->second.isConstant(1))
        it->second = dim;
    }
  for (Term &term : terms) {
    Labels labels;
    for (auto [label, dim] : llvm::zip(term.labels, dimsOf(term.value))) {
      IntExpr extent = extents.at(label);
      bool isOnce = llvm::count(term.labels, label) == 1;
      if (isOnce && dim.isConstant(1) && !extent.isConstant(1))
        continue;
      n.requireEqual(dim, extent,
                     "dims of one index, or of '...', must be equal; one that "
                     "is to be 1 and broadcast must be fixed");
      labels.push_back(label);
    }
    term.labels = labels;
    if (n.failed())
      return failure();
    term.value = n.reshape(term.value, dimsOfLabels(labels));
  }
  return success();
}

/// One dim for each label.
void Einsum::takeDiagonal(Term &term) {
  Labels once;
  for (Label label : term.labels)
    if (!llvm::is_contained(once, label))
      once.push_back(label);
  if (once.size() == term.labels.size() || !term.value)
    return;
  auto loops = [](ArrayRef<Label> labels) {
    return llvm::join(
        llvm::map_range(
            labels, [](Label label) { return "i" + std::to_string(label); }),
        ", ");
  };
  std::string text =
      "(x) d[" + loops(once) + "] = x[" + loops(term.labels) + "]";
  SmallVector<Value> operands{term.value};
  term.value = n.op<ComputeOp>(
      ValueRange(operands), StringRef(text), n.dimsAttr(dimsOfLabels(once)),
      n.dimsAttr(ArrayRef<IntExpr>()), n.builder().getArrayAttr({}),
      elementTypeOf(term.value));
  term.labels = once;
}

void Einsum::sum(Term &term, llvm::function_ref<bool(Label)> isKept) {
  SmallVector<int64_t> axes;
  Labels kept;
  for (auto [axis, label] : llvm::enumerate(term.labels))
    if (isKept(label))
      kept.push_back(label);
    else
      axes.push_back(axis);
  if (axes.empty() || !term.value)
    return;
  term.value =
      n.reshape(n.reduce(Reduction::Sum, term.value, axes), dimsOfLabels(kept));
  term.labels = kept;
}

void Einsum::order(Term &term, ArrayRef<Label> labels) {
  SmallVector<int64_t> order;
  for (Label label : labels)
    order.push_back(llvm::find(term.labels, label) - term.labels.begin());
  if (term.value && !llvm::is_sorted(order))
    term.value = n.transpose(term.value, order);
  term.labels = Labels(labels);
}

Term Einsum::product(Term a, Term b, llvm::function_ref<bool(Label)> isKept) {
  auto has = [](const Term &term, Label label) {
    return llvm::is_contained(term.labels, label);
  };
  sum(a, [&](Label label) { return isKept(label) || has(b, label); });
  sum(b, [&](Label label) { return isKept(label) || has(a, label); });
  Labels batch, rows, columns, summed;
  for (Label label : a.labels)
    (!has(b, label) ? rows : isKept(label) ? batch : summed).push_back(label);
  for (Label label : b.labels)
    if (!has(a, label))
      columns.push_back(label);
  auto joined = [](std::initializer_list<ArrayRef<Label>> parts) {
    Labels all;
    for (ArrayRef<Label> part : parts)
      llvm::append_range(all, part);
    return all;
  };
  order(a, joined({batch, rows, summed}));
  order(b, joined({batch, summed, columns}));
  auto matrix = [&](IntExpr height, IntExpr width) {
    Dims dims = dimsOfLabels(batch);
    dims.append({height, width});
    return dims;
  };
  Value left = n.reshape(a.value, matrix(count(rows), count(summed)));
  Value right = n.reshape(b.value, matrix(count(summed), count(columns)));
  Term both;
  both.labels = joined({batch, rows, columns});
  // Without a sum, the product of a column and a row.
  both.value = summed.empty() ? n.pointwise<MulOp>({left, right})
                              : importedMatmul(n, left, right);
  if (both.value)
    both.value = n.reshape(both.value, dimsOfLabels(both.labels));
  return both;
}

LogicalResult Einsum::run() {
  if (failed(parse()) || failed(findDims()))
    return failure();
  for (Term &term : terms)
    takeDiagonal(term);
  Term all = terms.front();
  for (size_t next = 1; next < terms.size(); ++next)
    all = product(all, terms[next], [&](Label label) {
      return llvm::is_contained(result, label) ||
             llvm::any_of(ArrayRef(terms).drop_front(next + 1),
                          [&](const Term &later) {
                            return llvm::is_contained(later.labels, label);
                          });
    });
  sum(all, [&](Label label) { return llvm::is_contained(result, label); });
  order(all, result);
  return n.result(all.value);
}

LogicalResult importEinsum(Node &n) { return Einsum(n).run(); }

} // namespace mlc
