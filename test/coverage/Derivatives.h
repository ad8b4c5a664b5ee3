//===- Derivatives.h - Questions about derivatives --------------*- C++ -*-===//

#ifndef MLC_TEST_COVERAGE_DERIVATIVES_H
#define MLC_TEST_COVERAGE_DERIVATIVES_H

#include "test/coverage/Sample.h"
#include <string>

namespace mlc::coverage {

/// Whether the forward derivative is what central differences are, in float64,
/// at random points with random sizes.
std::string agreesWithDifferences(const Sample &sample);

/// Whether <dy, J t> = <t, grad dy> of the forward and the reverse derivative,
/// at points that are full of ties.
std::string derivativesAgree(const Sample &sample);

} // namespace mlc::coverage

#endif // MLC_TEST_COVERAGE_DERIVATIVES_H
