//===- ModelShardings.h - From a step to its shardings ----------*- C++ -*-===//

#ifndef MLC_PASSES_SHARDINGS_MODELSHARDINGS_H
#define MLC_PASSES_SHARDINGS_MODELSHARDINGS_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/Shardings/ShardingProblem.h"
#include "runtime/plan/Plan.h"

namespace mlc::dist {

/// Makes the entries of training of `module` those of one of so many ranks that
/// share the samples; pins (dialects/Dist/Pins.h) stay. On failure `wrong` says
/// what is wrong, and nothing is printed.
mlir::LogicalResult splitSamples(mlir::ModuleOp module, int64_t ranks,
                                 std::string &wrong);

/// The function that has the step: the one with the most operators.
mlir::func::FuncOp stepOf(mlir::ModuleOp module);

/// Where a solution has weights and, by the names of nodes, pinned results of
/// the module that the problem is of, split over `axis` or whole. Weights that
/// are whole are left out, and so are results that stay partial.
std::vector<runtime::TensorSharding>
listShardings(const ShardingProblem &problem, const planner::Choices &choices,
              mlir::ModuleOp module, llvm::StringRef axis);

} // namespace mlc::dist

#endif // MLC_PASSES_SHARDINGS_MODELSHARDINGS_H
