//===- ContractionPlanner.h - How a plan is made, step by step --*- C++ -*-===//
//
// Inside of planContraction. ContractionRoles.cpp says what each loop is there
// for, ContractionPlanner.cpp chooses sizes.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_CODEGEN_CPU_CONTRACTIONPLANNER_H
#define MLC_CODEGEN_CPU_CONTRACTIONPLANNER_H

#include "codegen/cpu/ContractionEmit.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

namespace mlc::cpu {

/// A symbol's value where only an estimate is needed.
inline constexpr int64_t kGuess = 64;

class Planner {
public:
  Planner(Contraction &c, const Target &target) : c(c), target(target) {}
  ContractionPlan run();

private:
  int64_t value(IntExpr e) const;
  std::optional<int64_t> fixed(IntExpr e) const { return e.asConstant(); }
  bool is(IntExpr e, int64_t v) const { return e.isConstant(v); }
  int64_t extent(int d) const {
    return d < 0 ? 1 : std::max<int64_t>(1, value(c.dims[d].extent));
  }
  IntExpr constant(int64_t v) const { return IntExpr::constant(c.context, v); }
  void orient();
  void chooseRoles();
  void chooseVectorOuter();
  void chooseDot();
  void chooseTile();
  double searchTile(int64_t positions, int64_t block);
  void chooseFlat(double rowsCost, int64_t block);
  double tileCost(int64_t r, int64_t v, double steps) const;
  double totalCost(int64_t mr, int64_t nv, double steps, int64_t positions,
                   int64_t vectors) const;
  void choosePacking();
  void choosePackingX();
  /// Falls back to vectors of one element, which work with any stride.
  void useSingleLanes() {
    p.lanes = 1;
    p.packW = false;
    if (p.vectorOuter >= 0) {
      p.outer.push_back(p.vectorOuter);
      p.vectorOuter = -1;
    }
  }
  void chooseBlocks();
  void chooseTasks();
  void chooseStreaming();
  void splitPacked(double cycles);
  void findSharedSteps();
  void finish();
  int64_t bytes(mlir::Type t) const {
    return std::max<int64_t>(1, t.getIntOrFloatBitWidth() / 8);
  }
  double reductionSteps() const {
    double steps = 1;
    for (int k : p.reduction)
      steps *= extent(k);
    return steps;
  }
  double xBytesPerRow() const;
  int64_t vectorUnits() const; // total vectors, estimated

  Contraction &c;
  const Target &target;
  ContractionPlan p;
};

} // namespace mlc::cpu

#endif // MLC_CODEGEN_CPU_CONTRACTIONPLANNER_H
