//===- Body.h - The function that an emitter fills --------------*- C++ -*-===//
//
// An emitter writes one kernel's body as scf, vector, memref, arith and math on
// flat memrefs; what follows (math expansion, LLVM, object, link) is common to
// all emitters.
//
// The body that an emitter fills is a function with one flat memref<?xT> per
// buffer (bool stored as i8), declared not to alias except as
// EmittedKernel::inPlace says, which runs the tasks [begin, end).
//
//===----------------------------------------------------------------------===//

#ifndef MLC_CODEGEN_CPU_BODY_H
#define MLC_CODEGEN_CPU_BODY_H

#include "codegen/kernel/Backend.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlc::cpu {

/// The input of an emitter: where to insert code, and the values it may use.
class KernelBody {
public:
  KernelBody(const Kernel &kernel, const Target &target,
             mlir::OpBuilder &builder)
      : kernel(kernel), target(target), b(builder),
        loc(builder.getUnknownLoc()) {}

  const Kernel &kernel;
  const Target &target;
  /// Inserts inside the function, before its terminator.
  mlir::OpBuilder &b;
  mlir::Location loc;

  /// memref<?xT>, one per kernel input and output; the element type is the
  /// tensor's, except i8 for i1.
  llvm::SmallVector<mlir::Value> inputs, outputs;
  /// Index values of kernel.symbols, in order.
  llvm::SmallVector<mlir::Value> symbols;
  /// Tasks to run: index values.
  mlir::Value begin, end;
  /// memref<?xi8>, 64-byte aligned.
  mlir::Value scratch;
  /// The same as an LLVM pointer.
  mlir::Value scratchPointer;

  /// The value of `expr` as an index, computed at the insertion point.
  mlir::Value emit(IntExpr expr);
  mlir::Value constant(int64_t value);
  /// A memref<?xelement> (i8 for i1) over scratch memory from `byteOffset` on,
  /// which must be a multiple of 64.
  mlir::Value scratchView(IntExpr byteOffset, mlir::Type element);
};

/// What the runtime must know about an emitted body.
struct EmittedKernel {
  /// Number of independent tasks.
  IntExpr tasks;
  /// Bytes of scratch that each running thread needs.
  IntExpr scratchBytes;
  /// Pairs (input, output) whose buffers may be the same memory.
  llvm::SmallVector<std::pair<unsigned, unsigned>> inPlace;
  /// Inputs that are read only as factors of a contraction.
  llvm::SmallVector<unsigned> factors;
};

/// An emitter writes the body of the kernels that it accepts. Emits an error on
/// the kernel's function and fails where it cannot. Emit.cpp lists the emitters
/// in a table; the first that accepts a kernel is taken, and the loop-group
/// emitter accepts all.
struct Emitter {
  llvm::StringRef name;
  bool (*accepts)(const Kernel &, const Target &);
  mlir::FailureOr<EmittedKernel> (*emit)(KernelBody &);
};

using EmitterFn =
    llvm::function_ref<mlir::FailureOr<EmittedKernel>(KernelBody &)>;

/// Adds two functions at `b`: `symbol`, with the ABI of runtime/Kernel.h, and
/// the body that it calls, filled by `emitter`. Fails when the emitter does.
mlir::FailureOr<EmittedKernel>
emitFunction(mlir::OpBuilder &b, const Kernel &kernel, const Target &target,
             llvm::StringRef symbol, EmitterFn emitter);

} // namespace mlc::cpu

#endif // MLC_CODEGEN_CPU_BODY_H
