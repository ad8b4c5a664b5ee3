//===- Stopwatch.h - Seconds since it was made ------------------*- C++ -*-===//

#ifndef MLC_REWRITES_SUPPORT_STOPWATCH_H
#define MLC_REWRITES_SUPPORT_STOPWATCH_H

#include <chrono>

namespace mlc {

/// Wall time since construction.
class Stopwatch {
public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() -
                                         start)
        .count();
  }

private:
  std::chrono::steady_clock::time_point start =
      std::chrono::steady_clock::now();
};

} // namespace mlc

#endif // MLC_REWRITES_SUPPORT_STOPWATCH_H
