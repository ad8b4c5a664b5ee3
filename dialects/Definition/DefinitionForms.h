//===- DefinitionForms.h - Definitions with explicit rounding ---*- C++ -*-===//
//
// The semantics of float16 and bfloat16: every operator computes in float32,
// sums included, and rounds its results once. A Definition has a single type.
// Code that computes (lowering, the evaluator on machine floats) asks for the
// definition with explicit casts. Code that reasons about real numbers uses the
// definition as it is.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_DIALECTS_DEFINITION_DEFINITIONFORMS_H
#define MLC_DIALECTS_DEFINITION_DEFINITIONFORMS_H

#include "dialects/Definition/Definition.h"

namespace mlc {

/// `definition` with float32 instead of smaller floats in all arithmetic and in
/// the stages between operands and results. If it combines several operators,
/// their results stay small, and so do stages that only move elements.
Definition widenSmallFloats(Definition definition);

/// The function that joins the operands of an integer expression, not a leaf.
BinaryFn functionOf(IntExpr::Kind kind);

} // namespace mlc

#endif // MLC_DIALECTS_DEFINITION_DEFINITIONFORMS_H
