//===- Sample.h - Elements whose collective everybody knows -----*- C++ -*-===//

#ifndef MLC_RUNTIME_TRANSPORT_SAMPLE_H
#define MLC_RUNTIME_TRANSPORT_SAMPLE_H

#include "runtime/transport/Schedule.h"

namespace mlc::runtime::transport {

/// One of them, as it is stored: a whole number that every type holds.
void storeNumber(mlc_dtype type, char *at, int number);

/// The elements that `rank` has at first: whole numbers whose reductions are
/// exact in every type (products of more than eight ranks are not).
void fillSample(const Request &request, mlc_dtype type, int rank, void *data);

/// Whether `data` is what `rank` has to have after the collective, to the bit.
/// Parts of which the collective says nothing may be anything.
bool isRight(const Request &request, mlc_dtype type, int rank,
             const void *data);

} // namespace mlc::runtime::transport

#endif // MLC_RUNTIME_TRANSPORT_SAMPLE_H
