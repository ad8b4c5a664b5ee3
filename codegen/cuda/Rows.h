//===- Rows.h - Rows in registers -------------------------------*- C++ -*-===//
//
// A skeleton for loop groups (codegen/kernel/LoopGroup.h) that run row by row,
// where a row has a known length of up to some thousands of elements: softmax,
// norms, sums of rows, with element-wise steps around them.
//
// A team of neighbouring threads has a row: a part of a warp, a warp or several
// warps. Each thread has some vectors of neighbours of every tensor of the row,
// in registers. A reduction is an exchange within warps and, where a team has
// several, one more in shared memory, with one barrier. What is the same for a
// whole row, every thread of the team computes for itself.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_CODEGEN_CUDA_ROWS_H
#define MLC_CODEGEN_CUDA_ROWS_H

#include "codegen/cuda/Group.h"
#include "llvm/ADT/MapVector.h"

namespace mlc::cuda {

/// How an input is read along rows: the elements of a row are neighbours in
/// memory.
struct RowRead {
  /// What indexes a dim of the input.
  struct Place {
    enum Kind { Literal, Shared, Row } kind;
    /// The literal, or the number of the shared dim or of the row's dim.
    int64_t number;
    bool operator==(const Place &other) const = default;
  };
  unsigned input;
  llvm::SmallVector<Place> places;
  bool operator==(const RowRead &other) const = default;
  /// Whether rows read different elements.
  bool dependsOnRow() const;
};

struct RowPlan {
  explicit RowPlan(const Kernel &kernel) : group(kernel, Repeats::BySteps) {}

  /// Shared dims index the rows.
  LoopGroup group;
  /// The extents of a row's dims, without those that are 1, and their product.
  Shape extents;
  int64_t length = 0;
  /// Threads of a team, and elements of a vector.
  int64_t team = 32, width = 1;
  /// Reads of each operation, in order.
  llvm::MapVector<mlir::Operation *, llvm::SmallVector<RowRead>> reads;
  /// Inputs of which other elements are read as well.
  llvm::DenseSet<mlir::Value> readsElsewhere;
  /// The read of the input that takes the result's place, if the kernel repeats
  /// (Kernel::repeats).
  std::optional<RowRead> repeated;
  /// Reads that are loaded before the first operation and stay in registers.
  llvm::SmallVector<RowRead> kept;

  /// If a block has each row (LongRows.h): where in shared memory, in bytes,
  /// reads of `kept` and values begin, the sum of them, and how many blocks
  /// share a multiprocessor.
  struct InMemory {
    llvm::SmallVector<int64_t> kept;
    llvm::DenseMap<mlir::Value, int64_t> values;
    int64_t bytes = 0, resident = 1;
  };
  std::optional<InMemory> inMemory;

  int64_t vectors() const { return llvm::divideCeil(length, team * width); }
  /// Rows that a block has at a time.
  int64_t rows() const { return std::max<int64_t>(128 / team, 1); }
  int64_t block() const { return team * rows(); }
  /// The extents of the dims of `value` that are not shared, without those that
  /// are 1: those of a row, or none if there is one element for a row.
  Shape extentsOf(mlir::Value value) const;
  bool isLong(mlir::Value value) const { return !extentsOf(value).empty(); }
  /// The loops of `op` that are not shared and have more than one step:
  /// reductions or others.
  llvm::SmallVector<unsigned> loopsOf(mlir::linalg::LinalgOp op,
                                      bool reductions) const;
  /// Whether a team computes the single result of `op` for each row.
  bool isTeamReduction(mlir::linalg::LinalgOp op) const;
  /// Operations whose results are stored or returned.
  llvm::SmallVector<mlir::Operation *> runOps() const;
  /// Whether one of these reads `value` after it was computed.
  bool isReadLater(mlir::Value value) const;
};

/// The plan of a kernel; nullopt if rows are not for it.
std::optional<RowPlan> planRows(const Kernel &kernel,
                                const EmitOptions &options);
/// The same for a kernel whose result takes the place of input `repeated` when
/// it repeats, if that is given.
std::optional<RowPlan> planRows(const Kernel &kernel,
                                const EmitOptions &options,
                                std::optional<unsigned> repeated);

/// The plan so far of rows of at most `longest` elements: all but the teams. On
/// entry it has the loop group.
bool planReads(RowPlan &plan, const EmitOptions &options, int64_t longest,
               std::optional<unsigned> repeated = std::nullopt);
/// Elements of the widest vector that is one access in each tensor of the row.
int64_t widestVector(const RowPlan &plan);

/// Prints a kernel by its plan. With `reads` of the plan open, it is a trial
/// that collects these.
class RowPrinter {
public:
  RowPrinter(KernelPrinter &to, RowPlan &plan);
  virtual ~RowPrinter() = default;
  virtual KernelText print();

protected:
  void placeValues();
  void printRow();
  void placeExchanges(KernelText &text);
  virtual void loadKept();
  void printOperations();
  void repeat(llvm::function_ref<void()> printAll);
  void print(mlir::Operation *op);
  void printLinalg(mlir::linalg::LinalgOp op);
  void printCopy(mlir::Operation *op);
  void reduceByTeam(mlir::linalg::LinalgOp op, Indices loops);
  void combineAcross(mlir::linalg::LinalgOp op,
                     llvm::ArrayRef<std::string> partials);
  /// Every element of the thread: `compute` gives the elements of `results`,
  /// which are kept, and stored where they are outputs.
  virtual void
  forEach(mlir::Operation *op, mlir::ValueRange results,
          llvm::function_ref<llvm::SmallVector<std::string>()> compute);
  /// The element at hand of a value called `name`, or of what is kept.
  virtual std::string ofValue(const std::string &name) const {
    return name + "[v].at[e]";
  }
  virtual std::string ofKept(size_t number) const {
    return "x" + std::to_string(number) + "[v].at[e]";
  }
  /// The results of `op` that are needed later, if each has one element.
  void define(mlir::ValueRange results, llvm::ArrayRef<std::string> values);
  void storeVectors(mlir::Value value, const std::string &name);
  void setLoops(mlir::linalg::LinalgOp op, Indices &loops, bool reductions);
  std::string readRegisters(const View &view, llvm::ArrayRef<Index> indices);
  std::optional<RowRead> match(const View &view,
                               llvm::ArrayRef<Index> indices) const;
  /// Where the row of `read` begins in its input.
  Index baseOf(const RowRead &read);
  std::string vectorOf(mlir::Type element) const;
  Indices placeOf(mlir::Value value) const;
  /// Where the row of output number `i` begins.
  Index baseOfOutput(size_t i);

  KernelPrinter &to;
  const Kernel &kernel;
  ElementPrinter &printer;
  Code &code;
  RowPlan &plan;
  /// The indices of shared dims, and those of the row's dims in a loop over a
  /// thread's elements.
  Indices shared, places;
  /// The number of the row.
  Index row;
  /// Values in registers, by the pointer of their views.
  llvm::StringMap<mlir::Value> registers;
  mlir::Operation *current = nullptr;
  bool isTrial;
};

} // namespace mlc::cuda

#endif // MLC_CODEGEN_CUDA_ROWS_H
