//===- RestsOn.h - What an answer rests on ----------------------*- C++ -*-===//

#ifndef MLC_VERIFIER_SEARCH_RESTSON_H
#define MLC_VERIFIER_SEARCH_RESTSON_H

#include "verifier/Verifier.h"

namespace mlc {

/// What one must believe to believe a verdict, a line each: who found it, what
/// floats mean in it, which inputs it is about, what was assumed.
std::vector<std::string> restsOn(const Verdict &verdict,
                                 const Assumptions &assumptions);

/// Who proves: the prover, and who decides its integer lemmas.
std::string describeProver();

} // namespace mlc

#endif // MLC_VERIFIER_SEARCH_RESTSON_H
