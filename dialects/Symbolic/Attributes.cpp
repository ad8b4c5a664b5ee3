//===- Attributes.cpp - The mlc dialect's attributes ----------------------===//

#include "dialects/Symbolic/Attributes.h"
#include "dialects/Symbolic/IntExprStorage.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlc;
using llvm::ArrayRef;
using llvm::SmallVector;

#define GET_ATTRDEF_CLASSES
#include "dialects/Symbolic/Attributes.cpp.inc"

DimsAttr DimsAttr::get(MLIRContext *context, ArrayRef<int64_t> values) {
  SmallVector<IntExpr> dims;
  for (int64_t value : values)
    dims.push_back(IntExpr::constant(context, value));
  return get(context, ArrayRef<IntExpr>(dims));
}

std::optional<SmallVector<int64_t>> DimsAttr::asConstants() const {
  SmallVector<int64_t> values;
  for (IntExpr dim : getDims()) {
    if (!dim.isConstant())
      return std::nullopt;
    values.push_back(dim.getConstant());
  }
  return values;
}

/// An encoding has one entry per dim, and agrees with the static dims.
LogicalResult
DimsAttr::verifyEncoding(ArrayRef<int64_t> shape, Type,
                         llvm::function_ref<InFlightDiagnostic()> error) const {
  if (size() != shape.size())
    return error() << "names " << size() << " dims of a tensor of "
                   << shape.size();
  for (auto [d, dim] : llvm::enumerate(getDims())) {
    if (!dim.isConstant())
      continue;
    if (dim.getConstant() < 0)
      return error() << "requires dims that are not negative, got "
                     << dim.str();
    if (!ShapedType::isDynamic(shape[d]) && shape[d] != dim.getConstant())
      return error() << "names dim " << d << " " << dim.str()
                     << ", but its size is " << shape[d];
  }
  return success();
}

Attribute DimsAttr::parse(AsmParser &parser, Type) {
  SmallVector<IntExpr> dims;
  if (parser.parseLess() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                     [&]() -> ParseResult {
                                       FailureOr<IntExpr> dim =
                                           parseIntExpr(parser);
                                       if (failed(dim))
                                         return failure();
                                       dims.push_back(*dim);
                                       return success();
                                     }) ||
      parser.parseGreater())
    return {};
  return get(parser.getContext(), ArrayRef<IntExpr>(dims));
}

void DimsAttr::print(AsmPrinter &printer) const {
  printer << "<[";
  llvm::interleaveComma(getDims(), printer.getStream());
  printer << "]>";
}

RealAttr RealAttr::get(MLIRContext *context, double value) {
  return get(context, llvm::StringRef(), ExactDouble{value});
}
RealAttr RealAttr::getSymbolic(MLIRContext *context, llvm::StringRef symbol) {
  return get(context, symbol, ExactDouble{0.0});
}

Attribute RealAttr::parse(AsmParser &parser, Type) {
  std::string symbol;
  double value = 0.0;
  if (parser.parseLess())
    return {};
  if (failed(parser.parseOptionalKeywordOrString(&symbol)) &&
      parser.parseFloat(value))
    return {};
  if (parser.parseGreater())
    return {};
  // NaN and infinities have no literal of their own.
  if (symbol == "inf" || symbol == "nan")
    return get(parser.getContext(),
               symbol == "inf" ? std::numeric_limits<double>::infinity()
                               : std::nan(""));
  if (symbol == "-inf")
    return get(parser.getContext(), -std::numeric_limits<double>::infinity());
  return symbol.empty() ? get(parser.getContext(), value)
                        : getSymbolic(parser.getContext(), symbol);
}

void RealAttr::print(AsmPrinter &printer) const {
  printer << '<';
  double value = getDouble();
  if (isSymbol())
    printer.printKeywordOrString(getSymbol());
  else if (std::isnan(value))
    printer << "nan";
  else if (std::isinf(value))
    printer << (value > 0 ? "inf" : "\"-inf\"");
  else
    printer.printFloat(llvm::APFloat(value));
  printer << '>';
}

void MlcDialect::registerAttributes() {
  addAttributes<IntExpr,
#define GET_ATTRDEF_LIST
#include "dialects/Symbolic/Attributes.cpp.inc"
                >();
}

Attribute MlcDialect::parseAttribute(DialectAsmParser &parser,
                                     Type type) const {
  llvm::StringRef mnemonic;
  Attribute attribute;
  OptionalParseResult result =
      generatedAttributeParser(parser, &mnemonic, type, attribute);
  if (result.has_value())
    return attribute;
  if (mnemonic != "int") {
    parser.emitError(parser.getNameLoc())
        << "unknown mlc attribute '" << mnemonic
        << "' - expected dims, int, layout or real";
    return {};
  }
  if (parser.parseLess())
    return {};
  FailureOr<IntExpr> expr = parseIntExpr(parser);
  if (failed(expr) || parser.parseGreater())
    return {};
  return *expr;
}

void MlcDialect::printAttribute(Attribute attribute,
                                DialectAsmPrinter &printer) const {
  if (auto expr = llvm::dyn_cast<IntExpr>(attribute)) {
    printer << "int<";
    expr.print(printer.getStream());
    printer << '>';
    return;
  }
  (void)generatedAttributePrinter(attribute, printer);
}

std::optional<SmallVector<IntExpr>> mlc::getDims(RankedTensorType type) {
  if (auto dims = llvm::dyn_cast_or_null<DimsAttr>(type.getEncoding()))
    return SmallVector<IntExpr>(dims.getDims());
  SmallVector<IntExpr> dims;
  for (int64_t size : type.getShape()) {
    if (ShapedType::isDynamic(size))
      return std::nullopt;
    dims.push_back(IntExpr::constant(type.getContext(), size));
  }
  return dims;
}

RankedTensorType mlc::getTensorType(ArrayRef<IntExpr> dims, Type elementType) {
  SmallVector<int64_t> shape;
  bool isStatic = true;
  for (IntExpr dim : dims) {
    shape.push_back(dim.asConstant().value_or(ShapedType::kDynamic));
    isStatic &= dim.isConstant();
  }
  Attribute encoding;
  if (!isStatic)
    encoding = DimsAttr::get(elementType.getContext(), dims);
  return RankedTensorType::get(shape, elementType, encoding);
}

IntExpr mlc::getNumElements(MLIRContext *context, ArrayRef<IntExpr> dims) {
  IntExpr product = IntExpr::constant(context, 1);
  for (IntExpr dim : dims)
    product = product * dim;
  return product;
}
