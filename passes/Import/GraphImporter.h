//===- GraphImporter.h - One ONNX graph becomes operators -------*- C++ -*-===//

#ifndef MLC_PASSES_IMPORT_GRAPHIMPORTER_H
#define MLC_PASSES_IMPORT_GRAPHIMPORTER_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "passes/Import/ImportReport.h"
#include "passes/Import/Node.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include <deque>
#include <set>

namespace mlc {

/// What all graphs of one import share.
struct ImportSession {
  ImportSession(mlir::MLIRContext *context, ModelFile &file,
                ImportReport &report, llvm::StringRef fileName);

  /// Ends the import with a contradiction in the file.
  void damaged(llvm::StringRef node, const llvm::Twine &text);
  /// Ends it because of a stated bound.
  void beyond(llvm::StringRef node, const llvm::Twine &text);
  /// Ends it with `error`, whose code tells a lack of memory from damage.
  void end(llvm::StringRef node, llvm::Error error);
  /// Adds to the list of what cannot be compiled.
  void refuse(UnsupportedNode node, bool isContradiction);

  std::optional<int64_t> opsetOf(llvm::StringRef domain) const;
  bool isFunction(const onnx::NodeProto &node) const;

  ImportState state;
  ModelFile &file;
  ImportReport &report;
  std::string fileName;
  /// The last error that an operator emitted, without its prefix.
  std::string diagnostic;
  llvm::StringMap<int64_t> opsets;
  /// Functions that the model defines, by domain and name.
  std::set<std::pair<std::string, std::string>> functions;

private:
  mlir::ScopedDiagnosticHandler handler;
};

/// Imports the nodes of one graph at the builder's insertion point.
class GraphImporter {
public:
  GraphImporter(ImportSession &session, const onnx::GraphProto &graph,
                GraphImporter *outer, std::string path)
      : session(session), graph(graph), outer(outer), path(std::move(path)) {}

  /// False when the file is damaged; nodes that cannot be compiled are in the
  /// report, and what follows them is still looked at.
  bool importInitializers();
  /// Defines what a Constant node holds, before nodes are imported. False when
  /// there is no such node, or when the file is damaged.
  bool importConstant(llvm::StringRef name);
  /// Makes the weight `name` of this graph an argument of `main`, which holds
  /// its elements. Null when there is none.
  mlir::Value makeParameter(llvm::StringRef name, mlir::func::FuncOp main);
  bool importNodes(llvm::ArrayRef<int> order);

  Tensor *find(llvm::StringRef name);
  Tensor &define(llvm::StringRef name, Tensor tensor);
  mlir::Location location(llvm::StringRef name);
  /// Makes a tensor a value at `loc`; null when it is not known.
  mlir::Value materialize(Tensor &tensor, llvm::StringRef name);

private:
  /// Defines a weight. False when the file is damaged.
  bool importWeight(const onnx::TensorProto &proto, llvm::StringRef name,
                    llvm::StringRef kind);
  bool importNode(const onnx::NodeProto &proto, int index);
  void refuse(const onnx::NodeProto &proto, int index, llvm::StringRef reason,
              bool isContradiction);
  /// Whether the inputs fit the operator's table entry; all required ones are
  /// known then, or `unknown` is set.
  bool bindInputs(Node &node, const onnx::NodeProto &proto, unsigned minInputs,
                  unsigned maxInputs, bool &unknown);
  /// Outputs of a node that was not imported: their declared types, if any.
  void defineOutputsAsDeclared(const onnx::NodeProto &proto);
  /// An If whose condition is known becomes the branch; others are refused,
  /// with the nodes inside that would be refused too.
  bool importIf(const onnx::NodeProto &proto, int index);
  void refuseInside(const onnx::NodeProto &proto, const std::string &prefix);

  ImportSession &session;
  const onnx::GraphProto &graph;
  GraphImporter *outer;
  std::string path; // of the node that holds this graph, with a slash
  std::deque<Tensor> tensors;
  bool isRead(llvm::StringRef name);

  /// The names that anything reads, from its first use on.
  std::optional<llvm::StringSet<>> reads;
  /// The graph's value_info by name, from its first use on.
  std::optional<llvm::StringMap<const onnx::ValueInfoProto *>> declared;
  llvm::StringMap<Tensor *> names;
};

/// What a result of `main` that is checked has (NumberChecks.h).
mlir::DictionaryAttr attributesOf(const IndexCheck &check,
                                  mlir::MLIRContext *context);
/// The extents by the names of inputs that hold indices; null without one.
mlir::DictionaryAttr listIndexInputs(const ImportState &state,
                                     mlir::func::FuncOp main);

/// Puts `error`, about `what`, into the report unless another stands there.
void reportError(ImportReport &report, llvm::StringRef what, llvm::Error error);

} // namespace mlc

#endif // MLC_PASSES_IMPORT_GRAPHIMPORTER_H
