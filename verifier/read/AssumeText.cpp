//===- AssumeText.cpp - Assumptions written on a function -----------------===//

#include "verifier/read/AssumeText.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using llvm::SmallVector;
using llvm::StringRef;

namespace mlc {

namespace {

llvm::Error problem(const llvm::Twine &text) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), text.str());
}

std::optional<IntExpr> parseInteger(StringRef text,
                                    mlir::MLIRContext *context) {
  std::string attribute = ("#mlc.int<" + text.trim() + ">").str();
  mlir::Attribute parsed = mlir::parseAttribute(attribute, context);
  auto expr = mlir::dyn_cast_or_null<IntExpr>(parsed);
  return expr ? std::optional(expr) : std::nullopt;
}

/// The longest spellings first.
constexpr std::pair<StringRef, ComparePredicate> spellings[] = {
    {"==", ComparePredicate::EQ}, {"!=", ComparePredicate::NE},
    {"<=", ComparePredicate::LE}, {">=", ComparePredicate::GE},
    {"<", ComparePredicate::LT},  {">", ComparePredicate::GT}};

struct Comparison {
  StringRef lhs, rhs;
  ComparePredicate predicate;
};

std::optional<Comparison> splitComparison(StringRef text) {
  for (auto [spelling, predicate] : spellings) {
    auto [lhs, rhs] = text.split(spelling);
    if (lhs.size() != text.size())
      return Comparison{lhs.trim(), rhs.trim(), predicate};
  }
  return std::nullopt;
}

std::optional<Condition> parseLiteral(StringRef text,
                                      mlir::MLIRContext *context) {
  auto [divisor, value] = text.split(" divides ");
  if (divisor.size() != text.size()) {
    std::optional<IntExpr> d = parseInteger(divisor, context),
                           e = parseInteger(value, context);
    return d && e ? std::optional(Condition::divides(*d, *e)) : std::nullopt;
  }
  std::optional<Comparison> comparison = splitComparison(text);
  if (!comparison)
    return std::nullopt;
  std::optional<IntExpr> lhs = parseInteger(comparison->lhs, context),
                         rhs = parseInteger(comparison->rhs, context);
  if (!lhs || !rhs)
    return std::nullopt;
  return Condition::compare(*lhs, comparison->predicate, *rhs);
}

llvm::Error addText(StringRef text, mlir::MLIRContext *context,
                    Assumptions &out) {
  StringRef rest = text.trim();
  if (rest.consume_front("real ")) {
    std::optional<Comparison> comparison = splitComparison(rest);
    double bound = 0.0;
    if (!comparison || comparison->rhs.getAsDouble(bound) ||
        !std::isfinite(bound))
      return problem("'" + text +
                     "' must be like 'real eps > 0.0', with a finite number");
    out.reals.push_back({comparison->lhs.str(), comparison->predicate, bound});
    return llvm::Error::success();
  }
  std::vector<Condition> alternatives;
  SmallVector<StringRef> parts;
  rest.split(parts, " or ");
  for (StringRef part : parts) {
    std::optional<Condition> literal = parseLiteral(part.trim(), context);
    if (!literal)
      return problem("'" + text +
                     "' must compare two integer expressions, or be like 's "
                     "divides h'");
    alternatives.push_back(*literal);
  }
  out.integers.push_back(alternatives.size() == 1
                             ? alternatives.front()
                             : Condition::anyOf(std::move(alternatives)));
  return llvm::Error::success();
}

llvm::Error addArgument(mlir::func::FuncOp function, unsigned argument,
                        StringRef text, Assumptions &out) {
  for (ElementPredicate predicate :
       {ElementPredicate::Positive, ElementPredicate::NonNegative,
        ElementPredicate::NonZero, ElementPredicate::Finite,
        ElementPredicate::AllEqual, ElementPredicate::Constant})
    if (name(predicate) == text) {
      out.tensors.push_back(
          {argument, predicate, describeArgument(function, argument)});
      return llvm::Error::success();
    }
  return problem("'" + text + "' is no predicate of elements");
}

/// Calls `add` for each string of an array attribute; a null attribute has
/// none.
llvm::Error forEachText(mlir::Attribute attribute,
                        llvm::function_ref<llvm::Error(StringRef)> add,
                        StringRef name = "mlc.assume") {
  if (!attribute)
    return llvm::Error::success();
  auto array = mlir::dyn_cast<mlir::ArrayAttr>(attribute);
  if (!array)
    return problem(name + " must be an array of strings");
  for (mlir::Attribute element : array) {
    auto text = mlir::dyn_cast<mlir::StringAttr>(element);
    if (!text)
      return problem(name + " must be an array of strings");
    if (llvm::Error error = add(text.getValue()))
      return error;
  }
  return llvm::Error::success();
}

llvm::Error checkCount(mlir::func::FuncOp function, StringRef name) {
  constexpr size_t most = 256;
  auto all = function->getAttrOfType<mlir::ArrayAttr>(name);
  if (all && all.size() > most)
    return problem(name + " has more than " + llvm::Twine(most) +
                   " conditions");
  return llvm::Error::success();
}

bool isLiteral(const Condition &condition) {
  return condition.getKind() == Condition::Kind::Compare ||
         condition.getKind() == Condition::Kind::Divides;
}

/// Adds one text for each part of a conjunction.
bool addTexts(const Condition &condition,
              llvm::SmallVectorImpl<std::string> &out) {
  if (condition.getKind() == Condition::Kind::AllOf)
    return llvm::all_of(condition.getParts(), [&](const Condition &part) {
      return addTexts(part, out);
    });
  bool isAlternatives = condition.getKind() == Condition::Kind::AnyOf &&
                        !condition.getParts().empty() &&
                        llvm::all_of(condition.getParts(), isLiteral);
  if (!isLiteral(condition) && !isAlternatives)
    return false;
  llvm::raw_string_ostream os(out.emplace_back());
  condition.print(os);
  return true;
}

} // namespace

llvm::Expected<Assumptions> readAssumptions(mlir::func::FuncOp function) {
  Assumptions result;
  mlir::MLIRContext *context = function.getContext();
  if (llvm::Error error = checkCount(function, "mlc.assume"))
    return error;
  if (llvm::Error error =
          forEachText(function->getAttr("mlc.assume"), [&](StringRef text) {
            return addText(text, context, result);
          }))
    return error;
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (llvm::Error error = forEachText(
            function.getArgAttr(i, "mlc.assume"), [&](StringRef text) {
              return addArgument(function, i, text, result);
            }))
      return error;
  return result;
}

llvm::Expected<std::vector<Condition>>
readRequirements(mlir::func::FuncOp function) {
  constexpr StringRef name = "mlc.require";
  std::vector<Condition> all;
  auto add = [&](StringRef text) -> llvm::Error {
    std::optional<Condition> one = parseLiteral(text, function.getContext());
    if (!one || one->getKind() != Condition::Kind::Compare)
      return problem("'" + text + "' must compare two integer expressions");
    all.push_back(std::move(*one));
    return llvm::Error::success();
  };
  if (llvm::Error error = checkCount(function, name))
    return error;
  if (llvm::Error error = forEachText(function->getAttr(name), add, name))
    return error;
  return all;
}

bool writeAssumptions(mlir::func::FuncOp function,
                      const Assumptions &assumptions) {
  SmallVector<std::string> texts;
  for (const Condition &condition : assumptions.integers)
    if (!addTexts(condition, texts))
      return false;
  for (const RealAssumption &real : assumptions.reals) {
    llvm::raw_string_ostream os(texts.emplace_back());
    os << "real " << real.parameter << ' ' << name(real.predicate) << ' '
       << llvm::format("%.17g", real.bound);
  }
  mlir::Builder builder(function.getContext());
  auto arrayOf = [&](llvm::ArrayRef<std::string> list) {
    SmallVector<StringRef> strings(list.begin(), list.end());
    return builder.getStrArrayAttr(strings);
  };
  function->removeAttr("mlc.assume");
  if (!texts.empty())
    function->setAttr("mlc.assume", arrayOf(texts));
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    SmallVector<std::string> predicates;
    for (const TensorAssumption &tensor : assumptions.tensors)
      if (tensor.argument == i)
        predicates.push_back(name(tensor.predicate).str());
    function.removeArgAttr(i, "mlc.assume");
    if (!predicates.empty())
      function.setArgAttr(i, "mlc.assume", arrayOf(predicates));
  }
  return true;
}

} // namespace mlc
