//===- HalfWeights.h - Rounded weights as states ----------------*- C++ -*-===//

#ifndef MLC_PASSES_DIFFERENTIATE_HALFWEIGHTS_H
#define MLC_PASSES_DIFFERENTIATE_HALFWEIGHTS_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"

namespace mlc {

/// Changes the entries that addTrainingEntries made. A weight that the model
/// has in 16 bits is a float32 master in the state "weight/NAME". This adds a
/// state "rounded/NAME" of the type that `types` has for it, which the model
/// reads instead of rounding the master each time. Whoever assigns the master
/// assigns it, too. The sum of its gradients has that type, too, and is added
/// in float32. With masters and moments split over N ranks, Ψ weights then take
/// 4Ψ + 12Ψ/N bytes (ZeRO: Rajbhandari et al. 2020, section 3).
mlir::LogicalResult keepHalf(mlir::ModuleOp module,
                             const llvm::StringMap<mlir::Type> &types);

} // namespace mlc

#endif // MLC_PASSES_DIFFERENTIATE_HALFWEIGHTS_H
