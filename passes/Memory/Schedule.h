//===- Schedule.h - Steps in order, some of them again ----------*- C++ -*-===//
//
// The problem that rematerialization solves, with nothing of a program in it
// but times, bytes and who reads what. docs/Rematerialization.md has the model.
//
// Step t of the program opens stage t: what is run again for it, in the order
// of the program, and then t itself. A plan says which values are held from
// one stage to the next, and everything else follows: what a stage needs and
// does not have is run again, and a value is freed behind its last reader.
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
  /// As the arena rounds them.
  uint64_t bytes = 0;
  /// The steps that write it, ascending; each writes a part where there are
  /// several, of which a step reads those of earlier steps. It may be dropped
  /// when all have run.
  std::vector<unsigned> producers = {};
  /// It is there when the program ends.
  bool isOutput = false;
};

struct Step {
  double seconds = 0;
  /// Each value once. A value is read by no step before its first producer.
  std::vector<unsigned> inputs = {}, outputs = {};
  /// It may run more than once.
  bool canRepeat = true;
  /// (output, input): the output may take the input's memory where that dies.
  std::vector<std::pair<unsigned, unsigned>> takeovers = {};
};

struct Problem {
  std::vector<Datum> values;
  std::vector<Step> steps;

  /// Whether the value can be had again once it is dropped.
  bool canDrop(unsigned value) const;
  /// Without any step twice.
  double seconds() const;
};

/// Bytes that no schedule does without: the fullest step with its operands,
/// and the values that must be there meanwhile because nobody makes them again.
uint64_t lowerBound(const Problem &problem);

/// A step that runs, and the values that are freed behind it. What it writes
/// to a value that is there already goes to memory of its own, which dies with
/// the step.
struct Run {
  unsigned step;
  std::vector<unsigned> frees = {};
};

struct Schedule {
  std::vector<Run> runs;
  double seconds = 0;
  /// Most bytes alive at one time, takeovers counted once.
  uint64_t peak = 0;
};

/// What `runs` takes, from nothing but the runs. False where it is no schedule
/// of the problem: a value that is read is not there, a step comes twice that
/// must not, first runs come out of order, an output is not there at the end.
bool simulate(const Problem &problem, Schedule &schedule);

/// Which values are held when a stage begins; one row more for the end.
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
  /// Values that its runs read or write, once each.
  std::vector<unsigned> touched;
  /// Where the stage cannot be: a value that nobody makes again and that is not
  /// held.
  int missing = -1;
};

/// Works out stages of plans.
class StageMaker {
public:
  /// Without `keepsRuns` stages are measured only.
  explicit StageMaker(const Problem &problem, bool keepsRuns = true);
  /// Stage `t` under `holds`. A value that is held into it and neither used nor
  /// held further takes memory throughout.
  void make(const Holds &holds, unsigned t, Stage &stage);
  /// Runs worked out so far, and what else took as long.
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
  // Marks are of this call if they equal the stamp.
  uint32_t stamp = 0;
  std::vector<uint32_t> chosen, live, given;
  std::vector<size_t> lastTouch;
  std::vector<uint32_t> lastStamp;
  std::vector<std::pair<unsigned, unsigned>> pending;
  std::vector<unsigned> order;
};

/// The plan that keeps every value until its last reader.
Holds keepAll(const Problem &problem);

/// The schedule of a plan; empty where a stage cannot be.
Schedule toSchedule(const Problem &problem, const Holds &holds);

} // namespace mlc::remat

#endif // MLC_PASSES_MEMORY_SCHEDULE_H
