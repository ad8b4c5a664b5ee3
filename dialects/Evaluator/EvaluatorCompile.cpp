//===- EvaluatorCompile.cpp - From expressions to straight-line code ------===//

#include "dialects/Definition/NumberTypes.h"
#include "dialects/Evaluator/EvaluatorIndex.h"
#include "dialects/Evaluator/EvaluatorPositions.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::Expected;
using llvm::SmallVector;

namespace mlc::evaluator {

namespace {

int64_t saturatingMul(int64_t a, int64_t b) {
  int64_t product;
  return llvm::MulOverflow(a, b, product) ? INT64_MAX : product;
}

/// Compiles one body and, for reductions with lanes of their own, nested ones.
class BodyCompiler {
public:
  BodyCompiler(const CompileContext &context, Program &program)
      : indices(*context.symbols), context(context), program(program) {
    blocks.push_back(&program.main);
  }

  IndexForms indices; // with the extent of every loop in scope
  llvm::DenseMap<unsigned, unsigned> depths; // of loops of reductions
  int64_t lanePoints = 1;
  /// Null if every float keeps its own type, or is a number without one.
  const Positions *positions = nullptr;

  Expected<unsigned> compile(const Expr &expr);
  unsigned formNumber(const Form &form);

private:
  const llvm::BitVector &freeLoops(const Expr &expr);
  unsigned depthOf(const Expr &expr);

  unsigned emit(unsigned depth, Instruction instruction);
  Expected<unsigned> compileNode(const Expr &expr, unsigned depth);
  Expected<unsigned> compileRead(const ExprNode &node, unsigned depth);
  Expected<unsigned> compileReduce(const ExprNode &node, unsigned depth);
  Expected<unsigned> compileConstant(const ExprNode &node);
  Instruction operation(const ExprNode &node, Code code);
  void describeCast(const ExprNode &node, Instruction &instruction);

  const CompileContext &context;
  Program &program;
  std::vector<Block *> blocks; // by depth
  ExprMap<unsigned> registers;
  ExprMap<llvm::BitVector> free;
};

unsigned BodyCompiler::formNumber(const Form &form) {
  for (auto [i, known] : llvm::enumerate(program.forms))
    if (known.form == form)
      return i;
  LaneForm laneForm;
  laneForm.form = form;
  laneForm.uniform.constant = form.constant;
  laneForm.laneStrides.assign(program.lanes.size(), 0);
  for (auto [loop, coefficient] : form.terms) {
    auto *lane = llvm::find_if(
        program.lanes, [loop = loop](RealLoop l) { return l.id == loop; });
    if (lane == program.lanes.end())
      laneForm.uniform.add(loop, coefficient);
    else
      laneForm.laneStrides[lane - program.lanes.begin()] = coefficient;
  }
  program.forms.push_back(std::move(laneForm));
  return program.forms.size() - 1;
}

//===----------------------------------------------------------------------===//
// The block of an expression
//===----------------------------------------------------------------------===//

const llvm::BitVector &BodyCompiler::freeLoops(const Expr &expr) {
  auto it = free.find(expr);
  if (it != free.end())
    return it->second;
  llvm::BitVector loops;
  auto set = [&](unsigned loop) {
    if (loops.size() <= loop)
      loops.resize(loop + 1);
    loops.set(loop);
  };
  if (expr->kind == Expr::Kind::Loop)
    set(expr->loop);
  for (const Expr &operand : expr->operands)
    loops |= freeLoops(operand);
  for (const Loop &loop : expr->loops)
    if (loop.id < loops.size())
      loops.reset(loop.id);
  return free[expr] = loops;
}

/// The outermost block in which all loops of `expr` have values: values that do
/// not depend on a reduction are computed before it.
unsigned BodyCompiler::depthOf(const Expr &expr) {
  unsigned depth = 0;
  for (unsigned loop : freeLoops(expr).set_bits())
    depth = std::max(depth, depths.lookup(loop));
  return depth;
}

unsigned BodyCompiler::emit(unsigned depth, Instruction instruction) {
  instruction.destination = program.registers.size();
  program.registers.push_back(instruction.rep);
  blocks[depth]->code.push_back(instruction);
  return instruction.destination;
}

Expected<unsigned> BodyCompiler::compile(const Expr &expr) {
  auto it = registers.find(expr);
  if (it != registers.end())
    return it->second;
  Expected<unsigned> result = compileNode(expr, depthOf(expr));
  if (result)
    registers[expr] = *result;
  return result;
}

Instruction BodyCompiler::operation(const ExprNode &node, Code code) {
  Instruction instruction;
  instruction.code = code;
  instruction.rep = repOf(node.type, context.domain);
  instruction.fit = fitOf(node.type, context.domain);
  if (!node.operands.empty()) {
    Type from = node.operands.front()->type;
    instruction.from = repOf(from, context.domain);
    instruction.fromFit = fitOf(from, context.domain);
  }
  return instruction;
}

Expected<unsigned> BodyCompiler::compileConstant(const ExprNode &node) {
  Instruction instruction = operation(node, Code::Constant);
  instruction.number = node.number;
  instruction.integer = node.integerNumber;
  if (node.kind == Expr::Kind::Param) {
    auto it = context.options->parameters.find(node.parameter);
    if (it == context.options->parameters.end())
      return evalError(EvalFailure::Input,
                       "parameter " + node.parameter + " has no value");
    instruction.number = it->second;
    instruction.integer = static_cast<int64_t>(it->second);
  }
  return emit(0, instruction);
}

void BodyCompiler::describeCast(const ExprNode &node,
                                Instruction &instruction) {
  Type from = node.operands[0]->type;
  instruction.narrows = narrows(from, node.type);
  if (!instruction.narrows)
    return;
  auto rank = [](Type type) {
    return type.isF64() ? 0u : type.isF32() ? 1u : type.isBF16() ? 2u : 3u;
  };
  instruction.extra = rank(from) * 4 + rank(node.type);
  // Outside of Native only the cast itself rounds.
  instruction.fit = node.type.isF16()                      ? Fit::Half
                    : node.type.isBF16()                   ? Fit::BFloat
                    : context.domain == EvalDomain::Native ? Fit::None
                                                           : Fit::Single;
}

Expected<unsigned> BodyCompiler::compileNode(const Expr &expr, unsigned depth) {
  const ExprNode &node = *expr;
  if (isa<IndexType>(node.type))
    if (std::optional<Form> form = indices.asForm(expr)) {
      Instruction instruction;
      instruction.rep = Rep::I64;
      instruction.code = form->terms.empty() ? Code::Constant : Code::FormValue;
      instruction.integer = form->constant;
      if (!form->terms.empty())
        instruction.extra = formNumber(*form);
      return emit(form->terms.empty() ? 0 : depth, instruction);
    }
  switch (node.kind) {
  case Expr::Kind::Loop:
    llvm_unreachable("a loop is a form");
  case Expr::Kind::Int:
    return indices.evaluate(node.integer).takeError();
  case Expr::Kind::Constant:
  case Expr::Kind::Param:
    return compileConstant(node);
  case Expr::Kind::Read:
    return compileRead(node, depth);
  case Expr::Kind::Reduce:
    return compileReduce(node, depth);
  default:
    break;
  }
  SmallVector<unsigned, 3> arguments;
  for (const Expr &operand : node.operands) {
    Expected<unsigned> argument = compile(operand);
    if (!argument)
      return argument.takeError();
    arguments.push_back(*argument);
  }
  Instruction instruction;
  switch (node.kind) {
  case Expr::Kind::Unary:
    instruction = operation(node, Code::Unary);
    instruction.function = static_cast<uint8_t>(node.unary);
    break;
  case Expr::Kind::Binary:
    instruction = operation(node, Code::Binary);
    instruction.function = static_cast<uint8_t>(node.binary);
    if (node.binary == BinaryFn::FloorDiv || node.binary == BinaryFn::Mod)
      if (node.operands[1]->kind == Expr::Kind::Int) {
        Expected<int64_t> divisor = indices.evaluate(node.operands[1]->integer);
        if (!divisor)
          return divisor.takeError();
        if (*divisor > 0 && *divisor < (int64_t(1) << 31))
          instruction.divisor = *divisor;
      }
    break;
  case Expr::Kind::Compare:
    instruction = operation(node, Code::Compare);
    instruction.function = static_cast<uint8_t>(node.predicate);
    break;
  case Expr::Kind::Select:
    instruction = operation(node, Code::Select);
    break;
  case Expr::Kind::Cast:
    if (!isa<IndexType>(node.type) && !storageOf(node.type, context.domain))
      return evalError(EvalFailure::Unsupported,
                       "a conversion to a type that has no elements here");
    instruction = operation(node, Code::Cast);
    describeCast(node, instruction);
    break;
  default:
    llvm_unreachable("handled above");
  }
  instruction.a = arguments[0];
  instruction.b = arguments.size() > 1 ? arguments[1] : 0;
  instruction.c = arguments.size() > 2 ? arguments[2] : 0;
  if (positions && positions->contains(expr))
    instruction.fit =
        node.type.isF32() ? Fit::Single : fitOf(node.type, EvalDomain::Native);
  return emit(depth, instruction);
}

Expected<unsigned> BodyCompiler::compileRead(const ExprNode &node,
                                             unsigned depth) {
  const Source &source =
      context.sources[node.tensor.index +
                      (node.tensor.isStage ? context.numInputs : 0)];
  SmallVector<int64_t> strides = stridesOf(source.dims, source.isSplat);
  Load load;
  load.place = source.place;
  load.isEmpty = llvm::is_contained(source.dims, 0);
  load.storage = source.storage;
  Form offset;
  for (auto [d, index] : llvm::enumerate(node.indices())) {
    int64_t size = source.dims[d];
    int64_t stride = strides[d];
    std::optional<Form> form = indices.asForm(index);
    if (!form) {
      Expected<unsigned> reg = compile(index);
      if (!reg)
        return reg.takeError();
      load.indirect.push_back({*reg, size, stride});
      continue;
    }
    auto [low, high] = indices.boundsOf(*form);
    if (low < 0 || high >= size) {
      load.checks.push_back({formNumber(*form), size});
      // Keeps the offset from overflowing far out of range.
      int64_t factor = std::max<int64_t>(stride, 1);
      if (std::max(-low, high) * factor > formLimit)
        return evalError(EvalFailure::Limit, "index too large to evaluate");
    }
    offset.add(*form, stride);
  }
  load.offset = formNumber(offset);
  if (node.guarded) {
    Expected<unsigned> otherwise = compile(node.operands.back());
    if (!otherwise)
      return otherwise.takeError();
    load.otherwise = *otherwise;
  }
  program.loads.push_back(std::move(load));
  Instruction instruction = operation(node, Code::Load);
  instruction.extra = program.loads.size() - 1;
  return emit(depth, instruction);
}

Expected<unsigned> BodyCompiler::compileReduce(const ExprNode &node,
                                               unsigned depth) {
  Reduction reduction;
  reduction.kind = node.reduce;
  reduction.rep = repOf(node.type, context.domain);
  reduction.fit = fitOf(node.type, context.domain);
  SmallVector<int64_t> sizes;
  for (const Loop &loop : node.loops) {
    Expected<int64_t> extent = indices.evaluate(loop.extent);
    if (!extent)
      return extent.takeError();
    if (*extent < 0)
      return evalError(EvalFailure::Input,
                       "negative extent " + loop.extent.str());
    reduction.loops.push_back({loop.id, *extent});
    sizes.push_back(*extent);
    indices.extents[loop.id] = *extent;
  }
  std::optional<int64_t> points = elementCount(sizes);
  if (!points)
    return evalError(EvalFailure::Limit, "reduction too large to evaluate");
  reduction.points = *points;
  if (lanePoints < 64 && reduction.points > lanePoints) {
    reduction.own = std::make_unique<Program>();
    reduction.own->lanes.assign(reduction.loops.begin(), reduction.loops.end());
    reduction.own->points = reduction.points;
    BodyCompiler inner(context, *reduction.own);
    inner.indices.extents = indices.extents;
    inner.lanePoints = reduction.points;
    inner.positions = positions;
    Expected<unsigned> result = inner.compile(node.operands[0]);
    if (!result)
      return result.takeError();
    reduction.own->main.result = *result;
  } else {
    // Blocks of deeper levels are looked up by depth during compilation.
    unsigned level = blocks.size();
    for (const Loop &loop : node.loops)
      depths[loop.id] = level;
    auto body = std::make_unique<Block>();
    blocks.push_back(body.get());
    Expected<unsigned> result = compile(node.operands[0]);
    blocks.pop_back();
    if (!result)
      return result.takeError();
    reduction.body = std::move(*body);
    reduction.body.result = *result;
  }
  program.reductions.push_back(std::move(reduction));
  Instruction instruction = operation(node, Code::Reduce);
  instruction.extra = program.reductions.size() - 1;
  return emit(depth, instruction);
}

//===----------------------------------------------------------------------===//
// Whole programs
//===----------------------------------------------------------------------===//

int64_t countSteps(const Program &program, const Block &block) {
  int64_t steps = 1;
  for (const Instruction &instruction : block.code) {
    int64_t cost = 1;
    if (instruction.code == Code::Reduce) {
      const Reduction &reduction = program.reductions[instruction.extra];
      const Program &owner = reduction.own ? *reduction.own : program;
      const Block &body = reduction.own ? reduction.own->main : reduction.body;
      cost = saturatingMul(reduction.points, countSteps(owner, body));
    }
    if (llvm::AddOverflow(steps, cost, steps))
      return INT64_MAX;
  }
  return steps;
}

bool mentions(const Form &form, ArrayRef<RealLoop> loops) {
  return llvm::any_of(form.terms, [&](auto term) {
    return llvm::any_of(loops,
                        [&](RealLoop loop) { return loop.id == term.first; });
  });
}

bool dependsOn(const Program &program, ArrayRef<RealLoop> loops,
               std::optional<unsigned> except) {
  for (auto [i, form] : llvm::enumerate(program.forms))
    if (i != except && mentions(form.form, loops))
      return true;
  return llvm::any_of(program.reductions, [&](const Reduction &reduction) {
    return reduction.own && dependsOn(*reduction.own, loops, std::nullopt);
  });
}

/// Merges neighbouring lane loops that every form walks as one. Not for
/// programs of nested reductions, which refer to single loops.
void collapseLanes(Program &program) {
  if (llvm::any_of(program.reductions,
                   [](const Reduction &r) { return r.own != nullptr; }))
    return;
  for (size_t k = program.lanes.size(); k-- > 0;) {
    int64_t extent = program.lanes[k].extent;
    bool isLast = k + 1 == program.lanes.size();
    bool dropped = extent == 1;
    bool merges = !dropped && !isLast;
    for (const LaneForm &form : program.forms)
      if (merges)
        merges = form.laneStrides[k] ==
                 form.laneStrides[k + 1] * program.lanes[k + 1].extent;
    if (!dropped && !merges)
      continue;
    if (merges)
      program.lanes[k + 1].extent *= extent;
    program.lanes.erase(program.lanes.begin() + k);
    for (LaneForm &form : program.forms)
      form.laneStrides.erase(form.laneStrides.begin() + k);
  }
}

} // namespace

Expected<std::unique_ptr<Program>> compileBody(const CompileContext &context,
                                               const Expr &body,
                                               ArrayRef<RealLoop> loops,
                                               const Form &store,
                                               std::optional<int64_t> hint) {
  auto program = std::make_unique<Program>();
  program->lanes.assign(loops.begin(), loops.end());
  program->numLoops = context.numLoops;
  SmallVector<int64_t> sizes;
  BodyCompiler compiler(context, *program);
  std::optional<Positions> positions;
  if (context.domain == EvalDomain::Float64)
    compiler.positions = &positions.emplace(body);
  for (const RealLoop &loop : loops) {
    compiler.indices.extents[loop.id] = loop.extent;
    sizes.push_back(loop.extent);
  }
  std::optional<int64_t> points = elementCount(sizes);
  if (!points)
    return evalError(EvalFailure::Limit, "stage too large to evaluate");
  program->points = *points;
  compiler.lanePoints = hint.value_or(*points);
  // The first form is the store's, and shared with reads at the same place.
  program->store = compiler.formNumber(store);
  size_t shared = program->forms.size();
  Expected<unsigned> result = compiler.compile(body);
  if (!result)
    return result.takeError();
  program->main.result = *result;
  bool readsStore = llvm::any_of(program->loads, [&](const Load &load) {
    return load.offset < shared ||
           llvm::any_of(
               load.checks, [&](auto check) { return check.form < shared; });
  });
  auto usesStore = [&](const Block &block) {
    return llvm::any_of(block.code, [&](const Instruction &i) {
      return i.code == Code::FormValue && i.extra < shared;
    });
  };
  readsStore |= usesStore(program->main);
  for (const Reduction &reduction : program->reductions)
    readsStore |= usesStore(reduction.body);
  program->dependsOnLanes = dependsOn(
      *program, loops,
      readsStore ? std::nullopt : std::optional<unsigned>(program->store));
  program->steps = saturatingMul(hint.value_or(*points),
                                 countSteps(*program, program->main));
  collapseLanes(*program);
  return program;
}

} // namespace mlc::evaluator
