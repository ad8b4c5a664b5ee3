//===- EvaluatorRun.cpp - Runs compiled bodies over chunks of lanes -------===//

#include "dialects/Evaluator/EvaluatorMachine.h"
#include "dialects/Evaluator/Guided.h"
#include "llvm/ADT/STLExtras.h"

using llvm::ArrayRef;
using llvm::SmallVector;

namespace mlc::evaluator {

//===----------------------------------------------------------------------===//
// Forms
//===----------------------------------------------------------------------===//

LaneValues &Machine::lanesOf(unsigned number) {
  LaneValues &v = values[number];
  if (v.ready)
    return v;
  v.ready = true;
  const LaneForm &form = program->forms[number];
  int64_t row = program->lanes.empty() ? 1 : program->lanes.back().extent;
  bool isConstant =
      llvm::all_of(form.laneStrides, [](int64_t s) { return s == 0; });
  if (!isConstant && lanes > row - first % row) {
    computeRows(form, v);
    return v;
  }
  v.strided = true;
  v.base = 0;
  v.stride = form.laneStrides.empty() ? 0 : form.laneStrides.back();
  int64_t rest = first;
  for (size_t k = program->lanes.size(); k-- > 0;) {
    v.base += rest % program->lanes[k].extent * form.laneStrides[k];
    rest /= program->lanes[k].extent;
  }
  int64_t last = v.base + (lanes - 1) * v.stride;
  v.low = std::min(v.base, last);
  v.high = std::max(v.base, last);
  return v;
}

/// Offsets over several rows of the lane loops.
void Machine::computeRows(const LaneForm &form, LaneValues &v) {
  v.strided = false;
  v.offsets.resize(chunkLanes);
  size_t count = program->lanes.size();
  SmallVector<int64_t, 6> at(count);
  int64_t rest = first, base = 0;
  for (size_t k = count; k-- > 0;) {
    at[k] = rest % program->lanes[k].extent;
    rest /= program->lanes[k].extent;
    if (k + 1 < count)
      base += at[k] * form.laneStrides[k];
  }
  int64_t row = program->lanes.back().extent, stride = form.laneStrides.back();
  v.low = std::numeric_limits<int64_t>::max();
  v.high = std::numeric_limits<int64_t>::min();
  int64_t *out = v.offsets.data(), *end = out + lanes;
  int64_t column = at.back();
  while (out < end) {
    int64_t run = std::min<int64_t>(row - column, end - out);
    int64_t start = base + column * stride;
    for (int64_t j = 0; j < run; ++j)
      out[j] = start + j * stride;
    int64_t last = start + (run - 1) * stride;
    v.low = std::min({v.low, start, last});
    v.high = std::max({v.high, start, last});
    out += run;
    column = 0;
    for (size_t k = count - 1; k-- > 0;) {
      base += form.laneStrides[k];
      if (++at[k] < program->lanes[k].extent)
        break;
      base -= at[k] * form.laneStrides[k];
      at[k] = 0;
    }
  }
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

void Machine::runChunk(int64_t firstPoint, int64_t n) {
  first = firstPoint;
  lanes = n;
  for (size_t form = 0; form < program->forms.size(); ++form)
    values[form].ready = false;
  runBlock(program->main);
}

void Machine::runBlock(const Block &block) {
  for (const Instruction &i : block.code)
    runInstruction(i);
}

void Machine::runInstruction(const Instruction &i) {
  unsigned d = i.destination;
  void *out = own[d];
  auto in = [&](unsigned reg) { return current[reg]; };
  Poison p = poisonOf(d);
  switch (i.code) {
  case Code::Constant:
    fillConstant(i, out, lanes, p);
    break;
  case Code::FormValue: {
    LaneValues &v = lanesOf(i.extra);
    int64_t uniform = uniformOf(i.extra);
    int64_t *to = static_cast<int64_t *>(out);
    for (int64_t j = 0; j < lanes; ++j)
      to[j] = uniform + (v.strided ? v.base + j * v.stride : v.offsets[j]);
    break;
  }
  case Code::Load:
    return runLoad(i);
  case Code::Reduce:
    return runReduce(i);
  case Code::Unary:
    applyUnary(i, in(i.a), out, lanes, p);
    inherit(p, i.a);
    break;
  case Code::Binary:
    applyBinary(i, in(i.a), in(i.b), out, lanes, p);
    if (std::optional<int64_t> decider = decidingTruth(i)) {
      inheritUndecided(i, *decider, p);
      break;
    }
    inherit(p, i.a);
    inherit(p, i.b);
    break;
  case Code::Compare:
    applyCompare(i, in(i.a), in(i.b), static_cast<int64_t *>(out), lanes, p);
    inherit(p, i.a);
    inherit(p, i.b);
    break;
  case Code::Cast:
    applyCast(i, in(i.a), out, lanes, p);
    inherit(p, i.a);
    break;
  case Code::Select: {
    auto *condition = static_cast<const int64_t *>(in(i.a));
    applySelect(i.rep, condition, in(i.b), in(i.c), out, lanes);
    inherit(p, i.a);
    // Only the taken branch counts.
    if (poisons[i.b] || poisons[i.c])
      for (int64_t j = 0; j < lanes; ++j)
        if (const uint8_t *from = poisons[condition[j] ? i.b : i.c])
          if (from[j])
            p.mark(j, static_cast<Undefined>(from[j]));
    break;
  }
  }
  setPoison(d, p);
}

void Machine::runLoad(const Instruction &i) {
  const Load &load = program->loads[i.extra];
  unsigned d = i.destination;
  const void *tensor = memory[load.place];
  int64_t uniform = uniformOf(load.offset);
  // Finds the lanes in range, as cheaply as bounds allow.
  bool all = true;
  inRange.resize(chunkLanes);
  auto restrict = [&](auto at, int64_t size) {
    if (all)
      std::fill_n(inRange.begin(), lanes, uint8_t(1));
    all = false;
    for (int64_t j = 0; j < lanes; ++j)
      inRange[j] &= uint64_t(at(j)) < uint64_t(size);
  };
  for (const Load::Check &check : load.checks) {
    LaneValues &v = lanesOf(check.form);
    int64_t u = uniformOf(check.form);
    if (u + v.low >= 0 && u + v.high < check.size)
      continue;
    if (v.strided)
      restrict([&](int64_t j) { return u + v.base + j * v.stride; },
               check.size);
    else
      restrict([&](int64_t j) { return u + v.offsets[j]; }, check.size);
  }
  Poison p = poisonOf(d);
  for (const Load::Indirect &indirect : load.indirect) {
    auto *index = static_cast<const int64_t *>(current[indirect.reg]);
    bool inside = true;
    for (int64_t j = 0; j < lanes; ++j)
      inside &= uint64_t(index[j]) < uint64_t(indirect.size);
    if (!inside)
      restrict([&](int64_t j) { return index[j]; }, indirect.size);
    inherit(p, indirect.reg);
  }
  Addressing at = addressOf(load.offset, uniform);
  if (all && load.indirect.empty()) {
    bool aliases = !at.offsets && at.stride == 1 &&
                   bytesOf(load.storage) == bytesOf(i.rep);
    if (aliases) {
      current[d] =
          static_cast<const char *>(tensor) + at.base * int64_t(bytesOf(i.rep));
    } else {
      loadLanes(load.storage, tensor, at, own[d], lanes);
      current[d] = own[d];
    }
    inheritLoaded(p, load, at, all);
    return setPoison(d, p);
  }
  runGather(i, load, at, all, p);
}

/// One offset per lane; lanes out of range read element 0 and are overwritten.
void Machine::runGather(const Instruction &i, const Load &load, Addressing at,
                        bool all, Poison p) {
  unsigned d = i.destination;
  gatherOffsets.resize(chunkLanes);
  for (int64_t j = 0; j < lanes; ++j)
    gatherOffsets[j] =
        at.offsets ? at.base + at.offsets[j] : at.base + j * at.stride;
  for (const Load::Indirect &indirect : load.indirect) {
    auto *index = static_cast<const int64_t *>(current[indirect.reg]);
    for (int64_t j = 0; j < lanes; ++j)
      gatherOffsets[j] += (all || inRange[j]) ? index[j] * indirect.stride : 0;
  }
  current[d] = own[d];
  if (!all)
    for (int64_t j = 0; j < lanes; ++j)
      gatherOffsets[j] = inRange[j] ? gatherOffsets[j] : 0;
  if (!load.isEmpty) {
    Addressing gathered{0, 0, gatherOffsets.data()};
    loadLanes(load.storage, memory[load.place], gathered, own[d], lanes);
    inheritLoaded(p, load, gathered, all);
  }
  if (!all && load.otherwise >= 0) {
    blendLanes(i.rep, inRange.data(), current[load.otherwise], own[d], lanes);
    if (const uint8_t *otherPoison = poisons[load.otherwise])
      for (int64_t j = 0; j < lanes; ++j)
        if (!inRange[j] && otherPoison[j])
          p.mark(j, static_cast<Undefined>(otherPoison[j]));
  } else if (!all) {
    for (int64_t j = 0; j < lanes; ++j)
      if (!inRange[j])
        p.mark(j, Undefined::OutOfRange);
  }
  setPoison(d, p);
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

void Machine::runReduce(const Instruction &i) {
  const Reduction &r = program->reductions[i.extra];
  current[i.destination] = own[i.destination];
  fillIdentity(r, own[i.destination], lanes);
  if (r.points == 0) {
    poisons[i.destination] = nullptr;
    return;
  }
  if (r.own)
    reduceOnOwn(i, r);
  else
    reduceOnLanes(i, r);
}

/// The next point in row-major order; false after the last.
bool Machine::step(ArrayRef<RealLoop> over) {
  for (const RealLoop &loop : llvm::reverse(over)) {
    if (++(*loops)[loop.id] < loop.extent)
      return true;
    (*loops)[loop.id] = 0;
  }
  return false;
}

void Machine::reduceOnLanes(const Instruction &i, const Reduction &r) {
  for (const RealLoop &loop : r.loops)
    (*loops)[loop.id] = 0;
  Poison p = poisonOf(i.destination);
  std::optional<int64_t> decider = decidingTruth(r);
  do {
    runBlock(r.body);
    unsigned value = r.body.result;
    if (decider && poisons[value])
      withoutUndefined(*decider, value, lanes);
    accumulateLanes(r, own[i.destination], current[value], lanes, p);
    inherit(p, value);
  } while (step(r.loops));
  if (decider)
    p.forget([&](int64_t j) {
      return reinterpret_cast<int64_t *>(own[i.destination])[j] == *decider;
    });
  setPoison(i.destination, p);
}

/// Replaces undefined truth values by ones that do not decide.
void Machine::withoutUndefined(int64_t decider, unsigned reg, int64_t n) {
  auto *from = static_cast<const int64_t *>(current[reg]);
  auto *to = reinterpret_cast<int64_t *>(own[reg]);
  for (int64_t j = 0; j < n; ++j)
    to[j] = poisons[reg][j] ? 1 - decider : from[j];
  current[reg] = to;
}

void Machine::setLaneLoops(int64_t point) {
  for (size_t k = program->lanes.size(); k-- > 0;) {
    (*loops)[program->lanes[k].id] = point % program->lanes[k].extent;
    point /= program->lanes[k].extent;
  }
}

void Machine::reduceOnOwn(const Instruction &i, const Reduction &r) {
  Machine *machine = inner[i.extra].get();
  unsigned size = bytesOf(r.rep);
  Poison p = poisonOf(i.destination);
  std::optional<int64_t> decider = decidingTruth(r);
  for (int64_t j = 0; j < lanes; ++j) {
    setLaneLoops(first + j);
    char *accumulator = own[i.destination] + j * size;
    for (int64_t at = 0; at < r.points;) {
      int64_t n = machine->chunkSize(at, r.points);
      machine->runChunk(at, n);
      if (decider && machine->poison())
        machine->withoutUndefined(*decider, machine->program->main.result, n);
      uint8_t byte;
      Poison one{&byte, 1};
      accumulateAll(r, accumulator, machine->result(), n, one);
      if (one.any)
        p.mark(j, static_cast<Undefined>(byte));
      if (const uint8_t *undefined = machine->poison())
        for (int64_t k = 0; k < n; ++k)
          if (undefined[k])
            p.mark(j, static_cast<Undefined>(undefined[k]));
      at += n;
    }
  }
  if (decider)
    p.forget([&](int64_t j) {
      return reinterpret_cast<int64_t *>(own[i.destination])[j] == *decider;
    });
  setPoison(i.destination, p);
}

struct Runner::State {
  Machine machine;
  std::vector<int64_t> loops;
};

Runner::Runner() : state(std::make_unique<State>()) {}
Runner::~Runner() = default;

void Runner::run(const Program &program, ArrayRef<const void *> memory,
                 ArrayRef<Marks> marks, int64_t points, ElementStorage storage,
                 int64_t size, void *out, Marks &outMarks) {
  Machine &machine = state->machine;
  state->loops.assign(program.numLoops, 0);
  machine.load(program, memory, marks, state->loops);
  bool isGuided = storage == ElementStorage::Guided;
  for (int64_t first = 0; first < points;) {
    int64_t n = std::min(machine.chunkSize(first, points), points - first);
    machine.runChunk(first, n);
    const uint8_t *poison = machine.poison();
    Addressing at =
        machine.addressOf(program.store, machine.uniformOf(program.store));
    storeLanes(storage, machine.result(), at, out, n);
    for (int64_t j = 0; poison && j < n; ++j) {
      if (!poison[j])
        continue;
      int64_t place = at.base + (at.offsets ? at.offsets[j] : j * at.stride);
      if (isGuided)
        static_cast<Guided *>(out)[place] = undefined();
      if (isGuided && poison[j] == uint8_t(Undefined::Ambiguous))
        continue;
      outMarks.resize(size);
      outMarks[place] = poison[j];
    }
    first += n;
  }
}

} // namespace mlc::evaluator
