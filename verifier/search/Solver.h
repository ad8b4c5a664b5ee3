//===- Solver.h - Quantifier-free integer lemmas ----------------*- C++ -*-===//
//
// A Formula is a value: guards joined by and, or, not, and weighted sums of
// truth values. The Solver asks Z3 whether a formula is valid, as one SMT-LIB
// script per lemma; the scripts of proved lemmas are the certificate.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_VERIFIER_SEARCH_SOLVER_H
#define MLC_VERIFIER_SEARCH_SOLVER_H

#include "verifier/Verifier.h"
#include "verifier/search/Index.h"
#include "llvm/ADT/SmallVector.h"
#include <map>
#include <memory>
#include <set>
#include <string>

namespace mlc::verifier {

class Formula {
public:
  /// True.
  Formula() = default;
  static Formula truth(bool value);
  static Formula guard(const Guard &guard);
  static Formula allOf(std::vector<Formula> parts);
  static Formula anyOf(std::vector<Formula> parts);
  static Formula negation(Formula part);
  static Formula implies(Formula premise, Formula conclusion);
  /// sum of weight * [formula] == 0.
  static Formula weightedZero(std::vector<std::pair<int64_t, Formula>> parts);

  /// SMT-LIB text; symbols and definitions of quotients go into `script`.
  struct Script {
    /// Maps symbols to their names in the script. Symbols come from outside and
    /// may contain any characters, so scripts use numbers.
    std::map<std::string, std::string> symbols;
    std::map<std::string, std::string> quotients; // text -> name
    std::vector<std::string> definitions;
  };
  std::string print(Script &script) const;

private:
  struct Node;
  std::shared_ptr<const Node> node;
};

/// Z3's version: "5.4.0".
std::string solverVersion();

class Solver {
public:
  enum class Answer { Valid, Invalid, Unknown };

  /// Limits and seed of `options` hold for this solver.
  explicit Solver(const VerifierOptions &options);
  ~Solver();
  Solver(const Solver &) = delete;
  Solver &operator=(const Solver &) = delete;

  /// Whether `formula` holds for all values of its symbols, which are >= 0. A
  /// valid lemma joins the certificate under `title`, unless it is null (steps
  /// of the search). `share` is the fraction of the work limit for one query.
  Answer check(const Formula &formula, const char *title, double share = 1.0);
  /// Adds a lemma that was proved without Z3, so that others can check it.
  void record(const Formula &formula, const char *title);
  /// Whether some values of its symbols certainly satisfy `formula`.
  bool isSatisfiable(const Formula &formula);

  const std::string &getScript() const { return lemmas.smtlib; }
  unsigned getNumLemmas() const { return lemmas.numLemmas; }
  double getMs() const { return ms; }
  uint64_t getWork() const { return work; }

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
  VerifierOptions options;
  enum class Satisfiable { Yes, No, Unknown };
  Satisfiable ask(const std::string &text, double share = 1.0);
  void append(const std::string &text, const char *title);

  Certificate lemmas;
  std::set<std::string> known; // those already in it
  double ms = 0.0;
  uint64_t work = 0;
};

} // namespace mlc::verifier

#endif // MLC_VERIFIER_SEARCH_SOLVER_H
