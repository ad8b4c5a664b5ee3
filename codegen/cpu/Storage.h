//===- Storage.h - Elements in memory and in registers ----------*- C++ -*-===//
//
// The one place that knows how an element lies in memory. All elements are
// stored as what they are, but for two. Bools are i1 in registers and vectors,
// where LLVM packs eight into a byte, and a byte of 0 or 1 in every buffer,
// panel and scratch area. bfloat16 is i16 in memory: LLVM would move elements
// of it by way of float32 and a library's function. Emitters load and store
// through these functions alone.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_CODEGEN_CPU_STORAGE_H
#define MLC_CODEGEN_CPU_STORAGE_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace mlc::cpu {

/// The type of `element` in memory.
mlir::Type storageType(mlir::Type element);

/// Bytes of `element` in memory.
int64_t storageBytes(mlir::Type element);

/// What was read from memory (a scalar or a vector) as elements.
mlir::Value fromStorage(mlir::OpBuilder &b, mlir::Location loc,
                        mlir::Type element, mlir::Value stored);
/// Elements (a scalar or a vector) as they are written.
mlir::Value toStorage(mlir::OpBuilder &b, mlir::Location loc,
                      mlir::Value value);

/// The element at `memref[at]`.
mlir::Value loadElement(mlir::OpBuilder &b, mlir::Location loc,
                        mlir::Type element, mlir::Value memref, mlir::Value at);
void storeElement(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value,
                  mlir::Value memref, mlir::Value at);

/// The elements `type` from `memref[at]` on; the lanes that `mask` (may be
/// null) turns off are zero and not touched.
mlir::Value loadVector(mlir::OpBuilder &b, mlir::Location loc,
                       mlir::VectorType type, mlir::Value memref,
                       mlir::Value at, mlir::Value mask = {});
void storeVector(mlir::OpBuilder &b, mlir::Location loc, mlir::Value vector,
                 mlir::Value memref, mlir::Value at, mlir::Value mask = {});

} // namespace mlc::cpu

#endif // MLC_CODEGEN_CPU_STORAGE_H
