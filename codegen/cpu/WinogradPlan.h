//===- WinogradPlan.h - Blocking of a Winograd convolution ------*- C++ -*-===//

#ifndef MLC_CODEGEN_CPU_WINOGRADPLAN_H
#define MLC_CODEGEN_CPU_WINOGRADPLAN_H

#include "codegen/cpu/ContractionEmit.h"
#include "codegen/cpu/Winograd.h"

namespace mlc::cpu {

/// The dims of the convolution and the blocking.
struct WinogradPlan {
  int inputBlock = -1, kernelRow = -1, kernelColumn = -1, inputLane = -1;
  int64_t m = 0;         ///< outputs of a tile in one direction
  int64_t tileRows = 1;  ///< rows of tiles of a block
  int64_t positions = 1; ///< tiles of a block, at most
  int64_t rows = 1;      ///< tiles of a register tile
  int64_t inputBlocks = 0;
  IntExpr tilesDown, tilesAcross, blocks, groups;
  int64_t points() const { return (m + 2) * (m + 2); }
};

/// The kernel's argument that is a transformed filter, and its m (0 if its
/// sizes fit no transform); nullopt if there is no such argument.
std::optional<std::pair<mlir::Value, int64_t>>
winogradArgument(const Kernel &kernel);

/// Plans `c`, whose filter may come first or second: roles of the dims and
/// tasks in `p`, the rest in `wp`. Fails, with the reason in `why`, if it is
/// not a convolution as Winograd.h says.
mlir::LogicalResult planWinograd(const Kernel &kernel, const Target &target,
                                 Contraction &c, ContractionPlan &p,
                                 WinogradPlan &wp, std::string &why);

/// Distances between planes of V and M, in elements: padded, so that the planes
/// of one tile fall into different sets of the first-level cache.
int64_t planeV(const WinogradPlan &wp, int64_t block);
int64_t planeM(const WinogradPlan &wp, const ContractionPlan &p);

} // namespace mlc::cpu

#endif // MLC_CODEGEN_CPU_WINOGRADPLAN_H
