//===- MachineRates.h - What this machine's core can do ---------*- C++ -*-===//
//
// Short loops, in the time that the thread has run (other programs' time
// slices do not count), the best of several.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_TOOLS_BENCH_MACHINERATES_H
#define MLC_TOOLS_BENCH_MACHINERATES_H

#include <cstdint>

namespace mlc::bench {

/// Seconds that this thread has run.
double threadSeconds();

/// float32 operations per second of multiply-adds on vectors of 256 or 512
/// bits, which this machine must have. A few milliseconds.
double measurePeakFlops(unsigned vectorBits);

/// Multiply-adds on registers, of this machine's widest vectors: as many as an
/// idle core does in about `seconds`.
void computeFor(double seconds);

/// Bytes per second that one core reads from a buffer of `bytes` bytes, over
/// and over, with vectors of 256 bits.
double measureBandwidth(int64_t bytes);

/// Seconds to hand work to `threads` threads of the runtime's pool, of which
/// each has to come, and to wait for them.
double measureForkJoin(unsigned threads);

/// Seconds that a cache line takes from one thread to another and back, the
/// median of several rounds: how near to each other their cores are.
double measureRoundTrip();

} // namespace mlc::bench

#endif // MLC_TOOLS_BENCH_MACHINERATES_H
