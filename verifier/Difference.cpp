//===- Difference.cpp - What two normal forms do not share ----------------===//

#include "verifier/Difference.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <map>
#include <set>

namespace mlc::verifier {

namespace {

/// What is written in several ways and has one normal form.
enum class Family { Order, Equality, Extremum, Quotient };

std::optional<Family> familyOf(const Head &head) {
  switch (head.getKind()) {
  case Head::Kind::Positive:
  case Head::Kind::Less:
    return Family::Order;
  case Head::Kind::Zero:
    return Family::Equality;
  case Head::Kind::Max:
  case Head::Kind::Min:
    return Family::Extremum;
  case Head::Kind::Function:
    if (head.is(UnaryFn::Reciprocal))
      return Family::Quotient;
    break;
  default:
    break;
  }
  return std::nullopt;
}

/// What becomes a family's head, and its name. Of indices nothing does.
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

/// What occurs in one side's normal form, as the side calls it.
class Occurring {
public:
  Occurring(const Normalized &side, llvm::ArrayRef<std::string> arguments)
      : arguments(arguments) {
    for (const Stage &stage : side.definition.stages)
      for (const Piece &piece : stage.pieces)
        walk(piece.body, [&](const ExprNode &node) {
          if (auto word = wordOf(node))
            words[word->first].insert(word->second.str());
        });
    add(side.form);
  }

  /// A list, after `start`, of what `other` lacks.
  std::string describeRest(llvm::StringRef start,
                           const Occurring &other) const {
    std::set<std::string> rest;
    for (const auto &[key, called] : names)
      if (!other.names.count(key))
        rest.insert(called.begin(), called.end());
    return rest.empty() ? "" : (start + llvm::join(rest, ", ")).str();
  }

private:
  using Names = std::set<std::string>;

  void add(const Sum &sum) {
    for (const Term &term : sum.terms)
      for (const Factor &factor : term.factors)
        add(*factor.atom);
  }

  void add(const Atom &atom) {
    if (atom.kind == Atom::Kind::Read) {
      std::string argument = atom.tensor < arguments.size()
                                 ? arguments[atom.tensor]
                                 : "argument " + std::to_string(atom.tensor);
      names[argument] = {argument};
    }
    if (atom.kind == Atom::Kind::Call || atom.kind == Atom::Kind::Reduce)
      names[atom.head.getText().str()] = namesOf(atom.head);
    for (const Sum &argument : atom.arguments)
      add(argument);
    for (const Branch &branch : atom.branches)
      add(branch.value);
  }

  Names namesOf(const Head &head) const {
    std::optional<Family> family = familyOf(head);
    auto it = family ? words.find(*family) : words.end();
    if (it != words.end())
      return it->second;
    // Made of something else: a conversion to a truth value, a selection.
    if (family == Family::Order || family == Family::Equality)
      return {"a comparison"};
    return {head.getText().str()};
  }

  llvm::ArrayRef<std::string> arguments;
  std::map<Family, Names> words;      // of the definition
  std::map<std::string, Names> names; // by what it is in normal form
};

} // namespace

std::string describeDifference(const Normalized &before,
                               const Normalized &after,
                               llvm::ArrayRef<std::string> arguments) {
  Occurring given(before, arguments), shown(after, arguments);
  std::string first = given.describeRest("only before has ", shown),
              second = shown.describeRest("only after has ", given);
  return first + (first.empty() || second.empty() ? "" : "; ") + second;
}

} // namespace mlc::verifier
