//===- ContractionEmit.h - State of the contraction emitter -----*- C++ -*-===//
//
// Shared by the files of the emitter: ContractionEmit.cpp (tasks, blocking,
// tiles), ContractionEpilogue.cpp (what surrounds the sums of a tile) and
// ContractionPack.cpp (scratch panels, padding of padded outputs).
//
//===----------------------------------------------------------------------===//

#ifndef MLC_CODEGEN_CPU_CONTRACTIONEMIT_H
#define MLC_CODEGEN_CPU_CONTRACTIONEMIT_H

#include "codegen/cpu/ContractionPlan.h"
#include "codegen/cpu/MicroKernel.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <map>

namespace mlc::cpu {

/// An Access with its buffer and sizes as values of the function being made.
struct RuntimeAccess {
  mlir::Value memref;
  mlir::Type element;
  Index offset;
  llvm::SmallVector<Index> strides;
};

/// Loop helper of the emitters: a constant loop of one trip becomes
/// straight-line code, and one of no trips disappears.
void emitLoop(mlir::OpBuilder &b, mlir::Location loc, Index lower, Index upper,
              int64_t step, llvm::function_ref<void(Index)> body);

/// The position of a register tile.
struct TilePosition {
  Index row;    ///< first position along tileDim
  int64_t rows; ///< positions of the tile
  Index vector; ///< first vector, counted over blocks
  int64_t vectors;
  mlir::Value mask;  ///< lanes of the last vector, null for all
  Index activeLanes; ///< how many lanes of the last vector exist
};

/// The part of the reduction that is being summed.
struct Pass {
  Index lower, count;      ///< along reduction[0]
  mlir::Value first, last; ///< i1; null if there is one pass
};

/// Panels of W and rows of X in scratch memory.
struct Panels {
  mlir::Value memref;
  Index firstVector, firstRow;
};

class ContractionEmitter {
public:
  ContractionEmitter(KernelBody &body, const Contraction &c,
                     const ContractionPlan &plan)
      : body(body), c(c), p(plan), b(body.b), loc(body.loc), m(b, loc) {}

  void emit();

protected:
  using TileFn = llvm::function_ref<void(const TilePosition &)>;

  // ContractionEmit.cpp
  void prepare();
  using GroupFn = llvm::function_ref<void(Index group, Index from, Index to)>;
  void eachGroup(IntExpr blocks, GroupFn emit);
  RuntimeAccess runtime(const Access &a, mlir::Value memref);
  Index eval(IntExpr e);
  void group(Index g, Index rowBlock0, Index rowBlock1);
  void pass(Index vectorBlock, Index rowBlock0, Index rowBlock1,
            const Pass &pass);
  void columns(Index lower, Index upper, TileFn tile);
  Index columnBound();
  void rows(TilePosition column, Index lower, Index upper, TileFn tile);
  void flatTiles(TilePosition column, TileFn tile);
  void tile(const TilePosition &t, const Pass &pass, const Panels &panelsW,
            const Panels &panelsX);
  llvm::SmallVector<mlir::Value> dotSums(const TilePosition &t, MicroKernel &k);
  Index unitStart(Index unit);
  Index total(int d) { return d < 0 ? m.constant(1) : extents[d]; }
  Index base(const RuntimeAccess &a);
  void addVectorPosition(const RuntimeAccess &a, Index vector, int64_t count,
                         Index &start, llvm::SmallVectorImpl<Index> &offsets);
  int64_t vectorsPerBlock() const;
  TileOperand operand(const RuntimeAccess &a, const TilePosition &t,
                      bool vectors);

  // ContractionEpilogue.cpp
  mlir::Value evalNode(unsigned node, const TilePosition &t, int64_t r,
                       int64_t v);
  mlir::Value loadNode(const RuntimeAccess &a, const TilePosition &t, int64_t r,
                       int64_t v);
  mlir::Value opNode(const EpilogueNode &n, const TilePosition &t, int64_t r,
                     int64_t v);
  mlir::Value converted(mlir::Value vector, mlir::Type element);
  mlir::Value address(const RuntimeAccess &a, const TilePosition &t, int64_t r,
                      int64_t v);
  void store(const RuntimeAccess &a, const TilePosition &t, int64_t r,
             int64_t v, mlir::Value vector);
  llvm::SmallVector<mlir::Value> initialSums(const TilePosition &t,
                                             const Pass &pass);
  void finish(const TilePosition &t, const Pass &pass,
              llvm::ArrayRef<mlir::Value> sums);
  mlir::Value strided(const RuntimeAccess &a, const TilePosition &t,
                      mlir::Value at, Index stride, bool masked);

  // ContractionPack.cpp
  Panels packW(Index firstVector, Index lastVector, const Pass &pass);
  void packColumn(const Panels &panels, const TilePosition &t, int64_t vectors,
                  const Pass &pass);
  Panels packX(Index firstRow, Index lastRow, const Pass &pass);
  llvm::SmallVector<Index> panelStrides(int64_t vectors);
  void fillPadding();
  void fillPadding(const ContractionOutput &o, const RuntimeAccess &a);
  void fill(mlir::Value memref, mlir::Value scalar, Index lower, Index upper);

  mlir::VectorType vectorOf(mlir::Type element) const {
    return mlir::VectorType::get({p.lanes}, element);
  }

  KernelBody &body;
  const Contraction &c;
  const ContractionPlan &p;
  mlir::OpBuilder &b;
  mlir::Location loc;
  IndexMath m;

  RuntimeAccess x, w;
  llvm::SmallVector<RuntimeAccess> loads, outputs;
  llvm::SmallVector<Index> extents;
  /// Current index of every dim that a loop around the tile sets.
  llvm::SmallVector<Index> at;
  /// Values of the tile being finished: sums, and nodes already computed.
  llvm::ArrayRef<mlir::Value> sums;
  std::map<std::tuple<unsigned, int64_t, int64_t>, mlir::Value> computed;
  /// Offsets of the tile in each access, by the access's address.
  std::map<const RuntimeAccess *, TileOperand> positions;
};

/// Sets the number of tasks: p.groups groups of `blocks` blocks. If the
/// interior of a padded output is empty, one task writes the padding; if there
/// is nothing to write, there are no tasks.
void countTasks(const Contraction &c, ContractionPlan &p, IntExpr blocks);
/// The number of vectors in all columns, and the number of tiles or rows that
/// are dealt out to tasks in blocks.
IntExpr totalVectors(const Contraction &c, const ContractionPlan &p);
IntExpr rowUnits(const Contraction &c, const ContractionPlan &p);
/// Reduction steps that W is prefetched ahead. Without prefetching, a panel
/// that is not in the first-level cache costs up to a fifth of the rate.
inline constexpr int64_t kPrefetchSteps = 16;
/// Estimated cycles of a register tile of r positions × v vectors of `lanes`
/// elements over `steps` reduction steps.
double registerTileCost(const Target &target, int64_t lanes,
                        int64_t elementBytes, int64_t r, int64_t v,
                        double steps);
/// Maximum number of reduction steps in one pass, over all dims.
int64_t passSteps(const Contraction &c, const ContractionPlan &p);
/// Distance between rows of X packed in scratch.
int64_t packedRow(const Contraction &c, const ContractionPlan &p);
/// Bytes of the panels of W in scratch.
int64_t packedWBytes(const Contraction &c, const ContractionPlan &p);
int64_t packedXBytes(const Contraction &c, const ContractionPlan &p);

} // namespace mlc::cpu

#endif // MLC_CODEGEN_CPU_CONTRACTIONEMIT_H
