//===- Validate.cpp - What the runtime relies on --------------------------===//

#include "runtime/Program.h"
#include "runtime/ValidateCollectives.h"
#include "runtime/ValidateTraining.h"

#include <algorithm>
#include <set>

namespace mlc::runtime {

namespace {

/// Expressions deeper than evaluate()'s stack or absurdly long are refused.
constexpr size_t maxDepth = 64;
constexpr size_t maxExprLength = 1024;
/// Longest chain of aliases; bounds the time of rootOf().
constexpr unsigned maxAliasDepth = 32;
/// Bounds the size of an expression's text.
constexpr size_t maxSymbolName = 256;
/// For an algorithm's name.
constexpr size_t maxWord = 64;
/// States are named files in an archive.
constexpr size_t maxStateName = 32768;
/// Every entry keeps data for every state.
constexpr size_t maxStates = 1 << 16, maxEntries = 64;

bool isSplit(const State &state, size_t dim) {
  return std::any_of(state.splits.begin(), state.splits.end(),
                     [&](const Split &split) { return split.dim == dim; });
}

class Validator {
public:
  Validator(const Program &program, uint64_t weightsSize,
            const std::vector<State> &states, const std::vector<MeshAxis> &mesh)
      : p(program), weightsSize(weightsSize), states(states), mesh(mesh),
        collectives(program, mesh) {}

  Status run() {
    checkSymbols();
    checkExprs();
    for (const Check &c : p.checks)
      require(hasExpr(c.lhs) && hasExpr(c.rhs), "a check names no expression");
    checkBuffers();
    checkPorts();
    if (error.empty())
      checkSteps();
    if (error.empty())
      return Status::success();
    return isLimit ? Status::error(MLC_UNSUPPORTED, "more than an artifact "
                                                    "holds: " +
                                                        error)
                   : Status::badFile("the program is damaged: " + error);
  }

private:
  void require(bool holds, const char *what) {
    if (!holds && error.empty())
      error = what;
  }
  void ofStep(const Step &step, bool holds, const std::string &what) {
    if (!holds && error.empty())
      error = "a " + std::string(kindName(step)) + " step " + what;
  }
  /// A valid program may exceed a limit, but an artifact must not.
  void limit(bool holds, const std::string &what) {
    if (holds || !error.empty())
      return;
    error = what;
    isLimit = true;
  }
  bool hasExpr(ExprId id) const { return id < p.exprs.size(); }
  /// Checks each field of a step by its role.
  struct Fields {
    Validator &v;
    const Step &step;

    bool check(const char *name, bool holds, const char *what) {
      v.ofStep(step, holds, "names " + std::string(what) + " as its " + name);
      return v.error.empty();
    }
    void kernel(const char *name, KernelId id) {
      check(name, id < v.p.kernels.size(), "no kernel");
    }
    void size(const char *name, std::optional<ExprId> id) {
      if (id && check(name, v.hasExpr(*id), "no expression"))
        v.needBound(*id);
    }
    void binds(const char *name, SymbolId id) {
      if (!check(name,
                 id < v.p.symbols.size() &&
                     v.p.symbols[id].kind == Symbol::FromTensor,
                 "no symbol of a tensor") ||
          !check(name, !v.bound[id], "a symbol that is bound already"))
        return;
      v.ofStep(step,
               !step.inputs.empty() &&
                   v.p.buffers[step.inputs[0]].type >= DType::I8,
               "reads no integers");
      v.bound[id] = 1;
    }
    void number(const char *, uint64_t) {}
    void word(const char *name, uint8_t index, Words words) {
      check(name, index < words.count, "no word");
    }
    void text(const char *name, const std::string &value) {
      check(name, value.size() <= maxWord, "a word that is too long");
    }
    void axis(const char *name, uint32_t index) {
      check(name, index < v.mesh.size(), "no axis");
    }
    void maps(const char *name, const std::vector<TensorMap> &all) {
      check(name, all.size() <= GridLaunchStep::maxMaps, "too many maps");
      for (const TensorMap &map : all) {
        check(name, map.operand < step.inputs.size() + step.outputs.size(),
              "a map of no operand");
        std::string why =
            whyNotMappable(map, map.dims.size(), map.strides.size());
        v.ofStep(step, why.empty(),
                 "has one of its " + std::string(name) +
                     " that no driver makes: " + why);
        for (ExprId id : sizesOf(map))
          size(name, id);
      }
    }
    // CollectiveChecks checks tickets.
    void starts(const char *, uint32_t) {}
    void waits(const char *, uint32_t) {}
  };
  bool hasExprs(const std::vector<ExprId> &ids) const {
    return std::all_of(ids.begin(), ids.end(),
                       [&](ExprId id) { return hasExpr(id); });
  }

  void checkSymbols();
  void checkExprs();
  void checkExpr(const Expr &expr);
  void checkBuffers();
  void checkParameter(const Buffer &buffer);
  void checkState(const Buffer &buffer);
  void checkPorts();
  void checkSteps();
  void checkStep(const Step &step);
  void needBound(ExprId expr);
  void needSizeBound(BufferId buffer);
  void markWritten(BufferId buffer);

  const Program &p;
  uint64_t weightsSize;
  const std::vector<State> &states;
  const std::vector<MeshAxis> &mesh;
  CollectiveChecks collectives;
  std::string error;
  bool isLimit = false;
  // During checkSteps: what is known at the current step.
  std::vector<uint8_t> bound, exprBound, written;
};

void Validator::checkSymbols() {
  for (const Symbol &s : p.symbols) {
    require(s.min <= s.max, "a symbol has no value");
    limit(s.name.size() <= maxSymbolName,
          "the dim '" + s.name.substr(0, 40) + "...' has a name of " +
              std::to_string(s.name.size()) + " bytes, at most " +
              std::to_string(maxSymbolName) + " are possible");
    if (s.kind == Symbol::FromRank)
      require(s.source < mesh.size(), "a symbol is a coordinate on no axis");
    if (s.kind != Symbol::FromInput)
      continue;
    bool inRange = s.source < p.inputs.size() &&
                   p.inputs[s.source].buffer < p.buffers.size() &&
                   s.index < p.buffers[p.inputs[s.source].buffer].dims.size();
    require(inRange, "a symbol is bound to no dim");
    if (!inRange)
      return;
    ExprId dim = p.buffers[p.inputs[s.source].buffer].dims[s.index];
    require(hasExpr(dim) && p.exprs[dim] == Expr::symbol(&s - &p.symbols[0]),
            "a symbol is bound to a dim that is not the symbol itself");
  }
}

void Validator::checkExprs() {
  for (const Expr &e : p.exprs)
    checkExpr(e);
}

void Validator::checkExpr(const Expr &expr) {
  limit(expr.code.size() <= maxExprLength,
        "a size is an expression of " + std::to_string(expr.code.size()) +
            " parts, at most " + std::to_string(maxExprLength) +
            " are possible");
  size_t depth = 0;
  for (const Expr::Inst &inst : expr.code) {
    if (inst.op == Expr::Const || inst.op == Expr::Symbol) {
      ++depth;
      limit(depth <= maxDepth, "a size is an expression nested more than " +
                                   std::to_string(maxDepth) + " deep");
      if (inst.op == Expr::Symbol)
        require(inst.operand >= 0 && uint64_t(inst.operand) < p.symbols.size(),
                "an expression names no symbol");
    } else if (depth < 2) {
      require(false, "an expression lacks operands");
      return;
    } else {
      --depth;
    }
  }
  require(depth == 1, "an expression has no single value");
}

void Validator::checkBuffers() {
  std::vector<unsigned> depth(p.buffers.size(), 0);
  for (size_t i = 0; i < p.buffers.size(); ++i) {
    const Buffer &b = p.buffers[i];
    limit(b.dims.size() <= MLC_MAX_RANK,
          "the tensor '" + b.name.substr(0, 40) + "' has " +
              std::to_string(b.dims.size()) + " dims, at most " +
              std::to_string(MLC_MAX_RANK) + " are possible");
    require(hasExprs(b.dims), "a dim names no expression");
    switch (b.kind) {
    case Buffer::Input:
      require(b.source < p.inputs.size() && p.inputs[b.source].buffer == i,
              "an input buffer belongs to no input");
      break;
    case Buffer::State:
      checkState(b);
      break;
    case Buffer::Parameter:
      checkParameter(b);
      [[fallthrough]];
    case Buffer::Constant:
      require(b.offset % 64 == 0 && b.offset <= weightsSize &&
                  b.size <= weightsSize - b.offset,
              "a weight lies outside the weights");
      break;
    case Buffer::Alias:
      require(b.source < i, "an alias comes before its buffer");
      if (b.source < i)
        depth[i] = depth[b.source] + 1;
      limit(depth[i] <= maxAliasDepth,
            "a view of more than " + std::to_string(maxAliasDepth) + " views");
      require(hasExpr(b.offsetExpr), "an alias has no offset");
      [[fallthrough]];
    case Buffer::Arena:
      require(hasExpr(b.sizeExpr), "a buffer has no size");
      break;
    }
  }
}

/// The dims must be constants whose product is the size.
void Validator::checkParameter(const Buffer &b) {
  uint64_t bytes = byteSize(b.type);
  for (ExprId dim : b.dims) {
    bool isFixed = hasExpr(dim) && p.exprs[dim].code.size() == 1 &&
                   p.exprs[dim].code[0].op == Expr::Const &&
                   p.exprs[dim].code[0].operand >= 0;
    require(isFixed, "a parameter's dims are not fixed");
    if (!isFixed)
      return;
    require(!__builtin_mul_overflow(
                bytes, uint64_t(p.exprs[dim].code[0].operand), &bytes),
            "a parameter's size overflows 64 bits");
  }
  require(bytes == b.size, "a parameter's size is not that of its dims");
}

/// The buffer must have its state's type and dims. A session checks a shard's
/// dims, once it knows its coordinates.
void Validator::checkState(const Buffer &b) {
  require(b.source < states.size(), "a buffer belongs to no state");
  if (!error.empty())
    return;
  const State &state = states[b.source];
  bool fits = b.type == state.type && b.dims.size() == state.dims.size();
  for (size_t d = 0; fits && d < b.dims.size(); ++d)
    fits = hasExpr(b.dims[d]) &&
           (isSplit(state, d) ||
            p.exprs[b.dims[d]] == Expr::constant(state.dims[d]));
  require(fits, "a buffer is not as its state");
}

void Validator::checkPorts() {
  for (const std::vector<Port> *ports : {&p.inputs, &p.outputs, &p.parameters})
    for (const Port &port : *ports)
      if (port.buffer < p.buffers.size()) {
        std::string problem =
            problemOf(port.splits, p.buffers[port.buffer].dims.size(), mesh);
        require(problem.empty(), problem.c_str());
      }
  for (size_t i = 0; i < p.inputs.size(); ++i) {
    BufferId b = p.inputs[i].buffer;
    require(b < p.buffers.size() && p.buffers[b].kind == Buffer::Input &&
                p.buffers[b].source == i,
            "an input has no buffer");
  }
  for (const Port &port : p.outputs)
    require(port.buffer < p.buffers.size(), "an output has no buffer");
  for (const Port &port : p.parameters)
    require(port.buffer < p.buffers.size() &&
                p.buffers[port.buffer].kind == Buffer::Parameter,
            "a parameter has no buffer");
}

void Validator::needBound(ExprId expr) {
  if (exprBound[expr])
    return;
  for (const Expr::Inst &inst : p.exprs[expr].code)
    if (inst.op == Expr::Symbol)
      require(bound[inst.operand], "a symbol is used before it is bound");
  exprBound[expr] = 1;
}

static bool isWritable(const Buffer &b) {
  return b.kind == Buffer::Arena || b.kind == Buffer::State;
}

/// Whether a buffer may be undefined when the first step begins.
static bool canBeUnwritten(const Buffer &b) {
  return b.kind == Buffer::Arena || b.kind == Buffer::Alias;
}

void Validator::needSizeBound(BufferId id) {
  // The owner of the memory must be placed before its first use.
  for (;;) {
    const Buffer &b = p.buffers[id];
    for (ExprId dim : b.dims)
      needBound(dim);
    if (b.kind == Buffer::Arena || b.kind == Buffer::Alias)
      needBound(b.sizeExpr);
    if (b.kind != Buffer::Alias)
      return;
    needBound(b.offsetExpr);
    id = b.source;
  }
}

void Validator::markWritten(BufferId id) { written[rootOf(p, id)] = 1; }

void Validator::checkStep(const Step &step) {
  for (BufferId b : step.inputs) {
    require(b < p.buffers.size(), "a step reads no buffer");
    if (!error.empty())
      return;
    needSizeBound(b);
    // The wait may name inputs that its collective has consumed.
    require(written[rootOf(p, b)] || ticketsOf(step).awaited,
            "a step reads what nothing has written");
  }
  for (BufferId b : step.outputs) {
    require(b < p.buffers.size() && isWritable(p.buffers[rootOf(p, b)]),
            "a step writes no buffer of the arena or of a state");
    if (!error.empty())
      return;
    needSizeBound(b);
    // A collective's outputs are written only after its wait.
    if (!ticketsOf(step).started)
      markWritten(b);
  }
  Arity arity = arityOf(step);
  auto fits = [](size_t wanted, size_t count) {
    return wanted == anyNumber || wanted == count;
  };
  ofStep(step, fits(arity.inputs, step.inputs.size()),
         "has a wrong number of inputs");
  ofStep(step, fits(arity.outputs, step.outputs.size()),
         "has a wrong number of outputs");
  require(hasExprs(step.args), "an argument names no expression");
  if (error.empty() && std::holds_alternative<AssignStep>(step.detail))
    ofStep(step, rootOf(p, step.inputs[0]) != rootOf(p, step.outputs[0]),
           "reads what it writes");
  for (const InPlace &pair : step.inPlace)
    ofStep(step,
           pair.output < step.outputs.size() && pair.input < step.inputs.size(),
           "works in place of no operand");
  if (!error.empty())
    return;
  for (ExprId e : step.args)
    needBound(e);
  Fields fields{*this, step};
  visitFields(step, fields);
  if (error.empty())
    if (std::string problem = collectives.step(step); !problem.empty())
      ofStep(step, false, problem);
  const auto *start = std::get_if<StartStep>(&step.detail);
  if (error.empty() && start && CollectiveChecks::consumes(*start))
    for (BufferId b : step.inputs)
      written[rootOf(p, b)] = 0;
}

void Validator::checkSteps() {
  bound.assign(p.symbols.size(), 0);
  for (size_t s = 0; s < p.symbols.size(); ++s)
    bound[s] = p.symbols[s].kind != Symbol::FromTensor;
  exprBound.assign(p.exprs.size(), 0);
  written.assign(p.buffers.size(), 0);
  for (size_t b = 0; b < p.buffers.size(); ++b)
    written[b] = !canBeUnwritten(p.buffers[b]);
  // Inputs and weights have their dims from the start.
  for (const Buffer &b : p.buffers)
    if (!canBeUnwritten(b))
      for (ExprId dim : b.dims)
        needBound(dim);
  for (const Step &step : p.steps) {
    if (!error.empty())
      return;
    checkStep(step);
  }
  std::string problem = collectives.end();
  require(problem.empty(), problem.c_str());
  // Dims of outputs, and checks, must be known in the end.
  for (const Port &port : p.outputs) {
    needSizeBound(port.buffer);
    require(written[rootOf(p, port.buffer)], "an output is never written");
  }
  for (const Check &c : p.checks) {
    needBound(c.lhs);
    needBound(c.rhs);
  }
}

/// What is wrong with a single state; empty if nothing is.
std::string problemOf(const State &state, uint64_t weightsSize,
                      const std::vector<MeshAxis> &mesh) {
  if (state.name.empty() || state.name.size() > maxStateName)
    return "a state has no name, or one that is too long";
  if (state.dims.size() > MLC_MAX_RANK)
    return "a state has too many dims";
  uint64_t bytes = byteSize(state.type);
  for (int64_t dim : state.dims)
    if (dim < 0 || __builtin_mul_overflow(bytes, uint64_t(dim), &bytes))
      return "a state's size overflows 64 bits";
  if (bytes != state.size)
    return "a state's size is not that of its dims";
  if (state.initial == State::Stored &&
      (state.offset % 64 != 0 || state.offset > weightsSize ||
       state.size > weightsSize - state.offset))
    return "a state's value lies outside the weights";
  for (const Split &split : state.splits)
    if (split.dim < state.dims.size() && split.unit &&
        uint64_t(state.dims[split.dim]) % split.unit)
      return "a state is split between units that it has not";
  return problemOf(state.splits, state.dims.size(), mesh);
}

/// Whether names are unique, since lookups go by name.
template <typename T> bool hasOneOfEach(const std::vector<T> &all) {
  std::set<std::string> names;
  return std::all_of(all.begin(), all.end(), [&](const T &each) {
    return names.insert(each.name).second;
  });
}

} // namespace

Status validate(const Program &program, uint64_t weightsSize,
                const std::vector<State> &states,
                const std::vector<MeshAxis> &mesh) {
  return Validator(program, weightsSize, states, mesh).run();
}

Status validate(const Programs &programs, uint64_t weightsSize) {
  std::string problem = problemOf(programs.mesh);
  for (const State &state : programs.states)
    if (problem.empty())
      problem = problemOf(state, weightsSize, programs.mesh);
  if (programs.states.size() > maxStates ||
      programs.entries.size() > maxEntries)
    return Status::error(
        MLC_UNSUPPORTED,
        "more than an artifact holds: " +
            std::to_string(programs.states.size()) + " states and " +
            std::to_string(programs.entries.size()) + " entries, at most " +
            std::to_string(maxStates) + " and " + std::to_string(maxEntries) +
            " are possible");
  if (problem.empty() && programs.entries.empty())
    problem = "it has no entry";
  if (problem.empty() && !hasOneOfEach(programs.states))
    problem = "two states have one name";
  if (problem.empty() && !hasOneOfEach(programs.entries))
    problem = "two entries have one name";
  for (const Program &entry : programs.entries)
    if (problem.empty() && programs.entries.size() > 1 &&
        !entry.parameters.empty())
      problem = "a parameter beside several entries is none of all of them";
  if (!problem.empty())
    return Status::badFile("the program is damaged: " + problem);
  Status status;
  for (const Program &entry : programs.entries)
    if (status.ok())
      status = validate(entry, weightsSize, programs.states, programs.mesh);
  if (status.ok())
    problem = problemOfUse(programs);
  return problem.empty()
             ? status
             : Status::badFile("the program is damaged: " + problem);
}

} // namespace mlc::runtime
