//===- StageMemory.cpp - The memory of a step's entries -------------------===//

#include "tools/mlc/StageMemory.h"
#include "dialects/Module/CompileTime.h"
#include "dialects/Module/States.h"
#include "dialects/Module/TrainingFacts.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "runtime/Devices.h"
#include "runtime/Session.h"
#include "tools/mlc/EntryArena.h"
#include "tools/mlc/Failure.h"
#include "tools/mlc/StageCosts.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using namespace mlc;
using namespace mlc::cli;
using simulator::StageEntry;
using simulator::StepMemory;

namespace {

class MemoryReader {
public:
  MemoryReader(mlir::ModuleOp module, const CostModel &cost,
               llvm::ArrayRef<int64_t> slots)
      : module(module), cost(cost), slots(slots) {}
  StepMemory read();

private:
  void readInputs(mlir::func::FuncOp entry, const StageEntry &name);
  void readResults(mlir::func::FuncOp entry, const StageEntry &name);

  mlir::ModuleOp module;
  const CostModel &cost;
  llvm::ArrayRef<int64_t> slots;
  StepMemory step;
  llvm::StringMap<std::vector<StageEntry>> readers;
  llvm::MapVector<mlir::StringAttr, StepMemory::State> states;
  llvm::StringSet<> samples;
};

} // namespace

/// The stage of ZeRO from which a state is shared (passes/Distribute).
static int sharedFrom(mlir::ModuleOp module, llvm::StringRef state) {
  using Role = runtime::StateRole;
  const StateUse use = getStateUse(module, state);
  const bool hasMaster = !findState(module, Role::Rounded, use.owner).empty();
  switch (use.role) {
  case Role::Statistic:
  case Role::None:
    return 4;
  case Role::GradientSum:
    return 2;
  case Role::Rounded:
    return 3;
  case Role::Weight:
    return hasMaster ? 1 : 3;
  default:
    return 1;
  }
}

void MemoryReader::readInputs(mlir::func::FuncOp entry,
                              const StageEntry &name) {
  for (unsigned i = 0; i < entry.getNumArguments(); ++i) {
    const int64_t bytes = tensorBytes(entry.getArgument(i).getType());
    auto tensor = entry.getArgAttrOfType<mlir::StringAttr>(i, "mlc.name");
    if (auto role = entry.getArgAttrOfType<mlir::StringAttr>(i, kInputRoleAttr);
        role && role == runtime::name(runtime::InputRole::Carried))
      readers[tensor].push_back(name);
    if (entry.getArgAttr(i, kSampleAttr) && samples.insert(tensor).second)
      step.samples += bytes;
    if (auto state = entry.getArgAttrOfType<mlir::StringAttr>(i, kStateAttr)) {
      states[state].users.push_back(name);
      states[state].bytes = bytes;
    }
  }
}

void MemoryReader::readResults(mlir::func::FuncOp entry,
                               const StageEntry &name) {
  for (unsigned i = 0; i < entry.getNumResults(); ++i) {
    const int64_t bytes = tensorBytes(entry.getResultTypes()[i]);
    auto state = entry.getResultAttrOfType<mlir::StringAttr>(i, kStateAttr);
    if (state) {
      states[state].users.push_back(name);
      states[state].bytes = bytes;
      const runtime::StateRole role = getStateUse(module, state).role;
      // The state itself is one of the versions.
      if (role == runtime::StateRole::Next && !slots.empty())
        states[state].bytes = bytes * (slots[name.stage] - 1);
      if (role == runtime::StateRole::GradientSum)
        states[state].sumOf =
            name.isUpdate() ? states[state].sumOf : name.stage;
      continue;
    }
    auto value = entry.getResultAttrOfType<mlir::StringAttr>(i, "mlc.name");
    if (auto it = readers.find(value.getValue()); it != readers.end())
      step.values.push_back({name, it->second, bytes});
  }
}

StepMemory MemoryReader::read() {
  std::vector<std::pair<mlir::func::FuncOp, StageEntry>> entries;
  for (auto entry : module.getOps<mlir::func::FuncOp>())
    if (auto name = findEntry(entry.getName()))
      entries.push_back({entry, *name});
  for (auto &[entry, name] : entries)
    readInputs(entry, name);
  for (auto &[entry, name] : entries)
    readResults(entry, name);
  for (auto &[entry, name] : entries) {
    // What entries carry has memory of its own.
    llvm::SmallVector<bool> isDirect;
    for (unsigned i = 0; i < entry.getNumResults(); ++i) {
      auto value = entry.getResultAttrOfType<mlir::StringAttr>(i, "mlc.name");
      isDirect.push_back(!entry.getResultAttr(i, kStateAttr) &&
                         readers.contains(value.getValue()));
    }
    step.entries.push_back({name, estimateArena(entry, isDirect, cost), 0});
  }
  for (auto &[name, state] : states) {
    state.sharedFrom = sharedFrom(module, name);
    step.states.push_back(state);
  }
  return std::move(step);
}

StepMemory mlc::cli::readStepMemory(mlir::ModuleOp module,
                                    const CostModel &cost,
                                    llvm::ArrayRef<int64_t> slots) {
  return MemoryReader(module, cost, slots).read();
}

bool mlc::cli::previewArenas(mlir::ModuleOp module, const CodeTarget &target,
                             unsigned threads, StepMemory &step) {
  const std::optional<CompiledKernels> known =
      target.backend->preview(module, target.target);
  llvm::StringMap<const CompiledKernel *> kernels;
  if (known)
    for (const CompiledKernel &kernel : known->kernels)
      kernels[kernel.name] = &kernel;
  bool isExact = true;
  llvm::StringSet<> carried;
  for (auto program : module.getOps<exec::ProgramOp>())
    program.walk([&](exec::InputOp input) {
      auto role = input->getAttrOfType<mlir::StringAttr>(kInputRoleAttr);
      auto name = input->getAttrOfType<mlir::StringAttr>("name");
      if (role && name && role == runtime::name(runtime::InputRole::Carried))
        carried.insert(name);
    });
  for (auto program : module.getOps<exec::ProgramOp>()) {
    auto name = findEntry(program.getSymName());
    auto entry = llvm::find_if(step.entries, [&](const auto &one) {
      return name && one.entry == *name;
    });
    if (entry == step.entries.end())
      continue;
    const auto arena = findArena(program, kernels, carried);
    const auto scratch = findScratch(program, kernels);
    entry->arena = arena.value_or(entry->arena);
    entry->scratch = scratch.value_or(0) * threads;
    isExact &= arena && scratch;
  }
  return isExact;
}

/// Plans a run of an entry whose inputs are there; what it carries is written
/// to memory of others. Nothing is read or written.
static runtime::Status planEntry(runtime::Session &session,
                                 const runtime::Program &program,
                                 const std::set<std::string> &carried,
                                 mlc_memory &memory) {
  alignas(64) static char noData[64] = {};
  runtime::Status status;
  for (size_t i = 0; status.ok() && i < program.inputs.size(); ++i) {
    const runtime::Buffer &buffer = program.buffers[program.inputs[i].buffer];
    std::vector<int64_t> dims;
    for (runtime::ExprId dim : buffer.dims)
      dims.push_back(program.exprs[dim].code.front().operand);
    status =
        session.bindInput(i, buffer.type, dims.size(), dims.data(), noData);
  }
  for (size_t i = 0; status.ok() && i < program.outputs.size(); ++i)
    if (carried.count(program.outputs[i].name))
      status = session.bindOutput(i, noData, uint64_t(1) << 62);
  return status.ok() ? session.plan(memory) : status;
}

llvm::Error mlc::cli::readArenas(const Model &built, unsigned threads,
                                 StepMemory &step) {
  std::shared_ptr<const runtime::Artifact> artifact;
  runtime::Status status = runtime::Artifact::openMemory(
      built.getBytes().data(), built.getBytes().size(), /*flags=*/0, artifact);
  if (!status.ok())
    return statusFailure(status);
  std::set<std::string> carried;
  for (size_t i = 0; i < artifact->entryCount(); ++i)
    for (const runtime::Port &input : artifact->program(i).inputs)
      if (input.role == runtime::InputRole::Carried)
        carried.insert(input.name);
  std::unique_ptr<runtime::Queue> queue;
  status = runtime::devices().front()->open({threads}, queue);
  if (!status.ok())
    return statusFailure(status);
  auto states =
      std::make_shared<runtime::SharedStates>(artifact, std::move(queue));
  for (size_t i = 0; i < artifact->entryCount(); ++i) {
    const runtime::Program &program = artifact->program(i);
    auto name = findEntry(program.name);
    auto known = llvm::find_if(step.entries, [&](const auto &one) {
      return name && one.entry == *name;
    });
    if (known == step.entries.end())
      continue;
    runtime::Session session(artifact, i, states, /*flags=*/0);
    mlc_memory memory = {};
    if (status = planEntry(session, program, carried, memory); !status.ok())
      return statusFailure(status);
    known->arena = static_cast<int64_t>(memory.arena_bytes);
    known->scratch = static_cast<int64_t>(memory.scratch_bytes);
  }
  return llvm::Error::success();
}
