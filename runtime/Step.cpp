//===- Step.cpp - The steps of a program ----------------------------------===//

#include "runtime/Step.h"
#include "runtime/Program.h"

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

template <size_t... number>
static bool makeDetail(uint64_t wanted, StepDetail &detail,
                       std::index_sequence<number...>) {
  return ((wanted == number && (detail.emplace<number>(), true)) || ...);
}

bool makeDetail(uint64_t number, StepDetail &detail) {
  return makeDetail(
      number, detail,
      std::make_index_sequence<std::variant_size_v<StepDetail>>());
}

namespace {

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
};

/// Limits for texts of sizes and steps, since a file may repeat a long size
/// many times.
constexpr size_t maxSizeText = 80, maxStepText = 400;

class Printer {
public:
  Printer(const Program &program, const std::vector<MeshAxis> &mesh)
      : program(program), mesh(mesh), sizeTexts(program.exprs.size()) {}

  std::string print(const Step &step) {
    line.clear();
    visitFields(step, *this);
    std::string args;
    for (ExprId arg : step.args) {
      if (args.size() > maxStepText) {
        args += "; ...";
        break;
      }
      args += (args.empty() ? "" : "; ") + sizeText(arg);
    }
    if (!args.empty())
      add("args", "(" + args + ")");
    return line;
  }

  void kernel(const char *name, KernelId id) {
    add(name, cut(program.kernels[id]));
  }
  void size(const char *name, std::optional<ExprId> id) {
    if (id)
      add(name, sizeText(*id));
  }
  void binds(const char *name, SymbolId id) {
    add(name, cut(program.symbols[id].name));
  }
  void number(const char *name, uint64_t value) {
    add(name, std::to_string(value));
  }
  void word(const char *name, uint8_t index, Words words) {
    add(name, words.all[index]);
  }
  void text(const char *name, const std::string &value) {
    if (!value.empty())
      add(name, cut(value));
  }
  void axis(const char *name, uint32_t index) {
    add(name, cut(mesh[index].name));
  }
  void starts(const char *name, uint32_t ticket) { number(name, ticket); }
  void waits(const char *name, uint32_t ticket) { number(name, ticket); }

private:
  static std::string cut(std::string text) {
    if (text.size() > maxSizeText)
      text = text.substr(0, maxSizeText) + "...";
    return text;
  }
  /// Cached, since long ones are slow.
  const std::string &sizeText(ExprId id) {
    std::string &known = sizeTexts[id];
    if (known.empty())
      known = cut(toString(program, program.exprs[id]));
    return known;
  }
  void add(const char *name, const std::string &value) {
    line += (line.empty() ? "" : ", ") + std::string(name) + " " + value;
  }

  const Program &program;
  const std::vector<MeshAxis> &mesh;
  std::vector<std::string> sizeTexts;
  std::string line;
};

} // namespace

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
  return std::visit(
      [](auto &detail) {
        using Kind = std::decay_t<decltype(detail)>;
        if constexpr (std::is_same_v<Kind, LaunchStep> ||
                      std::is_same_v<Kind, GridLaunchStep>)
          return Operations{detail.work, detail.products};
        else
          return Operations{};
      },
      step.detail);
}

std::vector<ExprId> sizesOf(const Step &step) {
  Sizes visitor;
  visitor.found = step.args;
  visitFields(step, visitor);
  return std::move(visitor.found);
}

std::vector<std::string> describeSteps(const Program &program,
                                       const std::vector<MeshAxis> &mesh) {
  Printer printer(program, mesh);
  std::vector<std::string> texts;
  for (const Step &step : program.steps)
    texts.push_back(printer.print(step));
  return texts;
}

} // namespace mlc::runtime
