//===- ValidateCollectives.cpp - Checks of collectives --------------------===//

#include "runtime/ValidateCollectives.h"

#include <algorithm>
#include <map>
#include <set>

namespace mlc::runtime {

static constexpr size_t maxAxes = 16, maxAxisName = 256;

std::string problemOf(const std::vector<MeshAxis> &mesh) {
  std::set<std::string> names;
  uint64_t ranks = 1;
  if (mesh.size() > maxAxes)
    return "the mesh has too many axes";
  for (const MeshAxis &axis : mesh) {
    if (axis.name.empty() || axis.name.size() > maxAxisName ||
        !names.insert(axis.name).second)
      return "an axis of the mesh has no name of its own";
    if (axis.size < 1 || axis.size > maxRanks ||
        (ranks *= axis.size) > maxRanks)
      return "the mesh has no ranks, or too many";
  }
  return "";
}

std::string problemOf(const std::vector<Split> &splits, size_t rank,
                      const std::vector<MeshAxis> &mesh) {
  std::map<uint32_t, uint64_t> units;
  std::set<uint32_t> axes;
  for (const Split &split : splits) {
    if (split.dim >= rank)
      return "a split is of no dim";
    if (split.axis >= mesh.size() || !axes.insert(split.axis).second)
      return "a dim is split over no axis, or over one that splits another";
    if (split.unit < 1 || split.unit > INT64_MAX ||
        units.try_emplace(split.dim, split.unit).first->second != split.unit)
      return "a dim is split between units of no size, or of several";
  }
  return "";
}

static const rows::Row &rowOf(const StartStep &start) {
  return rowOf(CollectiveKind(start.collective));
}

bool CollectiveChecks::consumes(const StartStep &start) {
  return rowOf(start).consumes();
}

/// Adds `change` to the count of collectives that use the step's memory.
void CollectiveChecks::mark(const Step &step, int change) {
  bool consumed = consumes(step.as<StartStep>());
  for (BufferId b : step.inputs)
    (consumed ? writes : reads)[rootOf(program, b)] += change;
  for (BufferId b : step.outputs)
    writes[rootOf(program, b)] += change;
}

std::string CollectiveChecks::touches(const Step &step) const {
  for (BufferId b : step.inputs)
    if (writes[rootOf(program, b)])
      return "reads what a collective is at work on";
  for (BufferId b : step.outputs)
    if (writes[rootOf(program, b)] || reads[rootOf(program, b)])
      return "writes what a collective is at work on";
  return "";
}

std::string CollectiveChecks::problemOfOperands(const StartStep &detail,
                                                const Step &step) const {
  if (step.inputs.empty() || step.inputs.size() != step.outputs.size())
    return "has no output for each input";
  const rows::Row &row = rowOf(detail);
  if (step.args.size() !=
      row.hasNumber() + row.numArguments() * step.inputs.size())
    return "has a wrong number of arguments";
  DType type = program.buffers[step.inputs[0]].type;
  std::set<BufferId> written;
  for (size_t i = 0; i < step.inputs.size(); ++i) {
    BufferId in = step.inputs[i], out = step.outputs[i];
    if (program.buffers[in].type != type || program.buffers[out].type != type)
      return "has elements of several types";
    if (row.isInPlace() != (in == out))
      return row.isInPlace() ? "works in place, in two buffers"
                             : "works in place, where it cannot";
    if (!written.insert(rootOf(program, out)).second)
      return "writes the same memory twice";
  }
  for (size_t i = 0; i < step.inputs.size() && !row.isInPlace(); ++i) {
    BufferId root = rootOf(program, step.inputs[i]);
    if (row.consumes() && (program.buffers[root].kind != Buffer::Arena ||
                           !written.insert(root).second))
      return "consumes what is not its own";
    if (!row.consumes() && written.count(root))
      return "writes what it reads";
  }
  return "";
}

std::string CollectiveChecks::start(const StartStep &detail, const Step &step) {
  if (detail.ticket != started.size())
    return "has a ticket out of turn as its ticket";
  if (mesh[detail.axis].size < 2)
    return "is among the ranks of an axis that has one";
  if (std::string problem = problemOfOperands(detail, step); !problem.empty())
    return problem;
  mark(step, 1);
  started.push_back(&step);
  return "";
}

std::string CollectiveChecks::wait(const Step &step, uint32_t ticket) {
  if (ticket >= started.size() || !started[ticket])
    return "names nothing that is under way as its ticket";
  if (step.inputs != started[ticket]->inputs ||
      step.outputs != started[ticket]->outputs)
    return "has other buffers than its start";
  mark(*started[ticket], -1);
  started[ticket] = nullptr;
  return "";
}

std::string CollectiveChecks::step(const Step &step) {
  if (std::optional<uint32_t> ticket = ticketsOf(step).awaited)
    return wait(step, *ticket);
  if (std::string problem = touches(step); !problem.empty())
    return problem;
  const auto *detail = std::get_if<StartStep>(&step.detail);
  return detail ? start(*detail, step) : "";
}

std::string CollectiveChecks::end() const {
  for (const Step *step : started)
    if (step)
      return "nothing waits for a collective";
  return "";
}

} // namespace mlc::runtime
