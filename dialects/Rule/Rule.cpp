//===- Rule.cpp - A rewrite as data: the dialect --------------------------===//

#include "dialects/Rule/Rule.h"
#include "dialects/Module/ParseModule.h"
#include "dialects/Symbolic/Attributes.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/STLExtras.h"

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
    if (!isa<func::FuncOp, RequireOp, AssumeRealOp>(op))
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
  return success();
}

//===----------------------------------------------------------------------===//
// Elements of arguments
//===----------------------------------------------------------------------===//

llvm::ArrayRef<ElementPredicate> rule::elementPredicates() {
  static constexpr ElementPredicate all[] = {
      ElementPredicate::Positive, ElementPredicate::NonNegative,
      ElementPredicate::NonZero,  ElementPredicate::Finite,
      ElementPredicate::AllEqual, ElementPredicate::Constant};
  static_assert(std::size(all) == getMaxEnumValForElementPredicate() + 1);
  return all;
}

static std::string attributeName(ElementPredicate predicate) {
  return ("rule." + stringifyElementPredicate(predicate)).str();
}

bool DefOp::assumes(unsigned argument, ElementPredicate predicate) {
  return bool(getBefore().getArgAttr(argument, attributeName(predicate)));
}

void DefOp::assume(unsigned argument, ElementPredicate predicate) {
  getBefore().setArgAttr(argument, attributeName(predicate),
                         UnitAttr::get(getContext()));
}

LogicalResult RuleDialect::verifyRegionArgAttribute(Operation *op, unsigned,
                                                    unsigned argument,
                                                    NamedAttribute attribute) {
  auto function = dyn_cast<func::FuncOp>(op);
  StringRef own = function && !function.isExternal()
                      ? argumentName(function.getArgument(argument))
                      : StringRef();
  std::string name =
      own.empty() ? "argument " + std::to_string(argument) : ("%" + own).str();
  auto fail = [&] {
    return op->emitOpError() << "has '" << attribute.getName().getValue()
                             << "' at " << name << ": ";
  };
  StringRef word = attribute.getName().getValue();
  if (!word.consume_front("rule.") || !symbolizeElementPredicate(word)) {
    InFlightDiagnostic error = fail() << "expected rule.";
    llvm::interleave(
        elementPredicates(),
        [&](ElementPredicate one) { error << stringifyElementPredicate(one); },
        [&] { error << ", rule."; });
    return error;
  }
  if (!isa<UnitAttr>(attribute.getValue()))
    return fail() << "it has no value";
  auto def = op->getParentOfType<DefOp>();
  if (!def || def.getBefore() != op)
    return fail() << "it belongs at an argument of a rule's @before";
  return success();
}

LogicalResult
RuleDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned,
                                         NamedAttribute attribute) {
  return op->emitOpError() << "has '" << attribute.getName().getValue()
                           << "' at a result: it belongs at an argument of a "
                              "rule's @before";
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
