//===- Program.h - The program of an artifact as plain data -----*- C++ -*-===//
//
// What the runtime executes and what the compiler writes: symbols and how each
// is bound, size expressions, buffers and steps. Plain structs, a compact
// serialization that is safe to read from a damaged file, and a validator
// after which the runtime trusts every index. Nothing here is specific to a
// device: code images beside the program hold the code for each (CodeImage.h).
//
// How the compiler fills one:
//
//   Program p;
//   SymbolId n = p.addSymbol({"N", Symbol::FromInput, /*input=*/0, /*dim=*/0});
//   ExprId en = p.addExpr(Expr::symbol(n)), c = p.addExpr(Expr::constant(4));
//   BufferId x = p.addBuffer(Buffer::input(0, DType::F32, {en, c}, "x"));
//   p.inputs.push_back({"x", x});
//   ExprId bytes = p.addExpr(Expr::symbol(n) * Expr::constant(16));
//   BufferId y = p.addBuffer(Buffer::arena(bytes, DType::F32, {en, c}, "y"));
//   p.outputs.push_back({"y", y});
//   p.steps.push_back(Step::launch(p.addKernel("k0"), {x}, {y}, {en}, tasks));
//
// The exec dialect (dialects/Exec) has one op per entry here.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_PROGRAM_H
#define MLC_RUNTIME_PROGRAM_H

#include "runtime/Pipeline.h"
#include "runtime/Status.h"
#include "runtime/Step.h"
#include "runtime/Training.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mlc::runtime {

/// Element types; the numbers are part of the file format and equal mlc_dtype.
enum class DType : uint8_t {
  F32 = 0,
  F16 = 1,
  BF16 = 2,
  F64 = 3,
  I8 = 4,
  I16 = 5,
  I32 = 6,
  I64 = 7,
  U8 = 8,
  U16 = 9,
  U32 = 10,
  U64 = 11,
  Bool = 12,
};
constexpr unsigned numDTypes = 13;

/// Bytes of one element (bool: one).
size_t byteSize(DType type);
/// "f32", "bf16", "bool", ...
const char *name(DType type);

/// A size expression in postfix order over the program's symbols. All
/// arithmetic is on int64 with overflow checks; floordiv rounds to minus
/// infinity and mod takes the divisor's sign, as IntExpr does.
struct Expr {
  enum Op : uint8_t {
    Const = 0, ///< push operand
    Symbol,    ///< push the value of symbol `operand`
    Add,
    Mul,
    FloorDiv,
    Mod,
    Min,
    Max,
  };
  struct Inst {
    Op op;
    int64_t operand;
    bool operator==(const Inst &o) const {
      return op == o.op && operand == o.operand;
    }
  };
  std::vector<Inst> code;

  static Expr constant(int64_t value) { return {{{Const, value}}}; }
  static Expr symbol(SymbolId id) { return {{{Symbol, id}}}; }
  /// lhs rhs op, in postfix order. Both sides non-empty.
  static Expr binary(Op op, const Expr &lhs, const Expr &rhs);
  bool operator==(const Expr &o) const { return code == o.code; }
};
inline Expr operator+(const Expr &l, const Expr &r) {
  return Expr::binary(Expr::Add, l, r);
}
inline Expr operator*(const Expr &l, const Expr &r) {
  return Expr::binary(Expr::Mul, l, r);
}

/// A runtime integer that sizes are made of.
struct Symbol {
  enum Kind : uint8_t {
    FromInput = 0, ///< dim `index` of program input `source`
    FromTensor,    ///< set by a BindSymbol step
    FromRank, ///< this rank's coordinate on axis `source` of the mesh; set when
              ///< a session is made
  };
  std::string name;
  Kind kind = FromInput;
  uint32_t source = 0;
  uint32_t index = 0;
  /// Values outside are refused with an error that names the symbol.
  int64_t min = 0;
  int64_t max = INT64_MAX;
};

/// A condition that must hold once its symbols are bound.
struct Check {
  enum Kind : uint8_t { Equal = 0, LessEqual, Less, Divides };
  Kind kind = Equal; ///< Divides: rhs mod lhs is zero
  ExprId lhs = 0;
  ExprId rhs = 0;
  /// Names the ONNX node and what is needed; `{0}` and `{1}` are the sides.
  std::string message;
};

/// Memory that a step reads or writes, with its tensor type.
struct Buffer {
  enum Kind : uint8_t {
    Input = 0, ///< program input `source`; never written
    Constant,  ///< `offset` (64-byte aligned) and `size` in the weights; never
               ///< written
    Arena,     ///< `sizeExpr` bytes, placed by the planner; its life is from
               ///< the first to the last step that names it or an alias of it,
               ///< to the end if it is an output
    Alias,     ///< `offsetExpr` (bytes) into buffer `source` (a lower id)
    Parameter, ///< as Constant, but a session may have other bytes for it;
               ///< its dims are constants
    State,     ///< the memory of state `source`, of its type and dims
  };
  /// Whether the weights hold its bytes.
  bool isWeight() const { return kind == Constant || kind == Parameter; }
  Kind kind = Arena;
  DType type = DType::F32;
  std::vector<ExprId> dims;
  std::string name;      ///< for people: the ONNX tensor, may be empty
  uint32_t source = 0;   ///< Input, State: index; Alias: buffer
  uint64_t offset = 0;   ///< Constant, Parameter
  uint64_t size = 0;     ///< Constant, Parameter
  ExprId sizeExpr = 0;   ///< Arena, Alias: bytes
  ExprId offsetExpr = 0; ///< Alias; must be 64-byte aligned where a kernel that
                         ///< requires it uses the alias

  static Buffer input(uint32_t index, DType type, std::vector<ExprId> dims,
                      std::string name = {});
  static Buffer constant(uint64_t offset, uint64_t size, DType type,
                         std::vector<ExprId> dims, std::string name = {});
  static Buffer parameter(uint64_t offset, uint64_t size, DType type,
                          std::vector<ExprId> dims, std::string name);
  static Buffer state(uint32_t index, DType type, std::vector<ExprId> dims,
                      std::string name);
  static Buffer arena(ExprId sizeBytes, DType type, std::vector<ExprId> dims,
                      std::string name = {});
  static Buffer alias(BufferId of, ExprId offsetBytes, ExprId sizeBytes,
                      DType type, std::vector<ExprId> dims,
                      std::string name = {});
};

/// A dim of a tensor that is sharded along an axis. The whole dim consists of
/// items of `unit` elements each; rank r holds partRange(items, ranks, r)
/// (runtime/Ranks.h). Several splits of one dim have the same unit, and each
/// divides the parts that those before it make.
struct Split {
  uint32_t dim = 0;
  uint32_t axis = 0; ///< of the mesh
  uint64_t unit = 1;
};

/// A named input, output or parameter of the program. Every input's buffer is
/// an Input buffer, every parameter's a Parameter; an output's may be any.
struct Port {
  std::string name;
  BufferId buffer = 0;
  /// How the tensor is this rank's shard of a whole one; its dims are the
  /// shard's.
  std::vector<Split> splits = {};
  /// What an input is for training.
  InputRole role = InputRole::Data;
};

/// Memory that lives across runs and that steps may write; all entries of an
/// artifact share it (docs/States.md).
///
/// If it is split, each rank holds only its shard; `dims`, `offset` and `size`
/// are those of the whole.
struct State {
  /// Its value until it is set or written: none, zeros, or bytes of the
  /// weights.
  enum Initial : uint8_t { None = 0, Zeros, Stored };
  std::string name;
  DType type = DType::F32;
  std::vector<int64_t> dims;
  Initial initial = None;
  uint64_t offset = 0; ///< Stored: in the weights, 64-byte aligned
  uint64_t size = 0;   ///< bytes, according to its dims
  std::vector<Split> splits = {};
  /// Its role in training, and the weight that it belongs to.
  StateRole role = StateRole::None;
  std::string owner = {};
};

/// How many ranks the mesh has.
uint64_t countRanks(const std::vector<MeshAxis> &mesh);

struct Program {
  /// The name of the artifact's entry.
  std::string name;
  /// The model's own metadata and ours, in order; keys may repeat.
  std::vector<std::pair<std::string, std::string>> metadata;

  std::vector<Symbol> symbols;
  std::vector<Expr> exprs;
  std::vector<Check> checks;
  /// Names in each code image; empty: code that was made on another rank.
  std::vector<std::string> kernels;
  std::vector<Buffer> buffers;
  std::vector<Port> inputs;
  std::vector<Port> outputs;
  std::vector<Port> parameters;
  std::vector<Step> steps;

  SymbolId addSymbol(Symbol symbol);
  /// Returns the id of an equal expression if there is one.
  ExprId addExpr(const Expr &expr);
  ExprId addConstant(int64_t value) { return addExpr(Expr::constant(value)); }
  BufferId addBuffer(Buffer buffer);
  KernelId addKernel(std::string name);
};

/// All programs of an artifact, over one set of states.
struct Programs {
  std::vector<MeshAxis> mesh; ///< empty: one rank
  std::vector<State> states;
  std::vector<Program> entries; ///< at least one; the first is the default
  std::optional<Training> training = {}; ///< how they are trained, if at all
  std::optional<Pipeline> pipeline = {}; ///< whose stages they are, if of one
};

/// Serializes `program`; equal programs give equal bytes.
std::vector<uint8_t> serialize(const Program &program);
std::vector<uint8_t> serialize(const Programs &programs);

/// Reads what `serialize` wrote. Never trusts a count or an offset: every
/// damaged input ends in an error, in time and memory linear in `size`.
Status deserialize(const uint8_t *data, size_t size, Program &program);
Status deserialize(const uint8_t *data, size_t size, Programs &programs);

/// Checks everything the runtime relies on: all ids in range, expressions
/// well-formed, symbols bound before their use, aliases acyclic, outputs
/// written before they are read, constants inside `weightsSize` bytes, state
/// buffers that match `states`, and valid axes. Nothing touches a collective's
/// operands between its start and its wait.
Status validate(const Program &program, uint64_t weightsSize,
                const std::vector<State> &states = {},
                const std::vector<MeshAxis> &mesh = {});
/// The same for all entries, and for the states: unique names, and sizes that
/// match the dims.
Status validate(const Programs &programs, uint64_t weightsSize);

/// The value of `expr` if `symbols[i]` is the value of symbol i. The expression
/// must be valid. Fails on overflow and on division by zero.
Status evaluate(const Expr &expr, const int64_t *symbols, int64_t &value);

/// As text for people: "2*W + 1".
std::string toString(const Program &program, const Expr &expr);

/// Follows aliases to the buffer that owns the memory.
BufferId rootOf(const Program &program, BufferId buffer);

/// First and last step in which each buffer's own memory is in use, through
/// aliases as well; outputs live to `steps.size()`. A buffer never named by a
/// step has `first > last` unless it is an output.
struct LiveRange {
  uint32_t first = UINT32_MAX;
  uint32_t last = 0;
};
std::vector<LiveRange> liveRanges(const Program &program);

} // namespace mlc::runtime

#endif // MLC_RUNTIME_PROGRAM_H
