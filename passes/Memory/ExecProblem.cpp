//===- ExecProblem.cpp - An exec program as a problem of memory -----------===//

#include "passes/Memory/ExecProblem.h"
#include "codegen/StateWrites.h"
#include "passes/Base/Remedy.h"
#include "passes/Fuse/Views.h"
#include "runtime/Artifact.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using llvm::ArrayRef;

namespace rt = mlc::runtime;

namespace mlc::remat {

namespace {

/// Bytes of a buffer that a step reads or writes, relative to the memory that
/// owns it.
struct Range {
  unsigned step;
  uint64_t first, end;
  bool overlaps(const Range &other) const {
    return first < other.end && other.first < end;
  }
};

class Reader {
public:
  Reader(exec::ProgramOp program, const StepFacts &facts)
      : program(program), facts(facts), skeleton(result.skeleton) {}

  FailureOr<ExecProblem> run() {
    zero = skeleton.addConstant(0);
    for (Operation &op : program.getBody().front())
      if (failed(read(&op)))
        return failure();
    findPlaced();
    pinWrites();
    if (failed(makeValues()))
      return failure();
    findRepeats();
    for (size_t s = 0; s < result.steps.size(); ++s)
      findTakeovers(s);
    addStateWrites(skeleton, writes);
    findPlaced();
    return std::move(result);
  }

private:
  LogicalResult read(Operation *op);
  LogicalResult readBuffer(Operation *op);
  void readStep(Operation *op, ValueRange inputs, ValueRange outputs);
  FailureOr<int64_t> number(Operation *op, IntExpr expr);
  void findPlaced();
  void pinWrites();
  LogicalResult makeValues();
  void findRepeats();
  void findTakeovers(size_t step);
  bool isMixed(rt::BufferId root) const;
  Range rangeOf(unsigned step, rt::BufferId buffer) const;

  rt::BufferId rootOf(rt::BufferId id) const {
    return rt::rootOf(skeleton, id);
  }
  int valueOf(rt::BufferId id) const { return values[rootOf(id)]; }

  exec::ProgramOp program;
  const StepFacts &facts;
  ExecProblem result;
  rt::Program &skeleton;
  rt::ExprId zero = 0;
  DenseMap<Value, rt::BufferId> buffers;
  std::vector<Value> made; // by buffer
  std::vector<uint64_t> bytes, offsets;
  /// Values assigned to states when the run ends.
  std::vector<StateWrite> writes;
  /// Buffers that must not be recomputed, such as those of unknown ops.
  std::vector<uint8_t> isPinned;
  /// For each buffer: the problem's value, or -1.
  std::vector<int> values;
  rt::Setup setup;
};

FailureOr<int64_t> Reader::number(Operation *op, IntExpr expr) {
  if (expr.isConstant())
    return expr.getConstant();
  llvm::StringRef text;
  expr.walkSymbols([&](llvm::StringRef name) {
    if (text.empty() || name.starts_with("rank."))
      text = name;
  });
  // A rank's coordinate is not a dim that a user can give.
  if (text.starts_with("rank."))
    return op->emitError(
               "memory can be limited only where all ranks have parts of one "
               "size at one place of what is whole, and there is one of ")
           << expr.str()
           << "; the ranks must divide all sizes (in training the "
           << "batch and, with ZeRO, a dim of each state)"
           << Remedy{Remedy::Kind::ChangeBatch}
           << Remedy{Remedy::Kind::DropMemoryBudget};
  return op->emitError("memory can be limited only where all sizes are fixed, "
                       "and the dim ")
         << text << " is open" << Remedy{Remedy::Kind::FixDim, text.str()};
}

LogicalResult Reader::readBuffer(Operation *op) {
  int64_t size =
      elementBytes(op->getAttrOfType<TypeAttr>("element").getValue());
  for (IntExpr dim : op->getAttrOfType<DimsAttr>("dims").getDims()) {
    FailureOr<int64_t> extent = number(op, dim);
    if (failed(extent))
      return failure();
    if (*extent < 0 || __builtin_mul_overflow(size, *extent, &size))
      return op->emitError("the size of a buffer overflows");
  }
  rt::Buffer buffer;
  int64_t offset = 0;
  std::vector<rt::ExprId> dims{skeleton.addConstant(size)};
  if (auto alias = dyn_cast<exec::AliasOp>(op)) {
    FailureOr<int64_t> known = number(op, alias.getOffset());
    if (failed(known))
      return failure();
    offset = *known;
    buffer = rt::Buffer::alias(buffers.at(alias.getSource()),
                               skeleton.addConstant(offset), dims[0],
                               rt::DType::U8, dims);
  } else if (isa<exec::AllocOp>(op)) {
    buffer = rt::Buffer::arena(dims[0], rt::DType::U8, dims);
  } else if (isa<exec::StateOp>(op)) {
    buffer = rt::Buffer::state(0, rt::DType::U8, dims, "");
  } else if (isa<exec::ParameterOp>(op)) {
    buffer = rt::Buffer::parameter(0, size, rt::DType::U8, dims, "");
  } else {
    buffer = rt::Buffer::constant(0, size, rt::DType::U8, dims);
    // findSetup distinguishes these from parameters; nothing else matters.
    if (isa<exec::InputOp>(op))
      buffer.kind = rt::Buffer::Input;
  }
  rt::BufferId id = skeleton.addBuffer(std::move(buffer));
  if (isa<exec::ParameterOp>(op))
    skeleton.parameters.push_back({"", id});
  buffers[op->getResult(0)] = id;
  made.push_back(op->getResult(0));
  bytes.push_back(size);
  offsets.push_back(offset);
  isPinned.push_back(0);
  return success();
}

void Reader::readStep(Operation *op, ValueRange inputs, ValueRange outputs) {
  auto ids = [&](ValueRange list) {
    std::vector<rt::BufferId> found;
    for (Value value : list)
      found.push_back(buffers.at(value));
    return found;
  };
  rt::Step step =
      rt::Step::launch(0, ids(inputs), ids(outputs), {}, /*tasks=*/zero);
  if (auto launch = dyn_cast<exec::LaunchOp>(op))
    for (auto [input, output] : facts.inPlace(launch))
      step.inPlace.push_back({output, input});
  skeleton.steps.push_back(std::move(step));
  result.steps.push_back(op);
}

/// Whether a step of this kind starts or ends what runs beside others.
static bool isInFlight(Operation *op) {
  rt::Step step;
  if (!rt::makeDetail(std::string_view(op->getName().stripDialect()),
                      step.detail))
    return false;
  rt::TicketUse use = rt::ticketsOf(step);
  return use.started || use.awaited;
}

LogicalResult Reader::read(Operation *op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<exec::InputOp, exec::ConstantOp, exec::ParameterOp, exec::StateOp,
            exec::AllocOp, exec::AliasOp>(
          [&](auto buffer) { return readBuffer(buffer); })
      .Case([&](exec::StepOpInterface step) {
        readStep(step, step.getInputs(), step.getOutputs());
        if (isInFlight(step)) {
          // Collectives run once, in memory that stays.
          for (Value value : step->getOperands())
            isPinned[rootOf(buffers.at(value))] = 1;
          return success();
        }
        if (auto args = step->getAttrOfType<DimsAttr>("args"))
          for (IntExpr arg : args.getDims())
            if (failed(number(step, arg)))
              return failure();
        return success();
      })
      .Case([&](exec::OutputOp output) {
        skeleton.outputs.push_back({"", buffers.at(output.getBuffer())});
        return success();
      })
      .Case([&](exec::AssignOp assign) {
        writes.push_back(
            {buffers.at(assign.getState()), buffers.at(assign.getValue())});
        return success();
      })
      .Case([&](exec::BindOp bind) {
        return LogicalResult(
            bind.emitError("memory can be limited only where all sizes are "
                           "fixed, and the dim ")
            << bind.getName() << " follows from a tensor's elements");
      })
      .Case<exec::SymbolOp, exec::CoordinateOp, exec::CheckOp>(
          [](auto) { return success(); })
      .Default([&](Operation *other) {
        // Its results are not in the arena.
        for (Value value : other->getResults()) {
          buffers[value] =
              skeleton.addBuffer(rt::Buffer::constant(0, 0, rt::DType::U8, {}));
          made.push_back(value);
          bytes.push_back(0);
          offsets.push_back(0);
          isPinned.push_back(1);
        }
        if (other->getNumOperands() > 0)
          readStep(other, other->getOperands(), {});
        for (Value value : other->getOperands())
          isPinned[rootOf(buffers.at(value))] = 1;
        return success();
      });
}

void Reader::findPlaced() {
  setup = rt::findSetup(skeleton);
  result.isPlaced.assign(skeleton.buffers.size(), 0);
  for (rt::BufferId b = 0; b < skeleton.buffers.size(); ++b)
    result.isPlaced[b] =
        skeleton.buffers[b].kind == rt::Buffer::Arena && !setup.isBuffer[b];
}

/// New values of states are computed once. If one shares the state's memory, it
/// takes no arena memory.
void Reader::pinWrites() {
  rt::Program written = skeleton;
  addStateWrites(written, writes);
  for (const StateWrite &write : writes) {
    rt::BufferId root = rootOf(write.value);
    isPinned[root] = 1;
    if (written.buffers[root].kind != skeleton.buffers[root].kind)
      result.isPlaced[root] = 0;
  }
}

LogicalResult Reader::makeValues() {
  values.assign(skeleton.buffers.size(), -1);
  Problem &problem = result.problem;
  auto add = [&](std::vector<unsigned> &list, rt::BufferId id) {
    int v = valueOf(id);
    if (v >= 0 && !llvm::is_contained(list, unsigned(v)))
      list.push_back(v);
  };
  for (size_t s = 0; s < skeleton.steps.size(); ++s) {
    for (rt::BufferId id : skeleton.steps[s].outputs) {
      rt::BufferId root = rootOf(id);
      if (!result.isPlaced[root])
        continue;
      if (values[root] < 0) {
        values[root] = problem.values.size();
        problem.values.push_back({(bytes[root] + 63) / 64 * 64, {}, false});
        result.allocs.push_back(made[root]);
        result.valueOf[made[root]] = values[root];
      }
      std::vector<unsigned> &producers = problem.values[values[root]].producers;
      if (producers.empty() || producers.back() != s)
        producers.push_back(s);
    }
    Step &step = problem.steps.emplace_back();
    for (rt::BufferId id : skeleton.steps[s].inputs) {
      rt::BufferId root = rootOf(id);
      if (result.isPlaced[root] && values[root] < 0)
        return result.steps[s]->emitError("reads a buffer that no step before "
                                          "it has written");
      add(step.inputs, id);
    }
    for (rt::BufferId id : skeleton.steps[s].outputs)
      add(step.outputs, id);
    if (auto launch = dyn_cast<exec::LaunchOp>(result.steps[s]))
      step.seconds = facts.seconds(launch);
  }
  for (const rt::Port &port : skeleton.outputs)
    if (int v = valueOf(port.buffer); v >= 0)
      problem.values[v].isOutput = true;
  return success();
}

Range Reader::rangeOf(unsigned step, rt::BufferId buffer) const {
  uint64_t first = 0, size = bytes[buffer];
  for (; skeleton.buffers[buffer].kind == rt::Buffer::Alias;
       buffer = skeleton.buffers[buffer].source)
    first += offsets[buffer];
  return {step, first, first + size};
}

/// Whether writes of steps to this memory overlap writes of other steps or
/// earlier reads: then it is not made of parts.
bool Reader::isMixed(rt::BufferId root) const {
  std::vector<Range> written, read;
  for (unsigned s = 0; s < skeleton.steps.size(); ++s) {
    for (rt::BufferId id : skeleton.steps[s].outputs)
      if (rootOf(id) == root)
        written.push_back(rangeOf(s, id));
    for (rt::BufferId id : skeleton.steps[s].inputs)
      if (rootOf(id) == root)
        read.push_back(rangeOf(s, id));
  }
  for (const Range &a : written) {
    for (const Range &b : written)
      if (&a != &b && a.overlaps(b))
        return true;
    for (const Range &b : read)
      if (a.step >= b.step && a.overlaps(b))
        return true;
  }
  return false;
}

/// A step may run again if it is a kernel, computes no output or state, and no
/// other step writes the memory that it reads and writes.
void Reader::findRepeats() {
  for (rt::BufferId b = 0; b < skeleton.buffers.size(); ++b)
    if (skeleton.buffers[b].kind == rt::Buffer::Arena && isMixed(b))
      isPinned[b] = 1;
  std::vector<uint8_t> isOutput(skeleton.buffers.size(), 0);
  for (const rt::Port &port : skeleton.outputs)
    isOutput[rootOf(port.buffer)] = 1;
  for (size_t s = 0; s < skeleton.steps.size(); ++s) {
    const rt::Step &step = skeleton.steps[s];
    bool canRepeat = isa<exec::LaunchOp>(result.steps[s]) && !setup.isStep[s];
    for (rt::BufferId id : step.inputs)
      canRepeat &= !isPinned[rootOf(id)];
    for (rt::BufferId id : step.outputs)
      canRepeat &=
          !isPinned[rootOf(id)] && !isOutput[rootOf(id)] && valueOf(id) >= 0;
    result.problem.steps[s].canRepeat = canRepeat;
  }
}

/// Takeovers as the runtime finds them (runtime/ProgramPlan.cpp).
void Reader::findTakeovers(size_t s) {
  const rt::Step &step = skeleton.steps[s];
  for (const rt::InPlace &pair : step.inPlace) {
    if (pair.output >= step.outputs.size() || pair.input >= step.inputs.size())
      continue;
    rt::BufferId out = step.outputs[pair.output], in = step.inputs[pair.input];
    rt::BufferId root = rootOf(in);
    bool isFree =
        values[out] >= 0 && values[root] >= 0 && rangeOf(s, in).first == 0;
    for (uint32_t i = 0; i < step.inputs.size(); ++i) {
      bool permitted = llvm::any_of(step.inPlace, [&](const rt::InPlace &p) {
        return p.input == i && p.output == pair.output;
      });
      isFree &=
          rootOf(step.inputs[i]) != root || (permitted && step.inputs[i] == in);
    }
    for (uint32_t o = 0; o < step.outputs.size(); ++o)
      isFree &= rootOf(step.outputs[o]) != root &&
                (o == pair.output || rootOf(step.outputs[o]) != out);
    std::pair<unsigned, unsigned> takeover(values[out], values[root]);
    std::vector<std::pair<unsigned, unsigned>> &takeovers =
        result.problem.steps[s].takeovers;
    if (isFree && !llvm::is_contained(takeovers, takeover))
      takeovers.push_back(takeover);
  }
}

//===----------------------------------------------------------------------===//
// Application
//===----------------------------------------------------------------------===//

/// Writes runs into the program, one after another.
class Writer {
public:
  explicit Writer(const ExecProblem &read)
      : read(read), next(0), current(read.allocs),
        parts(read.problem.values.size()) {
    for (Operation *op : read.steps)
      operands.emplace_back(op->getOperands());
  }

  void add(const Run &run) {
    const Step &step = read.problem.steps[run.step];
    Operation *op = read.steps[run.step];
    bool isFirst = run.step == next;
    next += isFirst;
    OpBuilder b(read.steps[isFirst ? run.step : next]);
    if (!isFirst)
      op = b.clone(*op);
    b.setInsertionPoint(op);
    std::vector<Value> written = current;
    for (unsigned v : step.outputs) {
      bool isThere = !parts[v].empty();
      if (!isThere || llvm::is_contained(parts[v], run.step)) {
        // The first run uses the original buffer.
        if (isFirst)
          written[v] = read.allocs[v];
        else
          written[v] = b.clone(*read.allocs[v].getDefiningOp())->getResult(0);
        if (!isThere)
          current[v] = written[v];
      }
      parts[v].push_back(run.step);
    }
    auto launch = dyn_cast<exec::LaunchOp>(op);
    unsigned outputsFrom =
        launch ? launch.getOutputs().getBeginOperandIndex() : 0;
    for (auto [i, buffer] : llvm::enumerate(operands[run.step])) {
      bool isWritten = launch && i >= outputsFrom;
      op->setOperand(i, place(buffer, isWritten ? written : current, b));
    }
    for (unsigned v : run.frees)
      parts[v].clear();
  }

private:
  /// `buffer`, or its replacement in the copy of its memory.
  Value place(Value buffer, ArrayRef<Value> copies, OpBuilder &b) {
    if (auto it = read.valueOf.find(buffer); it != read.valueOf.end())
      return copies[it->second];
    auto alias = buffer.getDefiningOp<exec::AliasOp>();
    if (!alias)
      return buffer;
    Value source = place(alias.getSource(), copies, b);
    if (source == alias.getSource())
      return buffer;
    Value &known = aliases[{buffer, source}];
    if (!known) {
      auto copy = cast<exec::AliasOp>(b.clone(*alias));
      copy.getSourceMutable().set(source);
      known = copy;
    }
    return known;
  }

  const ExecProblem &read;
  unsigned next;
  /// The original operands of each step.
  std::vector<SmallVector<Value>> operands;
  std::vector<Value> current;
  /// The steps that have written each value since it was freed.
  std::vector<std::vector<unsigned>> parts;
  DenseMap<std::pair<Value, Value>, Value> aliases;
};

} // namespace

FailureOr<ExecProblem> readExecProblem(exec::ProgramOp program,
                                       const StepFacts &facts) {
  return Reader(program, facts).run();
}

uint64_t ExecProblem::arenaBytes() const {
  rt::ArenaOptions options;
  options.select = [&](rt::BufferId b) { return isPlaced[b]; };
  rt::ArenaPlan plan;
  rt::Status status = rt::planArena(skeleton, rt::liveRanges(skeleton),
                                    /*symbols=*/nullptr, options, plan);
  return status.ok() ? plan.memory.peak : UINT64_MAX;
}

void applySchedule(const ExecProblem &read, const Schedule &schedule) {
  Writer writer(read);
  for (const Run &run : schedule.runs)
    writer.add(run);
}

} // namespace mlc::remat
