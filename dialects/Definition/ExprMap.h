//===- ExprMap.h - Maps keyed by expressions --------------------*- C++ -*-===//
//
// Expressions are identified by their node's address, and a freed address may
// be reused. Entries therefore keep their expression alive; a map by address
// alone would answer for another one.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_DIALECTS_DEFINITION_EXPRMAP_H
#define MLC_DIALECTS_DEFINITION_EXPRMAP_H

#include "dialects/Definition/Definition.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

template <> struct llvm::DenseMapInfo<mlc::Expr> {
  using Node = std::shared_ptr<const mlc::ExprNode>;
  using Address = llvm::DenseMapInfo<const mlc::ExprNode *>;

  static mlc::Expr getEmptyKey() { return unowned(Address::getEmptyKey()); }
  static mlc::Expr getTombstoneKey() {
    return unowned(Address::getTombstoneKey());
  }
  static unsigned getHashValue(const mlc::Expr &expr) {
    return Address::getHashValue(expr.operator->());
  }
  static bool isEqual(const mlc::Expr &a, const mlc::Expr &b) { return a == b; }

private:
  static mlc::Expr unowned(const mlc::ExprNode *address) {
    return mlc::Expr(Node(Node(), address));
  }
};

namespace mlc {

template <typename T> using ExprMap = llvm::DenseMap<Expr, T>;
using ExprSet = llvm::DenseSet<Expr>;

/// Calls `callback` for every expression in `expr`, parents first.
inline void walkExprs(const Expr &expr,
                      llvm::function_ref<void(const Expr &)> callback) {
  callback(expr);
  for (const Expr &operand : expr->operands)
    walkExprs(operand, callback);
}

} // namespace mlc

#endif // MLC_DIALECTS_DEFINITION_EXPRMAP_H
