//===- Fiber.cpp - Stacks that take turns on one thread -------------------===//

#include "runtime/emulator/Fiber.h"

#include <sys/mman.h>

#ifndef __x86_64__
#include <ucontext.h>
#endif

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#include <sanitizer/common_interface_defs.h>
#define MLC_ADDRESS_SANITIZER 1
#endif
#endif

namespace mlc::emulator {

#ifdef __x86_64__

// Pushes callee-saved registers, stores the stack pointer at `from` and
// continues on the stack `to`, which was left the same way. Rounding modes are
// not saved, since kernels do not change them.
extern "C" void mlcEmulatorSwitch(void **from, void *to);
asm(R"(
  .text
  .p2align 4
  .globl mlcEmulatorSwitch
  .hidden mlcEmulatorSwitch
  .type mlcEmulatorSwitch, @function
mlcEmulatorSwitch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
  .size mlcEmulatorSwitch, .-mlcEmulatorSwitch
)");

static void *makeContext(uint8_t *stack, size_t bytes, void (*function)()) {
  auto *top = reinterpret_cast<uintptr_t *>(stack + bytes);
  // The return address: a call leaves the stack 8 bytes below a multiple of 16.
  *--top = 0;
  *--top = reinterpret_cast<uintptr_t>(function);
  for (int i = 0; i < 6; ++i)
    *--top = 0;
  return top;
}

#else

static void mlcEmulatorSwitch(void **from, void *to) {
  ucontext_t here;
  *from = &here;
  swapcontext(&here, static_cast<ucontext_t *>(to));
}

static void *makeContext(uint8_t *stack, size_t bytes, void (*function)()) {
  auto *context = reinterpret_cast<ucontext_t *>(stack);
  getcontext(context);
  constexpr size_t used = (sizeof(ucontext_t) + 63) / 64 * 64;
  context->uc_stack.ss_sp = stack + used;
  context->uc_stack.ss_size = bytes - used;
  context->uc_link = nullptr;
  makecontext(context, function, 0);
  return context;
}

#endif

bool Fibers::open() {
  if (base)
    return true;
  void *memory =
      mmap(nullptr, count * stride, PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED)
    return false;
  base = reinterpret_cast<uintptr_t>(memory);
  for (unsigned i = 0; i < count; ++i)
    mprotect(stack(i) - guard, guard, PROT_NONE);
  return true;
}

void Fibers::prepare(unsigned fiber, void (*function)()) {
  // Spread the tops over the cache sets.
  size_t unused = fiber * 192 % 4096;
  resumeAt[fiber] = makeContext(stack(fiber), stackBytes - unused, function);
}

#ifdef MLC_ADDRESS_SANITIZER
// The sanitizer must know the current stack, and keeps its own frames for each.
static const void *mainStack;
static size_t mainStackBytes;
static void *frames[Fibers::count];

void Fibers::enter(unsigned fiber) {
  void *mainFrames = nullptr;
  __sanitizer_start_switch_fiber(&mainFrames, stack(fiber), stackBytes);
  mlcEmulatorSwitch(&enteredFrom, resumeAt[fiber]);
  __sanitizer_finish_switch_fiber(mainFrames, nullptr, nullptr);
}

void Fibers::entered() {
  __sanitizer_finish_switch_fiber(nullptr, &mainStack, &mainStackBytes);
}

void Fibers::leave(unsigned fiber) {
  __sanitizer_start_switch_fiber(&frames[fiber], mainStack, mainStackBytes);
  mlcEmulatorSwitch(&resumeAt[fiber], enteredFrom);
  __sanitizer_finish_switch_fiber(frames[fiber], &mainStack, &mainStackBytes);
}
#else
void Fibers::enter(unsigned fiber) {
  mlcEmulatorSwitch(&enteredFrom, resumeAt[fiber]);
}

void Fibers::entered() {}

void Fibers::leave(unsigned fiber) {
  mlcEmulatorSwitch(&resumeAt[fiber], enteredFrom);
}
#endif

} // namespace mlc::emulator
