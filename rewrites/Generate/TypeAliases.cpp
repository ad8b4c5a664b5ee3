//===- TypeAliases.cpp - Short names for the types of a file --------------===//

#include "rewrites/Generate/TypeAliases.h"
#include "dialects/Symbolic/Attributes.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringExtras.h"
#include <map>
#include <set>

using namespace mlir;
using llvm::StringRef;

namespace mlc::generate {

namespace {

/// `2 * g * c` as "2gc"; nullopt if it is no product of symbols.
std::optional<std::string> spellProduct(IntExpr expr) {
  switch (expr.getKind()) {
  case IntExpr::Kind::Constant:
    return std::to_string(expr.getConstant());
  case IntExpr::Kind::Symbol:
    return expr.getSymbol().str();
  case IntExpr::Kind::Mul: {
    std::string text;
    for (IntExpr factor : expr.getOperands()) {
      std::optional<std::string> one = spellProduct(factor);
      if (!one)
        return std::nullopt;
      text += *one;
    }
    return text;
  }
  default:
    return std::nullopt;
  }
}

bool isNegative(IntExpr term) {
  IntExpr first =
      term.getKind() == IntExpr::Kind::Mul ? term.getOperands().front() : term;
  return first.isConstant() && first.getConstant() < 0;
}

/// `a - b + 1` as "aplus1minusb".
std::string spell(IntExpr dim) {
  llvm::SmallVector<IntExpr> terms{dim};
  if (dim.getKind() == IntExpr::Kind::Add)
    terms.assign(dim.getOperands().begin(), dim.getOperands().end());
  constexpr size_t mostTerms = 3;
  std::string added, subtracted;
  for (IntExpr term : terms) {
    bool isLess = isNegative(term);
    std::optional<std::string> one = spellProduct(isLess ? -term : term);
    if (!one || terms.size() > mostTerms)
      return "out";
    if (isLess)
      subtracted += "minus" + *one;
    else
      added += (added.empty() ? "" : "plus") + *one;
  }
  return added + subtracted;
}

class Aliases {
public:
  Aliases() { context.loadDialect<MlcDialect>(); }

  /// The alias of a type; adds its definition when it is new.
  std::string aliasOf(StringRef type, std::string &definitions) {
    std::string &alias = aliases[type.str()];
    if (alias.empty()) {
      std::string name = nameOf(type);
      alias = name;
      for (unsigned k = 2; !taken.insert(alias).second; ++k)
        alias = name + "_v" + std::to_string(k);
      definitions += "!" + alias + " = " + type.str() + "\n";
    }
    return "!" + alias;
  }

private:
  std::string nameOf(StringRef text) {
    auto type = cast<RankedTensorType>(parseType(text, &context));
    std::string name;
    const llvm::SmallVector<IntExpr> dims = *getDims(type);
    for (IntExpr dim : dims)
      name += (name.empty() ? "" : "_") + spell(dim);
    // An alias that starts with a digit would have to be all digits.
    if (name.empty() || llvm::isDigit(name.front()))
      name = name.empty() ? "scalar" : "t_" + name;
    if (!type.getElementType().isF32()) {
      llvm::raw_string_ostream os(name);
      os << '_' << type.getElementType();
    }
    return name;
  }

  MLIRContext context{MLIRContext::Threading::DISABLED};
  std::map<std::string, std::string> aliases;
  std::set<std::string> taken;
};

/// The length of the type at the start of `text`.
size_t lengthOfType(StringRef text) {
  size_t end = text.find('<') + 1;
  for (int depth = 1; depth > 0 && end < text.size(); ++end)
    depth += text[end] == '<' ? 1 : text[end] == '>' ? -1 : 0;
  return end;
}

} // namespace

std::string withTypeAliases(StringRef rules) {
  Aliases aliases;
  std::string result;
  while (!rules.empty()) {
    size_t end = std::min(rules.find("\nrule.def ", 1), rules.size() - 1) + 1;
    StringRef rule = rules.take_front(end);
    rules = rules.drop_front(end);
    std::string definitions, body;
    for (size_t at; (at = rule.find("tensor<")) != StringRef::npos;) {
      body += rule.take_front(at);
      rule = rule.drop_front(at);
      size_t length = lengthOfType(rule);
      body += aliases.aliasOf(rule.take_front(length), definitions);
      rule = rule.drop_front(length);
    }
    result += definitions + body + rule.str();
  }
  return result;
}

} // namespace mlc::generate
