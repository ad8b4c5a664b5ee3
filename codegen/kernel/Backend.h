//===- Backend.h - The interface of back ends -------------------*- C++ -*-===//
//
// A back end makes code for kernels (seam 3 of docs/Architecture.md). Passes
// and tools use only this interface; codegen/Backends.h has those that this
// build contains. Everything that differs between kinds of devices is a
// question here: the layout of convolutions, what one kernel may hold, which
// algorithms there are, how kernels become code. The target holds everything
// else that the answers depend on.
//
// A new back end derives from this class and is added to the registry;
// test/unit/backend has a small one that prints kernels.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_CODEGEN_KERNEL_BACKEND_H
#define MLC_CODEGEN_KERNEL_BACKEND_H

#include "codegen/kernel/Kernel.h"
#include "codegen/target/AlgorithmCosts.h"
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

/// The layout of convolutions and of the operators between them. The default is
/// ONNX's, [n, C, h, w].
struct ConvolutionLayout {
  /// Channels per block, the innermost dim of [n, C/block, h, w, block].
  int64_t block = 0;
  /// [n, h, w, C]; excludes blocks.
  bool channelsLast = false;
  /// With channels last: whether the few channels of an image of 16-bit floats
  /// are filled up with zeros to 16 bytes.
  bool fillsChannels = false;

  /// How many channels a convolution's input of so many has then.
  int64_t filled(int64_t channels, int64_t elementBytes) const;
  /// Whether blocks pay for a convolution with an unblocked input. The few
  /// channels of an image would fill a block badly. Each group has its own
  /// blocks, so at least three in four products must be of real channels, not
  /// padding. Otherwise rows of pixels are the better vectors: they waste
  /// nothing, and a channel shuffle moves them whole.
  bool suits(const ConvolutionShape &shape) const;
};

/// A convolution of images with constant weights, when its layout is chosen.
struct ImageConvolution {
  /// Height and width are those of the result.
  ConvolutionShape shape;
  int64_t images = 1;
  /// Pixels of an input channel, and whether each is read where it lies: no
  /// window, stride or pad.
  int64_t inputPixels = 1;
  bool readsAllPixels = false;
  int64_t elementBytes = 4;
};

/// Limits on the code of one kernel and the search for it.
struct FusionLimits {
  /// Operations of a loop group, and how many of them may reduce.
  unsigned groupOps = 32, groupReductions = 4;
  /// Operations of a kernel with a contraction.
  unsigned contractionOps = 16;
};

/// An algorithm that needs a constant argument of a kernel in another form.
struct ConstantTransform {
  /// The argument's number.
  unsigned argument = 0;
  /// The back end's name for it, by which the code generator recognizes the
  /// argument (exec.inverse_transform). Forms of one constant that have the
  /// same name and dims are equal.
  std::string name;
  /// Sizes of the other form, of the same element type, float32.
  llvm::SmallVector<int64_t> dims;
  /// Writes the other form. False if these values have none.
  std::function<bool(llvm::ArrayRef<float> from,
                     llvm::MutableArrayRef<float> to)>
      apply;
};

/// The precision that contractions of float32 may use where that is faster.
enum class Precision {
  IEEE, ///< float32
  TF32, ///< factors rounded to 10 bits of mantissa, where tensor cores do that
};

struct CodegenOptions {
  Precision precision = Precision::TF32;
  /// Whether kernels round 16-bit floats wherever the model does. Otherwise a
  /// kernel may keep what it does not store in the type of its sums.
  bool keepsRoundings = false;
  /// Threads that compile; the bytes do not depend on it.
  unsigned threads = 2;
  /// Kernels per unit of compilation; the bytes depend on it.
  unsigned kernelsPerModule = 8;
  /// If not empty, the IR and assembly of each unit are written there.
  std::string dumpDirectory;
};

/// A tensor map of a kernel. Sizes are expressions of its symbols; a null
/// offset is 0.
using KernelMap = runtime::BasicTensorMap<IntExpr>;

/// One kernel of a code image, in the order of the module's functions.
struct CompiledKernel {
  /// The function's name in the module, and the symbol of its code; kernels
  /// that are equal except for their names share one symbol.
  std::string name, symbol;
  /// The number of independent tasks, and the bytes of scratch per running
  /// thread.
  IntExpr tasks, scratchBytes;
  /// Pairs (input, output) whose buffers may be the same memory.
  llvm::SmallVector<std::pair<unsigned, unsigned>> inPlace;
  /// Inputs that are read only as factors of a contraction.
  llvm::SmallVector<unsigned> factors;
  /// Threads and bytes of shared memory per block, if a task is a block of
  /// threads (a grid-launch step). No threads: a launch step.
  int64_t blockThreads = 0, sharedBytes = 0;
  /// Bytes of workspace of a grid-launch step; null: none.
  IntExpr workspaceBytes = {};
  /// The tensor maps that a grid-launch step passes first.
  std::vector<KernelMap> maps = {};
  /// Operations of its contractions by definition (a multiply-add counts two);
  /// null: none.
  IntExpr products = {};
};

/// What a runtime loads: the code of all kernels in one form. The same bytes
/// for the same kernels, target and options.
struct KernelImage {
  /// Elf: a shared object without undefined symbols that exports the symbols of
  /// its kernels. Cubin, Ptx, Source: a bundle with an entry for each symbol.
  runtime::ImageKind kind = runtime::ImageKind::Elf;
  /// As in runtime::CodeImage.
  std::string target;
  std::vector<std::string> features;
  std::string bytes;
};

/// Facts about a kernel's code for the user.
struct KernelReport {
  std::string symbol, skeleton;
  int64_t block = 0, registers = 0, sharedBytes = 0, stack = 0, spillStores = 0,
          spillLoads = 0;
};

struct CompiledKernels {
  /// For the manifest; empty if a back end reports nothing.
  std::vector<KernelReport> reports;
  /// The preferred one first; none without kernels.
  std::vector<KernelImage> images;
  std::vector<CompiledKernel> kernels;
};

/// Files by name, with `/` between folders.
using SourceTree = std::vector<std::pair<std::string, std::string>>;

/// One kind of device that code is made for. Has no state: functions depend
/// only on their arguments and may run on several threads.
class Backend {
public:
  virtual ~Backend();

  /// The name in messages and help.
  virtual llvm::StringRef getName() const = 0;
  /// Whether it makes code for `target`.
  virtual bool supports(const Target &target) const = 0;
  /// The dialects, interfaces and extensions that its kernels need.
  virtual void registerDialects(mlir::DialectRegistry &registry) const = 0;

  /// The layout of convolutions, where they gain from it.
  virtual ConvolutionLayout getConvolutionLayout(const Target &target) const;
  /// The seconds that a convolution takes less with channels last than with
  /// ONNX's layout; 0 by default. Asked only if `getConvolutionLayout` says
  /// that channels are last: transposes around such convolutions must cost less
  /// than these gain.
  virtual double getChannelsLastGain(const Target &target,
                                     const ImageConvolution &convolution,
                                     Precision precision) const;
  virtual FusionLimits getFusionLimits(const Target &target) const;

  /// Whether `op` may join `group`, operations of one block in program order
  /// that are a loop group already (or none yet): whether one kernel can and
  /// should compute them all. The back end decides where intermediates live.
  /// `op` may be a consumer, a producer or a sibling. The ops are examined in
  /// place, so results used by others count as outputs.
  virtual bool canJoinLoopGroup(const Target &target,
                                llvm::ArrayRef<mlir::Operation *> group,
                                mlir::Operation *op) const = 0;
  /// Whether the kernel of `contraction` may write its result with the border
  /// of `pad` around it. No by default: the pad is a separate kernel.
  virtual bool canPadResult(mlir::linalg::LinalgOp contraction,
                            mlir::tensor::PadOp pad) const;
  /// Whether contractions should widen factors as they read them instead of
  /// reading widened copies. No by default.
  virtual bool canWidenFactors() const;
  /// Whether a kernel that concatenates parts should compute them instead of
  /// reading what other kernels wrote. No by default.
  virtual bool canComputeParts() const;
  /// Whether the kernel of a contraction may write its result with its dims in
  /// another order. No by default.
  virtual bool canPermuteResult() const;
  /// Whether the kernel of `contraction`, which alone reads `pad`, may read its
  /// source and check bounds instead. No by default.
  virtual bool canReadPadded(mlir::linalg::LinalgOp contraction,
                             mlir::tensor::PadOp pad) const;
  /// Whether one launch may run `kernel`, which has one result, several times,
  /// each time with the result in the place of input `input` (`mlc.repeat`). No
  /// by default: each is a launch.
  virtual bool canRepeat(const Kernel &kernel, unsigned input,
                         const Target &target) const;
  /// Whether one launch should compute these kernels side by side, none of
  /// which depends on another (`mlc.siblings`). No by default: each is a
  /// launch. `precision`: of contractions of float32.
  virtual bool canJoin(llvm::ArrayRef<const Kernel *> kernels,
                       const Target &target, Precision precision) const;
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

  /// The cost of a convolution by the best algorithm of `findTransform` and
  /// `compile`, as a share of direct convolution. With it the search chooses
  /// graphs by the code that they become. 1, direct convolution, by default;
  /// below 1 exactly if findTransform finds an algorithm for the convolution's
  /// kernels.
  virtual double getConvolutionShare(const Target &target,
                                     const ConvolutionShape &shape) const;
  /// The seconds of the arithmetic of products in the kernel that `compile`
  /// makes of them, without the launch; none by default: the target's
  /// description says it.
  virtual std::optional<double>
  getProductSeconds(const Target &target, const ProductShape &shape) const;
  /// AlgorithmCosts::cutsKernelsAtParts; no by default.
  virtual bool cutsKernelsAtParts() const;
  /// AlgorithmCosts::joinedSeconds; none by default.
  virtual std::optional<double> getJoinedSeconds(const Target &target,
                                                 const ProductShape &shape,
                                                 unsigned count) const;
  /// These costs for one target. The result refers to the back end.
  AlgorithmCosts getAlgorithmCosts(const Target &target) const;

  /// A faster algorithm for `kernel` that needs one of its arguments, if
  /// constant, in another form; none by default.
  /// `precision`: of contractions of float32.
  virtual std::optional<ConstantTransform>
  findTransform(const Kernel &kernel, const Target &target,
                Precision precision) const;

  /// Files that the sources of its kernels include: name and text.
  virtual std::vector<std::pair<llvm::StringRef, llvm::StringRef>>
  getSourceHeaders() const;

  /// A program's own source, in the language of its kernels: it reads inputs
  /// and writes outputs as .npy files, and reads `weightsSize` bytes of weights
  /// from weights.bin. Fails if the back end has no such language (the default)
  /// or a step has no counterpart in it.
  virtual llvm::Expected<SourceTree>
  printProgram(const runtime::Program &program,
               llvm::ArrayRef<KernelImage> images, uint64_t weightsSize,
               const Target &target) const;

  /// Makes code for every function with `mlc.kernel` of `module` (left
  /// unchanged). Errors are emitted at the function concerned.
  virtual mlir::FailureOr<CompiledKernels>
  compile(mlir::ModuleOp module, const Target &target,
          const CodegenOptions &options) const = 0;
  /// What compile() will say of the kernels, without images: so memory is known
  /// before there is code. Nothing by default: unknown.
  virtual std::optional<CompiledKernels> preview(mlir::ModuleOp module,
                                                 const Target &target) const;
};

} // namespace mlc

#endif // MLC_CODEGEN_KERNEL_BACKEND_H
