//===- Repeats.h - Layers that a model repeats ------------------*- C++ -*-===//
//
// Deep models repeat a layer many times. What a planner wants to know of them
// it finds in a model with three of these layers, and says of all.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_PASSES_STAGES_REPEATS_H
#define MLC_PASSES_STAGES_REPEATS_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"
#include <optional>
#include <string>
#include <vector>

namespace mlc {

/// Operators in a row that are repeated, as a model has them that is left with
/// the first two and the last of all.
struct Repeats {
  /// How many the model had.
  int64_t count = 0;
  /// The parts of a repeat.
  int64_t parts = 1;
  /// Whether operators come before the first one; others come behind the last.
  bool hasBegin = false;
  /// Of the model that is left, nodes that each part ends with, that before the
  /// first repeat included.
  std::vector<std::string> ends;
  /// The same of the whole model.
  std::vector<std::string> allEnds;
  /// Of the second repeat, for each node and weight its names in the second to
  /// the last but one.
  llvm::StringMap<std::vector<std::string>> names;

  /// How many parts there are, of the model that is left and of the whole one.
  int64_t countLeft() const { return hasBegin + 3 * parts + 1; }
  int64_t countAll() const { return hasBegin + count * parts + 1; }
  /// Parts of the whole model that a part of what is left stands for.
  std::vector<int64_t> standsFor(int64_t part) const;
  /// The part that `part` reads, or gives something, where what it stands for
  /// has something to do with `other`: for each of standsFor(part) those of the
  /// whole model.
  std::vector<std::vector<int64_t>> neighbours(int64_t part,
                                               int64_t other) const;
};

/// Leaves the first two and the last repeat of a model of graph form, whose
/// function is @main, and says what was there; nothing, and the model stays, if
/// it repeats no operators six times. `most` bounds the parts.
std::optional<Repeats> shortenRepeats(mlir::ModuleOp module, size_t most);

} // namespace mlc

#endif // MLC_PASSES_STAGES_REPEATS_H
