//===- Body.cpp - The function that an emitter fills ----------------------===//

#include "codegen/cpu/Body.h"
#include "codegen/cpu/Storage.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace mlc::cpu {

/// A memref<?xelement> over the memory at `pointer`: an LLVM descriptor under a
/// cast that the lowering removes. Its size is not set because nothing reads
/// the size of a flat memref.
static Value flatMemref(OpBuilder &b, Location loc, Value pointer,
                        Type element) {
  MLIRContext *ctx = b.getContext();
  Type i64 = b.getI64Type();
  Type array = LLVM::LLVMArrayType::get(i64, 1);
  Type type = LLVM::LLVMStructType::getLiteral(
      ctx, {pointer.getType(), pointer.getType(), i64, array, array});
  auto constant = [&](int64_t value) {
    return LLVM::ConstantOp::create(b, loc, i64, b.getI64IntegerAttr(value))
        .getResult();
  };
  Value descriptor = LLVM::PoisonOp::create(b, loc, type);
  auto insert = [&](Value value, ArrayRef<int64_t> position) {
    descriptor =
        LLVM::InsertValueOp::create(b, loc, descriptor, value, position);
  };
  insert(pointer, {0});
  insert(pointer, {1});
  insert(constant(0), {2});
  insert(constant(std::numeric_limits<int64_t>::max()), {3, 0});
  insert(constant(1), {4, 0});
  auto memref = MemRefType::get({ShapedType::kDynamic}, storageType(element));
  return UnrealizedConversionCastOp::create(b, loc, memref, descriptor)
      .getResult(0);
}

static Type elementType(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getElementType();
}

Value KernelBody::constant(int64_t value) {
  return arith::ConstantIndexOp::create(b, loc, value);
}

Value KernelBody::emit(IntExpr expr) {
  switch (expr.getKind()) {
  case IntExpr::Kind::Constant:
    return constant(expr.getConstant());
  case IntExpr::Kind::Symbol: {
    for (auto [name, value] : llvm::zip_equal(kernel.symbols, symbols))
      if (name == expr.getSymbol())
        return value;
    llvm_unreachable("an expression over the kernel's symbols");
  }
  default:
    break;
  }
  Value result;
  for (IntExpr operand : expr.getOperands()) {
    Value value = emit(operand);
    if (!result) {
      result = value;
      continue;
    }
    switch (expr.getKind()) {
    case IntExpr::Kind::Add:
      result = arith::AddIOp::create(b, loc, result, value);
      break;
    case IntExpr::Kind::Mul:
      result = arith::MulIOp::create(b, loc, result, value);
      break;
    case IntExpr::Kind::FloorDiv:
      result = arith::FloorDivSIOp::create(b, loc, result, value);
      break;
    case IntExpr::Kind::Mod: {
      // Floor modulo; remsi takes the sign of the dividend.
      Value quotient = arith::FloorDivSIOp::create(b, loc, result, value);
      Value whole = arith::MulIOp::create(b, loc, quotient, value);
      result = arith::SubIOp::create(b, loc, result, whole);
      break;
    }
    case IntExpr::Kind::Min:
      result = arith::MinSIOp::create(b, loc, result, value);
      break;
    case IntExpr::Kind::Max:
      result = arith::MaxSIOp::create(b, loc, result, value);
      break;
    default:
      llvm_unreachable("leaves are handled above");
    }
  }
  return result;
}

Value KernelBody::scratchView(IntExpr byteOffset, Type element) {
  auto pointerType = LLVM::LLVMPointerType::get(b.getContext());
  Value offset =
      arith::IndexCastOp::create(b, loc, b.getI64Type(), emit(byteOffset));
  Value pointer = LLVM::GEPOp::create(b, loc, pointerType, b.getI8Type(),
                                      scratchPointer, ValueRange{offset});
  return flatMemref(b, loc, pointer, element);
}

/// Sets what LLVM may assume about the pointer argument `index`.
static void describePointer(func::FuncOp function, unsigned index, bool alone) {
  Builder b(function.getContext());
  if (alone)
    function.setArgAttr(index, LLVM::LLVMDialect::getNoAliasAttrName(),
                        b.getUnitAttr());
  function.setArgAttr(index, LLVM::LLVMDialect::getAlignAttrName(),
                      b.getI64IntegerAttr(64));
}

/// The body function's arguments: a pointer per buffer, the symbols, the range
/// of tasks, scratch.
static func::FuncOp createBodyFunction(OpBuilder &b, Location loc,
                                       const Kernel &kernel, StringRef name) {
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  size_t buffers = kernel.inputs.size() + kernel.outputs.size();
  SmallVector<Type> types(buffers, pointer);
  types.append(kernel.symbols.size() + 2, b.getI64Type());
  types.push_back(pointer);
  auto function =
      func::FuncOp::create(b, loc, name, b.getFunctionType(types, TypeRange()));
  function.setPrivate();
  function->setAttr("no_inline", b.getUnitAttr());
  function->setAttr(
      "llvm.linkage",
      LLVM::LinkageAttr::get(b.getContext(), LLVM::Linkage::Internal));
  return function;
}

/// The entry with the runtime's ABI: loads what the body takes and calls it.
static void createEntry(OpBuilder &b, Location loc, func::FuncOp body,
                        size_t buffers, size_t symbols, StringRef name) {
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  Type i64 = b.getI64Type();
  auto entry = func::FuncOp::create(
      b, loc, name,
      b.getFunctionType({pointer, pointer, i64, i64, pointer}, TypeRange()));
  OpBuilder inner = OpBuilder::atBlockBegin(entry.addEntryBlock());
  SmallVector<Value> operands;
  auto load = [&](Value base, Type type, size_t index) {
    Value address = LLVM::GEPOp::create(inner, loc, pointer, type, base,
                                        ArrayRef<LLVM::GEPArg>{int(index)});
    operands.push_back(LLVM::LoadOp::create(inner, loc, type, address));
  };
  for (size_t i = 0; i < buffers; ++i)
    load(entry.getArgument(0), pointer, i);
  for (size_t i = 0; i < symbols; ++i)
    load(entry.getArgument(1), i64, i);
  llvm::append_range(operands, entry.getArguments().drop_front(2));
  func::CallOp::create(inner, loc, body, operands);
  func::ReturnOp::create(inner, loc);
}

FailureOr<EmittedKernel> emitFunction(OpBuilder &b, const Kernel &kernel,
                                      const Target &target, StringRef symbol,
                                      EmitterFn emitter) {
  Location loc = b.getUnknownLoc();
  func::FuncOp function =
      createBodyFunction(b, loc, kernel, (symbol + "_body").str());
  Block *block = function.addEntryBlock();
  OpBuilder inner = OpBuilder::atBlockBegin(block);
  func::ReturnOp::create(inner, loc);
  inner.setInsertionPoint(block->getTerminator());

  KernelBody body(kernel, target, inner);
  unsigned next = 0;
  auto take = [&] { return block->getArgument(next++); };
  auto index = [&](Value value) -> Value {
    return arith::IndexCastOp::create(inner, loc, inner.getIndexType(), value);
  };
  for (Value input : kernel.inputs)
    body.inputs.push_back(flatMemref(inner, loc, take(), elementType(input)));
  for (Value output : kernel.outputs)
    body.outputs.push_back(flatMemref(inner, loc, take(), elementType(output)));
  for (size_t i = 0; i < kernel.symbols.size(); ++i)
    body.symbols.push_back(index(take()));
  body.begin = index(take());
  body.end = index(take());
  body.scratchPointer = take();
  body.scratch = flatMemref(inner, loc, body.scratchPointer, inner.getI8Type());

  FailureOr<EmittedKernel> result = emitter(body);
  if (failed(result))
    return failure();
  size_t buffers = kernel.inputs.size() + kernel.outputs.size();
  llvm::SmallBitVector shared(buffers);
  for (auto [input, output] : result->inPlace) {
    shared.set(input);
    shared.set(kernel.inputs.size() + output);
  }
  for (size_t i = 0; i < buffers; ++i)
    describePointer(function, i, !shared.test(i));
  describePointer(function, function.getNumArguments() - 1, true);
  createEntry(b, loc, function, buffers, kernel.symbols.size(), symbol);
  return result;
}

} // namespace mlc::cpu
