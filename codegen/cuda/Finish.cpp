//===- Finish.cpp - The epilogue of a contraction as CUDA C++ -------------===//

#include "codegen/cuda/Problem.h"

using namespace mlir;

namespace mlc::cuda {

namespace {

class FinishPrinter : public ProblemText {
public:
  using ProblemText::ProblemText;

  std::string printElement();
  std::string printRuns();

private:
  /// How the operand of a load gets to columns that are finished together.
  enum class Form {
    Same, ///< one element for all of them
    Run,  ///< neighbours in memory
    Each  ///< one by one
  };
  struct Operand {
    std::string field;
    Form form;
    bool isOfColumn;
  };

  /// The places of all loops; without `hasRows` rows are at 0.
  Indices places(ElementPrinter &printer, bool hasRows = true);
  Index offsetOf(ElementPrinter &printer, const Access &access,
                 ArrayRef<Index> places);
  /// The value of node `number`; `load` gives the stored element of a load.
  std::string evaluate(ElementPrinter &printer, unsigned number,
                       function_ref<std::string(unsigned)> load);
  /// The sum with its initial value.
  void total(ElementPrinter &printer, StringRef sum,
             function_ref<std::string(unsigned)> load);
  bool moves(const Access &access, ArrayRef<unsigned> dims) const;
  int64_t chooseWidth() const;
  void chooseOperands();
  void printOperands(StringRef type, StringRef name, StringRef parameters,
                     bool isOfColumn);
  std::string operandText(ElementPrinter &printer, Code &code, unsigned load);
  void printFinish();
  void printPrefetch();

  int64_t width = 1;
  SmallVector<Operand> operands;
  SmallVector<std::string> values;
};

} // namespace

Indices FinishPrinter::places(ElementPrinter &printer, bool hasRows) {
  Indices result(c.dims.size(), Index(0));
  auto set = [&](StringRef flat, ArrayRef<unsigned> dims) {
    for (auto [d, place] : llvm::zip_equal(dims, placesOf(printer, flat, dims)))
      result[d] = place;
  };
  set("batch", roles.batch);
  if (hasRows)
    set("m", roles.rows);
  set("n", roles.columns);
  return result;
}

Index FinishPrinter::offsetOf(ElementPrinter &printer, const Access &access,
                              ArrayRef<Index> places) {
  Index at = printer.size(access.offset);
  for (auto [stride, place] : llvm::zip_equal(access.strides, places))
    at = printer.add(at, printer.mul(place, printer.size(stride)));
  return at;
}

std::string FinishPrinter::evaluate(ElementPrinter &printer, unsigned number,
                                    function_ref<std::string(unsigned)> load) {
  if (!values[number].empty())
    return values[number];
  const EpilogueNode &node = c.nodes[number];
  switch (node.kind) {
  case EpilogueNode::Kind::Accumulator:
    return values[number] = "total";
  case EpilogueNode::Kind::Load: {
    Type element = c.loads[node.load].element;
    return values[number] =
               printer.code.define(computeType(element), "x",
                                   fromStorage(element, load(node.load)));
  }
  case EpilogueNode::Kind::Scalar:
    return values[number] = literal(node.scalar);
  case EpilogueNode::Kind::Op:
    break;
  }
  SmallVector<std::string> operands;
  for (unsigned operand : node.operands)
    operands.push_back(operand == ~0u ? "" : evaluate(printer, operand, load));
  return values[number] = printer.apply(node.op, operands)[node.result];
}

void FinishPrinter::total(ElementPrinter &printer, StringRef sum,
                          function_ref<std::string(unsigned)> load) {
  values.assign(c.nodes.size(), "");
  printer.keepsRoundings = to.options.keepsRoundings;
  // Sums begin at zero.
  const EpilogueNode &init = c.nodes[c.init];
  auto isZero = [](TypedAttr value) {
    if (auto real = dyn_cast<FloatAttr>(value))
      return real.getValue().isPosZero();
    return cast<IntegerAttr>(value).getValue().isZero();
  };
  bool isNone = init.kind == EpilogueNode::Kind::Scalar && isZero(init.scalar);
  printer.code.line("const " + computeType(c.accumulator) + " total = " +
                    (isNone ? "" : evaluate(printer, c.init, load) + " + ") +
                    sum + ";");
}

std::string FinishPrinter::printElement() {
  std::string parameters =
      "Index batch, Index m, Index n, " + computeType(c.accumulator) + " sum";
  method("void", "finish", parameters, [&](ElementPrinter &printer, Code &) {
    Indices at = places(printer);
    auto load = [&](unsigned number) {
      const Access &access = c.loads[number];
      return pointerOf(access.tensor) + "[" +
             offsetOf(printer, access, at).text + "]";
    };
    total(printer, "sum", load);
    for (auto [i, output] : llvm::enumerate(c.outputs)) {
      std::string value = evaluate(printer, output.node, load);
      std::string stored = toStorage(output.access.element, value);
      printer.code.line("out" + std::to_string(i) + "[" +
                        offsetOf(printer, output.access, at).text +
                        "] = " + stored + ";");
    }
    return std::string();
  });
  return text;
}

//===----------------------------------------------------------------------===//
// Columns together
//===----------------------------------------------------------------------===//

bool FinishPrinter::moves(const Access &access, ArrayRef<unsigned> dims) const {
  return llvm::any_of(
      dims, [&](unsigned d) { return !access.strides[d].isConstant(0); });
}

/// As many columns as have 16 bytes of the narrowest result, if all results
/// have them as aligned neighbours.
int64_t FinishPrinter::chooseWidth() const {
  int64_t bytes = 8;
  for (const ContractionOutput &output : c.outputs)
    bytes = std::min(bytes, storageBytes(output.access.element));
  int64_t result = 16 / bytes;
  auto isRun = [&](const ContractionOutput &output) {
    return hasRuns(c, output.access, roles.columns, result);
  };
  while (result > 1 && !llvm::all_of(c.outputs, isRun))
    result /= 2;
  return result;
}

void FinishPrinter::chooseOperands() {
  for (auto [i, access] : llvm::enumerate(c.loads)) {
    Form form = !moves(access, roles.columns) || width == 1 ? Form::Same
                : hasRuns(c, access, roles.columns, width)  ? Form::Run
                                                            : Form::Each;
    operands.push_back({"x" + std::to_string(i), form,
                        /*isOfColumn=*/!moves(access, roles.rows)});
  }
}

/// What the operand of `load` is initialized with.
std::string FinishPrinter::operandText(ElementPrinter &printer, Code &code,
                                       unsigned load) {
  const Access &access = c.loads[load];
  std::string pointer = pointerOf(access.tensor);
  std::string w = std::to_string(width);
  // Operands of columns are read without a row.
  bool hasRows = !operands[load].isOfColumn;
  if (operands[load].form != Form::Each) {
    std::string at = offsetOf(printer, access, places(printer, hasRows)).text;
    return operands[load].form == Form::Same
               ? pointer + "[" + at + "]"
               : "loadVector<" + w + ">(" + pointer + " + " + at + ")";
  }
  std::string run = code.fresh("run");
  code.line("Vector<" + storageType(access.element) + ", " + w + "> " + run +
            ";");
  code.line("#pragma unroll");
  code.block("for (int e = 0; e < " + w + "; ++e)", [&] {
    Indices at = places(printer, hasRows);
    Indices last = placesOf(printer, "(n + e)", roles.columns);
    for (auto [d, place] : llvm::zip_equal(roles.columns, last))
      at[d] = place;
    code.line(run + ".at[e] = " + pointer + "[" +
              offsetOf(printer, access, at).text + "];");
  });
  return run;
}

/// A struct of operands and the function that reads them.
void FinishPrinter::printOperands(StringRef type, StringRef name,
                                  StringRef parameters, bool isOfColumn) {
  text += ("  struct " + type + " {\n").str();
  for (auto [i, operand] : llvm::enumerate(operands)) {
    std::string stored = storageType(c.loads[i].element);
    if (operand.isOfColumn == isOfColumn)
      text += "    " +
              (operand.form == Form::Same
                   ? stored
                   : "Vector<" + stored + ", " + std::to_string(width) + ">") +
              " " + operand.field + ";\n";
  }
  text += "  };\n";
  method(type, name, parameters, [&](ElementPrinter &printer, Code &code) {
    std::string all;
    for (auto [i, operand] : llvm::enumerate(operands))
      if (operand.isOfColumn == isOfColumn)
        all += (all.empty() ? "" : ", ") + operandText(printer, code, i);
    return "{" + all + "}";
  });
}

void FinishPrinter::printFinish() {
  std::string w = std::to_string(width);
  std::string parameters = "const OfColumn &column, const OfRow &row, Index "
                           "batch, Index m, Index n, const " +
                           computeType(c.accumulator) + " (&sums)[" + w + "]";
  method("void", "finish", parameters,
         [&](ElementPrinter &printer, Code &code) {
           Indices at = places(printer);
           SmallVector<std::string> pointers;
           for (auto [i, output] : llvm::enumerate(c.outputs)) {
             std::string number = std::to_string(i);
             pointers.push_back("out" + number + " + " +
                                offsetOf(printer, output.access, at).text);
             code.line("Vector<" + storageType(output.access.element) + ", " +
                       w + "> r" + number + ";");
           }
           auto load = [&](unsigned number) {
             const Operand &operand = operands[number];
             return (operand.isOfColumn ? "column." : "row.") + operand.field +
                    (operand.form == Form::Same ? "" : ".at[e]");
           };
           code.line("#pragma unroll");
           code.block("for (int e = 0; e < " + w + "; ++e)", [&] {
             total(printer, "sums[e]", load);
             for (auto [i, output] : llvm::enumerate(c.outputs)) {
               std::string value = evaluate(printer, output.node, load);
               code.line("r" + std::to_string(i) + ".at[e] = " +
                         toStorage(output.access.element, value) + ";");
             }
           });
           for (auto [i, pointer] : llvm::enumerate(pointers))
             code.line("storeResults(" + pointer + ", r" + std::to_string(i) +
                       ");");
           return std::string();
         });
}

/// What asks for the operands of a row, by lines of 128 bytes.
void FinishPrinter::printPrefetch() {
  auto isRead = [&](unsigned load) {
    return operands[load].form == Form::Run && !operands[load].isOfColumn;
  };
  int64_t most = 0;
  for (unsigned load = 0; load < operands.size(); ++load)
    if (isRead(load))
      most = std::max(most, storageBytes(c.loads[load].element));
  text += "  static constexpr int columnsOfLine = " +
          std::to_string(most ? 128 / most : 0) + ";\n";
  method("void", "prefetchRow", "Index batch, Index m, Index n",
         [&](ElementPrinter &printer, Code &code) {
           for (unsigned load = 0; load < operands.size(); ++load)
             if (isRead(load))
               code.line(
                   "prefetchLine(" + pointerOf(c.loads[load].tensor) + " + " +
                   offsetOf(printer, c.loads[load], places(printer)).text +
                   ");");
           return std::string();
         });
}

std::string FinishPrinter::printRuns() {
  width = chooseWidth();
  chooseOperands();
  text += "  static constexpr int width = " + std::to_string(width) + ";\n";
  printOperands("OfColumn", "ofColumn", "Index batch, Index n",
                /*isOfColumn=*/true);
  printOperands("OfRow", "ofRow", "Index batch, Index m, Index n",
                /*isOfColumn=*/false);
  printPrefetch();
  printFinish();
  return text;
}

std::string printFinish(KernelPrinter &to, const Contraction &c,
                        const Roles &roles) {
  return FinishPrinter(to, c, roles).printElement();
}

std::string printFinishOfRuns(KernelPrinter &to, const Contraction &c,
                              const Roles &roles) {
  return FinishPrinter(to, c, roles).printRuns();
}

} // namespace mlc::cuda
