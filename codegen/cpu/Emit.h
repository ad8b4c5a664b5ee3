//===- Emit.h - From kernels to a shared object -----------------*- C++ -*-===//
//
// An emitter writes one kernel's body as scf, vector, memref, arith and math on
// flat memrefs; what follows (math expansion, LLVM, object, link) is common to
// all emitters.
//
// The body that an emitter fills is a function that runs the tasks [begin,
// end). It has one flat memref<?xT> per buffer (bool stored as i8); these do
// not alias except as EmittedKernel::inPlace says.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_CODEGEN_CPU_EMIT_H
#define MLC_CODEGEN_CPU_EMIT_H

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
mlir::FailureOr<EmittedKernel> emitLoopGroup(KernelBody &body);

/// Compiles every function with `mlc.kernel` of `module` (left unchanged).
/// Errors are emitted at the function concerned.
///
/// The embedded linker resets all llvm::cl options of the process, so read them
/// before.
mlir::FailureOr<CompiledKernels> compileKernels(mlir::ModuleOp module,
                                                const Target &target,
                                                const CodegenOptions &options);

} // namespace mlc::cpu

#endif // MLC_CODEGEN_CPU_EMIT_H
