//===- Program.cpp - Building and reading the program's data --------------===//

#include "runtime/Program.h"

#include <algorithm>

namespace mlc::runtime {

size_t byteSize(DType type) {
  switch (type) {
  case DType::I8:
  case DType::U8:
  case DType::Bool:
    return 1;
  case DType::F16:
  case DType::BF16:
  case DType::I16:
  case DType::U16:
    return 2;
  case DType::F32:
  case DType::I32:
  case DType::U32:
    return 4;
  case DType::F64:
  case DType::I64:
  case DType::U64:
    return 8;
  }
  return 0;
}

const char *name(DType type) {
  static const char *const names[numDTypes] = {
      "f32", "f16", "bf16", "f64", "i8",  "i16", "i32",
      "i64", "u8",  "u16",  "u32", "u64", "bool"};
  unsigned index = static_cast<unsigned>(type);
  return index < numDTypes ? names[index] : "?";
}

Expr Expr::binary(Op op, const Expr &lhs, const Expr &rhs) {
  Expr result = lhs;
  result.code.insert(result.code.end(), rhs.code.begin(), rhs.code.end());
  result.code.push_back({op, 0});
  return result;
}

Buffer Buffer::input(uint32_t index, DType type, std::vector<ExprId> dims,
                     std::string name) {
  Buffer b;
  b.kind = Input;
  b.type = type;
  b.dims = std::move(dims);
  b.name = std::move(name);
  b.source = index;
  return b;
}

Buffer Buffer::constant(uint64_t offset, uint64_t size, DType type,
                        std::vector<ExprId> dims, std::string name) {
  Buffer b;
  b.kind = Constant;
  b.type = type;
  b.dims = std::move(dims);
  b.name = std::move(name);
  b.offset = offset;
  b.size = size;
  return b;
}

Buffer Buffer::parameter(uint64_t offset, uint64_t size, DType type,
                         std::vector<ExprId> dims, std::string name) {
  Buffer b = constant(offset, size, type, std::move(dims), std::move(name));
  b.kind = Parameter;
  return b;
}

Buffer Buffer::state(uint32_t index, DType type, std::vector<ExprId> dims,
                     std::string name) {
  Buffer b = input(index, type, std::move(dims), std::move(name));
  b.kind = State;
  return b;
}

Buffer Buffer::arena(ExprId sizeBytes, DType type, std::vector<ExprId> dims,
                     std::string name) {
  Buffer b;
  b.kind = Arena;
  b.type = type;
  b.dims = std::move(dims);
  b.name = std::move(name);
  b.sizeExpr = sizeBytes;
  return b;
}

Buffer Buffer::alias(BufferId of, ExprId offsetBytes, ExprId sizeBytes,
                     DType type, std::vector<ExprId> dims, std::string name) {
  Buffer b = arena(sizeBytes, type, std::move(dims), std::move(name));
  b.kind = Alias;
  b.source = of;
  b.offsetExpr = offsetBytes;
  return b;
}

SymbolId Program::addSymbol(Symbol symbol) {
  symbols.push_back(std::move(symbol));
  return symbols.size() - 1;
}

ExprId Program::addExpr(const Expr &expr) {
  auto it = std::find(exprs.begin(), exprs.end(), expr);
  if (it != exprs.end())
    return it - exprs.begin();
  exprs.push_back(expr);
  return exprs.size() - 1;
}

BufferId Program::addBuffer(Buffer buffer) {
  buffers.push_back(std::move(buffer));
  return buffers.size() - 1;
}

KernelId Program::addKernel(std::string name) {
  kernels.push_back(std::move(name));
  return kernels.size() - 1;
}

BufferId rootOf(const Program &program, BufferId buffer) {
  while (program.buffers[buffer].kind == Buffer::Alias)
    buffer = program.buffers[buffer].source;
  return buffer;
}

std::vector<LiveRange> liveRanges(const Program &program) {
  std::vector<LiveRange> ranges(program.buffers.size());
  auto use = [&](BufferId buffer, uint32_t step) {
    LiveRange &range = ranges[rootOf(program, buffer)];
    range.first = std::min(range.first, step);
    range.last = std::max(range.last, step);
  };
  for (uint32_t s = 0; s < program.steps.size(); ++s) {
    for (BufferId b : program.steps[s].inputs)
      use(b, s);
    for (BufferId b : program.steps[s].outputs)
      use(b, s);
  }
  for (const Port &port : program.outputs)
    use(port.buffer, program.steps.size());
  return ranges;
}

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

namespace {

/// One checked operation on int64s; false on overflow or division by zero.
bool apply(Expr::Op op, int64_t l, int64_t r, int64_t &out) {
  switch (op) {
  case Expr::Add:
    return !__builtin_add_overflow(l, r, &out);
  case Expr::Mul:
    return !__builtin_mul_overflow(l, r, &out);
  case Expr::FloorDiv:
  case Expr::Mod: {
    if (r == 0 || (l == INT64_MIN && r == -1))
      return false;
    int64_t quotient = l / r, remainder = l % r;
    if (remainder != 0 && (remainder < 0) != (r < 0)) {
      --quotient;
      remainder += r;
    }
    out = op == Expr::FloorDiv ? quotient : remainder;
    return true;
  }
  case Expr::Min:
    out = std::min(l, r);
    return true;
  case Expr::Max:
    out = std::max(l, r);
    return true;
  case Expr::Const:
  case Expr::Symbol:
    break;
  }
  return false;
}

} // namespace

Status evaluate(const Expr &expr, const int64_t *symbols, int64_t &value) {
  // The validator bounds the depth to this.
  int64_t stack[64];
  unsigned depth = 0;
  for (const Expr::Inst &inst : expr.code) {
    if (inst.op == Expr::Const) {
      stack[depth++] = inst.operand;
    } else if (inst.op == Expr::Symbol) {
      stack[depth++] = symbols[inst.operand];
    } else {
      int64_t result = 0;
      if (!apply(inst.op, stack[depth - 2], stack[depth - 1], result))
        return Status::error(MLC_USAGE,
                             "a size overflows 64 bits or divides by zero");
      --depth;
      stack[depth - 1] = result;
    }
  }
  value = stack[0];
  return Status::success();
}

std::string toString(const Program &program, const Expr &expr) {
  struct Text {
    std::string text;
    int level; ///< 0 atom, 1 product, 2 sum
  };
  std::vector<Text> stack;
  auto wrap = [](const Text &t, int level) {
    return t.level > level ? "(" + t.text + ")" : t.text;
  };
  for (const Expr::Inst &inst : expr.code) {
    if (inst.op == Expr::Const) {
      stack.push_back({std::to_string(inst.operand), 0});
      continue;
    }
    if (inst.op == Expr::Symbol) {
      stack.push_back({program.symbols[inst.operand].name, 0});
      continue;
    }
    Text r = std::move(stack.back());
    stack.pop_back();
    Text &l = stack.back();
    switch (inst.op) {
    case Expr::Add:
      if (!r.text.empty() && r.text[0] == '-')
        l = {wrap(l, 2) + " - " + r.text.substr(1), 2};
      else
        l = {wrap(l, 2) + " + " + wrap(r, 1), 2};
      break;
    case Expr::Mul:
      l = {wrap(l, 1) + "*" + wrap(r, 0), 1};
      break;
    case Expr::FloorDiv:
      l = {wrap(l, 1) + " floordiv " + wrap(r, 0), 1};
      break;
    case Expr::Mod:
      l = {wrap(l, 1) + " mod " + wrap(r, 0), 1};
      break;
    case Expr::Min:
      l = {"min(" + l.text + ", " + r.text + ")", 0};
      break;
    default:
      l = {"max(" + l.text + ", " + r.text + ")", 0};
      break;
    }
  }
  return stack.empty() ? "" : stack.back().text;
}

} // namespace mlc::runtime
