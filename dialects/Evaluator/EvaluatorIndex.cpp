//===- EvaluatorIndex.cpp - Index expressions as linear forms -------------===//

#include "dialects/Evaluator/EvaluatorIndex.h"

using namespace mlir;
using llvm::Expected;

namespace mlc::evaluator {

void Form::add(unsigned loop, int64_t coefficient) {
  for (auto *it = terms.begin(); it != terms.end(); ++it) {
    if (it->first < loop)
      continue;
    if (it->first > loop) {
      terms.insert(it, {loop, coefficient});
    } else if ((it->second += coefficient) == 0) {
      terms.erase(it);
    }
    return;
  }
  if (coefficient != 0)
    terms.push_back({loop, coefficient});
}

void Form::add(const Form &other, int64_t factor) {
  constant += other.constant * factor;
  if (factor != 0)
    for (auto [loop, coefficient] : other.terms)
      add(loop, coefficient * factor);
}

namespace {

int64_t floorDivide(int64_t a, int64_t b) {
  return a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0);
}

} // namespace

Expected<int64_t> IndexForms::evaluate(IntExpr expr) const {
  std::optional<int64_t> value =
      expr.evaluate([&](llvm::StringRef symbol) -> std::optional<int64_t> {
        auto it = symbols.find(symbol);
        return it == symbols.end() ? std::nullopt : std::optional(it->second);
      });
  if (!value)
    return evalError(EvalFailure::Input, "cannot evaluate " + expr.str());
  return *value;
}

IndexForms::Bounds IndexForms::boundsOf(const Form &form) const {
  Bounds bounds = {form.constant, form.constant};
  for (auto [loop, coefficient] : form.terms) {
    __int128 last = std::max<int64_t>(extents.lookup(loop) - 1, 0);
    (coefficient > 0 ? bounds.second : bounds.first) += last * coefficient;
  }
  return bounds;
}

bool IndexForms::isSafe(const Form &form) const {
  auto [low, high] = boundsOf(form);
  if (low < -formLimit || high > formLimit)
    return false;
  for (auto [loop, coefficient] : form.terms)
    if (coefficient < -formLimit || coefficient > formLimit)
      return false;
  return true;
}

std::optional<Form> IndexForms::asForm(const Expr &expr) const {
  switch (expr->kind) {
  case Expr::Kind::Loop: {
    Form form;
    // A loop of one point is 0, whatever its coefficient.
    if (extents.lookup(expr->loop) > 1)
      form.add(expr->loop, 1);
    return form;
  }
  case Expr::Kind::Int: {
    Expected<int64_t> value = evaluate(expr->integer);
    if (!value) {
      llvm::consumeError(value.takeError()); // reported by the compilation
      return std::nullopt;
    }
    Form form;
    form.constant = *value;
    return form;
  }
  case Expr::Kind::Unary:
    if (expr->unary == UnaryFn::Neg && isa<IndexType>(expr->type))
      if (std::optional<Form> a = asForm(expr->operands[0]); a && isSafe(*a)) {
        Form form;
        form.add(*a, -1);
        return form;
      }
    return std::nullopt;
  case Expr::Kind::Binary:
    if (!isa<IndexType>(expr->type))
      return std::nullopt;
    if (std::optional<Form> form = binaryForm(*expr); form && isSafe(*form))
      return form;
    return std::nullopt;
  default:
    return std::nullopt;
  }
}

std::optional<Form> IndexForms::binaryForm(const ExprNode &node) const {
  std::optional<Form> a = asForm(node.operands[0]);
  std::optional<Form> b = a ? asForm(node.operands[1]) : std::nullopt;
  if (!b || !isSafe(*a) || !isSafe(*b))
    return std::nullopt;
  switch (node.binary) {
  case BinaryFn::Add:
    a->add(*b, 1);
    return a;
  case BinaryFn::Sub:
    a->add(*b, -1);
    return a;
  case BinaryFn::Mul: {
    if (!b->terms.empty())
      std::swap(a, b);
    if (!b->terms.empty())
      return std::nullopt;
    auto [low, high] = boundsOf(*a);
    __int128 largest = std::max(-low, high);
    if (largest * (b->constant < 0 ? -__int128(b->constant) : b->constant) >
        formLimit)
      return std::nullopt;
    Form product;
    product.add(*a, b->constant);
    return product;
  }
  case BinaryFn::FloorDiv:
  case BinaryFn::Mod:
    return dividedForm(node.binary, *a, *b);
  case BinaryFn::Min:
  case BinaryFn::Max: {
    Form difference = *a;
    difference.add(*b, -1);
    auto [low, high] = boundsOf(difference);
    bool isMin = node.binary == BinaryFn::Min;
    if (high <= 0)
      return isMin ? a : b;
    if (low >= 0)
      return isMin ? b : a;
    return std::nullopt;
  }
  default:
    return std::nullopt;
  }
}

/// Quotient or remainder if the remainder's bounds exclude a carry.
std::optional<Form> IndexForms::dividedForm(BinaryFn fn, const Form &form,
                                            const Form &by) const {
  if (!by.terms.empty() || by.constant <= 0)
    return std::nullopt;
  int64_t divisor = by.constant;
  Form quotient, rest;
  quotient.constant = floorDivide(form.constant, divisor);
  rest.constant = form.constant - quotient.constant * divisor;
  for (auto [loop, coefficient] : form.terms) {
    if (coefficient % divisor == 0)
      quotient.add(loop, coefficient / divisor);
    else
      rest.add(loop, coefficient);
  }
  auto [low, high] = boundsOf(rest);
  if (low < 0 || high >= divisor)
    return std::nullopt;
  return fn == BinaryFn::FloorDiv ? quotient : rest;
}

} // namespace mlc::evaluator
