//===- Sample.h - Elements with known results -------------------*- C++ -*-===//

#ifndef MLC_RUNTIME_TRANSPORT_SAMPLE_H
#define MLC_RUNTIME_TRANSPORT_SAMPLE_H

#include "runtime/transport/Schedule.h"

namespace mlc::runtime::transport {

/// Stores a sample element: an integer that every type represents.
void storeNumber(mlc_dtype type, char *at, int number);

/// The initial elements of `rank`: integers whose reductions are exact in every
/// type (except products of more than eight ranks).
void fillSample(const Request &request, mlc_dtype type, int rank, void *data);

/// Whether `data` is the result of the collective on `rank`, to the bit. Parts
/// that the collective leaves undefined may be anything.
bool isRight(const Request &request, mlc_dtype type, int rank,
             const void *data);

} // namespace mlc::runtime::transport

#endif // MLC_RUNTIME_TRANSPORT_SAMPLE_H
