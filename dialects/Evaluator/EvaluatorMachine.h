//===- EvaluatorMachine.h - Runs compiled bodies ----------------*- C++ -*-===//
//
// Private to the evaluator (EvaluatorRun.cpp).
//
//===----------------------------------------------------------------------===//

#ifndef MLC_DIALECTS_EVALUATOR_EVALUATORMACHINE_H
#define MLC_DIALECTS_EVALUATOR_EVALUATORMACHINE_H

#include "dialects/Evaluator/EvaluatorKernels.h"
#include "llvm/ADT/STLExtras.h"

namespace mlc::evaluator {

/// A form's values on the lanes of a chunk, without its uniform part.
struct LaneValues {
  bool ready = false;
  bool strided = false;
  int64_t base = 0, stride = 0; // if strided
  int64_t low = 0, high = 0;    // bounds over the lanes
  std::vector<int64_t> offsets; // if not strided
};

/// Runs one program at a time, and reuses its memory for the next.
class Machine {
public:
  /// Prepares to run `newProgram`. All arguments must outlive the run.
  void load(const Program &newProgram, llvm::ArrayRef<const void *> newMemory,
            llvm::ArrayRef<Marks> newMarks, std::vector<int64_t> &newLoops) {
    program = &newProgram;
    memory = newMemory;
    marks = newMarks;
    loops = &newLoops;
    size_t count = program->registers.size();
    if (values.size() < program->forms.size())
      values.resize(program->forms.size());
    if (poisonMemory.size() < count)
      poisonMemory.resize(count);
    current.resize(count);
    own.resize(count);
    poisons.assign(count, nullptr);
    placeRegisters();
    if (inner.size() < program->reductions.size())
      inner.resize(program->reductions.size());
    for (auto [i, reduction] : llvm::enumerate(program->reductions)) {
      if (!reduction.own)
        continue;
      if (!inner[i])
        inner[i] = std::make_unique<Machine>();
      inner[i]->load(*reduction.own, memory, marks, *loops);
    }
  }

  /// Runs the main block for points [first, first + n).
  void runChunk(int64_t first, int64_t n);
  const void *result() const { return current[program->main.result]; }
  const uint8_t *poison() const { return poisons[program->main.result]; }

  /// A good chunk size from `first` on.
  int64_t chunkSize(int64_t first, int64_t points) const {
    int64_t row = program->lanes.empty() ? 1 : program->lanes.back().extent;
    int64_t left = points - first;
    // Chunks do not cross long rows, so that forms stay strided.
    if (row >= chunkLanes / 4)
      left = std::min(left, row - first % row);
    return std::min(left, chunkLanes);
  }

  Addressing addressOf(unsigned form, int64_t uniform) {
    LaneValues &v = lanesOf(form);
    return v.strided ? Addressing{uniform + v.base, v.stride, nullptr}
                     : Addressing{uniform, 0, v.offsets.data()};
  }
  int64_t uniformOf(unsigned form) const {
    const Form &part = program->forms[form].uniform;
    int64_t sum = part.constant;
    for (auto [loop, coefficient] : part.terms)
      sum += (*loops)[loop] * coefficient;
    return sum;
  }

private:
  LaneValues &lanesOf(unsigned form);
  void computeRows(const LaneForm &form, LaneValues &v);
  void runBlock(const Block &block);
  void runInstruction(const Instruction &i);
  void runLoad(const Instruction &i);
  void runGather(const Instruction &i, const Load &load, Addressing at,
                 bool all, Poison p);
  void runReduce(const Instruction &i);
  void reduceOnLanes(const Instruction &i, const Reduction &r);
  void withoutUndefined(int64_t decider, unsigned reg, int64_t n);
  void reduceOnOwn(const Instruction &i, const Reduction &r);
  void setLaneLoops(int64_t point);
  bool step(llvm::ArrayRef<RealLoop> over);

  uint8_t *poisonBytes(unsigned reg) {
    if (!poisonMemory[reg])
      poisonMemory[reg].reset(new uint8_t[chunkLanes]);
    return poisonMemory[reg].get();
  }
  Poison poisonOf(unsigned reg) { return {poisonBytes(reg), lanes}; }
  void setPoison(unsigned reg, const Poison &p) {
    poisons[reg] = p.any ? p.bytes : nullptr;
  }
  /// Adds the operand's marks.
  void inherit(Poison &p, unsigned operand) {
    if (const uint8_t *from = poisons[operand])
      for (int64_t j = 0; j < lanes; ++j)
        if (from[j])
          p.mark(j, static_cast<Undefined>(from[j]));
  }

  /// Adds the marks of the operands of a conjunction or disjunction, unless the
  /// other operand decides it.
  void inheritUndecided(const Instruction &i, int64_t decider, Poison &p) {
    auto valueOf = [&](unsigned reg, int64_t lane) {
      return static_cast<const int64_t *>(current[reg])[lane];
    };
    auto *out = reinterpret_cast<int64_t *>(own[i.destination]);
    auto inheritFrom = [&](unsigned operand, unsigned other) {
      const uint8_t *from = poisons[operand], *others = poisons[other];
      for (int64_t j = 0; from && j < lanes; ++j) {
        if (!from[j])
          continue;
        bool isDecided = !(others && others[j]) && valueOf(other, j) == decider;
        if (isDecided)
          out[j] = decider;
        else
          p.mark(j, static_cast<Undefined>(from[j]));
      }
    };
    inheritFrom(i.a, i.b);
    inheritFrom(i.b, i.a);
  }
  /// Adds the marks of loaded elements; those out of range have none.
  void inheritLoaded(Poison &p, const Load &load, Addressing at, bool all) {
    if (load.place >= marks.size() || marks[load.place].empty())
      return;
    const uint8_t *from = marks[load.place].data();
    for (int64_t j = 0; j < lanes; ++j) {
      if (!all && !inRange[j])
        continue;
      int64_t k = at.base + (at.offsets ? at.offsets[j] : j * at.stride);
      if (from[k])
        p.mark(j, static_cast<Undefined>(from[k]));
    }
  }

  /// Places registers one after another; rationals need 16-byte alignment.
  void placeRegisters() {
    int64_t most = std::min(program->points, chunkLanes);
    auto sizeOf = [&](Rep rep) {
      return llvm::alignTo(bytesOf(rep) * most, 16);
    };
    size_t bytes = 64;
    for (Rep rep : program->registers)
      bytes += sizeOf(rep);
    if (registerBytes < bytes) {
      registerBytes = bytes;
      registerMemory.reset(new char[bytes]);
    }
    char *next = reinterpret_cast<char *>(llvm::alignTo(
        reinterpret_cast<uintptr_t>(registerMemory.get()), uintptr_t(64)));
    for (auto [i, rep] : llvm::enumerate(program->registers)) {
      current[i] = own[i] = next;
      next += sizeOf(rep);
    }
  }

  const Program *program = nullptr;
  llvm::ArrayRef<const void *> memory;   // by place
  llvm::ArrayRef<Marks> marks;           // by place
  std::vector<int64_t> *loops = nullptr; // values of uniform loops, by id
  std::vector<LaneValues> values;
  std::vector<std::unique_ptr<Machine>> inner; // by reduction
  std::unique_ptr<char[]> registerMemory;
  size_t registerBytes = 0;
  std::vector<char *> own;
  std::vector<const void *> current; // own memory or a tensor's
  std::vector<const uint8_t *> poisons;
  std::vector<std::unique_ptr<uint8_t[]>> poisonMemory;
  int64_t first = 0, lanes = 0;
  std::vector<uint8_t> inRange;
  std::vector<int64_t> gatherOffsets;
};

} // namespace mlc::evaluator

#endif // MLC_DIALECTS_EVALUATOR_EVALUATORMACHINE_H
