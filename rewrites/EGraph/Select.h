//===- Select.h - The best function of an e-graph ---------------*- C++ -*-===//

#ifndef MLC_REWRITES_EGRAPH_SELECT_H
#define MLC_REWRITES_EGRAPH_SELECT_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "rewrites/Cost/Cost.h"
#include "rewrites/EGraph/Explain.h"
#include "rewrites/Extract/Extract.h"

namespace mlc::egraph {

/// A function of one block, every operator of which is free of side effects
/// and regions, as nodes.
struct FunctionNodes {
  std::vector<NodeId> arguments;
  std::vector<NodeId> operators;             // in order, without the terminator
  std::vector<mlir::Operation *> operations; // theirs
  std::vector<NodeId> outputs;

  /// Whether `function` is of that kind.
  static bool canRead(mlir::func::FuncOp function);
  /// Adds the function's nodes. The operations become prototypes: they must
  /// outlive the graph's last addition.
  static FunctionNodes read(mlir::func::FuncOp function, EGraph &graph);
};

/// One way to compute the outputs.
struct Selection {
  /// In an order in which they can be computed.
  std::vector<ChosenNode> chosen;
  std::vector<NodeId> outputs;
  double seconds = 0;    // by the cost model
  double lowerBound = 0; // of every selection
  /// No selection is cheaper by more than the tie-breaking margin (four
  /// ten-millionths, plus a billionth per class).
  bool isOptimal = false;
};

class Selector {
public:
  Selector(EGraph &graph, const CostModel &cost) : graph(graph), cost(cost) {}

  /// The cheapest selection that computes `outputs` without unread results. It
  /// is exact within `effort` and never worse than the first of the `known`
  /// selections, each given by the Compute nodes of a graph that computes
  /// `outputs`. Results that this first one leaves unread may stay unread.
  Selection select(llvm::ArrayRef<NodeId> outputs,
                   llvm::ArrayRef<std::vector<NodeId>> known,
                   ExtractionEffort &effort);
  /// The time of a Compute node; 0 if its value is known at compile time.
  double secondsOf(NodeId node);
  double secondsOf(llvm::ArrayRef<NodeId> nodes);

private:
  /// Maps the extraction problem to nodes of the graph.
  struct Problem {
    ExtractionProblem problem;
    /// A node of another class stands for a refinement of its class.
    std::vector<NodeId> nodes, classes;
    llvm::DenseMap<NodeId, unsigned> classNumbers;
  };
  bool isRefinement(const Problem &made, size_t number) const {
    return !graph.areEqual(made.nodes[number],
                           made.classes[made.problem.nodes[number].eclass]);
  }

  OperandFacts factsOf(NodeId node);
  /// OperandFacts::isCut, by any reader of the node's class.
  bool isCut(NodeId node);
  /// OperandFacts::siblings: other classes that a node like this one makes.
  unsigned siblingsOf(NodeId node);
  double priceOf(NodeId node);
  /// Without an effort, returns the first of `known` unchanged.
  Selection selectOnce(llvm::ArrayRef<NodeId> outputs,
                       llvm::ArrayRef<std::vector<NodeId>> known,
                       ExtractionEffort *effort);
  /// Nodes with parts that the selection computes but does not read, except
  /// those of `allowed`.
  std::vector<NodeId> findUnread(const Selection &selection,
                                 llvm::ArrayRef<NodeId> allowed);
  Extraction startFrom(const Problem &made, llvm::ArrayRef<NodeId> known);
  Problem makeProblem(llvm::ArrayRef<NodeId> outputs, double tieSeconds);
  void chooseCompileTime();
  std::vector<ChosenNode> order(llvm::ArrayRef<NodeId> outputs,
                                std::vector<NodeId> &outputNodes);

  EGraph &graph;
  const CostModel &cost;
  /// The node that computes each class; a node of another class refines it.
  llvm::DenseMap<NodeId, NodeId> choice;
  /// May not be chosen.
  llvm::DenseSet<NodeId> banned;
};

/// Turns `function`, whose nodes are `origin`, into the selection. Operators
/// that stay are the same operations; new ones have the locations of the
/// operators that they come from. Fails, with the function unusable, only on a
/// bug.
mlir::LogicalResult rebuildFunction(mlir::func::FuncOp function,
                                    const FunctionNodes &origin,
                                    const EGraph &graph,
                                    const Saturation &saturation,
                                    const Selection &selection);

} // namespace mlc::egraph

#endif // MLC_REWRITES_EGRAPH_SELECT_H
