//===- ExactRows.h - Rows of the integer program ----------------*- C++ -*-===//
//
// For each stage t and earlier step k, R says whether k runs again; for each
// value, S says whether it is held when the stage begins. F is 1 if a value is
// freed after a run, A if a run allocates it, E if a run writes it beside a
// copy that is held, Z if an output takes an input's memory. These four are 0
// or 1 by themselves once R and S are. M is the bytes alive between runs. The
// steps of a stage run in the order of the program.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_PASSES_MEMORY_EXACTROWS_H
#define MLC_PASSES_MEMORY_EXACTROWS_H

#include "passes/Memory/ExactPlan.h"

namespace mlc::remat {

/// A sum of columns and a number.
struct Sum {
  std::vector<std::pair<int, double>> terms;
  double constant = 0;
  void add(double factor, int column) { terms.push_back({column, factor}); }
  void add(double factor, const Sum &other) {
    constant += factor * other.constant;
    for (auto [column, value] : other.terms)
      terms.push_back({column, factor * value});
  }
};

class IntegerProgram {
public:
  IntegerProgram(const Problem &problem, uint64_t budget);
  ExactPlan solve(const Plan *start, const ExactOptions &options);

private:
  using Column = int;
  static constexpr Column zero = -1, one = -2;

  void findUses();
  Column addColumn(double cost, bool isInteger, bool isBounded = true);
  /// `sum` <= 0, or = 0.
  void addRow(Sum sum, char sense = 'L');
  Sum sumOf(Column column, double factor = 1) const;
  Column addAnd(Column a, Column b);
  Sum without(const Sum &sum, Column column);

  bool isUseful(unsigned t, unsigned v) const {
    return useful[size_t(t) * problem.values.size() + v];
  }
  Column &held(size_t t, unsigned v) {
    return holds[t * problem.values.size() + v];
  }
  Column &runs(size_t t, unsigned k) {
    return reruns[t * problem.steps.size() + k];
  }
  void addColumns();
  void addDependences(unsigned t);
  void addMemory(unsigned t);
  /// A run of step k in stage t: bytes alive during and after it, and the
  /// values that it may free.
  struct Moment {
    unsigned t, k;
    Sum during, behind;
    std::vector<std::pair<unsigned, Column>> frees;
  };
  void addOutputs(Moment &moment, std::vector<Sum> &brought);
  void addFrees(Moment &moment);
  void addTakeovers(Moment &moment);
  void addRun(unsigned t, unsigned k, Sum &alive,
              std::vector<std::vector<Column>> &freed,
              std::vector<Sum> &brought);
  std::vector<double> startOf(const Plan &plan);
  Plan read(const double *solution);

  const Problem &problem;
  uint64_t budget;
  double timeScale, byteScale;
  /// Steps that read or write each value, ascending.
  std::vector<std::vector<unsigned>> touchers;
  /// For each stage and value: whether anything may read it from there on.
  std::vector<uint8_t> useful;
  std::vector<Column> holds, reruns;
  struct ColumnData {
    double cost;
    bool isInteger;
    /// The upper bound is 1; otherwise none, as for bytes that are alive.
    bool isBounded;
  };
  std::vector<ColumnData> columns;
  struct Row {
    Sum sum;
    char sense;
  };
  std::vector<Row> rows;
};

} // namespace mlc::remat

#endif // MLC_PASSES_MEMORY_EXACTROWS_H
