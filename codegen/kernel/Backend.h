//===- Backend.h - What passes ask of who makes code ------------*- C++ -*-===//
//
// A back end makes code for kernels (seam 3 of docs/Architecture.md). Passes
// and tools know it by this interface alone; codegen/Backends.h has those that
// this build contains. Everything that differs between kinds of devices is a
// question here: how convolutions lie in memory, what one kernel may hold,
// which algorithms there are, how kernels become code. What the answers depend
// on beside the kind of device stands in the target.
//
// A new back end derives from this class and is added to the registry;
// test/unit/backend has a small one that prints kernels.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_CODEGEN_KERNEL_BACKEND_H
#define MLC_CODEGEN_KERNEL_BACKEND_H

#include "codegen/kernel/Kernel.h"
#include "codegen/target/ConvolutionShape.h"
#include "codegen/target/Target.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "runtime/CodeImage.h"
#include "runtime/Program.h"
#include "llvm/Support/Error.h"
#include <functional>
#include <string>
#include <vector>

namespace mlc {

/// How convolutions and what lies between them are laid out: as ONNX has it,
/// [n, C, h, w], where nothing is said.
struct ConvolutionLayout {
  /// Channels per block, the innermost dim of [n, C/block, h, w, block].
  int64_t block = 0;
  /// [n, h, w, C]; not together with blocks.
  bool channelsLast = false;

  /// Whether a convolution that nothing blocked stands before is worth blocks.
  /// The few channels of an image would fill one badly. Each group has blocks
  /// of its own, where at least three in four products are of the group's own
  /// channels; otherwise rows of pixels are the better vectors: they waste
  /// nothing, and a channel shuffle moves them whole.
  bool suits(const ConvolutionShape &shape) const;
};

/// What keeps one kernel's code, and the search for it, small.
struct FusionLimits {
  /// Operations of a loop group, and how many of them may reduce.
  unsigned groupOps = 32, groupReductions = 4;
  /// Operations of a kernel with a contraction.
  unsigned contractionOps = 16;
};

/// An algorithm for a kernel that wants a constant argument in another form.
struct ConstantTransform {
  /// Number of the argument.
  unsigned argument = 0;
  /// The back end's word for it, by which the code generator knows the argument
  /// again (exec.inverse_transform).
  std::string name;
  /// Sizes of the other form, of the same element type, float32.
  llvm::SmallVector<int64_t> dims;
  /// Writes the other form. False where these values have none.
  std::function<bool(llvm::ArrayRef<float> from,
                     llvm::MutableArrayRef<float> to)>
      apply;
};

/// What contractions of float32 may be computed with where that is faster.
enum class Precision {
  IEEE, ///< float32
  TF32, ///< factors rounded to 10 bits of mantissa, where tensor cores do that
};

struct CodegenOptions {
  Precision precision = Precision::TF32;
  /// Threads that compile; the bytes do not depend on it.
  unsigned threads = 2;
  /// Kernels per unit of compilation; the bytes depend on it.
  unsigned kernelsPerModule = 8;
  /// Where not empty: the IR and assembly of each unit, for people.
  std::string dumpDirectory;
};

/// One kernel of a code image, in the order of the module's functions.
struct CompiledKernel {
  /// The function's name in the module, and the symbol of its code; kernels
  /// that are equal except for their names share one symbol.
  std::string name, symbol;
  /// How many independent tasks there are, and the bytes of scratch that each
  /// running thread needs.
  IntExpr tasks, scratchBytes;
  /// Pairs (input, output) whose buffers may be the same memory.
  llvm::SmallVector<std::pair<unsigned, unsigned>> inPlace;
  /// Inputs that are read for nothing but to be multiplied in a contraction.
  llvm::SmallVector<unsigned> factors;
  /// Threads of a block and bytes of its shared memory, where a task is a block
  /// of threads (a step of kind grid-launch); no threads: a step of kind
  /// launch.
  int64_t blockThreads = 0, sharedBytes = 0;
  /// Bytes of joint memory (of such a step); null: none.
  IntExpr jointBytes = {};
  /// Operations of its contractions, as their definitions have them (a
  /// multiply-add is two); null: none.
  IntExpr products = {};
};

/// What a runtime loads: the code of all kernels in one form. The same bytes
/// for the same kernels, target and options.
struct KernelImage {
  /// Elf: a shared object without undefined symbols that exports the symbols of
  /// its kernels. Cubin, Ptx, Source: a bundle with an entry for each symbol.
  runtime::ImageKind kind = runtime::ImageKind::Elf;
  /// As runtime::CodeImage has it.
  std::string target;
  std::vector<std::string> features;
  std::string bytes;
};

/// What a person wants to know of a kernel's code.
struct KernelReport {
  std::string symbol, skeleton;
  int64_t block = 0, registers = 0, sharedBytes = 0, stack = 0, spillStores = 0,
          spillLoads = 0;
};

struct CompiledKernels {
  /// For the manifest; empty where a back end has nothing to say.
  std::vector<KernelReport> reports;
  /// The preferred one first; none without kernels.
  std::vector<KernelImage> images;
  std::vector<CompiledKernel> kernels;
};

/// Files by name, with `/` between folders.
using SourceTree = std::vector<std::pair<std::string, std::string>>;

/// One kind of device that code is made for. Has no state: everything is said
/// by the arguments, and the functions may run on several threads.
class Backend {
public:
  virtual ~Backend();

  /// A word for messages and help.
  virtual llvm::StringRef getName() const = 0;
  /// Whether it makes code for `target`.
  virtual bool supports(const Target &target) const = 0;
  /// The dialects, interfaces and extensions that its kernels need.
  virtual void registerDialects(mlir::DialectRegistry &registry) const = 0;

  virtual ConvolutionLayout getConvolutionLayout(const Target &target) const;
  virtual FusionLimits getFusionLimits(const Target &target) const;

  /// Whether `op` may join `group`, operations of one block in program order
  /// that are a loop group already (or none yet): whether one kernel can, and
  /// had better, compute them all. Intermediates live where the back end puts
  /// them. `op` may be a consumer, a producer or a sibling; the ops are looked
  /// at where they stand, so that results used by others count as outputs.
  virtual bool canJoinLoopGroup(const Target &target,
                                llvm::ArrayRef<mlir::Operation *> group,
                                mlir::Operation *op) const = 0;
  /// Whether the kernel of `contraction` may write its result with the border
  /// of `pad` around it. No by default: the pad is a kernel of its own.
  virtual bool canPadResult(mlir::linalg::LinalgOp contraction,
                            mlir::tensor::PadOp pad) const;
  /// Whether contractions had better widen factors as they read them than read
  /// what was widened before. No by default.
  virtual bool canWidenFactors() const;
  /// Whether a kernel that joins the parts of a concatenation had better
  /// compute them than read what others wrote. No by default.
  virtual bool canComputeParts() const;
  /// Whether the kernel of a contraction may write its result with its dims in
  /// another order. No by default.
  virtual bool canPermuteResult() const;
  /// Whether the kernel of `contraction`, which alone reads `pad`, may read its
  /// source and check bounds instead. No by default.
  virtual bool canReadPadded(mlir::linalg::LinalgOp contraction,
                             mlir::tensor::PadOp pad) const;
  /// Whether `contraction` may read an operand through a movement of its
  /// elements (`movement`: from the dims of what was moved to its source), so
  /// that it reads by `after` instead of by `before`. Yes by default.
  virtual bool canReadThrough(mlir::linalg::GenericOp contraction,
                              mlir::AffineMap before, mlir::AffineMap movement,
                              mlir::AffineMap after) const;

  /// Whether it makes kernels of opaque operators with this library kernel
  /// (docs/Architecture.md, seam 3). No by default: the runtime's library
  /// computes them.
  virtual bool canCompileOpaque(llvm::StringRef libraryKernel) const;

  /// What the best of the algorithms takes that `findTransform` and `compile`
  /// use for a convolution of a model, as a share of direct convolution: what
  /// makes the search choose graphs by the code that they become. 1, direct
  /// convolution, by default; below 1 exactly where findTransform finds an
  /// algorithm for the convolution's kernels.
  virtual double getConvolutionShare(const Target &target,
                                     const ConvolutionShape &shape) const;

  /// A faster algorithm for `kernel` that wants one of its arguments, where it
  /// is constant, in another form; none by default.
  virtual std::optional<ConstantTransform>
  findTransform(const Kernel &kernel, const Target &target) const;

  /// Files that the sources of its kernels include: name and text.
  virtual std::vector<std::pair<llvm::StringRef, llvm::StringRef>>
  getSourceHeaders() const;

  /// A program's own source, in the language of its kernels: reads inputs and
  /// writes outputs as .npy files, and the weights, of which there are
  /// `weightsSize` bytes, from weights.bin. An error where the back end has no
  /// such language, as by default, or for a step that has no counterpart in it.
  virtual llvm::Expected<SourceTree>
  printProgram(const runtime::Program &program,
               llvm::ArrayRef<KernelImage> images, uint64_t weightsSize,
               const Target &target) const;

  /// Makes code for every function with `mlc.kernel` of `module` (left
  /// unchanged). Errors are emitted at the function concerned.
  virtual mlir::FailureOr<CompiledKernels>
  compile(mlir::ModuleOp module, const Target &target,
          const CodegenOptions &options) const = 0;
};

} // namespace mlc

#endif // MLC_CODEGEN_KERNEL_BACKEND_H
