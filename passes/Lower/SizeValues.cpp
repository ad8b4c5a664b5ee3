//===- SizeValues.cpp - IntExprs as index values --------------------------===//

#include "passes/Lower/SizeValues.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace mlc {

SizeValues::SizeValues(func::FuncOp function, ArrayRef<std::string> names,
                       unsigned firstArgument)
    : function(function), builder(function.getContext()),
      loc(function.getLoc()) {
  for (auto [i, name] : llvm::enumerate(names))
    symbols[name] = function.getArgument(firstArgument + i);
}

Value SizeValues::symbol(llvm::StringRef name) {
  Value &value = symbols[name];
  if (value)
    return value;
  auto listed = function->getAttrOfType<ArrayAttr>(kSymbolsAttr);
  SmallVector<Attribute> names(listed ? listed.getValue()
                                      : ArrayRef<Attribute>());
  names.push_back(builder.getStringAttr(name));
  function->setAttr(kSymbolsAttr, builder.getArrayAttr(names));
  unsigned last = function.getNumArguments();
  (void)function.insertArgument(last, builder.getIndexType(), {}, loc);
  return value = function.getArgument(last);
}

AffineExpr SizeValues::affine(IntExpr expr, SmallVectorImpl<Value> &operands) {
  MLIRContext *context = expr.getContext();
  auto asSymbol = [&](Value value) {
    auto it = llvm::find(operands, value);
    unsigned position = it - operands.begin();
    if (it == operands.end())
      operands.push_back(value);
    return getAffineSymbolExpr(position, context);
  };
  auto fold = [&](auto combine) {
    AffineExpr result;
    for (IntExpr operand : expr.getOperands()) {
      AffineExpr e = affine(operand, operands);
      result = result ? combine(result, e) : e;
    }
    return result;
  };
  switch (expr.getKind()) {
  case IntExpr::Kind::Constant:
    return getAffineConstantExpr(expr.getConstant(), context);
  case IntExpr::Kind::Symbol:
    return asSymbol(symbol(expr.getSymbol()));
  case IntExpr::Kind::Add:
    return fold([](AffineExpr a, AffineExpr b) { return a + b; });
  case IntExpr::Kind::Mul:
    return fold([](AffineExpr a, AffineExpr b) { return a * b; });
  case IntExpr::Kind::FloorDiv:
    return fold([](AffineExpr a, AffineExpr b) { return a.floorDiv(b); });
  case IntExpr::Kind::Mod:
    return fold([](AffineExpr a, AffineExpr b) { return a % b; });
  case IntExpr::Kind::Min:
  case IntExpr::Kind::Max:
    return asSymbol(get(expr));
  }
  llvm_unreachable("unknown kind");
}

Value SizeValues::build(IntExpr expr) {
  place();
  if (expr.isConstant())
    return arith::ConstantIndexOp::create(builder, loc, expr.getConstant());
  if (expr.getKind() == IntExpr::Kind::Symbol)
    return symbol(expr.getSymbol());
  bool isMin = expr.getKind() == IntExpr::Kind::Min;
  if (isMin || expr.getKind() == IntExpr::Kind::Max) {
    // An existing operand may come before other existing ones; only values made
    // here move `last`.
    Value result;
    for (IntExpr operand : expr.getOperands()) {
      Value value = get(operand);
      if (!result) {
        result = value;
        continue;
      }
      place();
      result =
          isMin
              ? arith::MinSIOp::create(builder, loc, result, value).getResult()
              : arith::MaxSIOp::create(builder, loc, result, value).getResult();
      last = result.getDefiningOp();
    }
    return result;
  }
  SmallVector<Value> operands;
  AffineExpr result = affine(expr, operands);
  AffineMap map = AffineMap::get(0, operands.size(), result);
  place();
  return affine::AffineApplyOp::create(builder, loc, map, operands);
}

Value SizeValues::get(IntExpr expr) {
  if (Value known = values.lookup(expr))
    return known;
  Value value = build(expr);
  values[expr] = value;
  if (Operation *op = value.getDefiningOp())
    last = op;
  return value;
}

void SizeValues::place() {
  if (last)
    builder.setInsertionPointAfter(last);
  else
    builder.setInsertionPointToStart(&function.getBody().front());
}

OpFoldResult SizeValues::getMixed(IntExpr expr) {
  if (std::optional<int64_t> constant = expr.asConstant())
    return builder.getIndexAttr(*constant);
  return get(expr);
}

SmallVector<OpFoldResult> SizeValues::getMixed(ArrayRef<IntExpr> exprs) {
  return llvm::map_to_vector(exprs, [&](IntExpr e) { return getMixed(e); });
}

void collectSymbols(ArrayRef<IntExpr> exprs,
                    SmallVectorImpl<std::string> &names) {
  for (IntExpr expr : exprs)
    expr.walkSymbols([&](llvm::StringRef name) {
      if (!llvm::is_contained(names, name))
        names.push_back(name.str());
    });
}

} // namespace mlc
