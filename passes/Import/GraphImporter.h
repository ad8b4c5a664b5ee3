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

/// State that all graphs of one import share.
struct ImportSession {
  ImportSession(mlir::MLIRContext *context, ModelFile &file,
                ImportReport &report, llvm::StringRef fileName);

  /// Ends the import because the file contradicts itself.
  void damaged(llvm::StringRef node, const llvm::Twine &text);
  /// Ends it because of a stated bound.
  void beyond(llvm::StringRef node, const llvm::Twine &text);
  /// Ends the import with `error`, whose code tells out-of-memory from damage.
  void end(llvm::StringRef node, llvm::Error error);
  /// Adds a node to the list of those that cannot be compiled.
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

  /// False if the file is damaged. Nodes that cannot be compiled are reported,
  /// and the nodes after them are still checked.
  bool importInitializers();
  /// Defines the constant of a Constant node, before nodes are imported. False
  /// if there is no such node or the file is damaged.
  bool importConstant(llvm::StringRef name);
  /// Makes the weight `name` of this graph an argument of `main`, which keeps
  /// its elements. Null if there is none.
  mlir::Value makeParameter(llvm::StringRef name, mlir::func::FuncOp main);
  bool importNodes(llvm::ArrayRef<int> order);

  Tensor *find(llvm::StringRef name);
  Tensor &define(llvm::StringRef name, Tensor tensor);
  mlir::Location location(llvm::StringRef name);
  /// Turns a tensor into a value at `loc`; null if its value is not known.
  mlir::Value materialize(Tensor &tensor, llvm::StringRef name);

private:
  /// Defines a weight. False if the file is damaged.
  bool importWeight(const onnx::TensorProto &proto, llvm::StringRef name,
                    llvm::StringRef kind);
  bool importNode(const onnx::NodeProto &proto, int index);
  void refuse(const onnx::NodeProto &proto, int index, llvm::StringRef reason,
              bool isContradiction, llvm::ArrayRef<Remedy> remedies = {});
  /// Whether the inputs fit the operator's table entry. If so, all required
  /// ones are known, or `unknown` is set.
  bool bindInputs(Node &node, const onnx::NodeProto &proto, unsigned minInputs,
                  unsigned maxInputs, bool &unknown);
  /// Outputs of a node that was not imported: their declared types, if any.
  void defineOutputsAsDeclared(const onnx::NodeProto &proto);
  /// Replaces an If whose condition is known by its branch; refuses others,
  /// along with the nodes inside that would be refused too.
  bool importIf(const onnx::NodeProto &proto, int index);
  void refuseInside(const onnx::NodeProto &proto, const std::string &prefix);

  ImportSession &session;
  const onnx::GraphProto &graph;
  GraphImporter *outer;
  std::string path; // of the node that holds this graph, with a slash
  std::deque<Tensor> tensors;
  bool isRead(llvm::StringRef name);

  /// The names that anything reads, filled on first use.
  std::optional<llvm::StringSet<>> reads;
  /// The graph's value_info by name, filled on first use.
  std::optional<llvm::StringMap<const onnx::ValueInfoProto *>> declared;
  llvm::StringMap<Tensor *> names;
};

/// The attributes of a checked result of `main` (NumberChecks.h).
mlir::DictionaryAttr attributesOf(const IndexCheck &check,
                                  mlir::MLIRContext *context);
/// The extents of inputs that hold indices, by name; null if there are none.
mlir::DictionaryAttr listIndexInputs(const ImportState &state,
                                     mlir::func::FuncOp main);

/// Reports `error`, about `what`, unless the report has an error already.
void reportError(ImportReport &report, llvm::StringRef what, llvm::Error error);

} // namespace mlc

#endif // MLC_PASSES_IMPORT_GRAPHIMPORTER_H
