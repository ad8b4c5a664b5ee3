//===- Setup.cpp - What depends on parameters alone -----------------------===//

#include "runtime/Artifact.h"

#include <algorithm>

namespace mlc::runtime {

namespace {

bool isFixed(const Program &program, ExprId id) {
  const std::vector<Expr::Inst> &code = program.exprs[id].code;
  return std::none_of(code.begin(), code.end(), [](const Expr::Inst &inst) {
    return inst.op == Expr::Symbol;
  });
}

/// Collectives are never setup: all ranks take part in every run.
bool isOfCollective(const Step &step) {
  TicketUse tickets = ticketsOf(step);
  return tickets.started || tickets.awaited;
}

/// Whether neither the step nor its operands' sizes depend on a symbol.
bool isFixed(const Program &program, const Step &step) {
  auto fixed = [&](ExprId id) { return isFixed(program, id); };
  auto fixedBuffer = [&](BufferId id) {
    for (;; id = program.buffers[id].source) {
      const Buffer &b = program.buffers[id];
      if (!std::all_of(b.dims.begin(), b.dims.end(), fixed))
        return false;
      if (b.kind == Buffer::Arena)
        return fixed(b.sizeExpr);
      if (b.kind != Buffer::Alias)
        return true;
      if (!fixed(b.sizeExpr) || !fixed(b.offsetExpr))
        return false;
    }
  };
  std::vector<ExprId> sizes = sizesOf(step);
  return !boundSymbol(step) && !isOfCollective(step) &&
         std::all_of(sizes.begin(), sizes.end(), fixed) &&
         std::all_of(step.inputs.begin(), step.inputs.end(), fixedBuffer) &&
         std::all_of(step.outputs.begin(), step.outputs.end(), fixedBuffer);
}

} // namespace

StateUse findStateUse(const Program &program, size_t numStates) {
  StateUse use;
  use.reads.assign(numStates, 0);
  use.writes.assign(numStates, 0);
  auto read = [&](BufferId b) {
    const Buffer &root = program.buffers[rootOf(program, b)];
    if (root.kind == Buffer::State && !use.writes[root.source])
      use.reads[root.source] = 1;
  };
  for (const Step &step : program.steps) {
    for (BufferId b : step.inputs)
      read(b);
    for (BufferId b : step.outputs)
      if (const Buffer &root = program.buffers[rootOf(program, b)];
          root.kind == Buffer::State) {
        use.writes[root.source] = 1;
        use.hasWrites = true;
      }
  }
  for (const Port &port : program.outputs)
    read(port.buffer);
  return use;
}

Setup findSetup(const Program &program) {
  Setup setup;
  setup.isStep.assign(program.steps.size(), 0);
  setup.isBuffer.assign(program.buffers.size(), 0);
  if (program.parameters.empty())
    return setup;
  // How many steps write each buffer.
  std::vector<uint32_t> writers(program.buffers.size(), 0);
  for (const Step &step : program.steps)
    for (BufferId b : step.outputs)
      ++writers[rootOf(program, b)];
  for (size_t s = 0; s < program.steps.size(); ++s) {
    const Step &step = program.steps[s];
    bool readsParameter = false, readsOther = false;
    for (BufferId b : step.inputs) {
      BufferId root = rootOf(program, b);
      Buffer::Kind kind = program.buffers[root].kind;
      bool isSetup = setup.isBuffer[root];
      readsParameter |= kind == Buffer::Parameter || isSetup;
      readsOther |=
          kind != Buffer::Constant && kind != Buffer::Parameter && !isSetup;
    }
    // A buffer with several writers holds its value only within a run; states
    // are written in each run.
    bool isAlone =
        std::all_of(step.outputs.begin(), step.outputs.end(), [&](BufferId b) {
          BufferId root = rootOf(program, b);
          return writers[root] == 1 &&
                 program.buffers[root].kind == Buffer::Arena;
        });
    if (!readsParameter || readsOther || !isAlone || !isFixed(program, step))
      continue;
    setup.isStep[s] = 1;
    for (BufferId b : step.outputs)
      setup.isBuffer[rootOf(program, b)] = 1;
  }
  return setup;
}

} // namespace mlc::runtime
