//===- StepTexts.cpp - What people read of the steps ----------------------===//

#include "runtime/StepTexts.h"

namespace mlc::runtime {

namespace {

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

std::vector<std::string> describeSteps(const Program &program,
                                       const std::vector<MeshAxis> &mesh) {
  Printer printer(program, mesh);
  std::vector<std::string> texts;
  for (const Step &step : program.steps)
    texts.push_back(printer.print(step));
  return texts;
}

} // namespace mlc::runtime
