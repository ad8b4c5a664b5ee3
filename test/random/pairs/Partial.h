//===- Partial.h - Random functions that are not defined everywhere -------===//
//
// Expressions over vectors of n elements: logarithms, roots, quotients, powers,
// casts, reads at places that are computed, operators without a definition, and
// what masks them. Both sides share what was not changed, so that it is one
// value in the text.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_TEST_RANDOM_PAIRS_PARTIAL_H
#define MLC_TEST_RANDOM_PAIRS_PARTIAL_H

#include "Recipe.h"

namespace mlc::test {

struct Term;
using TermRef = std::shared_ptr<const Term>;

/// An operation on all elements alike, unless its name says otherwise:
///
///   argument    the function's argument `number`
///   number      `number` everywhere
///   cast        to its own type; of floats to integers by truncation
///   through:T   to the narrow float type T, and to f32
///   gather      operand 0 at the places of operand 1, from the end below 0, 0
///               beyond both ends; `pick`: 0 below 0, too
///   reverse, sum
///   top_k, top_k:indices    all elements, by size
///   compare:P   for a predicate P of mlc.compare
struct Term {
  std::string name;
  char type; // 'f': f32, 'i': i64, 'b': i1
  std::vector<TermRef> operands = {};
  double number = 0;
};

struct PartialPair {
  TermRef before, after;
  /// What nobody reads, of either side.
  std::vector<TermRef> deadBefore, deadAfter;
  std::string arguments; // their types, one letter each
  bool isTrue = false;   // by construction
  /// Of a gradient: the function; `before` is cotangent times derivative, and
  /// the last argument the cotangent.
  TermRef function;
};

PartialPair makePartialPair(Random &random);

/// The text of @before and @after, or of @f and @g, its gradient.
std::string partialText(const PartialPair &pair, Random &random);

/// Evaluates both sides at random inputs, element by element, what is masked
/// not at all; shares no code with mlc.
Label labelPartial(const PartialPair &pair, uint64_t seed);

} // namespace mlc::test

#endif // MLC_TEST_RANDOM_PAIRS_PARTIAL_H
