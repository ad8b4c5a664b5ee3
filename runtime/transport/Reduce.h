//===- Reduce.h - Sums of elements as ranks add them ------------*- C++ -*-===//

#ifndef MLC_RUNTIME_TRANSPORT_REDUCE_H
#define MLC_RUNTIME_TRANSPORT_REDUCE_H

#include "runtime/transport/mlc_engine.h"

#include <cstdint>

namespace mlc::runtime::transport {

/// Whether elements of this type can be added (all but bool).
bool isSummable(mlc_dtype type);

/// to[i] += from[i]. Commutative to the bit: integers wrap around, floats are
/// rounded to their type after each addition (float16 and bfloat16 are added in
/// float32), and every NaN becomes the type's one quiet NaN. The ranges must
/// not overlap but may be unaligned.
void add(mlc_dtype type, void *to, const void *from, int64_t elements);

/// The same for any reduction. Products wrap around and are rounded as sums
/// are. For max and min NaN wins, as the one quiet NaN, and +0 is larger than
/// -0.
void combine(mlc_reduction reduction, mlc_dtype type, void *to,
             const void *from, int64_t elements);

/// "sum", "max", "min", "prod".
const char *name(mlc_reduction reduction);

} // namespace mlc::runtime::transport

#endif // MLC_RUNTIME_TRANSPORT_REDUCE_H
