//===- Print.cpp - Sums as text -------------------------------------------===//

#include "verifier/kernel/Sum.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

namespace mlc::kernel {

static std::string joined(llvm::StringRef function, const Integer &integer) {
  return function.str() + "(" + str(integer.left()) + ", " +
         str(integer.right()) + ")";
}

std::string str(const Integer &integer) {
  switch (integer.kind()) {
  case Integer::Kind::Constant:
    return std::to_string(integer.value());
  case Integer::Kind::Size:
    return integer.name().str();
  case Integer::Kind::Variable:
    return "%" + std::to_string(integer.value());
  case Integer::Kind::Slot:
    return "#" + std::to_string(integer.value());
  case Integer::Kind::Add:
    return "(" + str(integer.left()) + " + " + str(integer.right()) + ")";
  case Integer::Kind::Multiply:
    return "(" + str(integer.left()) + " * " + str(integer.right()) + ")";
  case Integer::Kind::FloorDivide:
    return joined("floordiv", integer);
  case Integer::Kind::Modulo:
    return joined("mod", integer);
  case Integer::Kind::Minimum:
    return joined("min", integer);
  case Integer::Kind::Maximum:
    return joined("max", integer);
  case Integer::Kind::Element:
    return joined("element", integer);
  }
  llvm_unreachable("unknown integer");
}

std::string str(const Formula &formula) {
  std::string parts;
  for (const Formula &part : formula.parts())
    parts += (parts.empty() ? "" : ", ") + str(part);
  switch (formula.kind()) {
  case Formula::Kind::NotNegative:
    return str(formula.integer()) + " >= 0";
  case Formula::Kind::Zero:
    return str(formula.integer()) + " = 0";
  case Formula::Kind::Not:
    return "not(" + parts + ")";
  case Formula::Kind::All:
    return "all(" + parts + ")";
  case Formula::Kind::Any:
    return "any(" + parts + ")";
  }
  llvm_unreachable("unknown formula");
}

/// `{%1, %2 : guard, ...}`; nothing where there are neither.
static std::string domain(llvm::ArrayRef<Variable> variables,
                          llvm::ArrayRef<Formula> guards) {
  if (variables.empty() && guards.empty())
    return "";
  std::string text = "{";
  for (Variable variable : variables)
    text += str(Integer::variable(variable)) + " ";
  text += ":";
  for (const Formula &guard : guards)
    text += " " + str(guard) + ";";
  return text + "} ";
}

static std::string str(const Factor &factor) {
  std::string text;
  llvm::ListSeparator comma;
  switch (factor.kind) {
  case Factor::Kind::Read:
    for (const Integer &index : factor.index)
      text += (llvm::StringRef(comma) + str(index)).str();
    return "input" + std::to_string(factor.input) + "[" + text + "]";
  case Factor::Kind::Parameter:
    return factor.parameter;
  case Factor::Kind::Number:
    return str(factor.index[0]);
  case Factor::Kind::Call:
    for (const Sum &argument : factor.arguments)
      text += (llvm::StringRef(comma) + str(argument)).str();
    return factor.head.str() + "(" + text + ")";
  case Factor::Kind::Reduce:
    for (const Branch &branch : factor.branches)
      text += (llvm::StringRef(comma) +
               domain(branch.variables, branch.guards) + str(branch.value))
                  .str();
    return factor.head.str() + "{" + text + "}";
  }
  llvm_unreachable("unknown factor");
}

std::string str(const Sum &sum) {
  if (sum.empty())
    return "0";
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::ListSeparator plus(" + ");
  for (const Term &term : sum) {
    os << plus << domain(term.variables, term.guards) << term.coefficient;
    for (const FactorRef &factor : term.factors)
      os << " * " << str(*factor);
  }
  return text;
}

} // namespace mlc::kernel
