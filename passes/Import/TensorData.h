//===- TensorData.h - Types and constants of ONNX ---------------*- C++ -*-===//

#ifndef MLC_PASSES_IMPORT_TENSORDATA_H
#define MLC_PASSES_IMPORT_TENSORDATA_H

#include "dialects/Symbolic/Attributes.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"
#include "passes/Import/ModelFile.h"

namespace mlc {

using Dims = llvm::SmallVector<IntExpr>;

/// The dims of a tensor value; a null value has none.
Dims dimsOf(mlir::Value value);

/// The most elements of a tensor of a model; keeps products of dims and byte
/// sizes far from overflow.
constexpr int64_t maxElements = int64_t(1) << 44;
/// The runtime's limit (MLC_MAX_RANK).
constexpr int64_t maxRank = 16;

/// The MLIR type of an ONNX TensorProto.DataType; null if mlc has none.
/// Unsigned integers are ui8 and so on, bool is i1.
mlir::Type getElementType(mlir::MLIRContext *context, int32_t onnxType);
/// The ONNX number of an element type; 0 if there is none.
int32_t getOnnxType(mlir::Type type);
/// ONNX's name of a type number, for messages.
std::string describeOnnxType(int32_t onnxType);

/// Bytes of one element in ONNX's raw format.
unsigned getRawElementSize(mlir::Type type);

/// Product of static dims; nothing if negative or over maxElements.
std::optional<int64_t> countElements(llvm::ArrayRef<int64_t> dims);

/// The tensor's value. Equal elements become a splat; large data is referenced
/// in place. The error says what is wrong with the tensor.
llvm::Expected<mlir::ElementsAttr> readTensor(mlir::MLIRContext *context,
                                              const onnx::TensorProto &tensor,
                                              ModelFile &file,
                                              llvm::StringRef name);

/// A constant of this type from little-endian bytes, one element after the
/// other (bool: a byte each). `owner` keeps them alive if given; otherwise they
/// are copied. Precondition: the size fits the type.
mlir::ElementsAttr makeElements(mlir::RankedTensorType type,
                                llvm::StringRef bytes,
                                std::shared_ptr<const void> owner,
                                llvm::StringRef name);

/// The bytes of a constant as makeElements takes them, splats expanded. Nothing
/// for kinds of ElementsAttr without bytes.
std::optional<std::vector<char>> getRawBytes(mlir::ElementsAttr value);

/// The same elements with other static dims of the same product.
mlir::ElementsAttr reshapeElements(mlir::ElementsAttr value,
                                   llvm::ArrayRef<int64_t> dims);

} // namespace mlc

#endif // MLC_PASSES_IMPORT_TENSORDATA_H
