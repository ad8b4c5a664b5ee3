//===- Difference.cpp - Differences between two sides ---------------------===//

#include "verifier/search/Difference.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <map>
#include <set>

using llvm::StringRef;

namespace mlc::verifier {

namespace {

/// Operations that have several spellings but one normal form.
enum class Family { Order, Equality, Extremum, Quotient };

std::optional<Family> familyOf(const kernel::Head &head) {
  using Kind = kernel::Head::Kind;
  switch (head.getKind()) {
  case Kind::Positive:
  case Kind::Less:
    return Family::Order;
  case Kind::Zero:
    return Family::Equality;
  case Kind::Max:
  case Kind::Min:
    return Family::Extremum;
  case Kind::Unary:
    return head.ofReals() == UnaryFn::Reciprocal
               ? std::optional(Family::Quotient)
               : std::nullopt;
  case Kind::Binary:
    return head.ofReals() == BinaryFn::Max || head.ofReals() == BinaryFn::Min
               ? std::optional(Family::Extremum)
               : std::nullopt;
  case Kind::None:
  case Kind::Compare:
  case Kind::Cast:
  case Kind::Element:
  case Kind::InRange:
  case Kind::Unwritten:
  case Kind::Placed:
  case Kind::Joined:
  case Kind::Prod:
  case Kind::Any:
  case Kind::All:
  case Kind::Parity:
  case Kind::InOrder:
  case Kind::Either:
    return std::nullopt;
  }
  llvm_unreachable("unknown head");
}

/// The family and name of an operation that has one; index operations have
/// none.
std::optional<std::pair<Family, llvm::StringRef>> wordOf(const ExprNode &node) {
  auto word = [](Family family, auto fn) {
    return std::pair(family, llvm::StringRef(name(fn)));
  };
  if (node.kind == Expr::Kind::Compare &&
      !node.operands.front()->type.isIndex()) {
    bool isEquality = node.predicate == ComparePredicate::EQ ||
                      node.predicate == ComparePredicate::NE;
    return word(isEquality ? Family::Equality : Family::Order, node.predicate);
  }
  if (node.type.isIndex())
    return std::nullopt;
  if (node.kind == Expr::Kind::Binary &&
      (node.binary == BinaryFn::Max || node.binary == BinaryFn::Min))
    return word(Family::Extremum, node.binary);
  if (node.kind == Expr::Kind::Binary && node.binary == BinaryFn::Div)
    return word(Family::Quotient, node.binary);
  if (node.kind == Expr::Kind::Unary && node.unary == UnaryFn::Reciprocal)
    return word(Family::Quotient, node.unary);
  if (node.kind == Expr::Kind::Reduce &&
      (node.reduce == ReduceKind::Max || node.reduce == ReduceKind::Min))
    return word(Family::Extremum, node.reduce);
  return std::nullopt;
}

/// The functions and arguments in one side's sum, by the names on that side.
class Occurring {
public:
  Occurring(const Definition &side, const kernel::Sum &difference, bool isAfter,
            llvm::ArrayRef<std::string> arguments)
      : arguments(arguments) {
    for (const Stage &stage : side.stages)
      for (const Piece &piece : stage.pieces)
        walk(piece.body, [&](const ExprNode &node) {
          if (auto word = wordOf(node))
            words[word->first].insert(word->second.str());
        });
    for (const kernel::Term &term : difference)
      if (term.isAfter == isAfter)
        add(term);
  }

  /// Lists, after `start`, what `other` lacks.
  std::string describeRest(StringRef start, const Occurring &other) const {
    std::set<std::string> rest;
    for (const auto &[key, called] : names)
      if (!other.names.count(key))
        rest.insert(called.begin(), called.end());
    return rest.empty() ? "" : (start + llvm::join(rest, ", ")).str();
  }

private:
  using Names = std::set<std::string>;

  void add(const kernel::Sum &sum) {
    for (const kernel::Term &term : sum)
      add(term);
  }

  void add(const kernel::Term &term) {
    for (const kernel::FactorRef &factor : term.factors)
      add(*factor);
  }

  void add(const kernel::Factor &factor) {
    using Kind = kernel::Factor::Kind;
    if (factor.kind == Kind::Read) {
      std::string argument = factor.input < arguments.size()
                                 ? arguments[factor.input]
                                 : "argument " + std::to_string(factor.input);
      names[argument] = {argument};
    }
    if (factor.kind == Kind::Call || factor.kind == Kind::Reduce)
      names[factor.head.str()] = namesOf(factor.head);
    for (const kernel::Sum &argument : factor.arguments)
      add(argument);
    for (const kernel::Branch &branch : factor.branches)
      add(branch.value);
  }

  Names namesOf(const kernel::Head &head) const {
    std::optional<Family> family = familyOf(head);
    auto it = family ? words.find(*family) : words.end();
    if (it != words.end())
      return it->second;
    // It comes from another operation: a conversion to a truth value, a
    // selection.
    if (family == Family::Order || family == Family::Equality)
      return {"a comparison"};
    return {head.str()};
  }

  llvm::ArrayRef<std::string> arguments;
  std::map<Family, Names> words;      // of the definition
  std::map<std::string, Names> names; // by the name in the sum
};

} // namespace

std::string describeDifference(const Definition &before,
                               const Definition &after,
                               const kernel::Sum &difference,
                               llvm::ArrayRef<std::string> arguments) {
  Occurring given(before, difference, false, arguments),
      shown(after, difference, true, arguments);
  std::string first = given.describeRest("only before has ", shown),
              second = shown.describeRest("only after has ", given);
  return first + (first.empty() || second.empty() ? "" : "; ") + second;
}

} // namespace mlc::verifier
