//===- Difference.cpp - What two normal forms do not share ----------------===//

#include "verifier/Difference.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <set>

namespace mlc::verifier {

namespace {

using Names = std::set<std::string>;

class Collector {
public:
  explicit Collector(llvm::ArrayRef<std::string> arguments)
      : arguments(arguments) {}

  void add(const Sum &sum) {
    for (const Term &term : sum.terms)
      for (const Factor &factor : term.factors)
        add(*factor.atom);
  }

  Names names;

private:
  void add(const Atom &atom) {
    switch (atom.kind) {
    case Atom::Kind::Read:
      names.insert(atom.tensor < arguments.size()
                       ? arguments[atom.tensor]
                       : "argument " + std::to_string(atom.tensor));
      break;
    case Atom::Kind::Call:
    case Atom::Kind::Reduce:
      names.insert(atom.head.getText().str());
      break;
    case Atom::Kind::Real:
    case Atom::Kind::Integer:
      break;
    }
    for (const Sum &argument : atom.arguments)
      add(argument);
    for (const Branch &branch : atom.branches)
      add(branch.value);
  }

  llvm::ArrayRef<std::string> arguments;
};

/// What `names` has and `others` lacks, a list after `start`.
std::string describeRest(llvm::StringRef start, const Names &names,
                         const Names &others) {
  std::vector<std::string> rest;
  llvm::copy_if(names, std::back_inserter(rest),
                [&](const std::string &name) { return !others.count(name); });
  return rest.empty() ? "" : (start + llvm::join(rest, ", ")).str();
}

} // namespace

std::string describeDifference(const Sum &before, const Sum &after,
                               llvm::ArrayRef<std::string> arguments) {
  Collector given(arguments), shown(arguments);
  given.add(before);
  shown.add(after);
  std::string first =
                  describeRest("only before has ", given.names, shown.names),
              second =
                  describeRest("only after has ", shown.names, given.names);
  return first + (first.empty() || second.empty() ? "" : "; ") + second;
}

} // namespace mlc::verifier
