//===- Tables.h - Definitions at fixed sizes, as index tables ---*- C++ -*-===//
//
// The generator runs every operator millions of times on a few dozen elements.
// At fixed sizes every index is known, so a Definition becomes a short list of
// instructions over arrays of Guided numbers, each read a table of offsets.
// The meaning is the Definition's; a test compares every operator of the list
// with the reference evaluator.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_REWRITES_GENERATE_TABLES_H
#define MLC_REWRITES_GENERATE_TABLES_H

#include "rewrites/Generate/Guided.h"
#include "llvm/ADT/StringMap.h"
#include <vector>

namespace mlc::generate {

/// Where numbers lie: an input of the program, its constants, or its scratch.
struct Place {
  enum Space : int { Scratch = -2, Constants = -1 };
  int space = Scratch; // or the number of an input
  uint32_t offset = 0;
};

struct TableInstruction {
  enum class Kind : uint8_t {
    Gather,  // destination[i] = a[table[i]], b[i] where the entry is -1
    Unary,   //
    Binary,  //
    Compare, //
    Select,  // a[i] is 1 ? b[i] : c[i]
    Reduce,  // destination[i] = a[i * points] (kind) ...
    Dot,     // destination[i] = sum of a[table] * b[table + length]
    Copy,    // destination[table[i]] = a[i]
  };
  explicit TableInstruction(Kind kind) : kind(kind) {}

  Kind kind;
  uint8_t function = 0;
  uint32_t destination = 0; // in scratch
  Place a, b, c;
  uint32_t count = 0;  // elements of the destination
  uint32_t points = 0; // Reduce, Dot: of each
  uint32_t table = 0;
};

/// Values of symbols of dims and attributes, and of real parameters.
struct Assignment {
  llvm::StringMap<int64_t> integers;
  llvm::StringMap<double> reals;

  std::optional<int64_t> evaluate(IntExpr expr) const;
};

/// One or several operators at fixed sizes.
class TableProgram {
public:
  /// Adds an operator; its inputs lie where `inputs` says. Its first result's
  /// place is returned; nothing where the definition has no value at these
  /// sizes (a requirement fails, a size is not positive, an index leaves its
  /// range) or needs what a table cannot say.
  std::optional<Place> add(const Definition &definition,
                           llvm::ArrayRef<Place> inputs,
                           const Assignment &assignment);
  void setResult(Place place, uint32_t count) {
    result = place;
    resultCount = count;
  }
  uint32_t getResultCount() const { return resultCount; }

  /// Writes the result to `out`. `scratch` is grown as needed.
  void run(llvm::ArrayRef<const Guided *> inputs, Guided *out,
           std::vector<Guided> &scratch) const;

private:
  friend class TableCompiler;

  std::vector<TableInstruction> code;
  std::vector<int32_t> tables;
  std::vector<Guided> constants;
  uint32_t scratchSize = 0;
  Place result;
  uint32_t resultCount = 0;
};

} // namespace mlc::generate

#endif // MLC_REWRITES_GENERATE_TABLES_H
