//===- Rule.cpp - A rewrite as data: the dialect --------------------------===//

#include "dialects/Rule/Rule.h"
#include "dialects/Interfaces/Attributes.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlc;
using namespace mlc::rule;
using llvm::SmallVector;
using llvm::StringRef;

#include "dialects/Rule/RuleDialect.cpp.inc"

#define GET_OP_CLASSES
#include "dialects/Rule/RuleOps.cpp.inc"

void RuleDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "dialects/Rule/RuleOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// def
//===----------------------------------------------------------------------===//

static func::FuncOp findFunction(DefOp def, StringRef name) {
  for (auto function : def.getBody().front().getOps<func::FuncOp>())
    if (function.getSymName() == name)
      return function;
  return nullptr;
}

func::FuncOp DefOp::getBefore() { return findFunction(*this, "before"); }
func::FuncOp DefOp::getAfter() { return findFunction(*this, "after"); }

LogicalResult DefOp::verifyRegions() {
  for (Operation &op : getBody().front())
    if (!isa<func::FuncOp, RequireOp, AssumeOp, AssumeRealOp>(op))
      return op.emitOpError() << "does not belong in a rule.def";
  func::FuncOp before = getBefore(), after = getAfter();
  if (!before || !after)
    return emitOpError() << "requires func.func @before and @after";
  if (before.isExternal() || after.isExternal())
    return emitOpError() << "requires bodies of @before and @after";
  if (before.getArgumentTypes() != after.getArgumentTypes())
    return emitOpError() << "requires equal arguments of @before and @after";
  if (before.getNumResults() != after.getNumResults())
    return emitOpError() << "requires as many results of @after as of @before, "
                         << before.getNumResults() << ", got "
                         << after.getNumResults();
  for (auto [x, y] : llvm::zip(before.getResultTypes(), after.getResultTypes()))
    if (getElementTypeOrSelf(x) != getElementTypeOrSelf(y))
      return emitOpError() << "requires equal element types of results, got "
                           << x << " and " << y;
  for (AssumeOp assume : getBody().front().getOps<AssumeOp>())
    if (assume.getArgument() >= before.getNumArguments())
      return assume.emitOpError()
             << "names argument " << static_cast<int64_t>(assume.getArgument())
             << " of " << before.getNumArguments();
  return success();
}

//===----------------------------------------------------------------------===//
// require
//===----------------------------------------------------------------------===//

ParseResult RequireOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<IntExpr> lhs, rhs;
  SmallVector<Attribute> predicates;
  Builder &builder = parser.getBuilder();
  do {
    FailureOr<IntExpr> left = parseIntExpr(parser);
    StringRef word;
    if (failed(left) || parser.parseKeyword(&word))
      return failure();
    FailureOr<IntExpr> right = parseIntExpr(parser);
    if (failed(right))
      return failure();
    lhs.push_back(*left);
    rhs.push_back(*right);
    predicates.push_back(builder.getStringAttr(word));
  } while (succeeded(parser.parseOptionalKeyword("or")));
  MLIRContext *context = parser.getContext();
  result.addAttribute("lhs",
                      DimsAttr::get(context, llvm::ArrayRef<IntExpr>(lhs)));
  result.addAttribute("predicates", builder.getArrayAttr(predicates));
  result.addAttribute("rhs",
                      DimsAttr::get(context, llvm::ArrayRef<IntExpr>(rhs)));
  return parser.parseOptionalAttrDict(result.attributes);
}

void RequireOp::print(OpAsmPrinter &printer) {
  for (auto [i, predicate] : llvm::enumerate(getPredicates())) {
    printer << (i ? " or " : " ");
    getLhs()[i].print(printer.getStream());
    printer << ' ' << cast<StringAttr>(predicate).getValue() << ' ';
    getRhs()[i].print(printer.getStream());
  }
  printer.printOptionalAttrDict((*this)->getAttrs(),
                                {"lhs", "predicates", "rhs"});
}

LogicalResult RequireOp::verify() {
  size_t count = getPredicates().size();
  if (count == 0 || getLhs().size() != count || getRhs().size() != count)
    return emitOpError() << "requires two sides for each of 1 or more "
                            "predicates, got "
                         << getLhs().size() << " and " << getRhs().size()
                         << " for " << count;
  for (auto predicate : getPredicates().getAsValueRange<StringAttr>())
    if (predicate != "divides" && !symbolizeComparePredicate(predicate))
      return emitOpError() << "does not know '" << predicate
                           << "' - expected eq, ne, lt, le, gt, ge or divides";
  return success();
}

//===----------------------------------------------------------------------===//
// assume
//===----------------------------------------------------------------------===//

ParseResult AssumeOp::parse(OpAsmParser &parser, OperationState &result) {
  StringRef word;
  int64_t argument;
  if (parser.parseKeyword(&word) || parser.parseInteger(argument))
    return failure();
  result.addAttribute("predicate", parser.getBuilder().getStringAttr(word));
  result.addAttribute("argument",
                      parser.getBuilder().getI64IntegerAttr(argument));
  return parser.parseOptionalAttrDict(result.attributes);
}

void AssumeOp::print(OpAsmPrinter &printer) {
  printer << ' ' << stringifyElementPredicate(getPredicate()) << ' '
          << static_cast<int64_t>(getArgument());
  printer.printOptionalAttrDict((*this)->getAttrs(), {"predicate", "argument"});
}

//===----------------------------------------------------------------------===//
// assume_real
//===----------------------------------------------------------------------===//

ParseResult AssumeRealOp::parse(OpAsmParser &parser, OperationState &result) {
  std::string parameter;
  StringRef word;
  double bound;
  if (parser.parseKeywordOrString(&parameter) || parser.parseKeyword(&word) ||
      parser.parseFloat(bound))
    return failure();
  Builder &builder = parser.getBuilder();
  result.addAttribute("parameter", builder.getStringAttr(parameter));
  result.addAttribute("predicate", builder.getStringAttr(word));
  result.addAttribute("bound", builder.getF64FloatAttr(bound));
  return parser.parseOptionalAttrDict(result.attributes);
}

void AssumeRealOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  printer.printKeywordOrString(getParameter());
  printer << ' ' << stringifyComparePredicate(getPredicate()) << ' ';
  printer.printFloat(getBound());
  printer.printOptionalAttrDict((*this)->getAttrs(),
                                {"parameter", "predicate", "bound"});
}
