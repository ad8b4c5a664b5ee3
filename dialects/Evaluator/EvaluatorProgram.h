//===- EvaluatorProgram.h - A definition's body, compiled -------*- C++ -*-===//
//
// Private to the evaluator. A body becomes straight-line code whose registers
// hold one number per *lane*; a lane is a point of the piece's box. Loops are
// either lanes or *uniform* (one value for all lanes at a time):
//
//  - A reduction inside few lanes has points of its own as lanes (a program of
//    its own, `own`): a sum of a million numbers into one.
//  - Otherwise its loops are uniform and its body runs once per point on the
//    lanes around it: a matrix product.
//
// Index expressions that are linear in loops are `Form`s, evaluated once per
// chunk of lanes, so that reading costs a pointer or a gather.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_DIALECTS_EVALUATOR_EVALUATORPROGRAM_H
#define MLC_DIALECTS_EVALUATOR_EVALUATORPROGRAM_H

#include "dialects/Definition/Definition.h"
#include "dialects/Definition/ScalarArithmetic.h"
#include "dialects/Evaluator/EvaluatorOptions.h"

namespace mlc::evaluator {

/// What a register holds.
enum class Rep : uint8_t { I64, F32, F64, Interval, Modular, Rational, Guided };

/// How a value is fitted to its type after each operation.
enum class Fit : uint8_t {
  None,
  Bool,
  S8,
  S16,
  S32,
  U8,
  U16,
  U32,
  U64, // fits, but order and division are unsigned
  Half,
  BFloat,
  Single, // a double rounded to float
};

struct RealLoop {
  unsigned id;
  int64_t extent;
};

/// constant + sum of coefficient * loop.
struct Form {
  int64_t constant = 0;
  llvm::SmallVector<std::pair<unsigned, int64_t>, 4> terms; // by loop id
  bool operator==(const Form &other) const {
    return constant == other.constant && terms == other.terms;
  }
  void add(unsigned loop, int64_t coefficient);
  void add(const Form &other, int64_t factor);
};

/// A form as lanes see it: the strides over lane loops, and the remaining terms
/// over uniform loops.
struct LaneForm {
  Form form;
  llvm::SmallVector<int64_t, 4> laneStrides; // one per lane loop
  Form uniform;
};

enum class Code : uint8_t {
  Constant,
  FormValue, // index: value of a form
  Load,
  Unary,
  Binary,
  Compare,
  Select,
  Cast,
  Reduce,
};

/// Whether a cast rounds or may leave the type: from floats to a type that does
/// not hold all of them, or from integers to a type of at most 16 bits.
bool narrows(mlir::Type from, mlir::Type to);

struct Instruction {
  Code code;
  Rep rep;             // of the result
  Rep from = Rep::I64; // of the operands: Compare, Cast
  Fit fit = Fit::None; // of the result
  Fit fromFit = Fit::None;
  uint8_t function = 0; // UnaryFn, BinaryFn, ComparePredicate
  unsigned destination = 0;
  unsigned a = 0, b = 0, c = 0; // registers
  unsigned extra = 0;           // form, load, reduction; kind of a narrowing
  bool narrows = false;
  /// Binary on I64 by a constant positive divisor below 2^31 (0: no).
  int64_t divisor = 0;
  double number = 0.0;
  int64_t integer = 0;
};

struct Load {
  unsigned place = 0; // of the tensor, see Source
  bool isEmpty = false;
  ElementStorage storage = ElementStorage::F32;
  unsigned offset = 0; // form, over all linear indices
  struct Check {
    unsigned form;
    int64_t size;
  };
  llvm::SmallVector<Check, 4> checks; // linear indices that may leave [0, size)
  struct Indirect {
    unsigned reg;
    int64_t size, stride;
  };
  llvm::SmallVector<Indirect, 2> indirect;
  int otherwise = -1; // register of the out-of-range value
};

struct Block {
  std::vector<Instruction> code;
  unsigned result = 0;
};

struct Program;

struct Reduction {
  ReduceKind kind;
  Rep rep;
  Fit fit;
  llvm::SmallVector<RealLoop, 4> loops;
  int64_t points = 0;
  Block body;                   // on the lanes around it
  std::unique_ptr<Program> own; // or on lanes of its own
};

struct Program {
  llvm::SmallVector<RealLoop, 6> lanes; // outermost first, collapsed
  int64_t points = 1;
  std::vector<LaneForm> forms;
  std::vector<Load> loads;
  std::vector<Reduction> reductions;
  Block main;
  std::vector<Rep> registers;
  /// Form of the place where the result goes (stage programs).
  unsigned store = 0;
  int64_t steps = 0; // scalar steps for all points, saturating
  bool dependsOnLanes = true;
  unsigned numLoops = 0; // bounds their ids
};

/// A tensor as programs read it.
struct Source {
  ElementStorage storage;
  llvm::SmallVector<int64_t> dims;
  bool isSplat = false;
  /// The index of its pointer among those passed to a run.
  unsigned place = 0;
};

/// The inputs of compiling a body.
struct CompileContext {
  EvalDomain domain;
  const EvalOptions *options;
  const llvm::StringMap<int64_t> *symbols;
  std::vector<Source> sources; // operands, then stages
  unsigned numInputs;
  unsigned numLoops; // bounds the loops' ids
};

/// Compiles `body` over `loops`, to be stored at `store` (a form over them).
/// `lanesHint` is the number of points that will really run.
llvm::Expected<std::unique_ptr<Program>>
compileBody(const CompileContext &context, const Expr &body,
            llvm::ArrayRef<RealLoop> loops, const Form &store,
            std::optional<int64_t> lanesHint);

/// Row-major strides; zero for a splat.
llvm::SmallVector<int64_t> stridesOf(llvm::ArrayRef<int64_t> dims,
                                     bool isSplat);

/// A stage at fixed sizes.
struct CompiledStage {
  struct Piece {
    unsigned number; // in the stage
    std::unique_ptr<Program> program;
    int64_t points; // that run: one for a splat
  };

  mlir::Type elementType;
  llvm::SmallVector<int64_t> dims;
  bool isSplat = false;
  /// The operand or stage that has these elements in the same order.
  std::optional<TensorId> reinterprets;
  std::vector<Piece> pieces; // that have points

  CompiledStage() = default;
  CompiledStage(CompiledStage &&) = default;
  CompiledStage &operator=(CompiledStage &&) = default;
};

/// Compiles a stage whose operands and earlier stages are `context`'s sources.
/// A constant stage becomes a splat if `maySplat` is set.
llvm::Expected<CompiledStage> compileStage(const CompileContext &context,
                                           const Stage &stage, bool maySplat);

/// Fails if a requirement of the definition does not hold.
llvm::Error checkRequirements(const Definition &definition,
                              const llvm::StringMap<int64_t> &symbols);

/// For each element of a tensor, why it has no value; empty if all have one.
using Marks = std::vector<uint8_t>;

/// Runs programs, one after another, and keeps its memory.
class Runner {
public:
  Runner();
  ~Runner();

  /// Runs the program for its first `points` points and stores to `out`, which
  /// has `size` elements, with the marks of undefined ones. `memory` has the
  /// elements of each place, `marks` their marks (there may be fewer). A
  /// fingerprint whose order cannot be told is an element without a value, and
  /// has no mark.
  void run(const Program &program, llvm::ArrayRef<const void *> memory,
           llvm::ArrayRef<Marks> marks, int64_t points, ElementStorage storage,
           int64_t size, void *out, Marks &outMarks);

private:
  struct State;
  std::unique_ptr<State> state;
};

/// Lanes per chunk.
inline constexpr int64_t chunkLanes = 512;

Rep repOf(mlir::Type type, EvalDomain domain);
Fit fitOf(mlir::Type type, EvalDomain domain);

} // namespace mlc::evaluator

#endif // MLC_DIALECTS_EVALUATOR_EVALUATORPROGRAM_H
