//===- DefinitionExpression.cpp - Scalar expressions from text ------------===//

#include "dialects/Definition/DefinitionParser.h"
#include "dialects/Symbolic/IntExprSize.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include <cmath>

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

namespace mlc {

static constexpr unsigned maxDepth = 64;
/// Limits the terms of a product of sums, because symbolic integers are kept
/// expanded.
static constexpr size_t maxTerms = 256;

DefinitionParser::Value DefinitionParser::expr() {
  Value left = sumExpr();
  static constexpr std::pair<const char *, ComparePredicate> signs[] = {
      {"<=", ComparePredicate::LE}, {">=", ComparePredicate::GE},
      {"==", ComparePredicate::EQ}, {"!=", ComparePredicate::NE},
      {"<", ComparePredicate::LT},  {">", ComparePredicate::GT}};
  for (auto [sign, predicate] : signs)
    if (consume(sign)) {
      Value right = sumExpr();
      Type type = commonType(left, right, indexType);
      return value(compare(predicate, coerce(left, type), coerce(right, type)));
    }
  return left;
}

DefinitionParser::Value DefinitionParser::sumExpr() {
  Value left = product();
  while (!failed()) {
    if (consume("+"))
      left = arithmetic(BinaryFn::Add, left, product());
    else if (consume("-"))
      left = arithmetic(BinaryFn::Sub, left, product());
    else
      break;
  }
  return left;
}

DefinitionParser::Value DefinitionParser::product() {
  Value left = factor();
  while (!failed()) {
    if (consume("*"))
      left = arithmetic(BinaryFn::Mul, left, factor());
    else if (consume("/"))
      left = arithmetic(BinaryFn::Div, left, factor());
    else
      break;
  }
  return left;
}

DefinitionParser::Value
DefinitionParser::arithmetic(BinaryFn fn, const Value &a, const Value &b) {
  if (++numNodes > maxNodes)
    fail("the expression is too long");
  Type type =
      commonType(a, b, fn == BinaryFn::Div ? arguments.elementType : indexType);
  Expr x = coerce(a, type), y = coerce(b, type);
  bool isIndex = isa<IndexType>(type);
  if (isIndex && fn == BinaryFn::Div)
    fail("integers are divided by floordiv, or after a cast");
  else if (type.isInteger(1) && fn <= BinaryFn::Div)
    fail("truth values are combined by and, or, xor");
  else if (isIndex && fn == BinaryFn::Mul &&
           numTerms(x) * numTerms(y) > maxTerms)
    fail("the product of integers is too large");
  if (failed())
    return value(dummy(type));
  return limited(binary(fn, x, y));
}

DefinitionParser::Value DefinitionParser::limited(Expr expr) {
  if (expr->kind == Expr::Kind::Int && sizeOf(expr->integer).isTooLarge())
    fail("the expression of integers is too large");
  return failed() ? value(dummy(expr->type)) : value(std::move(expr));
}

size_t DefinitionParser::numTerms(const Expr &e) {
  if (e->kind != Expr::Kind::Int)
    return 1;
  return e->integer.getKind() == IntExpr::Kind::Add
             ? e->integer.getOperands().size()
             : 1;
}

DefinitionParser::Value DefinitionParser::factor() {
  if (++depth > maxDepth)
    fail("the expression is nested too deeply");
  Value result = failed() ? value(dummy(indexType)) : primary();
  --depth;
  return result;
}

DefinitionParser::Value DefinitionParser::primary() {
  if (consume("-"))
    return negative(factor());
  if (consume("(")) {
    Value inner = expr();
    expect(")");
    return inner;
  }
  if (!peek().empty() && (llvm::isDigit(rest[0]) || rest[0] == '.'))
    return literal();
  StringRef name = identifier();
  if (failed())
    return value(dummy(indexType));
  if (auto it = loops.find(name); it != loops.end())
    return value(it->second);
  if (auto it = integers.find(name); it != integers.end())
    return value(builder.integer(it->second));
  if (auto it = reals.find(name); it != reals.end())
    return realParameter(it->second);
  if (auto it = tensors.find(name); it != tensors.end())
    return element(name, it->second);
  if (name == "inf" || name == "nan") {
    Value number;
    number.isLiteral = true;
    number.number =
        name == "inf" ? std::numeric_limits<double>::infinity() : std::nan("");
    return number;
  }
  if (peek().starts_with("{"))
    return reduction(name);
  if (consume("("))
    return call(name);
  fail("'" + name + "' is not known");
  return value(dummy(indexType));
}

DefinitionParser::Value DefinitionParser::negative(Value a) {
  if (a.isLiteral) {
    a.number = -a.number;
    a.integer = -a.integer;
    return a;
  }
  if (isa<IndexType>(a.expr->type))
    return value(builder.index(0) - a.expr);
  return value(-a.expr);
}

DefinitionParser::Value DefinitionParser::literal() {
  Value result;
  result.isLiteral = true;
  StringRef digits =
      rest.take_while([](char c) { return llvm::isAlnum(c) || c == '.'; });
  // The sign of an exponent.
  size_t size = digits.size();
  if ((digits.ends_with("e") || digits.ends_with("E")) && size < rest.size() &&
      (rest[size] == '-' || rest[size] == '+')) {
    size += 1;
    size += rest.drop_front(size).take_while(llvm::isDigit).size();
    digits = rest.take_front(size);
  }
  result.isInteger = !digits.getAsInteger(10, result.integer);
  if (digits.getAsDouble(result.number)) {
    fail("'" + digits + "' is no number");
    return result;
  }
  rest = rest.drop_front(size);
  return result;
}

DefinitionParser::Value DefinitionParser::realParameter(RealAttr real) {
  Type type = arguments.elementType;
  if (!isa<FloatType>(type)) {
    fail("a real parameter needs a float element type");
    return value(dummy(type));
  }
  return value(builder.real(type, real));
}

DefinitionParser::Value DefinitionParser::element(StringRef name,
                                                  TensorId tensor) {
  bool isGuarded = consume("<");
  Type type = tensor.isStage ? arguments.elementType
                             : builder.elementType(tensor.index);
  ArrayRef<IntExpr> dims = tensor.isStage
                               ? ArrayRef<IntExpr>(stageDims[tensor.index])
                               : builder.dims(tensor.index);
  Expr otherwise;
  if (isGuarded) {
    otherwise = coerce(factor(), type);
    expect(">");
  }
  expect("[");
  SmallVector<Expr> indices;
  if (!consume("]")) {
    do
      indices.push_back(coerce(expr(), indexType));
    while (consume(","));
    expect("]");
  }
  if (!failed() && indices.size() != dims.size())
    fail("'" + name + "' has " + llvm::Twine(dims.size()) + " dims, not " +
         llvm::Twine(indices.size()));
  if (failed())
    return value(dummy(type));
  for (auto [d, dim] : llvm::enumerate(dims))
    if (!isGuarded && !isEvidentlyInRange(indices[d], dim, extents)) {
      fail("index " + llvm::Twine(d) + " of '" + name +
           "' may be out of range (the dim is " + dim.str() +
           "); say what "
           "stands for it then, as in " +
           name + "<0>[..]");
      return value(dummy(type));
    }
  if (tensor.isStage)
    return value(isGuarded
                     ? builder.readStageOr(tensor.index, indices, otherwise)
                     : builder.readStage(tensor.index, indices));
  return value(isGuarded ? builder.readOr(tensor.index, indices, otherwise)
                         : builder.read(tensor.index, indices));
}

DefinitionParser::Value DefinitionParser::reduction(StringRef name) {
  std::optional<ReduceKind> kind =
      llvm::StringSwitch<std::optional<ReduceKind>>(name)
          .Case("sum", ReduceKind::Sum)
          .Case("prod", ReduceKind::Prod)
          .Case("max", ReduceKind::Max)
          .Case("min", ReduceKind::Min)
          .Case("any", ReduceKind::Any)
          .Case("all", ReduceKind::All)
          .Default(std::nullopt);
  if (!kind)
    fail("'" + name + "' is no reduction");
  expect("{");
  bool hasBounds = false;
  LoopHead head = loopHead("}", hasBounds);
  if (!failed() && !hasBounds)
    fail("expected `i < extent`");
  expect("(");
  if (failed())
    return value(dummy(arguments.elementType));
  bool isTruth = *kind == ReduceKind::Any || *kind == ReduceKind::All;
  Expr result =
      builder.reduce(*kind, head.extents, [&](ArrayRef<Expr> variables) {
        return inLoops(head, variables, [&] {
          Value body = expr();
          Type type = typeOf(body);
          if (isa<IndexType>(type))
            fail("integers are reduced after a cast");
          else if (isTruth != type.isInteger(1))
            fail(isTruth ? "any and all take truth values"
                         : "truth values are reduced by any and all");
          return coerce(body, type);
        });
      });
  expect(")");
  return value(result);
}

Type DefinitionParser::typeNamed(StringRef name) {
  Builder b(builder.getContext());
  return llvm::StringSwitch<Type>(name)
      .Case("f16", b.getF16Type())
      .Case("bf16", b.getBF16Type())
      .Case("f32", b.getF32Type())
      .Case("f64", b.getF64Type())
      .Case("i8", b.getIntegerType(8))
      .Case("i16", b.getIntegerType(16))
      .Case("i32", b.getIntegerType(32))
      .Case("i64", b.getIntegerType(64))
      .Case("ui8", b.getIntegerType(8, /*isSigned=*/false))
      .Case("ui16", b.getIntegerType(16, /*isSigned=*/false))
      .Case("ui32", b.getIntegerType(32, /*isSigned=*/false))
      .Case("ui64", b.getIntegerType(64, /*isSigned=*/false))
      .Case("index", indexType)
      .Default(Type());
}

DefinitionParser::Value DefinitionParser::call(StringRef name) {
  SmallVector<Value, 3> operands;
  do
    operands.push_back(expr());
  while (consume(","));
  expect(")");
  if (++numNodes > maxNodes)
    fail("the expression is too long");
  auto requireOperands = [&](size_t count) {
    if (operands.size() != count)
      fail("'" + name + "' takes " + llvm::Twine(count) + " operands, not " +
           llvm::Twine(operands.size()));
    return !failed();
  };
  if (Type type = typeNamed(name)) {
    if (!requireOperands(1))
      return value(dummy(type));
    const Value &a = operands[0];
    return value(a.isLiteral ? coerce(a, type) : cast(a.expr, type));
  }
  if (name == "select")
    return requireOperands(3) ? selection(operands)
                              : value(dummy(arguments.elementType));
  if (std::optional<UnaryFn> fn = unaryNamed(name))
    return requireOperands(1) ? unaryCall(*fn, operands[0])
                              : value(dummy(arguments.elementType));
  if (std::optional<BinaryFn> fn = binaryNamed(name))
    return requireOperands(2) ? binaryCall(*fn, operands[0], operands[1])
                              : value(dummy(arguments.elementType));
  fail("there is no function '" + name + "'");
  return value(dummy(arguments.elementType));
}

DefinitionParser::Value DefinitionParser::selection(ArrayRef<Value> operands) {
  Type boolean = IntegerType::get(builder.getContext(), 1);
  Type type = commonType(operands[1], operands[2], arguments.elementType);
  return value(select(coerce(operands[0], boolean), coerce(operands[1], type),
                      coerce(operands[2], type)));
}

/// Whether a function of one argument takes elements of the type.
static bool takes(Takes taken, Type type) {
  bool isTruth = type.isInteger(1);
  switch (taken) {
  case Takes::Floats:
    return isa<FloatType>(type);
  case Takes::Numbers:
    return isa<FloatType>(type) || (isa<IntegerType>(type) && !isTruth);
  case Takes::Truths:
    return isTruth;
  case Takes::Words:
    return type.isInteger(64);
  }
  llvm_unreachable("unknown class of types");
}

DefinitionParser::Value DefinitionParser::unaryCall(UnaryFn fn,
                                                    const Value &a) {
  Type type = typeOf(a);
  Expr x = coerce(a, type);
  if (!takes(factsOf(fn).takes, type))
    fail("'" + mlc::name(fn) + "' does not take this type");
  return value(unary(fn, x));
}

DefinitionParser::Value
DefinitionParser::binaryCall(BinaryFn fn, const Value &a, const Value &b) {
  Type type = commonType(a, b, indexType);
  bool isIndex = isa<IndexType>(type);
  Takes taken = factsOf(fn).takes;
  if ((taken == Takes::Truths) != type.isInteger(1))
    fail("'" + mlc::name(fn) + "' does not take this type");
  if (taken == Takes::Floats && !isa<FloatType>(type))
    fail("'" + mlc::name(fn) + "' takes floats");
  if (taken == Takes::Words && !takes(taken, type))
    fail("'" + mlc::name(fn) + "' takes elements of 64 bits");
  if (fn != BinaryFn::FloorDiv && fn != BinaryFn::Mod)
    return limited(binary(fn, coerce(a, type), coerce(b, type)));
  Expr divisor = coerce(b, type);
  if (!isIndex || divisor->kind != Expr::Kind::Int)
    fail("'" + mlc::name(fn) + "' takes integers, the divisor without loops");
  else if (divisor->integer.isConstant() && divisor->integer.getConstant() <= 0)
    fail("a divisor must be positive");
  if (failed())
    return value(dummy(type));
  builder.require(divisor->integer, ComparePredicate::GT, divisor->integer * 0,
                  "a divisor must be positive");
  return limited(binary(fn, coerce(a, type), divisor));
}

} // namespace mlc
