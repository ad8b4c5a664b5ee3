//===- Session.h - Running a program ----------------------------*- C++ -*-===//
//
// Binds inputs, turns the program into a plan for their dims (sizes, offsets,
// launch arguments), and executes it. Plans are kept for a few sets of dims; a
// run with a kept plan allocates nothing.
//
// A program whose sizes depend on computed values is planned in epochs
// (Artifact.h): when a step has bound a symbol, the buffers whose sizes are now
// known are placed in a new arena.
//
// All memory that steps touch is the device's (Device.h). If the device has its
// own memory, the caller reads copies that are made on request.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_SESSION_H
#define MLC_RUNTIME_SESSION_H

#include "runtime/Artifact.h"
#include "runtime/SharedStates.h"

#include <list>
#include <map>
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
  int64_t work = unknownWork;
  // Grid launches.
  int64_t block = 0, shared = 0;
  uint32_t firstMap = 0; ///< in EpochPlan::maps
  // Library steps.
  const LibraryKernel *library = nullptr;
  uint32_t firstLibraryOperand = 0;
  // Starts of collectives: index in EpochPlan::collectives.
  uint32_t collective = 0;
};

/// A collective for one set of dims; must not move while it is under way.
struct PlannedCollective {
  std::unique_ptr<Ranks::Prepared> prepared; ///< null without other ranks
  struct Message {
    uint64_t inputBytes, outputBytes;
    /// The host's copies, if it cannot read the device's memory.
    Memory input, output;
  };
  std::vector<Message> messages;
  /// The addresses passed to the collective.
  std::vector<const void *> inputs;
  std::vector<void *> outputs;
  /// If it works on the device's own memory: the inputs are ready, the outputs
  /// are done. Else null.
  std::unique_ptr<Event> ready, done;
};

/// One epoch of the program for one set of symbol values.
struct EpochPlan {
  std::vector<int64_t> key;
  /// For each output of the program: whether it is computed directly in the
  /// caller's memory.
  std::vector<uint8_t> direct;
  std::vector<std::pair<BufferId, uint64_t>> offsets; ///< in this arena
  uint64_t peak = 0, lowerBound = 0;
  uint64_t scratch = 0;   ///< bytes per thread, a multiple of 64
  uint64_t workspace = 0; ///< bytes, the maximum over launches
  std::vector<ReadyStep> steps;
  std::vector<Place> operands;
  std::vector<int64_t> args;
  std::vector<LaunchMap> maps;
  std::vector<LibraryOperand> libraryOperands;
  std::vector<std::vector<int64_t>> libraryDims;
  std::vector<std::unique_ptr<PlannedCollective>> collectives;
  // Addresses of `operands`, valid while the session's stamp is this.
  std::vector<void *> pointers;
  uint64_t stamp = 0;
  /// The launches of a whole run, and the addresses in them, recorded in a run
  /// that begins like the one before.
  std::unique_ptr<Recording> recording;
  std::vector<void *> recordedPointers;
  Scratch recordedScratch;
  void *recordedJoint = nullptr;
  bool recordedSkips = false;
};

class Session {
public:
  /// A session of the first entry, on the device of `queue`.
  Session(std::shared_ptr<const Artifact> artifact,
          std::unique_ptr<Queue> queue, uint32_t flags);
  /// A session of entry `entry` that shares states with others of the artifact.
  /// One thread at a time may use all that share them.
  Session(std::shared_ptr<const Artifact> artifact, size_t entry,
          std::shared_ptr<SharedStates> shared, uint32_t flags);
  /// Waits for enqueued runs.
  ~Session();
  Session(const Session &) = delete;
  Session &operator=(const Session &) = delete;

  Status bindInput(size_t index, DType type, size_t rank, const int64_t *dims,
                   const void *data, mlc_space space = MLC_SPACE_HOST);
  Status bindOutput(size_t index, void *data, uint64_t capacity,
                    mlc_space space = MLC_SPACE_HOST);
  Status setParameter(size_t index, DType type, size_t rank,
                      const int64_t *dims, const void *data,
                      mlc_space space = MLC_SPACE_HOST);
  Status run();
  /// Hands a run to the queue; all bound memory must be the device's.
  Status enqueue();
  /// Waits until all enqueued runs are done, and returns their failure.
  Status wait();
  void *stream() const { return queue->stream(); }
  /// The memory that a run on the bound dims would take. Computes and allocates
  /// nothing and ignores the inputs' data. Fails if sizes depend on data.
  Status plan(mlc_memory &memory);
  Status output(size_t index, mlc_tensor &tensor);
  Status parameter(size_t index, mlc_tensor &tensor);
  Status buffer(size_t index, mlc_tensor &tensor);
  Status memory(mlc_memory &memory) const;
  Status stepCost(size_t index, mlc_step_cost &cost) const;
  Status stepNanoseconds(size_t index, uint64_t &ns) const;
  uint64_t allocations() const { return allocationCount; }
  const std::shared_ptr<SharedStates> &states() const { return shared; }

private:
  struct BoundInput {
    bool bound = false;
    size_t rank = 0;
    int64_t dims[MLC_MAX_RANK] = {};
    const void *data = nullptr;
    mlc_space space = MLC_SPACE_HOST;
    uint64_t bytes = 0;
    DeviceMemory staging; ///< copy of data that the device cannot use in place
  };
  struct BoundOutput {
    uint8_t *data = nullptr; ///< null: the session's own memory
    uint64_t capacity = 0;
    mlc_space space = MLC_SPACE_HOST;
  };
  /// How each kind of step is planned and run: SessionSteps.cpp.
  struct Steps;

  Status load();
  void placeStates();
  Status bindSymbols();
  Status checkInputDims();
  Status checkStateDims();
  Status setSymbol(SymbolId id, int64_t value);
  Status checkConditions(uint32_t epoch);
  bool isAddress(mlc_space space) const;
  bool canUse(const void *data, mlc_space space) const;
  bool mayOverlap(mlc_space a, mlc_space b) const;
  Status bring(void *to, const void *from, mlc_space space, uint64_t bytes);
  Status placeInputs();
  Status checkOverlaps() const;
  Status checkStateOverlaps() const;
  Status checkCapacities() const;
  void endRun(bool succeeded);
  Status chooseDirectOutputs(uint32_t epoch);
  Status copyOutputs();
  Status placeSetupBuffers();
  Status activate(uint32_t epoch);
  Status makePlan(uint32_t epoch, EpochPlan &plan);
  Status planEpoch(uint32_t epoch, EpochPlan &plan);
  Status makeStep(const Step &step, EpochPlan &plan);
  Status reserve(DeviceMemory &memory, uint64_t bytes);
  Status reserveWorkspace(uint64_t bytes);
  Status prepareRun();
  Status handOver();
  Status runEpochs();
  Status runEpoch(uint32_t epoch);
  Status runSteps(uint32_t epoch, EpochPlan &plan);
  // Collectives: SessionCollectives.cpp.
  Status prepareStart(const Step &step, const StartStep &start, EpochPlan &plan,
                      ReadyStep &ready);
  Status planMessages(const Step &step, const int64_t *arg,
                      CollectiveCall &call, PlannedCollective &planned);
  Status runStart(const Step &step, const StartStep &start, EpochPlan &plan,
                  const ReadyStep &ready);
  Status runWait(const Step &step, const WaitStep &wait, EpochPlan &plan,
                 const ReadyStep &ready);
  static Status reserveCopies(PlannedCollective &planned);
  void drainCollectives();
  bool isRecordable(uint32_t epoch) const;
  Status makeReadable(BufferId id, mlc_tensor &tensor);

  Status value(ExprId id, int64_t &result) const;
  Status sizeOf(ExprId id, const char *what, const std::string &name,
                uint64_t &result) const;
  Status bytesOf(BufferId id, uint64_t &result) const;
  Status tensorBytes(BufferId id, uint64_t &result) const;
  Status placeOf(BufferId id, Place &place) const;
  Status describe(BufferId id, mlc_tensor &tensor) const;

  std::shared_ptr<const Artifact> artifact;
  const size_t entry;
  const Program &program;
  const Epochs &epochs;
  const Setup &setup;
  const StateUse &stateUse;
  uint32_t flags;
  std::shared_ptr<SharedStates> shared;
  Queue *queue;
  Device &device;
  /// The artifact on the device; null before the first run.
  const LoadedProgram *loaded = nullptr;

  std::vector<BoundInput> inputs;
  std::vector<BoundOutput> outputs;
  /// As EpochPlan::direct, for the run under way.
  std::vector<uint8_t> direct;
  /// The set values of parameters; empty: the artifact's bytes.
  std::vector<DeviceMemory> parameters;
  /// Memory of the buffers that depend on parameters alone, and whether it
  /// holds their values.
  std::vector<DeviceMemory> setupMemory;
  bool isSetUp = false;
  bool dimsChanged = true;
  bool ran = false;
  /// Whether the queue may still work on a run, and the count of failures
  /// before.
  bool isEnqueued = false;
  uint64_t failuresBefore = 0;
  /// Whether steps of the run under way were queued.
  bool hasBegun = false;
  /// Indexed by ticket: the collectives' turns (CollectiveCall), and the
  /// collectives that were started and not yet waited for.
  std::vector<uint32_t> turns;
  std::vector<PlannedCollective *> underWay;
  std::vector<int64_t> symbols;

  /// Per epoch: kept plans, most recently used first, and the arena.
  std::vector<std::list<EpochPlan>> plans;
  std::vector<DeviceMemory> arenas;
  DeviceMemory scratch;
  uint64_t scratchStride = 0;
  /// Memory of launches whose blocks cooperate, and whether its counters are
  /// zero; they are not if it is new or a run has failed.
  DeviceMemory workspace;
  bool hasZeroCounters = false;
  /// Address on the device of every buffer that owns memory.
  std::vector<uint8_t *> addresses;
  /// Changes whenever an address does.
  uint64_t stamp = 1;
  /// That of the states whose addresses these are.
  uint64_t stampOfStates = 0;

  /// The host's copies of buffers that the caller asked for; none if the
  /// device's memory is the host's.
  std::map<BufferId, Memory> mirrors;

  /// For each step: whether it was skipped, and its time.
  std::vector<uint8_t> wasSkipped;
  std::vector<uint64_t> stepTimes;
  uint64_t allocationCount = 0;
};

} // namespace mlc::runtime

#endif // MLC_RUNTIME_SESSION_H
