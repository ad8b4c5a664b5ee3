//===- IntExprBounds.cpp - Bounds and text of symbolic integers -----------===//

#include "dialects/Symbolic/IntExprSize.h"
#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using llvm::ArrayRef;
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

/// A divisor is positive, or there is no value. If it surely is not, the ends
/// would contradict each other.
bool hasNoValue(Interval divisor) { return divisor.high && *divisor.high <= 0; }

Interval floorDivBounds(Interval a, Interval b) {
  if (hasNoValue(b))
    return {};
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
    return hasNoValue(b) ? Interval{} : Interval{0, add(b.high, -1)};
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

/// Parses one expression. Rejects expressions that are expensive to hold, so
/// that time and memory stay proportional to the text.
class Parser {
public:
  explicit Parser(AsmParser &parser) : parser(parser) {}

  FailureOr<IntExpr> sum();

private:
  FailureOr<IntExpr> product();
  FailureOr<IntExpr> factor();
  FailureOr<IntExpr> primary();
  FailureOr<IntExpr> call(StringRef function);
  /// Joins pairwise, so that a long chain is not copied for each operator.
  FailureOr<IntExpr> join(ArrayRef<IntExpr> operands, bool isProduct);
  FailureOr<IntExpr> fail(const llvm::Twine &what) {
    parser.emitError(parser.getCurrentLocation()) << what;
    return failure();
  }

  static constexpr unsigned maxLeaves = 4096, maxNesting = 64, maxChoices = 64;

  AsmParser &parser;
  unsigned depth = 0, leaves = 0;
};

size_t numTerms(IntExpr expr) {
  return expr.getKind() == Kind::Add ? expr.getOperands().size() : 1;
}

FailureOr<IntExpr> Parser::join(ArrayRef<IntExpr> operands, bool isProduct) {
  if (operands.size() == 1)
    return operands.front();
  size_t half = operands.size() / 2;
  FailureOr<IntExpr> a = join(operands.take_front(half), isProduct),
                     b = join(operands.drop_front(half), isProduct);
  if (failed(a) || failed(b))
    return failure();
  size_t terms =
      isProduct ? numTerms(*a) * numTerms(*b) : numTerms(*a) + numTerms(*b);
  if (terms > IntExprSize::maxTerms)
    return fail("the expression has more than " +
                llvm::Twine(IntExprSize::maxTerms) +
                " terms when it is multiplied out");
  return isProduct ? *a * *b : *a + *b;
}

FailureOr<IntExpr> Parser::call(StringRef function) {
  SmallVector<IntExpr> operands;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren,
                                     [&]() -> ParseResult {
                                       FailureOr<IntExpr> operand = sum();
                                       if (failed(operand))
                                         return failure();
                                       operands.push_back(*operand);
                                       return success();
                                     }))
    return failure();
  bool isDivision = function == "floordiv" || function == "mod";
  if (operands.size() < 2 || (isDivision && operands.size() != 2))
    return fail(function + " requires " +
                (isDivision ? "exactly" : "at least") + " 2 operands, got " +
                llvm::Twine(operands.size()));
  if (operands.size() > maxChoices)
    return fail(function + " of more than " + llvm::Twine(maxChoices) +
                " operands");
  if (isDivision && operands[1].isConstant() && operands[1].getConstant() <= 0)
    return fail("the divisor of " + function + " must be positive, got " +
                operands[1].str());
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

FailureOr<IntExpr> Parser::factor() {
  if (++depth > maxNesting)
    return fail("the expression is nested more than " +
                llvm::Twine(maxNesting) + " deep");
  if (++leaves > maxLeaves)
    return fail("the expression has more than " + llvm::Twine(maxLeaves) +
                " operands");
  FailureOr<IntExpr> result = primary();
  --depth;
  if (succeeded(result) && sizeOf(*result).isTooLarge())
    return fail("the expression is too large");
  return result;
}

FailureOr<IntExpr> Parser::primary() {
  MLIRContext *context = parser.getContext();
  int64_t value;
  OptionalParseResult integer = parser.parseOptionalInteger(value);
  if (integer.has_value())
    return failed(*integer) ? FailureOr<IntExpr>(failure())
                            : IntExpr::constant(context, value);
  if (succeeded(parser.parseOptionalLParen())) {
    FailureOr<IntExpr> inner = sum();
    if (failed(inner) || parser.parseRParen())
      return failure();
    return inner;
  }
  for (StringRef function : {"floordiv", "mod", "min", "max"})
    if (succeeded(parser.parseOptionalKeyword(function)))
      return call(function);
  std::string name;
  if (parser.parseOptionalKeywordOrString(&name))
    return fail("expected an integer, a symbol or one of floordiv, mod, min, "
                "max");
  return IntExpr::symbol(context, name);
}

FailureOr<IntExpr> Parser::product() {
  SmallVector<IntExpr> factors;
  do {
    FailureOr<IntExpr> next = factor();
    if (failed(next))
      return failure();
    factors.push_back(*next);
  } while (succeeded(parser.parseOptionalStar()));
  return join(factors, /*isProduct=*/true);
}

FailureOr<IntExpr> Parser::sum() {
  SmallVector<IntExpr> terms;
  for (bool minus = false;; minus = true) {
    FailureOr<IntExpr> term = product();
    if (failed(term))
      return failure();
    terms.push_back(minus ? -*term : *term);
    while (succeeded(parser.parseOptionalPlus())) {
      term = product();
      if (failed(term))
        return failure();
      terms.push_back(*term);
    }
    if (failed(parser.parseOptionalMinus()))
      return join(terms, /*isProduct=*/false);
  }
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
          // A sum stays inside a product only if the product overflows.
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

FailureOr<IntExpr> parseIntExpr(AsmParser &parser) {
  return Parser(parser).sum();
}

} // namespace mlc
