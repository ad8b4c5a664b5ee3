//===- KeepInterrupt.h - The interrupt signal around CBC --------*- C++ -*-===//

#ifndef MLC_RUNTIME_KEEPINTERRUPT_H
#define MLC_RUNTIME_KEEPINTERRUPT_H

#include <csignal>

namespace mlc {

/// While CBC solves, it catches the interrupt signal and ends its search with a
/// status. This restores the program's handler and, if `caught`, raises the
/// signal again.
class KeepInterrupt {
public:
  KeepInterrupt() { ::sigaction(SIGINT, nullptr, &before); }
  ~KeepInterrupt() {
    ::sigaction(SIGINT, &before, nullptr);
    if (caught)
      ::raise(SIGINT);
  }
  KeepInterrupt(const KeepInterrupt &) = delete;
  KeepInterrupt &operator=(const KeepInterrupt &) = delete;
  bool caught = false;

private:
  struct sigaction before;
};

} // namespace mlc

#endif // MLC_RUNTIME_KEEPINTERRUPT_H
