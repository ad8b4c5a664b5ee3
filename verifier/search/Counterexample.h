//===- Counterexample.h - Sizes and values that differ ----------*- C++ -*-===//

#ifndef MLC_VERIFIER_SEARCH_COUNTEREXAMPLE_H
#define MLC_VERIFIER_SEARCH_COUNTEREXAMPLE_H

#include "verifier/Verifier.h"
#include "verifier/read/Goal.h"

namespace mlc::verifier {

/// Looks for sizes and values where the functions differ: `trials` random ones.
/// Sets `sawInstance` if one satisfied all assumptions. With `isSmall`, the
/// counterexample is minimized.
std::optional<Counterexample> findCounterexample(const Goal &goal,
                                                 const Assumptions &assumptions,
                                                 uint64_t seed, unsigned trials,
                                                 bool isSmall,
                                                 bool &sawInstance);

} // namespace mlc::verifier

#endif // MLC_VERIFIER_SEARCH_COUNTEREXAMPLE_H
