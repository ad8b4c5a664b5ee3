//===- EntryBuilder.h - The function of a stage's entry ---------*- C++ -*-===//

#ifndef MLC_PASSES_STAGES_ENTRYBUILDER_H
#define MLC_PASSES_STAGES_ENTRYBUILDER_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "runtime/schedule/StageEntry.h"
#include "llvm/ADT/SetVector.h"
#include <map>

namespace mlc {

using runtime::schedule::StageEntry;

/// Makes entries out of one function. First each entry is told what it
/// computes; then all are made, with arguments for what others compute.
class EntryBuilder {
public:
  explicit EntryBuilder(mlir::func::FuncOp source) : source(source) {}

  /// The entry carries out `op`. An operator may belong to several entries;
  /// each reads its own.
  void add(const StageEntry &entry, mlir::Operation *op);
  /// The same of an operator that another entry has carried out before, so that
  /// its result need not wait in memory: it stands right before what reads it.
  void addAgain(const StageEntry &entry, mlir::Operation *op);
  bool contains(const StageEntry &entry, mlir::Operation *op) const;
  /// The entry returns `value`, which it computes or has as an argument, with
  /// the attributes of a result.
  void addResult(const StageEntry &entry, mlir::Value value,
                 mlir::DictionaryAttr attributes);
  /// Gives none of what entries carry the name of a result of the source.
  void keepNames();
  /// The entry that others have the value from. An argument of the source has
  /// none, unless only one stage knows it.
  void setSource(mlir::Value value, const StageEntry &entry) {
    sources[value] = entry;
  }

  /// Makes the functions in front of the source, in the order of entries, and
  /// erases the source. With `bindsDims` an entry also has arguments of the
  /// source that it does not read, if it needs their dims.
  void build(bool bindsDims = false);

private:
  struct Result {
    mlir::Value value;
    mlir::DictionaryAttr attributes;
  };
  struct Body {
    llvm::SetVector<mlir::Operation *> operators;
    /// Those of addAgain().
    llvm::DenseSet<mlir::Operation *> again;
    llvm::SmallVector<Result> results;
    /// Values that come from other entries.
    llvm::SetVector<mlir::Value> carried;
    /// Arguments of the source for their dims alone.
    llvm::SetVector<mlir::Value> unread;
  };

  bool isCarried(const StageEntry &entry, mlir::Value value) const;
  void findCarried();
  void findUnread(Body &body);
  llvm::SmallVector<mlir::Operation *> orderOf(const Body &body);
  std::string nameOf(mlir::Value value);
  void build(const StageEntry &entry, Body &body);

  mlir::func::FuncOp source;
  std::map<StageEntry, Body> bodies;
  llvm::DenseMap<mlir::Value, StageEntry> sources;
  llvm::DenseMap<mlir::Value, std::string> names;
  std::map<std::string, unsigned> taken;
};

} // namespace mlc

#endif // MLC_PASSES_STAGES_ENTRYBUILDER_H
