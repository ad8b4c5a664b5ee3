//===- DefinitionParse.cpp - Definitions from text ------------------------===//

#include "dialects/Definition/DefinitionParser.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

namespace mlc {

/// Longer texts are rejected.
static constexpr size_t maxTextBytes = 1 << 16;

llvm::Error DefinitionParser::run() {
  if (text.size() > maxTextBytes)
    fail("the text is longer than 64 KiB");
  header();
  do
    stage();
  while (!failed() && consume(";"));
  if (!failed() && !peek().empty())
    fail("expected ';' or the end");
  if (!failed())
    return llvm::Error::success();
  return llvm::createStringError("at character %zu: %s", errorAt,
                                 message.c_str());
}

void DefinitionParser::fail(const llvm::Twine &what) {
  if (failed())
    return;
  message = what.str();
  errorAt = text.size() - rest.size() + 1;
}

StringRef DefinitionParser::identifier() {
  if (failed())
    return "";
  peek();
  bool starts = !rest.empty() && (llvm::isAlpha(rest[0]) || rest[0] == '_');
  StringRef name =
      rest.take_while([](char c) { return llvm::isAlnum(c) || c == '_'; });
  if (!starts) {
    fail("expected a name");
    return "";
  }
  rest = rest.drop_front(name.size());
  return name;
}

void DefinitionParser::declare(StringRef name) {
  if (name.empty())
    return;
  if (loops.count(name) || tensors.count(name) || integers.count(name) ||
      reals.count(name) || isWord(name))
    fail("'" + name + "' has a meaning already");
}

bool DefinitionParser::isWord(StringRef name) {
  return llvm::is_contained(
             {"sum", "prod", "any", "all", "select", "inf", "nan"}, name) ||
         unaryNamed(name) || binaryNamed(name);
}

SmallVector<StringRef> DefinitionParser::names(StringRef what,
                                               size_t expected) {
  SmallVector<StringRef> result;
  if (!peek().starts_with(";") && !peek().starts_with(")"))
    do
      result.push_back(identifier());
    while (consume(","));
  if (!failed() && result.size() != expected)
    fail("the text names " + llvm::Twine(result.size()) + " " + what +
         ", but there are " + llvm::Twine(expected));
  return failed() ? SmallVector<StringRef>() : result;
}

void DefinitionParser::header() {
  expect("(");
  for (auto [i, name] : llvm::enumerate(names("tensors", numInputs()))) {
    declare(name);
    tensors[name] = {false, static_cast<unsigned>(i)};
  }
  SmallVector<StringRef> own;
  if (consume(";") || !arguments.integers.empty())
    own = names("integers", arguments.integers.size());
  for (auto [name, value] : llvm::zip(own, arguments.integers)) {
    declare(name);
    integers[name] = value;
  }
  own.clear();
  if (consume(";") || !arguments.reals.empty())
    own = names("real parameters", arguments.reals.size());
  for (auto [name, value] : llvm::zip(own, arguments.reals)) {
    declare(name);
    reals[name] = value;
  }
  expect(")");
}

IntExpr DefinitionParser::integerExpr() {
  Expr value = coerce(sumExpr(), indexType);
  if (!failed() && value->kind == Expr::Kind::Int)
    return value->integer;
  fail("expected an integer without loops");
  return IntExpr::constant(builder.getContext(), 0);
}

IntExpr DefinitionParser::extent() {
  expect("<");
  IntExpr value = integerExpr();
  if (value.isConstant() && value.getConstant() < 0)
    fail("a loop cannot run " + value.str() + " times");
  return value;
}

DefinitionParser::LoopHead DefinitionParser::loopHead(StringRef close,
                                                      bool &hasBounds) {
  LoopHead head;
  hasBounds = false;
  if (consume(close))
    return head;
  do {
    StringRef name = identifier();
    declare(name);
    if (llvm::is_contained(head.names, name))
      fail("loop '" + name + "' stands there twice");
    head.names.push_back(name);
    if (peek().starts_with("<")) {
      hasBounds = true;
      head.extents.push_back(extent());
    }
  } while (consume(","));
  expect(close);
  if (hasBounds && head.extents.size() != head.names.size())
    fail("expected a bound for every loop, or for none");
  return head;
}

Expr DefinitionParser::inLoops(const LoopHead &head, ArrayRef<Expr> variables,
                               llvm::function_ref<Expr()> body) {
  for (auto [name, variable, extent] :
       llvm::zip(head.names, variables, head.extents)) {
    loops[name] = variable;
    extents[variable->loop] = extent;
  }
  Expr value = body();
  for (StringRef name : head.names)
    loops.erase(name);
  return value;
}

void DefinitionParser::stage() {
  StringRef name = identifier();
  declare(name);
  expect("[");
  bool hasBounds = false;
  LoopHead head = loopHead("]", hasBounds);
  expect("=");
  if (failed())
    return;
  bool isResult = !hasBounds && head.names.size() == arguments.dims.size() &&
                  rest.find(';') == StringRef::npos;
  if (isResult)
    head.extents.assign(arguments.dims.begin(), arguments.dims.end());
  else if (head.extents.size() != head.names.size())
    return fail("expected bounds here, or " +
                llvm::Twine(arguments.dims.size()) +
                " loops without bounds in the last stage");
  else if (rest.find(';') == StringRef::npos)
    return fail("the loops of the last stage have no bounds: they run over "
                "the operator's dims");
  unsigned number = builder.stage(
      name, head.extents, arguments.elementType, [&](ArrayRef<Expr> i) {
        return inLoops(head, i,
                       [&] { return coerce(expr(), arguments.elementType); });
      });
  tensors[name] = {true, number};
  stageDims.resize(number + 1);
  stageDims[number] = head.extents;
  if (isResult)
    builder.result(number);
}

Expr DefinitionParser::coerce(const Value &value, Type type) {
  if (failed())
    return dummy(type);
  if (!value.isLiteral) {
    if (value.expr->type == type)
      return value.expr;
    std::string what;
    llvm::raw_string_ostream(what)
        << "expected " << type << ", got " << value.expr->type
        << "; write a cast, as in f32(..)";
    fail(what);
    return dummy(type);
  }
  if (isa<FloatType>(type))
    return builder.constant(type, value.number);
  if (!value.isInteger) {
    fail("expected an integer");
    return dummy(type);
  }
  return builder.constantInt(type, value.integer);
}

Type DefinitionParser::commonType(const Value &a, const Value &b,
                                  Type ifLiterals) {
  if (!a.isLiteral)
    return a.expr->type;
  if (!b.isLiteral)
    return b.expr->type;
  return a.isInteger && b.isInteger ? ifLiterals : arguments.elementType;
}

DefinitionParser::Value DefinitionParser::value(Expr expr) {
  Value result;
  result.expr = std::move(expr);
  return result;
}

llvm::Error parseDefinition(StringRef text,
                            const DefinitionArguments &arguments,
                            DefinitionBuilder &builder) {
  return DefinitionParser(text, arguments, builder).run();
}

} // namespace mlc
