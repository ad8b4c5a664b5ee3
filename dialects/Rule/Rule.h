//===- Rule.h - A rewrite as data: the dialect ------------------*- C++ -*-===//

#ifndef MLC_DIALECTS_RULE_RULE_H
#define MLC_DIALECTS_RULE_RULE_H

#include "dialects/Definition/Definition.h"
#include "dialects/Symbolic/Attributes.h"
#include "dialects/Symbolic/Enums.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/SymbolTable.h"

#include "dialects/Rule/RuleDialect.h.inc"

#define GET_OP_CLASSES
#include "dialects/Rule/RuleOps.h.inc"

namespace mlc::rule {

/// All predicates of an argument's elements.
llvm::ArrayRef<ElementPredicate> elementPredicates();

} // namespace mlc::rule

#endif // MLC_DIALECTS_RULE_RULE_H
