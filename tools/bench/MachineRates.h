//===- MachineRates.h - The rates of this machine's core --------*- C++ -*-===//
//
// Short loops, measured in thread CPU time (time slices of other programs do
// not count); the best of several.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_TOOLS_BENCH_MACHINERATES_H
#define MLC_TOOLS_BENCH_MACHINERATES_H

#include <cstdint>

namespace mlc::bench {

/// CPU seconds of this thread.
double threadSeconds();

/// float32 operations per second of multiply-adds on vectors of 256 or 512
/// bits, which this machine must have. Takes a few milliseconds.
double measurePeakFlops(unsigned vectorBits);

/// Runs multiply-adds in registers on this machine's widest vectors, as many as
/// an idle core does in about `seconds`.
void computeFor(double seconds);

/// Bytes per second that one core reads, repeatedly, from a buffer of `bytes`
/// bytes with vectors of 256 bits.
double measureBandwidth(int64_t bytes);

/// Seconds to hand work to `threads` threads of the runtime's pool, each of
/// which must take part, and to wait for them.
double measureForkJoin(unsigned threads);

/// Seconds for a round trip of a cache line between two threads, the median of
/// several rounds: tells how close their cores are.
double measureRoundTrip();

} // namespace mlc::bench

#endif // MLC_TOOLS_BENCH_MACHINERATES_H
