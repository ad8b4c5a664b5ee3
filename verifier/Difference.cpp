//===- Difference.cpp - What two normal forms do not share ----------------===//

#include "verifier/Difference.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <set>

namespace mlc::verifier {

namespace {

using Names = std::set<std::string>;

void addNames(const Sum &sum, Names &names);

void addNames(const Atom &atom, Names &names) {
  switch (atom.kind) {
  case Atom::Kind::Read:
    names.insert("argument " + std::to_string(atom.tensor));
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
    addNames(argument, names);
  for (const Branch &branch : atom.branches)
    addNames(branch.value, names);
}

void addNames(const Sum &sum, Names &names) {
  for (const Term &term : sum.terms)
    for (const Factor &factor : term.factors)
      addNames(*factor.atom, names);
}

/// What `names` has and `others` lacks, a list after `start`.
std::string describeRest(llvm::StringRef start, const Names &names,
                         const Names &others) {
  std::vector<std::string> rest;
  llvm::copy_if(names, std::back_inserter(rest),
                [&](const std::string &name) { return !others.count(name); });
  return rest.empty() ? "" : (start + llvm::join(rest, ", ")).str();
}

} // namespace

std::string describeDifference(const Sum &before, const Sum &after) {
  Names given, shown;
  addNames(before, given);
  addNames(after, shown);
  std::string first = describeRest("only before has ", given, shown),
              second = describeRest("only after has ", shown, given);
  return first + (first.empty() || second.empty() ? "" : "; ") + second;
}

} // namespace mlc::verifier
