//===- Program.cpp - A whole program as CUDA C++ --------------------------===//

#include "codegen/cuda/Program.h"
#include "codegen/cuda/Code.h"
#include "codegen/cuda/DeviceHeader.h"
#include "runtime/CodeBundle.h"
#include "runtime/ProgramPlan.h"
#include "runtime/Text.h"
#include "llvm/ADT/StringExtras.h"
#include <set>

using namespace mlc::runtime;

namespace mlc::cuda {

namespace {

class ProgramPrinter {
public:
  ProgramPrinter(const Program &program, uint64_t weightsSize)
      : program(program), weightsSize(weightsSize) {}

  std::string print();

private:
  void printInputs();
  void printChecks(bool afterBinding);
  void printMemory();
  void printBuffer(BufferId id);
  void need(BufferId id);
  void printStep(const Step &step);
  void printLaunch(const Step &step, const GridLaunchStep &launch);
  std::string mapText(const Step &step, const TensorMap &map,
                      const std::string &what) const;
  void printOutputs();

  std::string sizeText(const Expr &expr) const;
  std::string sizeText(ExprId id) const { return sizeText(program.exprs[id]); }
  std::string bytesText(BufferId id) const;
  bool isKnown(const Expr &expr) const;

  const Program &program;
  uint64_t weightsSize;
  Code code;
  /// Buffers that already have a name, and symbols that already have a value.
  std::set<BufferId> named;
  std::set<SymbolId> bound;
  /// Offsets in one arena if all sizes are fixed.
  std::vector<std::pair<BufferId, uint64_t>> offsets;
  bool isFixed = true;
};

std::string quoted(llvm::StringRef text) {
  std::string result = "\"";
  for (char c : printable(text)) {
    if (c == '"' || c == '\\')
      result += '\\';
    result += c;
  }
  return result + "\"";
}

/// The text made safe for a comment.
std::string comment(llvm::StringRef text) {
  std::string result = printable(text);
  for (size_t at; (at = result.find('\\')) != std::string::npos;)
    result[at] = '/';
  return result;
}

const char *numpyType(DType type) {
  switch (type) {
  case DType::F32:
    return "<f4";
  case DType::F16:
    return "<f2";
  case DType::BF16:
    return "<V2";
  case DType::F64:
    return "<f8";
  case DType::I8:
    return "|i1";
  case DType::I16:
    return "<i2";
  case DType::I32:
    return "<i4";
  case DType::I64:
    return "<i8";
  case DType::U8:
    return "|u1";
  case DType::U16:
    return "<u2";
  case DType::U32:
    return "<u4";
  case DType::U64:
    return "<u8";
  case DType::Bool:
    return "|b1";
  }
  llvm_unreachable("all types are above");
}

/// The type in C++ of an integer that a size is read from.
const char *integerType(DType type) {
  switch (type) {
  case DType::I8:
    return "signed char";
  case DType::I16:
    return "short";
  case DType::I32:
    return "int";
  case DType::U8:
  case DType::Bool:
    return "unsigned char";
  case DType::U16:
    return "unsigned short";
  case DType::U32:
    return "unsigned";
  default:
    return "long long";
  }
}

} // namespace

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

std::string ProgramPrinter::sizeText(const Expr &expr) const {
  std::vector<std::string> stack;
  for (const Expr::Inst &inst : expr.code) {
    if (inst.op == Expr::Const) {
      stack.push_back(std::to_string(inst.operand) + "ll");
      continue;
    }
    if (inst.op == Expr::Symbol) {
      stack.push_back("n" + std::to_string(inst.operand));
      continue;
    }
    std::string y = std::move(stack.back());
    stack.pop_back();
    std::string &x = stack.back();
    switch (inst.op) {
    case Expr::Add:
      x = "(" + x + " + " + y + ")";
      break;
    case Expr::Mul:
      x = "(" + x + " * " + y + ")";
      break;
    case Expr::FloorDiv:
      x = "floorDiv(" + x + ", " + y + ")";
      break;
    case Expr::Mod:
      x = "floorMod(" + x + ", " + y + ")";
      break;
    case Expr::Min:
      x = "std::min<Size>(" + x + ", " + y + ")";
      break;
    default:
      x = "std::max<Size>(" + x + ", " + y + ")";
      break;
    }
  }
  return stack.back();
}

bool ProgramPrinter::isKnown(const Expr &expr) const {
  return llvm::all_of(expr.code, [&](const Expr::Inst &inst) {
    return inst.op != Expr::Symbol || bound.count(SymbolId(inst.operand));
  });
}

std::string ProgramPrinter::bytesText(BufferId id) const {
  const Buffer &buffer = program.buffers[id];
  std::string text = "Size(" + std::to_string(byteSize(buffer.type)) + ")";
  for (ExprId dim : buffer.dims)
    text += " * " + sizeText(dim);
  return "size_t(" + text + ")";
}

//===----------------------------------------------------------------------===//
// Inputs and memory
//===----------------------------------------------------------------------===//

void ProgramPrinter::printInputs() {
  size_t count = program.inputs.size();
  code.block("if (argc != " + std::to_string(count + 2) + ")", [&] {
    std::string usage;
    for (const Port &port : program.inputs)
      usage += " " + port.name + ".npy";
    code.line("fail(\"usage: \", argv[0], " + quoted(usage + " FOLDER") + ");");
  });
  for (auto [i, port] : llvm::enumerate(program.inputs)) {
    const Buffer &buffer = program.buffers[port.buffer];
    code.line("const Array x" + std::to_string(i) + " = readInput(argv[" +
              std::to_string(i + 1) + "], " + quoted(port.name) + ", \"" +
              numpyType(buffer.type) + "\", " +
              std::to_string(buffer.dims.size()) + ");");
  }
  for (auto [id, symbol] : llvm::enumerate(program.symbols)) {
    std::string name = "n" + std::to_string(id);
    std::string note = " // " + comment(symbol.name);
    if (symbol.kind == Symbol::FromTensor) {
      code.line("Size " + name + " = 0;" + note + ", read below");
      continue;
    }
    code.line("const Size " + name + " = x" + std::to_string(symbol.source) +
              ".dims[" + std::to_string(symbol.index) + "];" + note);
    bound.insert(id);
  }
  for (auto [i, port] : llvm::enumerate(program.inputs))
    for (auto [d, dim] : llvm::enumerate(program.buffers[port.buffer].dims))
      code.block("if (x" + std::to_string(i) + ".dims[" + std::to_string(d) +
                     "] != " + sizeText(dim) + ")",
                 [&] {
                   code.line("fail(argv[" + std::to_string(i + 1) +
                             "], \": dim " + std::to_string(d) +
                             " must be \", " + sizeText(dim) + ");");
                 });
}

/// Prints checks of sizes: those known at the start, or, `afterBinding`, those
/// that depend on a value read from a tensor.
void ProgramPrinter::printChecks(bool afterBinding) {
  for (const Check &check : program.checks) {
    const Expr &lhs = program.exprs[check.lhs], &rhs = program.exprs[check.rhs];
    if (!isKnown(lhs) || !isKnown(rhs))
      continue;
    bool readsBound = false;
    for (const Expr *side : {&lhs, &rhs})
      for (const Expr::Inst &inst : side->code)
        readsBound |= inst.op == Expr::Symbol &&
                      program.symbols[inst.operand].kind == Symbol::FromTensor;
    if (readsBound != afterBinding)
      continue;
    std::string x = sizeText(lhs), y = sizeText(rhs), condition;
    switch (check.kind) {
    case Check::Equal:
      condition = x + " == " + y;
      break;
    case Check::LessEqual:
      condition = x + " <= " + y;
      break;
    case Check::Less:
      condition = x + " < " + y;
      break;
    case Check::Divides:
      condition = x + " != 0 && " + y + " % " + x + " == 0";
      break;
    }
    code.line("if (!(" + condition + "))");
    code.line("  fail(" + quoted(check.message) + ");");
  }
}

void ProgramPrinter::printMemory() {
  std::vector<int64_t> none;
  ArenaPlan plan;
  if (isFixed &&
      planArena(program, liveRanges(program), none.data(), {}, plan).ok()) {
    for (auto [buffer, offset] :
         llvm::zip_equal(plan.buffers, plan.memory.offsets))
      offsets.push_back({buffer, offset});
    code.line("char *const arena = allocate(" +
              std::to_string(plan.memory.peak) + "ll);");
  } else {
    isFixed = false;
  }
  if (weightsSize) {
    std::string size = std::to_string(weightsSize) + "u";
    code.line("char *const weights = upload(readFile(\"weights.bin\", " + size +
              ").data(), " + size + ");");
  }
  // The maximum that any launch needs of one kind of memory; "" if none does.
  auto most = [&](std::optional<ExprId> GridLaunchStep::*bytes) {
    std::string text;
    for (const Step &step : program.steps)
      if (auto *launch = std::get_if<GridLaunchStep>(&step.detail);
          launch && launch->*bytes && isKnown(program.exprs[*(launch->*bytes)]))
        text = "std::max<Size>(" + (text.empty() ? "0ll" : text) + ", " +
               sizeText(*(launch->*bytes)) + ")";
    return text;
  };
  if (std::string bytes = most(&GridLaunchStep::scratch); !bytes.empty())
    code.line("const Scratch scratch = makeScratch(" + bytes + ");");
  if (std::string bytes = most(&GridLaunchStep::workspace); !bytes.empty())
    code.line("char *const workspace = makeWorkspace(" + bytes + ", " +
              std::to_string(GridLaunchStep::counterBytes) + ");");
}

/// Names the buffer, and the buffer that it is a part of.
void ProgramPrinter::need(BufferId id) {
  if (!named.insert(id).second)
    return;
  const Buffer &buffer = program.buffers[id];
  if (buffer.kind == Buffer::Alias)
    need(buffer.source);
  printBuffer(id);
}

void ProgramPrinter::printBuffer(BufferId id) {
  const Buffer &buffer = program.buffers[id];
  std::string text;
  switch (buffer.kind) {
  case Buffer::Input: {
    std::string array = "x" + std::to_string(buffer.source);
    text = "upload(" + array + ".bytes.data(), " + array + ".bytes.size())";
    break;
  }
  case Buffer::Constant:
  case Buffer::Parameter:
    text = "weights + " + std::to_string(buffer.offset);
    break;
  case Buffer::Arena: {
    auto place = llvm::find_if(
        offsets, [&](const auto &entry) { return entry.first == id; });
    text = place != offsets.end()
               ? "arena + " + std::to_string(place->second)
               : "allocate(" + sizeText(buffer.sizeExpr) + ")";
    break;
  }
  case Buffer::Alias:
    text = "b" + std::to_string(buffer.source) + " + " +
           sizeText(buffer.offsetExpr);
    break;
  case Buffer::State:
    llvm_unreachable("printProgram refuses states");
  }
  std::string note = buffer.name.empty() ? "" : " // " + comment(buffer.name);
  code.line("char *const b" + std::to_string(id) + " = " + text + ";" + note);
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// `MapRequest{...}` (kernels/maps.cuh).
std::string ProgramPrinter::mapText(const Step &step, const TensorMap &map,
                                    const std::string &what) const {
  auto list = [](const auto &values, auto textOf) {
    std::string text;
    for (const auto &value : values)
      text += (text.empty() ? "" : ", ") + textOf(value);
    return "{" + text + "}, ";
  };
  auto size = [&](ExprId id) { return sizeText(id); };
  auto number = [](int64_t value) { return std::to_string(value); };
  size_t inputs = step.inputs.size();
  BufferId operand = map.operand < inputs ? step.inputs[map.operand]
                                          : step.outputs[map.operand - inputs];
  return "MapRequest{" + quoted(what) + ", " + number(driverType(map.element)) +
         ", " + number(driverSwizzle(map)) + ", b" + number(operand) + " + " +
         sizeText(map.offset) + ", " + list(map.dims, size) +
         list(map.strides, size) + list(map.steps, number) +
         list(map.box, number) + list(map.lower, number) +
         list(map.upper, number) + number(map.channels) + ", " +
         number(map.pixels) + "}";
}

void ProgramPrinter::printLaunch(const Step &step,
                                 const GridLaunchStep &launch) {
  const std::string &kernel = program.kernels[launch.kernel];
  std::string arguments;
  auto pass = [&](const std::string &text) { arguments += ", " + text; };
  for (auto [i, map] : llvm::enumerate(launch.maps))
    arguments += ",\n         " + mapText(step, map,
                                          "tensor map " + std::to_string(i) +
                                              " of kernel " + kernel);
  auto cast = [&](BufferId id) { pass("b" + std::to_string(id)); };
  llvm::for_each(step.inputs, cast);
  llvm::for_each(step.outputs, cast);
  for (ExprId size : step.args)
    pass(sizeText(size));
  std::string tasks = sizeText(launch.tasks);
  pass(tasks);
  // workspace replaces scratch memory, of which each block has its own.
  bool hasScratch = launch.scratch && !launch.workspace;
  pass(launch.workspace ? "workspace"
       : hasScratch     ? "scratch.memory"
                        : "nullptr");
  pass(hasScratch ? "scratch.stride" : "0ll");
  std::string shared = launch.shared ? sizeText(*launch.shared) : "0";
  std::string what = "kernel " + kernel;
  for (auto [i, node] : llvm::enumerate(step.nodes))
    what += (i ? ", " : " of ") + node;
  code.line("launch(" + quoted(what) + ",");
  code.line("       " + kernel + ", " + tasks + ", " + sizeText(launch.block) +
            ", size_t(" + shared + "), " +
            (hasScratch ? "scratch.blocks" : "2147483647ll") + arguments +
            ");");
}

void ProgramPrinter::printStep(const Step &step) {
  for (const std::vector<BufferId> *list : {&step.inputs, &step.outputs})
    llvm::for_each(*list, [&](BufferId id) { need(id); });
  if (auto *launch = std::get_if<GridLaunchStep>(&step.detail))
    return printLaunch(step, *launch);
  auto &bind = std::get<BindStep>(step.detail);
  DType type = program.buffers[step.inputs[0]].type;
  std::string name = "n" + std::to_string(bind.symbol);
  size_t at = bind.element * byteSize(type);
  code.line(name + " = readValue<" + integerType(type) + ">(b" +
            std::to_string(step.inputs[0]) + " + " + std::to_string(at) + ");");
  const Symbol &symbol = program.symbols[bind.symbol];
  code.line("if (" + name + " < " + std::to_string(symbol.min) + "ll || " +
            name + " > " + std::to_string(symbol.max) + "ll)");
  code.line("  fail(" + quoted(symbol.name) + ", \" is \", " + name + ");");
  bound.insert(bind.symbol);
  printChecks(/*afterBinding=*/true);
}

void ProgramPrinter::printOutputs() {
  code.line("check(cudaDeviceSynchronize(), \"the kernels\");");
  for (auto [i, port] : llvm::enumerate(program.outputs)) {
    need(port.buffer);
    const Buffer &buffer = program.buffers[port.buffer];
    std::string dims;
    for (ExprId dim : buffer.dims)
      dims += (dims.empty() ? "" : ", ") + sizeText(dim);
    code.line("writeArray(std::string(argv[argc - 1]) + \"/" +
              std::to_string(i) + ".npy\", {\"" + numpyType(buffer.type) +
              "\", {" + dims + "}, download(b" + std::to_string(port.buffer) +
              ", " + bytesText(port.buffer) + ")}); // " + comment(port.name));
  }
}

std::string ProgramPrinter::print() {
  isFixed = program.symbols.empty();
  printInputs();
  printChecks(/*afterBinding=*/false);
  printMemory();
  for (const Step &step : program.steps)
    printStep(step);
  printOutputs();
  return code.text();
}

std::string printMain(const Program &program, uint64_t weightsSize) {
  return ProgramPrinter(program, weightsSize).print();
}

} // namespace mlc::cuda
