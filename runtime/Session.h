//===- Session.h - Running a program ----------------------------*- C++ -*-===//
//
// Binds inputs, turns the program into a plan for their dims (sizes, offsets,
// launch arguments), and executes it. Plans are kept for a few sets of dims;
// with one at hand a run allocates nothing.
//
// A program whose sizes depend on computed values is planned in epochs
// (Artifact.h): when a BindSymbol step has read its value, the buffers whose
// sizes are now known are planned into an arena of their own.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_SESSION_H
#define MLC_RUNTIME_SESSION_H

#include "runtime/Artifact.h"
#include "runtime/Library.h"
#include "runtime/ThreadPool.h"

#include <list>
#include <memory>

namespace mlc::runtime {

/// An operand's place: `extra` bytes into buffer `root`.
struct Place {
  BufferId root;
  uint64_t extra;
};

/// A step, ready to run for one set of dims.
struct ReadyStep {
  uint32_t firstOperand = 0; ///< in EpochPlan::operands
  uint32_t firstArg = 0;     ///< in EpochPlan::args
  int64_t tasks = 0;
  unsigned threads = 1;
  // Library steps.
  const LibraryKernel *library = nullptr;
  uint32_t firstLibraryOperand = 0;
};

/// One epoch of the program for one set of symbol values.
struct EpochPlan {
  std::vector<int64_t> key;
  /// For each output of the program: whether it is computed in the caller's
  /// memory.
  std::vector<uint8_t> direct;
  std::vector<std::pair<BufferId, uint64_t>> offsets; ///< in this arena
  uint64_t peak = 0, lowerBound = 0;
  uint64_t scratch = 0; ///< bytes per thread, a multiple of 64
  std::vector<ReadyStep> steps;
  std::vector<Place> operands;
  std::vector<int64_t> args;
  std::vector<LibraryOperand> libraryOperands;
  std::vector<std::vector<int64_t>> libraryDims;
  // Addresses of `operands`, valid while the session's stamp is this.
  std::vector<void *> pointers;
  uint64_t stamp = 0;
};

class Session {
public:
  Session(std::shared_ptr<const Artifact> artifact, unsigned threads,
          uint32_t flags);

  Status bindInput(size_t index, DType type, size_t rank, const int64_t *dims,
                   const void *data);
  Status bindOutput(size_t index, void *data, uint64_t capacity);
  Status setParameter(size_t index, DType type, size_t rank,
                      const int64_t *dims, const void *data);
  Status run();
  /// The memory that a run on the bound dims would take: nothing is computed
  /// or allocated, and the inputs' data is not looked at. No answer for a
  /// program whose sizes depend on data.
  Status plan(mlc_memory &memory);
  Status output(size_t index, mlc_tensor &tensor) const;
  Status parameter(size_t index, mlc_tensor &tensor) const;
  Status buffer(size_t index, mlc_tensor &tensor) const;
  Status memory(mlc_memory &memory) const;
  Status stepNanoseconds(size_t index, uint64_t &ns) const;
  uint64_t allocations() const { return allocationCount; }

private:
  struct BoundInput {
    bool bound = false;
    size_t rank = 0;
    int64_t dims[MLC_MAX_RANK] = {};
    const void *data = nullptr;
    uint64_t bytes = 0;
    Memory staging; ///< for data that is not aligned
  };
  struct BoundOutput {
    uint8_t *data = nullptr; ///< null: the session's own memory
    uint64_t capacity = 0;
  };

  Status bindSymbols();
  Status checkInputDims();
  Status setSymbol(SymbolId id, int64_t value);
  Status checkConditions(uint32_t epoch);
  Status placeInputs();
  Status checkOverlaps() const;
  Status chooseDirectOutputs(uint32_t epoch);
  Status copyOutputs();
  Status placeSetupBuffers();
  Status activate(uint32_t epoch);
  Status makePlan(uint32_t epoch, EpochPlan &plan);
  Status planEpoch(uint32_t epoch, EpochPlan &plan);
  Status makeStep(const Step &step, EpochPlan &plan);
  Status makeLibraryStep(const Step &step, EpochPlan &plan, ReadyStep &ready);
  Status reserve(Memory &memory, uint64_t bytes);
  Status runEpoch(uint32_t epoch);
  void runStep(const Step &step, EpochPlan &plan, const ReadyStep &ready);
  Status readSymbol(const Step &step);

  Status value(ExprId id, int64_t &result) const;
  Status sizeOf(ExprId id, const char *what, const std::string &name,
                uint64_t &result) const;
  Status bytesOf(BufferId id, uint64_t &result) const;
  Status placeOf(BufferId id, Place &place) const;
  Status describe(BufferId id, mlc_tensor &tensor) const;

  std::shared_ptr<const Artifact> artifact;
  const Program &program;
  uint32_t flags;
  ThreadPool pool;

  std::vector<BoundInput> inputs;
  std::vector<BoundOutput> outputs;
  /// As EpochPlan::direct, for the run under way.
  std::vector<uint8_t> direct;
  /// What parameters were set to; empty: the artifact's bytes.
  std::vector<Memory> parameters;
  /// Memory of the buffers that only parameters decide, and whether it holds
  /// them.
  std::vector<Memory> setupMemory;
  bool isSetUp = false;
  bool dimsChanged = true;
  bool ran = false;
  std::vector<int64_t> symbols;

  /// Per epoch: kept plans, latest used first, and the arena.
  std::vector<std::list<EpochPlan>> plans;
  std::vector<Memory> arenas;
  Memory scratch;
  uint64_t scratchStride = 0;
  /// Address of every buffer that owns memory.
  std::vector<uint8_t *> addresses;
  /// Changes whenever an address does.
  uint64_t stamp = 1;

  std::vector<uint64_t> stepTimes;
  uint64_t allocationCount = 0;
};

} // namespace mlc::runtime

#endif // MLC_RUNTIME_SESSION_H
