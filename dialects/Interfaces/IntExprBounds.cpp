//===- IntExprBounds.cpp - Bounds and text of symbolic integers -----------===//

#include "dialects/Interfaces/IntExpr.h"
#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using llvm::SmallVector;
using llvm::StringRef;

namespace mlc {

using Kind = IntExpr::Kind;

namespace {

/// An interval whose missing ends are infinite.
struct Interval {
  std::optional<int64_t> low, high;
};

std::optional<int64_t> add(std::optional<int64_t> a, std::optional<int64_t> b) {
  int64_t sum;
  if (!a || !b || llvm::AddOverflow(*a, *b, sum))
    return std::nullopt;
  return sum;
}

std::optional<int64_t> multiply(std::optional<int64_t> a,
                                std::optional<int64_t> b) {
  int64_t product;
  if ((a && *a == 0) || (b && *b == 0))
    return 0;
  if (!a || !b || llvm::MulOverflow(*a, *b, product))
    return std::nullopt;
  return product;
}

Interval boundsOf(IntExpr expr);

Interval product(Interval a, Interval b) {
  if (a.low && *a.low >= 0 && b.low && *b.low >= 0)
    return {multiply(a.low, b.low), multiply(a.high, b.high)};
  auto negate = [](Interval x) {
    auto flip = [](std::optional<int64_t> end) { return multiply(end, -1); };
    return Interval{flip(x.high), flip(x.low)};
  };
  if (a.high && *a.high <= 0 && b.low && *b.low >= 0)
    return negate(product(negate(a), b));
  if (b.high && *b.high <= 0 && a.low && *a.low >= 0)
    return negate(product(a, negate(b)));
  return {};
}

Interval floorDivBounds(Interval a, Interval b) {
  if (!b.low || *b.low <= 0 || !b.high || *b.low != *b.high)
    return {a.low && *a.low >= 0 ? std::optional<int64_t>(0) : std::nullopt,
            a.high && *a.high >= 0 ? a.high : std::nullopt};
  auto divide = [&](std::optional<int64_t> end) -> std::optional<int64_t> {
    if (!end)
      return std::nullopt;
    return llvm::divideFloorSigned(*end, *b.low);
  };
  return {divide(a.low), divide(a.high)};
}

Interval combine(Kind kind, Interval a, Interval b) {
  auto pick = [&](std::optional<int64_t> x, std::optional<int64_t> y,
                  bool wantMin, bool missingWins) -> std::optional<int64_t> {
    if (!x || !y)
      return missingWins ? std::nullopt : (x ? x : y);
    return wantMin ? std::min(*x, *y) : std::max(*x, *y);
  };
  switch (kind) {
  case Kind::Add:
    return {add(a.low, b.low), add(a.high, b.high)};
  case Kind::Mul:
    return product(a, b);
  case Kind::FloorDiv:
    return floorDivBounds(a, b);
  case Kind::Mod:
    return {0, add(b.high, -1)};
  case Kind::Min:
    return {pick(a.low, b.low, true, true), pick(a.high, b.high, true, false)};
  case Kind::Max:
    return {pick(a.low, b.low, false, false),
            pick(a.high, b.high, false, true)};
  case Kind::Constant:
  case Kind::Symbol:
    break;
  }
  llvm_unreachable("not an operator");
}

Interval boundsOf(IntExpr expr) {
  if (expr.isConstant())
    return {expr.getConstant(), expr.getConstant()};
  if (expr.getKind() == Kind::Symbol)
    return {0, std::nullopt};
  std::optional<Interval> result;
  for (IntExpr operand : expr.getOperands()) {
    Interval bounds = boundsOf(operand);
    result = result ? combine(expr.getKind(), *result, bounds) : bounds;
  }
  return *result;
}

bool isBareIdentifier(StringRef name) {
  if (name.empty() || !(llvm::isAlpha(name[0]) || name[0] == '_'))
    return false;
  for (StringRef word : {"floordiv", "mod", "min", "max"})
    if (name == word)
      return false;
  return llvm::all_of(
      name, [](char c) { return llvm::isAlnum(c) || c == '_' || c == '.'; });
}

void printQuoted(llvm::raw_ostream &os, StringRef name) {
  if (isBareIdentifier(name)) {
    os << name;
    return;
  }
  os << '"';
  llvm::printEscapedString(name, os);
  os << '"';
}

void printCall(llvm::raw_ostream &os, StringRef function, IntExpr expr) {
  os << function << '(';
  llvm::interleaveComma(expr.getOperands(), os,
                        [&](IntExpr operand) { operand.print(os); });
  os << ')';
}

FailureOr<IntExpr> parseSum(AsmParser &parser);

FailureOr<IntExpr> parseCall(AsmParser &parser, StringRef function) {
  SmallVector<IntExpr> operands;
  if (parser.parseCommaSeparatedList(
          AsmParser::Delimiter::Paren, [&]() -> ParseResult {
            FailureOr<IntExpr> operand = parseSum(parser);
            if (failed(operand))
              return failure();
            operands.push_back(*operand);
            return success();
          }))
    return failure();
  bool isDivision = function == "floordiv" || function == "mod";
  if (operands.size() < 2 || (isDivision && operands.size() != 2)) {
    parser.emitError(parser.getCurrentLocation())
        << function << " requires " << (isDivision ? "exactly" : "at least")
        << " 2 operands, got " << operands.size();
    return failure();
  }
  if (function == "floordiv")
    return operands[0].floorDiv(operands[1]);
  if (function == "mod")
    return operands[0].mod(operands[1]);
  IntExpr result = operands.front();
  for (IntExpr operand : llvm::drop_begin(operands))
    result = function == "min" ? IntExpr::min(result, operand)
                               : IntExpr::max(result, operand);
  return result;
}

FailureOr<IntExpr> parseFactor(AsmParser &parser) {
  MLIRContext *context = parser.getContext();
  int64_t value;
  OptionalParseResult integer = parser.parseOptionalInteger(value);
  if (integer.has_value())
    return failed(*integer) ? FailureOr<IntExpr>(failure())
                            : IntExpr::constant(context, value);
  if (succeeded(parser.parseOptionalMinus())) {
    FailureOr<IntExpr> factor = parseFactor(parser);
    return failed(factor) ? factor : FailureOr<IntExpr>(-*factor);
  }
  if (succeeded(parser.parseOptionalLParen())) {
    FailureOr<IntExpr> sum = parseSum(parser);
    if (failed(sum) || parser.parseRParen())
      return failure();
    return sum;
  }
  for (StringRef function : {"floordiv", "mod", "min", "max"})
    if (succeeded(parser.parseOptionalKeyword(function)))
      return parseCall(parser, function);
  std::string name;
  if (parser.parseOptionalKeywordOrString(&name)) {
    parser.emitError(parser.getCurrentLocation())
        << "expected an integer, a symbol or one of floordiv, mod, min, max";
    return failure();
  }
  return IntExpr::symbol(context, name);
}

FailureOr<IntExpr> parseProduct(AsmParser &parser) {
  FailureOr<IntExpr> result = parseFactor(parser);
  while (succeeded(result) && succeeded(parser.parseOptionalStar())) {
    FailureOr<IntExpr> factor = parseFactor(parser);
    if (failed(factor))
      return failure();
    result = *result * *factor;
  }
  return result;
}

FailureOr<IntExpr> parseSum(AsmParser &parser) {
  FailureOr<IntExpr> result = parseProduct(parser);
  while (succeeded(result)) {
    bool minus = false;
    if (failed(parser.parseOptionalPlus())) {
      if (failed(parser.parseOptionalMinus()))
        return result;
      minus = true;
    }
    FailureOr<IntExpr> term = parseProduct(parser);
    if (failed(term))
      return failure();
    result = minus ? *result - *term : *result + *term;
  }
  return result;
}

} // namespace

std::optional<int64_t> IntExpr::lowerBound() const {
  return boundsOf(*this).low;
}
std::optional<int64_t> IntExpr::upperBound() const {
  return boundsOf(*this).high;
}

void IntExpr::print(llvm::raw_ostream &os) const {
  switch (getKind()) {
  case Kind::Constant:
    os << getConstant();
    return;
  case Kind::Symbol:
    printQuoted(os, getSymbol());
    return;
  case Kind::FloorDiv:
    return printCall(os, "floordiv", *this);
  case Kind::Mod:
    return printCall(os, "mod", *this);
  case Kind::Min:
    return printCall(os, "min", *this);
  case Kind::Max:
    return printCall(os, "max", *this);
  case Kind::Mul:
    llvm::interleave(
        getOperands(), os,
        [&](IntExpr operand) {
          // Only an overflowing product keeps a sum inside.
          bool parens = operand.getKind() == Kind::Add;
          os << (parens ? "(" : "");
          operand.print(os);
          os << (parens ? ")" : "");
        },
        " * ");
    return;
  case Kind::Add:
    break;
  }
  for (auto [i, operand] : llvm::enumerate(getOperands())) {
    std::string text = operand.str();
    StringRef term(text);
    if (i)
      os << (term.consume_front("-") ? " - " : " + ");
    os << term;
  }
}

std::string IntExpr::str() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  print(os);
  return text;
}

FailureOr<IntExpr> parseIntExpr(AsmParser &parser) { return parseSum(parser); }

} // namespace mlc
