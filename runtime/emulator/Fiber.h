//===- Fiber.h - Stacks that take turns on a thread -------------*- C++ -*-===//

#ifndef MLC_RUNTIME_EMULATOR_FIBER_H
#define MLC_RUNTIME_EMULATOR_FIBER_H

#include <cstddef>
#include <cstdint>

namespace mlc::emulator {

/// Each fiber has one of `count` stacks, which live as long as the process. A
/// fiber that is no longer needed can be abandoned, since its frames own
/// nothing.
class Fibers {
public:
  static constexpr unsigned count = 1024;
  static constexpr size_t stackBytes = 64 << 10;

  /// Maps the stacks; false if there is no memory.
  bool open();
  /// The next enter() of this fiber calls `function`, which never returns.
  void prepare(unsigned fiber, void (*function)());
  /// Runs the fiber until it calls leave().
  void enter(unsigned fiber);
  /// `function` must call it first.
  void entered();
  /// Returns to the caller of enter().
  void leave(unsigned fiber);

  /// The fiber whose stack has this address; `count` if none.
  unsigned owner(uintptr_t address) const {
    uintptr_t offset = address - base;
    return offset < count * stride ? unsigned(offset / stride) : count;
  }

  /// Whether it lies in the guard page of a stack, which a full stack hits.
  bool isGuard(uintptr_t address) const {
    return owner(address) < count && (address - base) % stride < guard;
  }

private:
  // Below each stack lies a page that faults.
  static constexpr size_t guard = 4096;
  static constexpr size_t stride = guard + stackBytes;
  uint8_t *stack(unsigned fiber) const {
    return reinterpret_cast<uint8_t *>(base) + fiber * stride + guard;
  }

  uintptr_t base = 0;
  void *resumeAt[count] = {};
  void *enteredFrom = nullptr;
};

} // namespace mlc::emulator

#endif // MLC_RUNTIME_EMULATOR_FIBER_H
