//===- ExtractIlp.h - Extraction as an integer program ----------*- C++ -*-===//

#ifndef MLC_REWRITES_EXTRACT_EXTRACTILP_H
#define MLC_REWRITES_EXTRACT_EXTRACTILP_H

#include "rewrites/Extract/Problem.h"

namespace mlc {

/// Improves a selection with CBC. One variable for each node; a class that is
/// used has a node; cycles are forbidden as they come up, so that graphs
/// without them pay nothing. Stops when `effort`, which it takes from, is used
/// up.
///
/// `chosen` is a valid selection of cost `cost`; both are replaced by a better
/// one when there is one. Returns a bound from below: `cost` when it is proved
/// to be the least.
double solveIlp(const ExtractionProblem &problem, std::vector<int> &chosen,
                double &cost, ExtractionEffort &effort);

} // namespace mlc

#endif // MLC_REWRITES_EXTRACT_EXTRACTILP_H
