//===- WriteBack.h - Which nodes stay as they were --------------*- C++ -*-===//
//
// A node of the original is written as it was (name, attributes and comments
// included) if the rewritten graph still has its operators, on operands that
// equal its inputs. Only the rest is emitted anew.
//
// The trail says that operands are equal. Nothing here has to be trusted: the
// written file is imported again and compared with the graph.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_PASSES_EXPORT_WRITEBACK_H
#define MLC_PASSES_EXPORT_WRITEBACK_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Export/Original.h"
#include "llvm/ADT/DenseMap.h"

namespace mlc {

class WriteBack {
public:
  /// Where the result has a tensor of the original.
  struct Source {
    enum class Kind { Missing, Value, Node, Initializer };
    Kind kind = Kind::Missing;
    mlir::Value value; ///< a value of the rewritten graph that is equal
    int index = -1;    ///< of the node or initializer of the original
    bool exists() const { return kind != Kind::Missing; }
  };

  /// Tags each operator of `main`, those that `trail` chose, with its term.
  /// Constants may be folded afterwards, before a WriteBack is made.
  static bool tag(mlir::func::FuncOp main, const Trail &trail);
  /// The parts of the original that stay, besides its header and weights.
  enum class Keeps { Nodes, Opset, Nothing };
  /// Reads the tags.
  WriteBack(const OriginalModel &original, mlir::func::FuncOp main,
            Keeps keeps);
  /// Removes the tags.
  static void untag(mlir::func::FuncOp main);
  bool keepsOpset() const { return keeps != Keeps::Nothing; }

  const onnx::GraphProto &graph() const { return original.proto().graph(); }
  const OriginalModel &getOriginal() const { return original; }

  /// The node to write for an operator, or -1.
  int nodeOf(mlir::Operation *op) const;
  /// The values of a node's outputs, as far as the result has them.
  llvm::ArrayRef<std::pair<std::string, mlir::Value>> rootsOf(int node) const {
    return covers[node].roots;
  }
  /// A node's inputs, and the outer values that its subgraphs read.
  llvm::ArrayRef<std::string> readsOf(int node) const { return reads[node]; }
  Source sourceOf(int node, llvm::StringRef tensor) const;
  /// The initializer that a constant is, or -1.
  int initializerOf(mlir::Value constant) const;

private:
  struct Note {
    TermId term;
    llvm::ArrayRef<int64_t> reads;
  };
  struct Cover {
    llvm::SmallVector<std::pair<std::string, mlir::Value>> roots;
    llvm::DenseMap<TermId, mlir::Value> bound; // by the input's term
  };
  class Tracing;

  void readNotes(mlir::func::FuncOp main);
  void findSources(mlir::func::FuncOp main);
  bool cover(int node);
  void noteOutputs(int node, bool areInputsKnown);
  mlir::Value valueOf(TermId term) const;

  const OriginalModel &original;
  Keeps keeps;
  llvm::DenseMap<mlir::Operation *, Note> notes;
  llvm::DenseMap<TermId, mlir::Value> values; // of original terms
  llvm::DenseMap<TermId, mlir::Value> equals; // values read instead of them
  llvm::StringMap<Source> sources;
  llvm::DenseMap<mlir::Value, int> initializers;
  std::vector<Cover> covers;
  std::vector<std::vector<std::string>> reads;
  llvm::DenseMap<mlir::Value, int> nodes;
};

} // namespace mlc

#endif // MLC_PASSES_EXPORT_WRITEBACK_H
