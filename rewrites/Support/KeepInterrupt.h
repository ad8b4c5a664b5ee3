//===- KeepInterrupt.h - The interrupt signal around CBC --------*- C++ -*-===//

#ifndef MLC_REWRITES_SUPPORT_KEEPINTERRUPT_H
#define MLC_REWRITES_SUPPORT_KEEPINTERRUPT_H

#include <csignal>

namespace mlc {

/// CBC catches the interrupt signal for itself while it solves, and ends its
/// search with a status; the program shall end as it would without.
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

#endif // MLC_REWRITES_SUPPORT_KEEPINTERRUPT_H
