//===- ParseModule.cpp - Modules from texts of unknown origin -------------===//

#include "dialects/Module/ParseModule.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/AsmParser/AsmParserState.h"
#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "runtime/FileKind.h"
#include "runtime/Nesting.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;

namespace mlc {

/// Checks that the operands have the dim of a concatenation.
static LogicalResult check(tensor::ConcatOp op) {
  auto hasDim = [&](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type && op.getDim() < uint64_t(type.getRank());
  };
  if (hasDim(op.getResult()) && llvm::all_of(op.getInputs(), hasDim))
    return success();
  return op.emitOpError("joins along dim ")
         << int64_t(op.getDim()) << ", which not all of its tensors have";
}

/// Checks that a pad has one width, a number or an operand, per dim and side.
static LogicalResult check(tensor::PadOp op) {
  auto isFull = [&](ArrayRef<int64_t> numbers, ValueRange operands) {
    return int64_t(numbers.size()) == op.getSourceType().getRank() &&
           size_t(llvm::count_if(numbers, ShapedType::isDynamic)) ==
               operands.size();
  };
  if (isFull(op.getStaticLow(), op.getLow()) &&
      isFull(op.getStaticHigh(), op.getHigh()))
    return success();
  return op.emitOpError("must have a width for each dim and side, none of them "
                        "the number that stands for an operand");
}

/// Checks that the groups of dims of a reshape are all dims in order.
template <typename Reshape>
static LogicalResult checkGroups(Reshape op, RankedTensorType expanded) {
  int64_t next = 0;
  for (const ReassociationIndices &group : op.getReassociationIndices())
    for (int64_t dim : group)
      if (dim != next++)
        return op.emitOpError("must group all dims in order, got dim ")
               << dim << " where dim " << next - 1 << " is next";
  if (next == expanded.getRank() || op.getReassociationIndices().empty())
    return success();
  return op.emitOpError("must group all ") << expanded.getRank() << " dims";
}

static LogicalResult check(Operation *op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([](tensor::ConcatOp op) { return check(op); })
      .Case([](tensor::PadOp op) { return check(op); })
      .Case([](tensor::CollapseShapeOp op) {
        return checkGroups(op, op.getSrcType());
      })
      .Case([](tensor::ExpandShapeOp op) {
        return checkGroups(op, op.getResultType());
      })
      .Default([](Operation *) { return success(); });
}

StringRef argumentName(BlockArgument argument) {
  auto name = dyn_cast<NameLoc>(argument.getLoc());
  return name ? name.getName().getValue() : StringRef();
}

void setArgumentName(BlockArgument argument, StringRef name) {
  StringAttr attribute = StringAttr::get(argument.getContext(), name);
  argument.setLoc(NameLoc::get(attribute, argument.getLoc()));
}

/// MLIR forgets the names of values in a text, but can tell their positions.
static void nameArguments(const AsmParserState &text) {
  for (const AsmParserState::BlockDefinition &block : text.getBlockDefs())
    for (auto [i, definition] : llvm::enumerate(block.arguments)) {
      SMRange range = definition.loc;
      if (!range.isValid() || i >= block.block->getNumArguments())
        continue;
      const char *start = range.Start.getPointer();
      StringRef name(start, range.End.getPointer() - start);
      BlockArgument argument = block.block->getArgument(i);
      // An explicit location says more.
      if (name.consume_front("%") && argumentName(argument).empty())
        setArgumentName(argument, name);
    }
}

/// Like mlir::parseSourceFile, without verification, with names of arguments.
static OwningOpRef<ModuleOp> parseWithNames(const llvm::SourceMgr &sources,
                                            MLIRContext *context) {
  ParserConfig config(context, /*verifyAfterParse=*/false);
  const llvm::MemoryBuffer *buffer =
      sources.getMemoryBuffer(sources.getMainFileID());
  if (isBytecode(*buffer))
    return parseSourceFile<ModuleOp>(sources, config);
  // MLIR's parser is recursive.
  StringRef written = buffer->getBuffer();
  if (size_t at = runtime::findDeepNesting(written); at != StringRef::npos) {
    auto [line, column] = sources.getLineAndColumn(
        SMLoc::getFromPointer(written.data() + at), sources.getMainFileID());
    emitError(FileLineColLoc::get(context, buffer->getBufferIdentifier(), line,
                                  column))
        << "is nested more than " << runtime::maxNesting << " deep";
    return nullptr;
  }
  Block block;
  AsmParserState text;
  if (failed(parseAsmSourceFile(sources, &block, config, &text)))
    return nullptr;
  nameArguments(text);
  return detail::constructContainerOpForParserIfNecessary<ModuleOp>(
      &block, context,
      FileLineColLoc::get(context, buffer->getBufferIdentifier(), 0, 0));
}

OwningOpRef<ModuleOp> parseModule(const llvm::SourceMgr &sources,
                                  MLIRContext *context) {
  OwningOpRef<ModuleOp> module = parseWithNames(sources, context);
  if (!module)
    return nullptr;
  WalkResult checked = module->walk([](Operation *op) {
    return failed(check(op)) ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (checked.wasInterrupted() || failed(verify(*module)))
    return nullptr;
  return module;
}

static OwningOpRef<ModuleOp> parseBuffer(std::unique_ptr<llvm::MemoryBuffer> b,
                                         MLIRContext *context) {
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(b), llvm::SMLoc());
  return parseModule(sources, context);
}

OwningOpRef<ModuleOp> parseModuleFile(llvm::StringRef path,
                                      MLIRContext *context) {
  runtime::Status status = path == "-"
                               ? runtime::Status::success()
                               : runtime::refuseFifo(path.str().c_str());
  if (status.ok()) {
    auto buffer = llvm::MemoryBuffer::getFileOrSTDIN(path);
    if (buffer)
      return parseBuffer(std::move(*buffer), context);
    status.message = buffer.getError().message();
  }
  emitError(UnknownLoc::get(context))
      << "could not open input file " << path << ": " << status.message;
  return nullptr;
}

OwningOpRef<ModuleOp> parseModuleText(llvm::StringRef text,
                                      llvm::StringRef name,
                                      MLIRContext *context) {
  return parseBuffer(llvm::MemoryBuffer::getMemBufferCopy(text, name), context);
}

OwningOpRef<ModuleOp> parseVerifiedText(llvm::StringRef text,
                                        llvm::StringRef name,
                                        MLIRContext *context) {
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(text, name),
                             llvm::SMLoc());
  return parseWithNames(sources, context);
}

} // namespace mlc
