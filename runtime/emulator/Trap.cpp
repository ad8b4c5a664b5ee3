//===- Trap.cpp - Signals that a kernel raises ----------------------------===//

#include "runtime/emulator/Trap.h"

#include <iterator>
#include <pthread.h>
#include <ucontext.h>

namespace mlc::emulator {

Traps::Trap Traps::last;
sigjmp_buf Traps::escape;
Traps *Traps::active = nullptr;

static pthread_t launching;

static uintptr_t instruction(void *context) {
  auto *where = static_cast<ucontext_t *>(context);
#if defined(__x86_64__)
  return uintptr_t(where->uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return uintptr_t(where->uc_mcontext.pc);
#else
  return 0;
#endif
}

void Traps::handle(int signal, siginfo_t *info, void *context) {
  if (pthread_equal(pthread_self(), launching) && active->inKernel()) {
    last = {signal, reinterpret_cast<uintptr_t>(info->si_addr),
            instruction(context)};
    siglongjmp(escape, 1);
  }
  // Not from a kernel: restore the old handler; the instruction runs again.
  for (size_t i = 0; i < std::size(signals); ++i)
    if (signals[i] == signal)
      sigaction(signal, &active->before[i], nullptr);
}

Traps::Traps(bool (*inKernel)()) : inKernel(inKernel) {
  constexpr size_t bytes = 64 << 10;
  stack = std::make_unique<char[]>(bytes);
  stack_t mine = {};
  mine.ss_sp = stack.get();
  mine.ss_size = bytes;
  sigaltstack(&mine, &stackBefore);
  launching = pthread_self();
  active = this;
  struct sigaction action = {};
  action.sa_sigaction = handle;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (size_t i = 0; i < std::size(signals); ++i)
    sigaction(signals[i], &action, &before[i]);
}

Traps::~Traps() {
  for (size_t i = 0; i < std::size(signals); ++i)
    sigaction(signals[i], &before[i], nullptr);
  sigaltstack(&stackBefore, nullptr);
  active = nullptr;
}

} // namespace mlc::emulator
