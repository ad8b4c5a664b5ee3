//===- IntExprStorage.h - Uniqued storage of IntExpr ------------*- C++ -*-===//

#ifndef MLC_DIALECTS_SYMBOLIC_INTEXPRSTORAGE_H
#define MLC_DIALECTS_SYMBOLIC_INTEXPRSTORAGE_H

#include "dialects/Symbolic/IntExprSize.h"
#include "mlir/IR/AttributeSupport.h"
#include "llvm/ADT/Hashing.h"

namespace mlc::detail {

struct IntExprStorage : public mlir::AttributeStorage {
  struct KeyTy {
    IntExpr::Kind kind;
    int64_t value;
    llvm::StringRef symbol;
    llvm::ArrayRef<IntExpr> operands;
    bool operator==(const KeyTy &other) const {
      return kind == other.kind && value == other.value &&
             symbol == other.symbol && operands == other.operands;
    }
  };

  explicit IntExprStorage(const KeyTy &key) : key(key) {
    for (IntExpr operand : key.operands) {
      IntExprSize own = sizeOf(operand);
      size.depth = std::max(size.depth, own.depth + 1);
      // Far above any limit, and far from overflow.
      size.nodes = std::min(size.nodes + own.nodes, 1u << 30);
    }
  }
  bool operator==(const KeyTy &other) const { return key == other; }
  static llvm::hash_code hashKey(const KeyTy &key) {
    return llvm::hash_combine(
        key.kind, key.value, key.symbol,
        llvm::hash_combine_range(key.operands.begin(), key.operands.end()));
  }
  static IntExprStorage *construct(mlir::AttributeStorageAllocator &allocator,
                                   KeyTy key) {
    key.symbol = allocator.copyInto(key.symbol);
    key.operands = allocator.copyInto(key.operands);
    return new (allocator.allocate<IntExprStorage>()) IntExprStorage(key);
  }

  KeyTy key;
  IntExprSize size;
};

} // namespace mlc::detail

#endif // MLC_DIALECTS_SYMBOLIC_INTEXPRSTORAGE_H
