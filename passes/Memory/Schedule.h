//===- Schedule.h - Schedules with repeated steps ---------------*- C++ -*-===//
//
// The problem that rematerialization solves, reduced to times, bytes and
// dependences. docs/Rematerialization.md has the model.
//
// Step t of the program defines stage t: the steps that run again for it, in
// the order of the program, and then t itself. A plan says which values are
// held from one stage to the next. Everything else follows: values that a stage
// needs and does not have are computed again, and a value is freed after its
// last reader.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_PASSES_MEMORY_SCHEDULE_H
#define MLC_PASSES_MEMORY_SCHEDULE_H

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace mlc::remat {

using std::size_t;

/// Memory of the arena that steps write and read.
struct Datum {
  /// Rounded up as in the arena.
  uint64_t bytes = 0;
  /// The steps that write it, ascending. If there are several, each writes a
  /// part, and a step reads the parts of earlier steps. It may be dropped after
  /// all have run.
  std::vector<unsigned> producers = {};
  /// It must exist when the program ends.
  bool isOutput = false;
};

struct Step {
  double seconds = 0;
  /// Each value once. No step reads a value before its first producer.
  std::vector<unsigned> inputs = {}, outputs = {};
  /// It may run more than once.
  bool canRepeat = true;
  /// (output, input): the output may take the memory of an input that dies.
  std::vector<std::pair<unsigned, unsigned>> takeovers = {};
};

struct Problem {
  std::vector<Datum> values;
  std::vector<Step> steps;

  /// Whether the value can be recomputed after it is dropped.
  bool canDrop(unsigned value) const;
  /// The time of running every step once.
  double seconds() const;
};

/// Bytes that every schedule needs: the largest step with its operands, and the
/// values that must exist at that time because no step can recompute them.
uint64_t lowerBound(const Problem &problem);

/// A step that runs, and the values freed after it. If an output already
/// exists, the step writes it to temporary memory, which dies with the step.
struct Run {
  unsigned step;
  std::vector<unsigned> frees = {};
};

struct Schedule {
  std::vector<Run> runs;
  double seconds = 0;
  /// Maximum bytes alive at one time, takeovers counted once.
  uint64_t peak = 0;
};

/// Computes the cost of `runs` from the runs alone. False if it is not a valid
/// schedule: a step reads a value that does not exist, a step repeats that must
/// not, first runs are out of order, or an output is missing at the end.
bool simulate(const Problem &problem, Schedule &schedule);

/// Which values are held when a stage begins, with one more row for the end.
class Holds {
public:
  Holds() = default;
  Holds(size_t stages, size_t values)
      : width(values), cells((stages + 1) * values) {}
  bool operator()(size_t stage, unsigned value) const {
    return cells[stage * width + value];
  }
  void set(size_t stage, unsigned value, bool held) {
    cells[stage * width + value] = held;
  }

private:
  size_t width = 0;
  std::vector<uint8_t> cells;
};

/// One stage of a plan.
struct Stage {
  std::vector<Run> runs;
  double seconds = 0;
  uint64_t peak = 0;
  /// Values that its runs read or write, without duplicates.
  std::vector<unsigned> touched;
  /// If the stage is infeasible: a value that is not held and cannot be
  /// recomputed.
  int missing = -1;
};

/// Derives the stages of plans.
class StageMaker {
public:
  /// Without `keepsRuns` stages are only measured.
  explicit StageMaker(const Problem &problem, bool keepsRuns = true);
  /// Derives stage `t` under `holds`. A value that is held into it and neither
  /// used nor held further takes memory throughout.
  void make(const Holds &holds, unsigned t, Stage &stage);
  /// The number of runs derived so far, plus other work of equal cost.
  uint64_t getWork() const { return work; }
  void addWork(uint64_t more) { work += more; }

private:
  bool need(const Holds &holds, unsigned t, unsigned value, unsigned reader,
            Stage &stage);
  bool choose(const Holds &holds, unsigned t, Stage &stage);
  void addRun(const Holds &holds, unsigned t, size_t position, uint64_t &alive,
              Stage &stage);
  uint64_t takenOver(const Step &step, size_t position);

  const Problem &problem;
  bool keepsRuns;
  uint64_t work = 0;
  // Marks are valid for this call if they equal the stamp.
  uint32_t stamp = 0;
  std::vector<uint32_t> chosen, live, given;
  std::vector<size_t> lastTouch;
  std::vector<uint32_t> lastStamp;
  std::vector<std::pair<unsigned, unsigned>> pending;
  std::vector<unsigned> order;
};

/// The plan that keeps every value until its last reader.
Holds keepAll(const Problem &problem);

/// The schedule of a plan; empty if a stage is infeasible.
Schedule toSchedule(const Problem &problem, const Holds &holds);

} // namespace mlc::remat

#endif // MLC_PASSES_MEMORY_SCHEDULE_H
