//===- EvaluatorKernels.h - One instruction over many lanes -----*- C++ -*-===//
//
// Private to the evaluator. Kernels read and write arrays of lanes; lanes
// without a value are marked in `poison` (one byte per lane).
//
//===----------------------------------------------------------------------===//

#ifndef MLC_DIALECTS_EVALUATOR_EVALUATORKERNELS_H
#define MLC_DIALECTS_EVALUATOR_EVALUATORKERNELS_H

#include "dialects/Evaluator/EvaluatorProgram.h"

namespace mlc::evaluator {

/// Marks lanes; `bytes` is cleared when the first lane is marked. The first
/// reason stays, except that a sure reason replaces one that is not, and an
/// integer division by zero replaces any.
struct Poison {
  uint8_t *bytes;
  int64_t lanes;
  bool any = false;

  void mark(int64_t lane, Undefined reason) {
    if (!any)
      memset(bytes, 0, lanes);
    any = true;
    bool replaces =
        !isSure(static_cast<Undefined>(bytes[lane])) && isSure(reason);
    if (!bytes[lane] || replaces || reason == Undefined::IntegerDivisionByZero)
      bytes[lane] = static_cast<uint8_t>(reason);
  }
  template <typename F> void forget(F isForgotten) {
    for (int64_t j = 0; any && j < lanes; ++j)
      if (isForgotten(j))
        bytes[j] = 0;
  }
  void markAll(Undefined reason) {
    memset(bytes, static_cast<uint8_t>(reason), lanes);
    any = true;
  }
};

unsigned bytesOf(Rep rep);
/// The representation into which a storage format is loaded.
Rep repOf(ElementStorage storage);

void fillConstant(const Instruction &i, void *out, int64_t lanes, Poison &p);
void applyUnary(const Instruction &i, const void *a, void *out, int64_t lanes,
                Poison &p);
void applyBinary(const Instruction &i, const void *a, const void *b, void *out,
                 int64_t lanes, Poison &p);
void applyCompare(const Instruction &i, const void *a, const void *b,
                  int64_t *out, int64_t lanes, Poison &p);
void applySelect(Rep rep, const int64_t *condition, const void *a,
                 const void *b, void *out, int64_t lanes);
/// Lanes that are not kept take the value of `otherwise`.
void blendLanes(Rep rep, const uint8_t *kept, const void *otherwise, void *out,
                int64_t lanes);
void applyCast(const Instruction &i, const void *a, void *out, int64_t lanes,
               Poison &p);

/// The addresses of lanes: base + lane * stride, or base + offsets[lane].
struct Addressing {
  int64_t base, stride;
  const int64_t *offsets; // null: strided
};
void loadLanes(ElementStorage storage, const void *memory, Addressing at,
               void *out, int64_t lanes);
void storeLanes(ElementStorage storage, const void *lanesIn, Addressing at,
                void *memory, int64_t lanes);

/// accumulator[lane] = accumulator[lane] (kind) value[lane].
void accumulateLanes(const Reduction &r, void *accumulator, const void *value,
                     int64_t lanes, Poison &p);
/// accumulator = accumulator (kind) value[0] (kind) value[1] ..., in order.
void accumulateAll(const Reduction &r, void *accumulator, const void *value,
                   int64_t lanes, Poison &p);
void fillIdentity(const Reduction &r, void *out, int64_t lanes);

/// The truth value that decides a conjunction, a disjunction or a reduction by
/// them, whatever the other operands are; nothing for other functions and
/// types.
std::optional<int64_t> decidingTruth(const Instruction &i);
std::optional<int64_t> decidingTruth(const Reduction &r);

} // namespace mlc::evaluator

#endif // MLC_DIALECTS_EVALUATOR_EVALUATORKERNELS_H
