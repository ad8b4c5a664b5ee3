//===- Programs.h - Small programs by hand for the tests --------*- C++ -*-===//

#ifndef MLC_TEST_UNIT_RUNTIME_PROGRAMS_H
#define MLC_TEST_UNIT_RUNTIME_PROGRAMS_H

#include "runtime/Program.h"

/// X: f32[N, 4] -> Y = 2 X + C with C: f32[4] a constant at `constantOffset`,
/// Z = Y reshaped to [4 * N]. Kernel 0 has N tasks (rows) and one argument.
inline mlc::runtime::Program scaleProgram(uint64_t constantOffset = 0) {
  using namespace mlc::runtime;
  Program p;
  p.metadata = {{"author", "test"}, {"character", "a\nb"}};
  SymbolId n = p.addSymbol({"N", Symbol::FromInput, 0, 0, 0, 1 << 20});
  ExprId en = p.addExpr(Expr::symbol(n)), four = p.addConstant(4);
  ExprId bytes = p.addExpr(Expr::symbol(n) * Expr::constant(16));
  ExprId count = p.addExpr(Expr::symbol(n) * Expr::constant(4));
  BufferId x = p.addBuffer(Buffer::input(0, DType::F32, {en, four}, "X"));
  BufferId c =
      p.addBuffer(Buffer::constant(constantOffset, 16, DType::F32, {four}));
  BufferId y = p.addBuffer(Buffer::arena(bytes, DType::F32, {en, four}, "Y"));
  BufferId z = p.addBuffer(
      Buffer::alias(y, p.addConstant(0), bytes, DType::F32, {count}, "Z"));
  p.inputs = {{"X", x}};
  p.outputs = {{"Y", y}, {"Z", z}};
  Step step = Step::launch(p.addKernel("scale"), {x, c}, {y}, {en}, en);
  step.name = "scale";
  step.nodes = {"Mul_0", "Add_1"};
  p.steps = {step};
  return p;
}

#endif // MLC_TEST_UNIT_RUNTIME_PROGRAMS_H
