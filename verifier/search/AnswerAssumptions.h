//===- AnswerAssumptions.h - What a verdict relies on -----------*- C++ -*-===//

#ifndef MLC_VERIFIER_SEARCH_ANSWERASSUMPTIONS_H
#define MLC_VERIFIER_SEARCH_ANSWERASSUMPTIONS_H

#include "verifier/Verifier.h"

namespace mlc {

/// What a verdict relies on, one line each: who found it, the meaning of
/// floats, the inputs covered, and the assumptions.
std::vector<std::string> restsOn(const Verdict &verdict,
                                 const Assumptions &assumptions);

/// Names the prover and the solver of its integer lemmas.
std::string describeProver();

} // namespace mlc

#endif // MLC_VERIFIER_SEARCH_ANSWERASSUMPTIONS_H
