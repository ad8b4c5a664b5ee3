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
      return assume.emitOpError() << "names argument " << assume.getArgument()
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
    SMLoc loc = parser.getCurrentLocation();
    if (failed(left) || parser.parseKeyword(&word))
      return failure();
    if (word != "divides" && !symbolizeComparePredicate(word))
      return parser.emitError(loc)
             << "expected eq, ne, lt, le, gt, ge or divides, got '" << word
             << "'";
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
}

//===----------------------------------------------------------------------===//
// assume
//===----------------------------------------------------------------------===//

ParseResult AssumeOp::parse(OpAsmParser &parser, OperationState &result) {
  StringRef word;
  int64_t argument;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&word) || parser.parseInteger(argument))
    return failure();
  if (!symbolizeElementPredicate(word))
    return parser.emitError(loc)
           << "expected positive, nonnegative, nonzero, finite, allequal or "
              "constant, got '"
           << word << "'";
  result.addAttribute("predicate", parser.getBuilder().getStringAttr(word));
  result.addAttribute("argument",
                      parser.getBuilder().getI64IntegerAttr(argument));
  return parser.parseOptionalAttrDict(result.attributes);
}

void AssumeOp::print(OpAsmPrinter &printer) {
  printer << ' ' << stringifyElementPredicate(getPredicate()) << ' '
          << static_cast<int64_t>(getArgument());
}

ParseResult AssumeRealOp::parse(OpAsmParser &parser, OperationState &result) {
  StringRef parameter, word;
  double bound;
  SMLoc loc;
  if (parser.parseKeyword(&parameter))
    return failure();
  loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&word) || parser.parseFloat(bound))
    return failure();
  if (!symbolizeComparePredicate(word))
    return parser.emitError(loc)
           << "expected eq, ne, lt, le, gt or ge, got '" << word << "'";
  Builder &builder = parser.getBuilder();
  result.addAttribute("parameter", builder.getStringAttr(parameter));
  result.addAttribute("predicate", builder.getStringAttr(word));
  result.addAttribute("bound", builder.getF64FloatAttr(bound));
  return parser.parseOptionalAttrDict(result.attributes);
}

void AssumeRealOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getParameter() << ' '
          << stringifyComparePredicate(getPredicate()) << ' ';
  printer.printFloat(getBound());
}
