//===- Step.h - The steps of a program --------------------------*- C++ -*-===//
//
// One row per kind of step: its name, how many tensors it takes, its fields.
// Serialization, validation, the epochs, the setup and the text of `mlc
// inspect` are derived from the rows. SessionSteps.cpp runs each kind.
// docs/AddAStep.md shows how to add one.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_STEP_H
#define MLC_RUNTIME_STEP_H

#include "runtime/Collective.h"
#include "runtime/TensorMap.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace mlc::runtime {

/// Indices into the program's tables.
using SymbolId = uint32_t;
using ExprId = uint32_t;
using BufferId = uint32_t;
using KernelId = uint32_t;

/// A tensor map of a launch, with sizes of the program.
using TensorMap = BasicTensorMap<ExprId>;

/// The most ranks of a program and of a collective.
constexpr uint32_t maxRanks = 1 << 16;

/// An axis of the mesh of ranks. The coordinate on the last axis changes
/// fastest with the rank. Ranks that agree in all other coordinates form a
/// group; collectives along the axis run within it.
struct MeshAxis {
  std::string name;
  uint32_t size = 1;
};

/// For a row's `numInputs` and `numOutputs`: as many as the step has.
constexpr size_t anyNumber = SIZE_MAX;

// A row's `fields` hands its fields, by name, to a visitor. The visitor's
// functions are the roles that a field can have:
//
//   kernel(name, KernelId)    a kernel of the code images
//   size(name, ExprId)        a size expression; also std::optional<ExprId>
//   binds(name, SymbolId)     the symbol that takes its value from an integer
//                             of inputs[0] when the step runs; from then on
//                             sizes may depend on it
//   number(name, uint64_t)    any number
//   word(name, uint8_t, words) the index of a word in a list (Words)
//   text(name, string)        a word that only who carries it out knows
//   axis(name, uint32_t)      an axis of the mesh
//   starts(name, uint32_t)    the ticket of what the step begins and a later
//                             one waits for
//   waits(name, uint32_t)     the ticket of what was begun
//   maps(name, vector<TensorMap>)  tensor maps of the step's operands

/// The words that a field of that role may be.
struct Words {
  const char *const *all;
  uint8_t count;
};

/// Runs a kernel of the code image.
struct LaunchStep {
  static constexpr const char *kind = "launch";
  static constexpr size_t numInputs = anyNumber, numOutputs = anyNumber;

  KernelId kernel = 0;                ///< takes the step's `args` as symbols
  ExprId tasks = 0;                   ///< how many independent tasks
  std::optional<ExprId> scratch = {}; ///< bytes per worker; none: 0
  /// Rough scalar operations of the whole launch, from which a device decides
  /// how many workers pay; none: use all.
  std::optional<ExprId> work = {};
  /// The part of `work` in contractions (a multiply-add is two), for profiles;
  /// none: 0.
  std::optional<ExprId> products = {};

  template <typename Self, typename V> static void fields(Self &self, V &v) {
    v.kernel("kernel", self.kernel);
    v.size("tasks", self.tasks);
    v.size("scratch", self.scratch);
    v.size("work", self.work);
    v.size("products", self.products);
  }
};

/// Calls the library kernel (Library.h) whose key is the step's name; `args`
/// are its integer arguments.
struct LibraryStep {
  static constexpr const char *kind = "library";
  static constexpr size_t numInputs = anyNumber, numOutputs = anyNumber;

  template <typename Self, typename V> static void fields(Self &, V &) {}
};

/// Binds a symbol to element `element` of the step's input.
struct BindStep {
  static constexpr const char *kind = "bind";
  static constexpr size_t numInputs = 1, numOutputs = 0;

  SymbolId symbol = 0;
  uint64_t element = 0;

  template <typename Self, typename V> static void fields(Self &self, V &v) {
    v.binds("symbol", self.symbol);
    v.number("element", self.element);
  }
};

/// Runs a kernel of the code image on a GPU; its tasks are blocks of threads.
struct GridLaunchStep {
  static constexpr const char *kind = "grid-launch";
  static constexpr size_t numInputs = anyNumber, numOutputs = anyNumber;

  KernelId kernel = 0;                ///< takes the step's `args` as symbols
  ExprId tasks = 0;                   ///< how many independent tasks
  ExprId block = 0;                   ///< threads of a block, 1 to maxBlock
  std::optional<ExprId> shared = {};  ///< bytes of dynamic shared memory
  std::optional<ExprId> scratch = {}; ///< bytes for each block; none: 0
  /// Bytes of workspace, in the place of scratch memory: for blocks that
  /// work together. Its first `counterBytes` are zero when a launch begins, and
  /// the launch leaves them so. None: 0.
  std::optional<ExprId> workspace = {};
  static constexpr uint64_t counterBytes = 4096;
  /// As in LaunchStep, but only for profiles.
  std::optional<ExprId> work = {}, products = {};
  /// The kernel's first parameters.
  std::vector<TensorMap> maps = {};

  /// Limits that no GPU exceeds.
  static constexpr uint64_t maxBlock = 1024, maxShared = 227 * 1024,
                            maxMaps = 16;

  template <typename Self, typename V> static void fields(Self &self, V &v) {
    v.kernel("kernel", self.kernel);
    v.size("tasks", self.tasks);
    v.size("block", self.block);
    v.size("shared", self.shared);
    v.size("scratch", self.scratch);
    v.size("workspace", self.workspace);
    v.size("work", self.work);
    v.size("products", self.products);
    v.maps("maps", self.maps);
  }
};

/// Copies its input into its output of equal size: the new value of a state
/// that no other step could write in place.
struct AssignStep {
  static constexpr const char *kind = "assign";
  static constexpr size_t numInputs = 1, numOutputs = 1;

  template <typename Self, typename V> static void fields(Self &, V &) {}
};

inline constexpr Words collectiveWords = {collectiveNames, numCollectives};
inline constexpr Words reductionWords = {reductionNames, numReductions};

/// Begins a collective among the ranks of an axis: inputs[i] and outputs[i] are
/// message i, dense. Until its wait, no step writes the inputs or touches the
/// outputs. Collectives.def describes the arguments.
struct StartStep {
  static constexpr const char *kind = "start";
  static constexpr size_t numInputs = anyNumber, numOutputs = anyNumber;

  uint8_t collective = 0; ///< CollectiveKind
  uint8_t reduction = 0;  ///< ReductionKind, where there is one
  std::string algorithm;  ///< of an all-reduce; empty: the engine's own
  uint32_t axis = 0;
  uint32_t ticket = 0; ///< counted from 0, in the order of the starts

  template <typename Self, typename V> static void fields(Self &self, V &v) {
    v.word("collective", self.collective, collectiveWords);
    v.word("reduction", self.reduction, reductionWords);
    v.text("algorithm", self.algorithm);
    v.axis("axis", self.axis);
    v.starts("ticket", self.ticket);
  }
};

/// Waits for the collective of a ticket; its inputs and outputs are the
/// start's.
struct WaitStep {
  static constexpr const char *kind = "wait";
  static constexpr size_t numInputs = anyNumber, numOutputs = anyNumber;

  uint32_t ticket = 0;

  template <typename Self, typename V> static void fields(Self &self, V &v) {
    v.waits("ticket", self.ticket);
  }
};

/// All kinds; a kind's index in this list is its number in the file.
using StepDetail =
    std::variant<LaunchStep, LibraryStep, BindStep, GridLaunchStep, AssignStep,
                 StartStep, WaitStep>;

/// Output operand `output` of a step may take the memory of input operand
/// `input` (indices into Step::inputs and Step::outputs) if that dies here:
/// element i of the output is written after all reads of element i of the
/// input, and no task reads what another task writes. Applied where both are
/// arena buffers of equal size and no other operand shares the memory.
struct InPlace {
  uint32_t output = 0;
  uint32_t input = 0;
};

/// The fields that all kinds share, and the kind with its own.
struct Step {
  std::string name;               ///< Library: its key; else for people
  std::vector<std::string> nodes; ///< ONNX nodes that this step computes
  std::vector<BufferId> inputs;
  std::vector<BufferId> outputs; ///< of the arena or of states, or aliases
  std::vector<ExprId> args;      ///< sizes that are handed over when it runs
  std::vector<InPlace> inPlace;
  StepDetail detail;

  static Step launch(KernelId kernel, std::vector<BufferId> inputs,
                     std::vector<BufferId> outputs, std::vector<ExprId> args,
                     ExprId tasks);
  static Step gridLaunch(KernelId kernel, std::vector<BufferId> inputs,
                         std::vector<BufferId> outputs,
                         std::vector<ExprId> args, ExprId tasks, ExprId block);
  static Step library(std::string key, std::vector<BufferId> inputs,
                      std::vector<BufferId> outputs, std::vector<ExprId> args);
  static Step assign(BufferId to, BufferId from);
  static Step start(StartStep detail, std::vector<BufferId> inputs,
                    std::vector<BufferId> outputs, std::vector<ExprId> args);
  static Step wait(uint32_t ticket, std::vector<BufferId> inputs,
                   std::vector<BufferId> outputs);
  static Step bindSymbol(SymbolId symbol, BufferId from, uint64_t element);

  /// The step's fields as `Kind`, which must be its kind.
  template <typename Kind> Kind &as() { return std::get<Kind>(detail); }
  template <typename Kind> const Kind &as() const {
    return std::get<Kind>(detail);
  }
};

/// Passes the fields of the step's kind to `visitor`.
template <typename StepOrConst, typename V>
void visitFields(StepOrConst &step, V &visitor) {
  std::visit(
      [&](auto &detail) {
        std::decay_t<decltype(detail)>::fields(detail, visitor);
      },
      step.detail);
}

/// Base of visitors that want only some roles; ignores the others.
struct IgnoreFields {
  void kernel(const char *, KernelId) {}
  void size(const char *, std::optional<ExprId>) {}
  void binds(const char *, SymbolId) {}
  void number(const char *, uint64_t) {}
  void word(const char *, uint8_t, Words) {}
  void text(const char *, const std::string &) {}
  void axis(const char *, uint32_t) {}
  void starts(const char *, uint32_t) {}
  void waits(const char *, uint32_t) {}
  void maps(const char *, const std::vector<TensorMap> &) {}
};

/// "launch", "library", ...
const char *kindName(const Step &step);

/// How many inputs and outputs the step's kind has.
struct Arity {
  size_t inputs, outputs;
};
Arity arityOf(const Step &step);

/// Sets `detail` to an empty one of the kind with this number; false if there
/// is no such kind.
bool makeDetail(uint64_t number, StepDetail &detail);
/// The same, by the kind's name.
bool makeDetail(std::string_view kind, StepDetail &detail);

/// The ticket that the step starts or waits for; none for most kinds.
struct TicketUse {
  std::optional<uint32_t> started, awaited;
};
TicketUse ticketsOf(const Step &step);

/// The symbol that the step binds; none for most kinds.
std::optional<SymbolId> boundSymbol(const Step &step);

/// How many scalar operations the step does, if that is known (its size
/// `work`), and how many of them are a contraction's (`products`).
struct Operations {
  std::optional<ExprId> all, products;
};
Operations operationsOf(const Step &step);

/// The size expressions of `map`: its offset, dims and strides.
std::vector<ExprId> sizesOf(const TensorMap &map);

/// The step's size expressions: its arguments and those of its fields.
std::vector<ExprId> sizesOf(const Step &step);

} // namespace mlc::runtime

#endif // MLC_RUNTIME_STEP_H
