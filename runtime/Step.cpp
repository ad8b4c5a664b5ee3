//===- Step.cpp - The steps of a program ----------------------------------===//

#include "runtime/Step.h"

#include <utility>

namespace mlc::runtime {

static Step stepOf(StepDetail detail, std::vector<BufferId> inputs,
                   std::vector<BufferId> outputs, std::vector<ExprId> args) {
  Step s;
  s.inputs = std::move(inputs);
  s.outputs = std::move(outputs);
  s.args = std::move(args);
  s.detail = std::move(detail);
  return s;
}

Step Step::launch(KernelId kernel, std::vector<BufferId> inputs,
                  std::vector<BufferId> outputs, std::vector<ExprId> args,
                  ExprId tasks) {
  return stepOf(LaunchStep{kernel, tasks}, std::move(inputs),
                std::move(outputs), std::move(args));
}

Step Step::gridLaunch(KernelId kernel, std::vector<BufferId> inputs,
                      std::vector<BufferId> outputs, std::vector<ExprId> args,
                      ExprId tasks, ExprId block) {
  return stepOf(GridLaunchStep{kernel, tasks, block}, std::move(inputs),
                std::move(outputs), std::move(args));
}

Step Step::library(std::string key, std::vector<BufferId> inputs,
                   std::vector<BufferId> outputs, std::vector<ExprId> args) {
  Step s = stepOf(LibraryStep{}, std::move(inputs), std::move(outputs),
                  std::move(args));
  s.name = std::move(key);
  return s;
}

Step Step::bindSymbol(SymbolId symbol, BufferId from, uint64_t element) {
  Step s;
  s.inputs = {from};
  s.detail = BindStep{symbol, element};
  return s;
}

Step Step::assign(BufferId to, BufferId from) {
  return stepOf(AssignStep{}, {from}, {to}, {});
}

Step Step::start(StartStep detail, std::vector<BufferId> inputs,
                 std::vector<BufferId> outputs, std::vector<ExprId> args) {
  return stepOf(std::move(detail), std::move(inputs), std::move(outputs),
                std::move(args));
}

Step Step::wait(uint32_t ticket, std::vector<BufferId> inputs,
                std::vector<BufferId> outputs) {
  return stepOf(WaitStep{ticket}, std::move(inputs), std::move(outputs), {});
}

const char *kindName(const Step &step) {
  return std::visit([](auto &d) { return std::decay_t<decltype(d)>::kind; },
                    step.detail);
}

Arity arityOf(const Step &step) {
  return std::visit(
      [](auto &d) {
        using Kind = std::decay_t<decltype(d)>;
        return Arity{Kind::numInputs, Kind::numOutputs};
      },
      step.detail);
}

namespace {

/// All numbers of kinds.
using Numbers = std::make_index_sequence<std::variant_size_v<StepDetail>>;

template <size_t... number>
bool makeDetail(uint64_t wanted, StepDetail &detail,
                std::index_sequence<number...>) {
  return ((wanted == number && (detail.emplace<number>(), true)) || ...);
}

template <size_t... number>
bool makeDetail(std::string_view kind, StepDetail &detail,
                std::index_sequence<number...>) {
  return ((kind == std::variant_alternative_t<number, StepDetail>::kind &&
           (detail.emplace<number>(), true)) ||
          ...);
}

struct BoundSymbol : IgnoreFields {
  std::optional<SymbolId> found;
  void binds(const char *, SymbolId symbol) { found = symbol; }
};

struct Tickets : IgnoreFields {
  TicketUse found;
  void starts(const char *, uint32_t ticket) { found.started = ticket; }
  void waits(const char *, uint32_t ticket) { found.awaited = ticket; }
};

struct Sizes : IgnoreFields {
  std::vector<ExprId> found;
  void size(const char *, std::optional<ExprId> expr) {
    if (expr)
      found.push_back(*expr);
  }
  void maps(const char *, const std::vector<TensorMap> &maps) {
    for (const TensorMap &map : maps)
      for (ExprId expr : sizesOf(map))
        found.push_back(expr);
  }
};

struct Works : IgnoreFields {
  Operations found;
  void size(const char *name, std::optional<ExprId> expr) {
    if (name == std::string_view("work"))
      found.all = expr;
    else if (name == std::string_view("products"))
      found.products = expr;
  }
};

} // namespace

bool makeDetail(uint64_t number, StepDetail &detail) {
  return makeDetail(number, detail, Numbers());
}

bool makeDetail(std::string_view kind, StepDetail &detail) {
  return makeDetail(kind, detail, Numbers());
}

std::optional<SymbolId> boundSymbol(const Step &step) {
  BoundSymbol visitor;
  visitFields(step, visitor);
  return visitor.found;
}

TicketUse ticketsOf(const Step &step) {
  Tickets visitor;
  visitFields(step, visitor);
  return visitor.found;
}

Operations operationsOf(const Step &step) {
  Works visitor;
  visitFields(step, visitor);
  return visitor.found;
}

std::vector<ExprId> sizesOf(const TensorMap &map) {
  std::vector<ExprId> sizes = {map.offset};
  sizes.insert(sizes.end(), map.dims.begin(), map.dims.end());
  sizes.insert(sizes.end(), map.strides.begin(), map.strides.end());
  return sizes;
}

std::vector<ExprId> sizesOf(const Step &step) {
  Sizes visitor;
  visitor.found = step.args;
  visitFields(step, visitor);
  return std::move(visitor.found);
}

} // namespace mlc::runtime
