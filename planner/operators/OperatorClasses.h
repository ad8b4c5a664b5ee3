//===- OperatorClasses.h - Operators that belong together -------*- C++ -*-===//

#ifndef MLC_PLANNER_OPERATORS_OPERATORCLASSES_H
#define MLC_PLANNER_OPERATORS_OPERATORCLASSES_H

#include "planner/operators/OperatorGraph.h"

namespace mlc::planner {

/// Operators, ascending.
using OperatorClass = std::vector<int32_t>;

/// Operators that share weights, as the steps of a recurrent layer do, and have
/// equal dims; each operator is in one class. Classes are in the order of their
/// first operators.
std::vector<OperatorClass> findLayers(const OperatorGraph &graph);

/// Layers whose first operators have equal types, dims, weights and results, as
/// repeated blocks have. Only classes of several layers.
std::vector<OperatorClass>
findRepeats(const OperatorGraph &graph,
            const std::vector<OperatorClass> &layers);

} // namespace mlc::planner

#endif // MLC_PLANNER_OPERATORS_OPERATORCLASSES_H
