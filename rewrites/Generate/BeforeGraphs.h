//===- BeforeGraphs.h - Graphs that may be one contraction ------*- C++ -*-===//

#ifndef MLC_REWRITES_GENERATE_BEFOREGRAPHS_H
#define MLC_REWRITES_GENERATE_BEFOREGRAPHS_H

#include "rewrites/Generate/Sketch.h"

namespace mlc::generate {

/// A before side, and the facts that templates use.
struct BeforeGraph {
  enum class Contraction { Convolution, MatMul };

  /// Its operators in order: "conv", "batch_norm".
  std::vector<std::string> steps;
  /// How the steps are joined: one after the other, results side by side, or
  /// their sum.
  enum class Shape { Chain, Results, Sum } shape = Shape::Chain;
  unsigned numOps = 0;
  Contraction contraction = Contraction::Convolution;

  mlir::OwningOpRef<mlir::func::FuncOp> function;
  std::vector<Sketch::Argument> arguments;
  /// Arguments that are activations; several are concatenated.
  unsigned numActivations = 1;

  /// Convolutions: windows and groups that the after side may have, the
  /// likeliest first.
  std::vector<SketchWindow> windows;
  std::vector<IntExpr> groups;

  std::string name() const;
  /// Whether this chain is `other` with more special attributes.
  bool isInstanceOf(const BeforeGraph &other) const;
  /// Whether `other` is a shorter chain inside this one.
  bool contains(const BeforeGraph &other) const;
};

/// Adds chains and branches of matrix products, scales and biases of columns.
void addMatrixGraphs(mlir::MLIRContext *context, unsigned maxOps,
                     std::vector<BeforeGraph> &out);

/// All graphs of at most `maxOps` operators on activations, in a fixed order.
std::vector<BeforeGraph> enumerateBeforeGraphs(mlir::MLIRContext *context,
                                               unsigned maxOps);

} // namespace mlc::generate

#endif // MLC_REWRITES_GENERATE_BEFOREGRAPHS_H
