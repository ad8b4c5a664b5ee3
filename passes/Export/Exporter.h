//===- Exporter.h - A graph under way to ONNX -------------------*- C++ -*-===//

#ifndef MLC_PASSES_EXPORT_EXPORTER_H
#define MLC_PASSES_EXPORT_EXPORTER_H

#include "dialects/Symbolic/Attributes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/Export/WriteBack.h"
#include "passes/Import/TensorData.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Error.h"

namespace mlc {

/// LayerNormalization came with opset 17; emitters write nothing newer.
constexpr int64_t exportOpset = 17;
constexpr int64_t exportIrVersion = 8;

/// ONNX operators by name, their attributes by setter.
class OnnxNode {
public:
  explicit OnnxNode(onnx::NodeProto *proto) : proto(proto) {}

  OnnxNode &set(llvm::StringRef name, int64_t value);
  OnnxNode &set(llvm::StringRef name, double value);
  OnnxNode &set(llvm::StringRef name, llvm::StringRef value);
  OnnxNode &set(llvm::StringRef name, llvm::ArrayRef<int64_t> values);
  /// Empty trailing inputs are left out.
  const std::string &output(int i = 0) const { return proto->output(i); }
  onnx::NodeProto *proto;

  onnx::AttributeProto *add(llvm::StringRef name,
                            onnx::AttributeProto::AttributeType type);
};

/// The text of a string attribute, or `otherwise`.
std::string attributeName(mlir::Attribute attribute, llvm::StringRef otherwise);

/// If `main` has fixed dims of the graph's inputs or outputs, fixes them in
/// `graph`, too: the result holds for these sizes only.
void closeDims(onnx::GraphProto &graph, mlir::func::FuncOp main);

/// Rewrites the nodes that make `emitted`, tensors of these element types, to
/// forms that the model's opset has. Returns why a node has none, otherwise an
/// empty string.
std::string fitOpset(onnx::ModelProto &model,
                     const llvm::StringMap<mlir::Type> &emitted);

/// Collects the nodes of one graph. A method that fails records the first
/// error, as text, and continues with empty names.
class Exporter {
public:
  /// With `writeBack`, of the same module, nodes of the original are written
  /// for the operators that they stand for.
  explicit Exporter(mlir::ModuleOp module,
                    const WriteBack *writeBack = nullptr);

  llvm::Expected<std::string> run();

  /// Whether a node of the original stands for the operator, so that no emitted
  /// node may absorb it.
  bool isWrittenBack(mlir::Operation *op) const {
    return writeBack && writeBack->nodeOf(op) >= 0;
  }
  /// Whether the operator is emitted, alone or as part of another.
  bool isEmitted(mlir::Operation *op) const {
    return !writeBack || (!isWrittenBack(op) && demanded.contains(op));
  }

  void fail(mlir::Operation *op, const llvm::Twine &reason);

  //===--- Names ---------------------------------------------------------===//

  /// The name of the tensor that holds `value`; emits it now if it was
  /// deferred.
  std::string nameOf(mlir::Value value);
  void setName(mlir::Value value, llvm::StringRef name) {
    names[value] = name.str();
  }
  std::string freshName(llvm::StringRef base);
  /// A node with one fresh output; `op` gives the node's name.
  OnnxNode node(mlir::Operation *op, llvm::StringRef type,
                llvm::ArrayRef<std::string> inputs, unsigned numOutputs = 1);
  /// Like node, with op's results as outputs.
  OnnxNode result(mlir::Operation *op, llvm::StringRef type,
                  llvm::ArrayRef<std::string> inputs);

  //===--- Broadcasts ----------------------------------------------------===//

  /// The value that `value` broadcasts, without leading dims of 1.
  struct Unbroadcast {
    mlir::Value value;
    Dims dims;
  };
  Unbroadcast unbroadcast(mlir::Value value);
  std::string nameOf(const Unbroadcast &source);
  /// Names for `operands` such that ONNX's broadcasting gives `dims`, with
  /// as few explicit expansions as possible.
  llvm::SmallVector<std::string>
  implicitBroadcast(llvm::ArrayRef<mlir::Value> operands,
                    llvm::ArrayRef<IntExpr> dims);

  //===--- Constants and integers ----------------------------------------===//

  std::string initializer(mlir::ElementsAttr value, llvm::StringRef base);
  /// Adds the initializer `name`, or a Constant node if the file's version is
  /// too old for it.
  void addInitializer(const std::string &name, mlir::ElementsAttr value);
  /// Adds the parameter `name` with the original's value of that name.
  void addParameter(const std::string &name, mlir::ElementsAttr value);
  std::string integers(llvm::ArrayRef<int64_t> values);
  /// A scalar of `type`.
  std::string number(mlir::Type type, double value);
  /// Dims as int64 tensors: one element, or a vector of them.
  std::string integer(IntExpr value);
  std::string vector(llvm::ArrayRef<IntExpr> values);

  /// Whether a run-time check of the module makes these equal.
  bool isChecked(IntExpr a, IntExpr b);
  mlir::Operation *currentOp = nullptr;

private:
  void emitInputs();
  void emitOutputs();
  void emitValueInfo(onnx::ValueInfoProto *info, llvm::StringRef name,
                     mlir::Type type);
  void emitMetadata();
  void reserveNames();
  void emitOperators();
  //===--- What is written back (Verbatim.cpp)
  void demandOutputs();
  void demand(mlir::Value value);
  void demandNode(int node);
  void writeNode(int node);
  std::string writeInitializer(int index);
  void nameInputs();
  std::string nameOf(const WriteBack::Source &source);
  void raiseVersions();
  void copyHeader(const onnx::ModelProto &from);
  void copyGraphHeader(const onnx::GraphProto &from);
  std::string outputName(unsigned index);
  void countBytes(uint64_t bytes);
  void reserveNamesOf(const onnx::GraphProto &from);
  //===---
  void sortNodes();
  void pruneNodes();
  bool hasConstantInputs() const;
  onnx::AttributeProto *addConstantNode(const std::string &name);
  std::string computeInteger(IntExpr value);
  std::string shapeOfSymbol(llvm::StringRef symbol);

  /// An input that is named once all nodes exist.
  struct OpenInput {
    int node;  // of the result
    int index; // -1: read by a subgraph
    int origin;
    std::string tensor;
  };

  mlir::ModuleOp module;
  mlir::func::FuncOp main;
  const WriteBack *writeBack;
  llvm::DenseSet<mlir::Operation *> demanded;
  llvm::SmallVector<mlir::Value> demands;
  llvm::SetVector<int> demandedNodes;
  llvm::DenseSet<int> writtenNodes, writtenInitializers;
  std::vector<OpenInput> openInputs;
  llvm::StringSet<> copies; // for subgraphs
  onnx::ModelProto model;
  onnx::GraphProto *graph = nullptr;
  llvm::DenseMap<mlir::Value, std::string> names;
  llvm::DenseMap<IntExpr, std::string> integerNames;
  llvm::DenseMap<mlir::Attribute, std::string> initializerNames;
  llvm::StringSet<> usedNames, usedNodeNames;
  /// Outputs of nodes that are not the original's, with their element types.
  llvm::StringMap<mlir::Type> emittedOutputs;
  llvm::DenseSet<std::pair<IntExpr, IntExpr>> checked;
  uint64_t weightBytes = 0;
  unsigned counter = 0;
  std::string error;
};

using Emitter = void (*)(Exporter &, mlir::Operation *);
struct EmitterEntry {
  llvm::StringRef name; // without "mlc."
  Emitter emit;         // null: emitted by its readers
};
llvm::ArrayRef<EmitterEntry> plainEmitters();
llvm::ArrayRef<EmitterEntry> movementEmitters();
llvm::ArrayRef<EmitterEntry> windowEmitters();
Emitter findEmitter(mlir::Operation *op, bool &known);

/// The convolution whose bias `add` adds, if its result has no other use;
/// `bias` is then the vector over the channels, as a tensor [1, C, 1, ...].
mlir::Operation *biasedConvolution(mlir::Operation *add, mlir::Value &bias);
/// Whether the convolution is emitted with the add after it.
bool waitsForBias(Exporter &e, mlir::Operation *convolution);
/// Whether `op` is inside a 1x1 convolution that was written as a product over
/// pixels, and is emitted with its end.
bool waitsForPixelProduct(Exporter &e, mlir::Operation *op);
/// Emits a convolution, with a bias and as the result of `as` if given.
void emitConvolution(Exporter &e, mlir::Operation *op, mlir::Value bias,
                     mlir::Operation *as);

} // namespace mlc

#endif // MLC_PASSES_EXPORT_EXPORTER_H
