//===- DefinitionForms.h - Definitions for those who compute ----*- C++ -*-===//
//
// What operators do with float16 and bfloat16: every operator computes in
// float32, sums included, and rounds its results, once. A Definition says in
// one type what is computed; who computes (lowering, the evaluator on machine
// floats) asks for the definition with this made explicit by casts. Who reasons
// about real numbers reads the definition as it stands.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_DIALECTS_INTERFACES_DEFINITIONFORMS_H
#define MLC_DIALECTS_INTERFACES_DEFINITIONFORMS_H

#include "dialects/Interfaces/Definition.h"

namespace mlc {

/// `definition` with float32 in place of smaller floats in all arithmetic and
/// in the stages between operands and results. Results of operators of which
/// the definition is composed stay small, and so do stages that move elements
/// alone.
Definition widenSmallFloats(Definition definition);

/// What joins the operands of an integer expression that is no leaf.
BinaryFn functionOf(IntExpr::Kind kind);

} // namespace mlc

#endif // MLC_DIALECTS_INTERFACES_DEFINITIONFORMS_H
