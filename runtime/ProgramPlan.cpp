//===- ProgramPlan.cpp - The memory plan of a program ---------------------===//

#include "runtime/ProgramPlan.h"

#include <algorithm>

namespace mlc::runtime {

namespace {

constexpr uint32_t none = UINT32_MAX;

/// Tells the planner which outputs of `step` may take which input's memory.
void findTakeovers(const Program &program, const Step &step,
                   const std::vector<uint32_t> &itemOf,
                   std::vector<PlanItem> &items) {
  for (const InPlace &pair : step.inPlace) {
    BufferId out = step.outputs[pair.output];
    BufferId in = step.inputs[pair.input], root = in;
    // The input must begin at the start of its memory, ...
    bool atStart = true;
    for (; program.buffers[root].kind == Buffer::Alias;
         root = program.buffers[root].source)
      atStart &=
          program.exprs[program.buffers[root].offsetExpr] == Expr::constant(0);
    if (!atStart || itemOf[out] == none || itemOf[root] == none)
      continue;
    // ... and no other operand of this step may use that memory, except an
    // input with the same permission.
    bool shared = false;
    for (uint32_t i = 0; i < step.inputs.size(); ++i) {
      bool permitted = std::any_of(
          step.inPlace.begin(), step.inPlace.end(), [&](const InPlace &p) {
            return p.input == i && p.output == pair.output;
          });
      shared |= rootOf(program, step.inputs[i]) == root &&
                !(permitted && step.inputs[i] == in);
    }
    for (uint32_t o = 0; o < step.outputs.size(); ++o) {
      shared |= rootOf(program, step.outputs[o]) == root;
      shared |= o != pair.output && rootOf(program, step.outputs[o]) == out;
    }
    if (!shared)
      items[itemOf[out]].inPlaceOf.push_back(itemOf[root]);
  }
}

} // namespace

Status planArena(const Program &program, const std::vector<LiveRange> &lives,
                 const int64_t *symbols, const ArenaOptions &options,
                 ArenaPlan &plan) {
  std::vector<PlanItem> items;
  std::vector<uint32_t> itemOf(program.buffers.size(), none);
  plan = ArenaPlan();
  for (BufferId b = 0; b < program.buffers.size(); ++b) {
    const Buffer &buffer = program.buffers[b];
    LiveRange live = lives[b];
    if (buffer.kind != Buffer::Arena || live.first > live.last ||
        (options.select && !options.select(b)))
      continue;
    int64_t size;
    const Expr &expr = program.exprs[buffer.sizeExpr];
    Status status = evaluate(expr, symbols, size);
    if (status.ok() && size < 0)
      status = Status::error(MLC_USAGE, "a size is negative");
    if (!status.ok()) {
      status.message +=
          ": the bytes of '" + buffer.name + "', " + toString(program, expr);
      return status;
    }
    if (options.keepAll)
      live = {0, uint32_t(program.steps.size())};
    itemOf[b] = items.size();
    plan.buffers.push_back(b);
    items.push_back({uint64_t(size), live.first, live.last, {}});
  }
  if (!options.keepAll)
    for (const Step &step : program.steps)
      findTakeovers(program, step, itemOf, items);
  plan.memory = planMemory(items, options.planner);
  if (!plan.memory.ok)
    return Status::error(MLC_RESOURCES,
                         "out of memory: the sizes of the intermediate "
                         "results add up to more than 2^62 bytes");
  return Status::success();
}

} // namespace mlc::runtime
