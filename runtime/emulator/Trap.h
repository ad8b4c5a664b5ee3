//===- Trap.h - What the processor finds wrong with a kernel ----*- C++ -*-===//
//
// Without the checks an access to nowhere, and with them a full stack or a
// division by zero, is a signal. While a launch runs, such a signal of its
// thread ends it instead of the process.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_EMULATOR_TRAP_H
#define MLC_RUNTIME_EMULATOR_TRAP_H

#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <memory>

namespace mlc::emulator {

class Traps {
public:
  /// `inKernel` says whether the thread that makes this runs a kernel's code.
  explicit Traps(bool (*inKernel)());
  ~Traps();
  Traps(const Traps &) = delete;
  Traps &operator=(const Traps &) = delete;

  struct Trap {
    int signal = 0;
    uintptr_t address = 0; ///< what could not be accessed
    uintptr_t at = 0;      ///< the instruction
  };
  static Trap last;
  /// Where to go; set by who may be interrupted. Handlers of signals have no
  /// other way out of a stack that is full.
  static sigjmp_buf escape;

private:
  static constexpr int signals[] = {SIGSEGV, SIGBUS, SIGFPE};
  static void handle(int signal, siginfo_t *info, void *context);

  static Traps *active;
  bool (*inKernel)();
  struct sigaction before[3];
  stack_t stackBefore = {};
  std::unique_ptr<char[]> stack;
};

} // namespace mlc::emulator

#endif // MLC_RUNTIME_EMULATOR_TRAP_H
