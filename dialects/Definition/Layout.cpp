//===- Layout.cpp - Storage layouts of tensors ----------------------------===//

#include "dialects/Definition/Layout.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlc;
using llvm::ArrayRef;
using llvm::SmallVector;

using Part = StoredDim::Part;

/// No tensor has larger sizes, and their blocks could overflow.
static constexpr int64_t maxSize = int64_t(1) << 40;
/// Dims are letters.
static constexpr unsigned maxRank = 26;

LayoutAttr LayoutAttr::getPlain(MLIRContext *context, unsigned rank) {
  SmallVector<StoredDim> order;
  for (unsigned d = 0; d < rank; ++d)
    order.push_back({d, Part::Whole});
  return get(context, ArrayRef<StoredDim>(order), ArrayRef<DimSplit>());
}

bool LayoutAttr::isPlain() const {
  for (auto [d, stored] : llvm::enumerate(getOrder()))
    if (stored.part != Part::Whole || stored.dim != d)
      return false;
  return getSplits().empty();
}

unsigned LayoutAttr::getRank() const {
  unsigned rank = 0;
  for (const StoredDim &stored : getOrder())
    rank = std::max(rank, stored.dim + 1);
  for (const DimSplit &split : getSplits())
    rank = std::max(rank, split.dim + 1);
  return rank;
}

const DimSplit *LayoutAttr::getSplit(unsigned d) const {
  const auto *it = llvm::find_if(
      getSplits(), [&](const DimSplit &split) { return split.dim == d; });
  return it == getSplits().end() ? nullptr : it;
}

bool LayoutAttr::isFilled() const {
  return llvm::any_of(getSplits(),
                      [](const DimSplit &split) { return split.isFilled(); });
}

std::optional<SmallVector<IntExpr>>
LayoutAttr::getStoredDims(ArrayRef<IntExpr> dims) const {
  if (dims.size() != getRank())
    return std::nullopt;
  for (const DimSplit &split : getSplits())
    if (!dims[split.dim].isConstant(split.size))
      return std::nullopt;
  SmallVector<IntExpr> stored;
  for (const StoredDim &dim : getOrder()) {
    const DimSplit *split = getSplit(dim.dim);
    stored.push_back(
        dim.part == Part::Whole
            ? dims[dim.dim]
            : IntExpr::constant(getContext(), dim.part == Part::Block
                                                  ? split->blocks()
                                                  : split->block));
  }
  return stored;
}

std::optional<SmallVector<IntExpr>>
LayoutAttr::getDims(ArrayRef<IntExpr> stored) const {
  if (stored.size() != getOrder().size())
    return std::nullopt;
  SmallVector<IntExpr> dims(getRank());
  for (const DimSplit &split : getSplits())
    dims[split.dim] = IntExpr::constant(getContext(), split.size);
  for (auto [dim, size] : llvm::zip(getOrder(), stored))
    if (dim.part == Part::Whole)
      dims[dim.dim] = size;
  std::optional<SmallVector<IntExpr>> again = getStoredDims(dims);
  if (!again || ArrayRef<IntExpr>(*again) != stored)
    return std::nullopt;
  return dims;
}

LogicalResult LayoutAttr::verify(llvm::function_ref<InFlightDiagnostic()> error,
                                 ArrayRef<StoredDim> order,
                                 ArrayRef<DimSplit> splits) {
  SmallVector<unsigned> whole(maxRank), blocks(maxRank), lanes(maxRank);
  SmallVector<const DimSplit *> splitOf(maxRank);
  auto letter = [](unsigned d) { return std::string(1, char('a' + d)); };
  auto isNoDim = [](const auto &part) { return part.dim >= maxRank; };
  bool isKnown =
      llvm::none_of(order, isNoDim) && llvm::none_of(splits, isNoDim);
  for (const DimSplit &split : splits) {
    isKnown = isKnown && !splitOf[split.dim];
    if (isKnown)
      splitOf[split.dim] = &split;
  }
  if (!isKnown)
    return error() << "gives a size twice or of no dim";
  for (const DimSplit &split : splits) {
    if (split.size < 0 || split.size > maxSize || split.block < 0 ||
        split.block > maxSize || split.groups < 1 ||
        split.size % split.groups != 0 ||
        (split.isLeftOut() && (split.size != 1 || split.groups != 1)))
      return error()
             << "requires sizes, positive blocks and groups that divide "
                "sizes, got "
             << letter(split.dim) << " = " << split.size << " in "
             << split.groups << " with blocks of " << split.block;
  }
  for (const StoredDim &stored : order) {
    SmallVector<unsigned> &count = stored.part == Part::Whole   ? whole
                                   : stored.part == Part::Block ? blocks
                                                                : lanes;
    ++count[stored.dim];
  }
  unsigned rank = 0;
  for (unsigned d = 0; d < maxRank; ++d)
    if (whole[d] || blocks[d] || lanes[d] || splitOf[d])
      rank = d + 1;
  for (unsigned d = 0; d < rank; ++d) {
    bool isWhole = whole[d] == 1 && !blocks[d] && !lanes[d] && !splitOf[d];
    bool isCut = !whole[d] && blocks[d] == 1 && lanes[d] == 1 && splitOf[d] &&
                 !splitOf[d]->isLeftOut();
    bool isLeftOut = !whole[d] && !blocks[d] && !lanes[d] && splitOf[d] &&
                     splitOf[d]->isLeftOut();
    if (!isWhole && !isCut && !isLeftOut)
      return error()
             << "requires every dim once, as it is, or cut (div and mod "
                "of one block, with its size), or left out with size 1; "
                "dim "
             << letter(d) << " is not";
  }
  return success();
}

/// The number of the dim that a letter names.
static FailureOr<unsigned> parseDim(AsmParser &parser) {
  llvm::StringRef letter;
  llvm::SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&letter))
    return failure();
  if (letter.size() == 1 && letter[0] >= 'a' && letter[0] <= 'z')
    return static_cast<unsigned>(letter[0] - 'a');
  parser.emitError(loc) << "expected a dim from a to z, got '" << letter << "'";
  return failure();
}

Attribute LayoutAttr::parse(AsmParser &parser, Type) {
  llvm::SMLoc loc = parser.getCurrentLocation();
  SmallVector<StoredDim> order;
  SmallVector<DimSplit> splits;
  llvm::DenseMap<unsigned, int64_t> blockOf;
  auto parseStored = [&]() -> ParseResult {
    FailureOr<unsigned> dim = parseDim(parser);
    if (failed(dim))
      return failure();
    bool isBlock = succeeded(parser.parseOptionalKeyword("div"));
    if (!isBlock && failed(parser.parseOptionalKeyword("mod"))) {
      order.push_back({*dim, Part::Whole});
      return success();
    }
    order.push_back({*dim, isBlock ? Part::Block : Part::Lane});
    int64_t block = 0;
    if (parser.parseInteger(block))
      return failure();
    if (!blockOf.try_emplace(*dim, block).second && blockOf[*dim] != block)
      return parser.emitError(loc) << "requires one block for div and mod";
    return success();
  };
  if (parser.parseLess() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseStored))
    return {};
  while (succeeded(parser.parseOptionalComma())) {
    FailureOr<unsigned> dim = parseDim(parser);
    DimSplit split{};
    if (failed(dim) || parser.parseEqual() || parser.parseInteger(split.size) ||
        (succeeded(parser.parseOptionalKeyword("in")) &&
         parser.parseInteger(split.groups)))
      return {};
    split.dim = *dim;
    split.block = blockOf.lookup(*dim); // none: left out
    splits.push_back(split);
  }
  if (parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(),
                    ArrayRef<StoredDim>(order), ArrayRef<DimSplit>(splits));
}

void LayoutAttr::print(AsmPrinter &printer) const {
  auto letter = [](unsigned d) { return char('a' + d); };
  printer << "<[";
  llvm::interleaveComma(getOrder(), printer, [&](const StoredDim &stored) {
    printer << letter(stored.dim);
    if (stored.part != Part::Whole)
      printer << (stored.part == Part::Block ? " div " : " mod ")
              << getSplit(stored.dim)->block;
  });
  printer << ']';
  for (const DimSplit &split : getSplits()) {
    printer << ", " << letter(split.dim) << " = " << split.size;
    if (split.groups != 1)
      printer << " in " << split.groups;
  }
  printer << '>';
}

SmallVector<Expr> mlc::storedIndices(LayoutAttr layout, ArrayRef<Expr> plain) {
  MLIRContext *context = layout.getContext();
  auto number = [&](int64_t value) {
    return IntExpr::constant(context, value);
  };
  SmallVector<Expr> stored;
  for (const StoredDim &dim : layout.getOrder()) {
    const Expr &index = plain[dim.dim];
    if (dim.part == Part::Whole) {
      stored.push_back(index);
      continue;
    }
    const DimSplit &split = *layout.getSplit(dim.dim);
    bool isGrouped = split.groups != 1;
    IntExpr block = number(split.block), perGroup = number(split.perGroup());
    Expr inGroup = isGrouped ? mod(index, perGroup) : index;
    if (dim.part == Part::Lane) {
      stored.push_back(mod(inGroup, block));
      continue;
    }
    Expr inBlocks = floorDiv(inGroup, block);
    stored.push_back(isGrouped ? floorDiv(index, perGroup) *
                                         number(split.blocksPerGroup()) +
                                     inBlocks
                               : inBlocks);
  }
  return stored;
}

Expr mlc::elementIndex(const DimSplit &split, Expr block, Expr lane) {
  MLIRContext *context = block->type.getContext();
  auto number = [&](int64_t value) {
    return IntExpr::constant(context, value);
  };
  if (split.groups == 1)
    return block * number(split.block) + lane;
  IntExpr blocks = number(split.blocksPerGroup());
  return floorDiv(block, blocks) * number(split.perGroup()) +
         (mod(block, blocks) * number(split.block) + lane);
}
