//===- ExtractIlp.h - Extraction as an integer program ----------*- C++ -*-===//

#ifndef MLC_REWRITES_EXTRACT_EXTRACTILP_H
#define MLC_REWRITES_EXTRACT_EXTRACTILP_H

#include "rewrites/Extract/Problem.h"

namespace mlc {

/// Improves a selection with CBC. One variable for each node; a class that is
/// used has a node; cycles are forbidden as they appear, so that graphs without
/// cycles pay nothing. Consumes `effort` and stops when it is used up.
///
/// `chosen` is a valid selection of cost `cost`; both are replaced if a better
/// one is found. Returns a lower bound: `cost` if it is proved minimal.
double solveIlp(const ExtractionProblem &problem, std::vector<int> &chosen,
                double &cost, ExtractionEffort &effort);

} // namespace mlc

#endif // MLC_REWRITES_EXTRACT_EXTRACTILP_H
