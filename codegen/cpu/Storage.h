//===- Storage.h - Elements in memory and in registers ----------*- C++ -*-===//
//
// The only code that knows how an element is stored in memory. All but two
// element types are stored as they are. Bools are i1 in registers and vectors,
// where LLVM packs eight into a byte, and a byte of 0 or 1 in every buffer,
// panel and scratch area. bfloat16 is i16 in memory: LLVM would move its
// elements through float32 and a library function. Emitters load and store only
// through these functions.
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

/// Converts what was read from memory (a scalar or a vector) to elements.
mlir::Value fromStorage(mlir::OpBuilder &b, mlir::Location loc,
                        mlir::Type element, mlir::Value stored);
/// Converts elements (a scalar or a vector) to their form in memory.
mlir::Value toStorage(mlir::OpBuilder &b, mlir::Location loc,
                      mlir::Value value);

/// The element at `memref[at]`.
mlir::Value loadElement(mlir::OpBuilder &b, mlir::Location loc,
                        mlir::Type element, mlir::Value memref, mlir::Value at);
void storeElement(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value,
                  mlir::Value memref, mlir::Value at);

/// The elements `type` from `memref[at]` on; lanes that `mask` (may be null)
/// turns off are zero and not read.
mlir::Value loadVector(mlir::OpBuilder &b, mlir::Location loc,
                       mlir::VectorType type, mlir::Value memref,
                       mlir::Value at, mlir::Value mask = {});
void storeVector(mlir::OpBuilder &b, mlir::Location loc, mlir::Value vector,
                 mlir::Value memref, mlir::Value at, mlir::Value mask = {});

} // namespace mlc::cpu

#endif // MLC_CODEGEN_CPU_STORAGE_H
