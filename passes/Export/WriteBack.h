//===- WriteBack.h - Which nodes stay as they were --------------*- C++ -*-===//
//
// A node of the original whose operators the rewritten graph still holds, on
// operands that equal its inputs, is written as it was, whatever it was made
// of: name, attributes and comments included. Only the rest is emitted anew.
//
// That operands are equal, the trail says. Nothing here has to be trusted: the
// file that is written is imported again and compared with the graph.
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

  /// Notes at each operator of `main`, which are those that `trail` chose,
  /// what it is. Constants may be folded then, before a WriteBack is made.
  static bool tag(mlir::func::FuncOp main, const Trail &trail);
  /// What stays of the original, besides its header and weights.
  enum class Keeps { Nodes, Opset, Nothing };
  /// Reads the notes.
  WriteBack(const OriginalModel &original, mlir::func::FuncOp main,
            Keeps keeps);
  /// Takes the notes away.
  static void untag(mlir::func::FuncOp main);
  bool keepsOpset() const { return keeps != Keeps::Nothing; }

  const onnx::GraphProto &graph() const { return original.proto().graph(); }
  const OriginalModel &getOriginal() const { return original; }

  /// The node to write for an operator, or -1.
  int nodeOf(mlir::Operation *op) const;
  /// The values that a node's outputs are, where the result has them.
  llvm::ArrayRef<std::pair<std::string, mlir::Value>> rootsOf(int node) const {
    return covers[node].roots;
  }
  /// A node's inputs, and what its subgraphs read from around them.
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
  llvm::DenseMap<TermId, mlir::Value> equals; // what is read in their place
  llvm::StringMap<Source> sources;
  llvm::DenseMap<mlir::Value, int> initializers;
  std::vector<Cover> covers;
  std::vector<std::vector<std::string>> reads;
  llvm::DenseMap<mlir::Value, int> nodes;
};

} // namespace mlc

#endif // MLC_PASSES_EXPORT_WRITEBACK_H
