//===- Condition.cpp - Predicates on symbolic integers --------------------===//

#include "verifier/read/Condition.h"
#include "dialects/Evaluator/Compare.h"
#include "dialects/Module/ParseModule.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using llvm::StringRef;

namespace mlc {

Condition Condition::compare(IntExpr lhs, ComparePredicate predicate,
                             IntExpr rhs) {
  Condition result;
  result.kind = Kind::Compare;
  result.predicate = predicate;
  result.lhs = lhs;
  result.rhs = rhs;
  return result;
}

Condition Condition::divides(IntExpr divisor, IntExpr value) {
  Condition result;
  result.kind = Kind::Divides;
  result.lhs = divisor;
  result.rhs = value;
  return result;
}

Condition Condition::allOf(std::vector<Condition> parts) {
  Condition result;
  result.kind = Kind::AllOf;
  result.parts = std::move(parts);
  return result;
}

Condition Condition::anyOf(std::vector<Condition> parts) {
  Condition result;
  result.kind = Kind::AnyOf;
  result.parts = std::move(parts);
  return result;
}

Condition Condition::negation(Condition part) {
  Condition result;
  result.kind = Kind::Not;
  result.parts.push_back(std::move(part));
  return result;
}

std::optional<bool> Condition::evaluate(
    llvm::function_ref<std::optional<int64_t>(StringRef)> valueOf) const {
  if (kind == Kind::Compare || kind == Kind::Divides) {
    std::optional<int64_t> a = lhs.evaluate(valueOf), b = rhs.evaluate(valueOf);
    if (!a || !b)
      return std::nullopt;
    if (kind == Kind::Divides)
      return *a > 0 && *b % *a == 0;
    return compareNumbers(*a, predicate, *b);
  }
  bool all = kind != Kind::AnyOf;
  bool result = all;
  for (const Condition &part : parts) {
    std::optional<bool> value = part.evaluate(valueOf);
    if (!value)
      return std::nullopt;
    result = all ? result && *value : result || *value;
  }
  return kind == Kind::Not ? !result : result;
}

void Condition::walkSymbols(
    llvm::function_ref<void(StringRef)> callback) const {
  if (lhs)
    lhs.walkSymbols(callback);
  if (rhs)
    rhs.walkSymbols(callback);
  for (const Condition &part : parts)
    part.walkSymbols(callback);
}

void Condition::print(llvm::raw_ostream &os) const {
  switch (kind) {
  case Kind::Compare:
    os << lhs << ' ' << name(predicate) << ' ' << rhs;
    return;
  case Kind::Divides:
    os << lhs << " divides " << rhs;
    return;
  case Kind::Not:
    os << "not (";
    parts.front().print(os);
    os << ')';
    return;
  case Kind::AllOf:
  case Kind::AnyOf:
    break;
  }
  if (parts.empty())
    os << (kind == Kind::AllOf ? "true" : "false");
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i)
      os << (kind == Kind::AllOf ? " and " : " or ");
    bool parens = parts[i].kind == Kind::AnyOf && kind == Kind::AllOf;
    os << (parens ? "(" : "");
    parts[i].print(os);
    os << (parens ? ")" : "");
  }
}

std::string describeArgument(mlir::func::FuncOp function, unsigned argument) {
  StringRef name = function.isExternal()
                       ? StringRef()
                       : argumentName(function.getArgument(argument));
  return name.empty() ? "argument " + std::to_string(argument)
                      : ("%" + name).str();
}

/// `%a is positive`, `%b, %c and %d are constant`.
static void printTensors(llvm::ArrayRef<TensorAssumption> tensors,
                         llvm::ListSeparator &separator,
                         llvm::raw_ostream &os) {
  while (!tensors.empty()) {
    auto alike = tensors.take_while([&](const TensorAssumption &tensor) {
      return tensor.predicate == tensors.front().predicate;
    });
    os << separator;
    for (auto [i, tensor] : llvm::enumerate(alike))
      os << (i == 0                  ? ""
             : i + 1 == alike.size() ? " and "
                                     : ", ")
         << (tensor.name.empty() ? "argument " + std::to_string(tensor.argument)
                                 : tensor.name);
    os << (alike.size() > 1 ? " are " : " is ")
       << name(alike.front().predicate);
    tensors = tensors.drop_front(alike.size());
  }
}

std::string str(const Assumptions &assumptions) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::ListSeparator separator(" and ");
  for (const Condition &condition : assumptions.integers) {
    bool parens = condition.getKind() == Condition::Kind::AnyOf;
    os << separator << (parens ? "(" : "");
    condition.print(os);
    os << (parens ? ")" : "");
  }
  printTensors(assumptions.tensors, separator, os);
  for (const RealAssumption &real : assumptions.reals)
    os << separator << real.parameter << ' ' << name(real.predicate) << ' '
       << llvm::format("%g", real.bound);
  return text;
}

StringRef name(ElementPredicate predicate) {
  static constexpr const char *names[] = {"positive",  "non-negative",
                                          "non-zero",  "finite",
                                          "all-equal", "constant"};
  return names[static_cast<unsigned>(predicate)];
}

} // namespace mlc
