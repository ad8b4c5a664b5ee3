//===- StepTexts.cpp - What people read of the steps ----------------------===//

#include "runtime/StepTexts.h"

#include <algorithm>

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
  void maps(const char *name, const std::vector<TensorMap> &all) {
    std::string text;
    for (const TensorMap &map : all) {
      if (text.size() > maxStepText) {
        text += "; ...";
        break;
      }
      text += (text.empty() ? "" : "; ") + mapText(map);
    }
    if (!all.empty())
      add(name, "(" + text + ")");
  }

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
  template <typename T, typename Text>
  static std::string listText(const std::vector<T> &values, Text textOf) {
    std::string text;
    for (const T &value : values)
      text += (text.empty() ? "" : ", ") + textOf(value);
    return "[" + text + "]";
  }
  /// "f16 of operand 0 at 0, dims [K, M], strides [K*2], box [64, 128],
  /// swizzle 128"; element strides that are not 1 as "steps [1, 2]".
  std::string mapText(const TensorMap &map) {
    auto size = [&](ExprId id) { return sizeText(id); };
    auto number = [](int64_t value) { return std::to_string(value); };
    std::string text = std::string(mlc::runtime::name(map.element)) +
                       " of operand " + number(map.operand) + " at " +
                       sizeText(map.offset) + ", dims " +
                       listText(map.dims, size);
    if (!map.strides.empty())
      text += ", strides " + listText(map.strides, size);
    if (map.isForPixels())
      text += ", " + number(map.pixels) + " pixels of " + number(map.channels) +
              " channels from " + listText(map.lower, number) + " to " +
              listText(map.upper, number);
    else
      text += ", box " + listText(map.box, number);
    if (std::any_of(map.steps.begin(), map.steps.end(),
                    [](uint32_t step) { return step != 1; }))
      text += ", steps " + listText(map.steps, number);
    return map.swizzle ? text + ", swizzle " + number(map.swizzle) : text;
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
