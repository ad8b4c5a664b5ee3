//===- Build.cpp - Variants as operators of the mlc dialect ---------------===//

#include "rewrites/Generate/Build.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

namespace mlc::generate {

static DimsAttr parseDimsAttr(MLIRContext *context, StringRef text) {
  return cast<DimsAttr>(
      parseAttribute(("#mlc.dims<[" + text + "]>").str(), context));
}

SmallVector<IntExpr> parseDims(MLIRContext *context, StringRef text) {
  return SmallVector<IntExpr>(parseDimsAttr(context, text).getDims());
}

const VariantBuilder::Parsed &VariantBuilder::parse(const Step &step) {
  auto [it, isNew] = parsed.try_emplace(&step);
  if (!isNew)
    return it->second;
  for (StringRef text : step.operands) {
    Operand operand;
    operand.kind = text.front();
    if (operand.kind == '%')
      text.drop_front().getAsInteger(10, operand.step);
    if (operand.kind == '@') {
      auto [name, dims] = text.drop_front().split(" [");
      operand.name = name.str();
      operand.dims = parseDimsAttr(context, dims.drop_back());
    }
    it->second.operands.push_back(operand);
  }
  it->second.attributes = cast<DictionaryAttr>(
      parseAttribute("{" + step.attributes + "}", context));
  return it->second;
}

namespace {

/// Replaces X0, X1, ... and Y0, ... by the operands' dims.
class OperandDims {
public:
  explicit OperandDims(ValueRange operands) {
    for (Value operand : operands)
      dims.push_back(*getDims(cast<RankedTensorType>(operand.getType())));
  }

  IntExpr substitute(IntExpr expr) {
    return expr.substitute([&](StringRef name) -> IntExpr {
      unsigned operand = name.front() - 'X', dim = 0;
      if (operand >= dims.size() || name.drop_front().getAsInteger(10, dim))
        return {};
      if (dim >= dims[operand].size()) {
        failed = true;
        return {};
      }
      return dims[operand][dim];
    });
  }

  SmallVector<IntExpr> substitute(DimsAttr list) {
    SmallVector<IntExpr> result;
    for (IntExpr expr : list) {
      bool isAll = expr.getKind() == IntExpr::Kind::Symbol &&
                   expr.getSymbol() == "X" && !dims.empty();
      if (isAll)
        llvm::append_range(result, dims[0]);
      else
        result.push_back(substitute(expr));
    }
    return result;
  }

  Attribute substitute(Attribute attribute) {
    if (auto list = dyn_cast<DimsAttr>(attribute)) {
      SmallVector<IntExpr> result = substitute(list);
      return DimsAttr::get(attribute.getContext(), ArrayRef<IntExpr>(result));
    }
    if (auto expr = dyn_cast<IntExpr>(attribute))
      return substitute(expr);
    return attribute;
  }

  bool failed = false;

private:
  SmallVector<SmallVector<IntExpr>, 2> dims;
};

/// Whether each dim of `value` is 1 or the broadcast's. (Import checks unknown
/// dims at run time; a rule should know them.)
bool repeats(Value value, ArrayRef<NamedAttribute> attributes) {
  SmallVector<IntExpr> from = *getDims(cast<RankedTensorType>(value.getType()));
  ArrayRef<IntExpr> to = cast<DimsAttr>(attributes[0].getValue()).getDims();
  if (from.size() != to.size())
    return false;
  for (auto [a, b] : llvm::zip(from, to))
    if (!a.isConstant(1) && a != b)
      return false;
  return true;
}

} // namespace

FailureOr<Value> VariantBuilder::build(OpBuilder &builder, ArrayRef<Step> steps,
                                       ValueRange operands,
                                       Constants constants) {
  // Types that do not fit are an answer here, not an error.
  ScopedDiagnosticHandler silent(context,
                                 [](Diagnostic &) { return success(); });
  OperandDims dims(operands);
  SmallVector<Value> results;
  for (const Step &step : steps) {
    const Parsed &text = parse(step);
    SmallVector<Value> values;
    for (const Operand &operand : text.operands) {
      if (operand.kind == '%')
        values.push_back(results[operand.step]);
      else if (operand.kind == '@')
        values.push_back(
            constants(operand.name, dims.substitute(operand.dims)));
      else
        values.push_back(operands[operand.kind - 'x']);
    }
    SmallVector<NamedAttribute> attributes;
    for (NamedAttribute attribute : text.attributes)
      attributes.emplace_back(attribute.getName(),
                              dims.substitute(attribute.getValue()));
    if (dims.failed)
      return failure();
    if (step.op == "broadcast" && !repeats(values[0], attributes))
      return failure();
    FailureOr<Operation *> op = createOp(builder, builder.getUnknownLoc(),
                                         "mlc." + step.op, values, attributes);
    if (failed(op))
      return failure();
    results.push_back((*op)->getResult(0));
  }
  return results.back();
}

} // namespace mlc::generate
