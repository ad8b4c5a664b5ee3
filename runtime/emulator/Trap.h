//===- Trap.h - Signals that a kernel raises --------------------*- C++ -*-===//
//
// Without checks an invalid access raises a signal; with checks a full stack or
// a division by zero still does. While a launch runs, such a signal on its
// thread ends the launch and not the process.
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
    uintptr_t address = 0; ///< the address of the invalid access
    uintptr_t at = 0;      ///< the instruction
  };
  static Trap last;
  /// Where to continue, set before code that may trap. A signal handler has no
  /// other way out of a full stack.
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
