//===- Dist.cpp - Tensors of many ranks -----------------------------------===//

#include "dialects/Dist/Dist.h"
#include "dialects/Symbolic/Attributes.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlc;
using namespace mlc::dist;
using llvm::SmallVector;
using llvm::StringRef;

#include "dialects/Dist/DistDialect.cpp.inc"

namespace mlc::dist {

llvm::hash_code hash_value(const Partial &partial) {
  return llvm::hash_combine(partial.axis, partial.reduction);
}

} // namespace mlc::dist

#define GET_ATTRDEF_CLASSES
#include "dialects/Dist/DistAttributes.cpp.inc"

#include "dialects/Dist/DistInterfaces.cpp.inc"

#define GET_OP_CLASSES
#include "dialects/Dist/Dist.cpp.inc"

void DistDialect::initialize() {
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "dialects/Dist/Dist.cpp.inc"
      >();
}

void DistDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/Dist/DistAttributes.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Axes
//===----------------------------------------------------------------------===//

IntExpr AxisAttr::getRank() const {
  return IntExpr::symbol(getContext(), "rank." + getName().str());
}

IntExpr AxisAttr::getSize(IntExpr extent) const {
  if (std::optional<IntExpr> even = extent.exactDiv(getSize()))
    return *even;
  return (extent + getSize() - 1 - getRank()).floorDiv(getSize());
}

IntExpr AxisAttr::getBegin(IntExpr extent) const {
  if (std::optional<IntExpr> even = extent.exactDiv(getSize()))
    return *even * getRank();
  return getRank() * extent.floorDiv(getSize()) +
         IntExpr::min(getRank(), extent.mod(getSize()));
}

Attribute AxisAttr::parse(AsmParser &parser, Type) {
  std::string name;
  SMLoc place = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseString(&name) || parser.parseComma())
    return {};
  FailureOr<IntExpr> size = parseIntExpr(parser);
  if (failed(size) || parser.parseGreater())
    return {};
  if (name.empty() || (size->isConstant() && size->getConstant() < 1)) {
    parser.emitError(place, "an axis has a name and at least one rank");
    return {};
  }
  return get(parser.getContext(), name, *size);
}

void AxisAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printer.printString(getName());
  printer << ", " << getSize().str() << '>';
}

//===----------------------------------------------------------------------===//
// Shardings
//===----------------------------------------------------------------------===//

ShardingAttr ShardingAttr::get(MLIRContext *context, const Axes &dims) {
  Builder b(context);
  SmallVector<ArrayAttr> lists;
  for (const auto &axes : dims)
    lists.push_back(b.getStrArrayAttr(axes));
  return get(context, lists, {});
}

ShardingAttr ShardingAttr::getReplicated(MLIRContext *context, unsigned rank) {
  return get(context, Axes(rank));
}

bool ShardingAttr::isSplit() const {
  return !llvm::all_of(getDims(), [](ArrayAttr axes) { return axes.empty(); });
}

bool ShardingAttr::isReplicated() const {
  return getPartial().empty() && !isSplit();
}

std::optional<unsigned> ShardingAttr::findDim(StringRef axis) const {
  for (auto [d, axes] : llvm::enumerate(getDims()))
    if (llvm::is_contained(axes.getAsValueRange<StringAttr>(), axis))
      return d;
  return std::nullopt;
}

static ParseResult parsePartial(AsmParser &parser,
                                SmallVector<Partial> &partial) {
  std::string axis;
  Partial one{{}, Reduction::Sum};
  if (parser.parseString(&axis))
    return failure();
  one.axis = StringAttr::get(parser.getContext(), axis);
  SMLoc place = parser.getCurrentLocation();
  StringRef word;
  if (succeeded(parser.parseOptionalKeyword(&word))) {
    std::optional<Reduction> reduction = symbolizeReduction(word);
    if (!reduction || *reduction == Reduction::Mean)
      return parser.emitError(place, "expected sum, prod, max or min");
    one.reduction = *reduction;
  }
  partial.push_back(one);
  return success();
}

/// The axes of one dim: `""`, `"data"`, or `["data", "fsdp"]`.
static ParseResult parseAxes(AsmParser &parser, SmallVector<ArrayAttr> &dims) {
  std::string axis;
  SmallVector<Attribute> axes;
  auto parseAxis = [&]() -> ParseResult {
    SMLoc place = parser.getCurrentLocation();
    if (parser.parseString(&axis))
      return failure();
    if (axis.empty())
      return parser.emitError(place, "expected the name of an axis");
    axes.push_back(StringAttr::get(parser.getContext(), axis));
    return success();
  };
  if (succeeded(parser.parseOptionalString(&axis))) {
    if (!axis.empty())
      axes.push_back(StringAttr::get(parser.getContext(), axis));
  } else if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                            parseAxis)) {
    return failure();
  }
  dims.push_back(ArrayAttr::get(parser.getContext(), axes));
  return success();
}

/// `<["data", ""], partial = ["model" max]>`
Attribute ShardingAttr::parse(AsmParser &parser, Type) {
  MLIRContext *context = parser.getContext();
  SmallVector<ArrayAttr> dims;
  SmallVector<Partial> partial;
  SMLoc place = parser.getCurrentLocation();
  if (parser.parseLess() ||
      parser.parseCommaSeparatedList(
          AsmParser::Delimiter::Square,
          [&]() -> ParseResult { return parseAxes(parser, dims); }))
    return {};
  if (succeeded(parser.parseOptionalComma()) &&
      (parser.parseKeyword("partial") || parser.parseEqual() ||
       parser.parseCommaSeparatedList(
           AsmParser::Delimiter::Square,
           [&]() -> ParseResult { return parsePartial(parser, partial); })))
    return {};
  if (parser.parseGreater())
    return {};
  llvm::SmallDenseSet<StringRef> used;
  auto isTwice = [&](StringAttr axis) {
    return !used.insert(axis.getValue()).second;
  };
  bool isAnyTwice = llvm::any_of(
      partial, [&](const Partial &one) { return isTwice(one.axis); });
  for (ArrayAttr axes : dims)
    isAnyTwice |= llvm::any_of(axes.getAsRange<StringAttr>(), isTwice);
  if (isAnyTwice) {
    parser.emitError(place, "an axis splits one dim, or is partial");
    return {};
  }
  return get(context, dims, partial);
}

void ShardingAttr::print(AsmPrinter &printer) const {
  printer << "<[";
  llvm::interleaveComma(getDims(), printer, [&](ArrayAttr axes) {
    if (axes.size() > 1)
      printer << axes;
    else
      printer.printString(axes.empty() ? ""
                                       : cast<StringAttr>(axes[0]).getValue());
  });
  printer << ']';
  if (!getPartial().empty()) {
    printer << ", partial = [";
    llvm::interleaveComma(getPartial(), printer, [&](const Partial &one) {
      printer.printString(one.axis.getValue());
      if (one.reduction != Reduction::Sum)
        printer << ' ' << stringifyReduction(one.reduction);
    });
    printer << ']';
  }
  printer << '>';
}
