//===- PrintingBackend.h - A back end that prints kernels -------*- C++ -*-===//

#ifndef MLC_TEST_UNIT_BACKEND_PRINTINGBACKEND_H
#define MLC_TEST_UNIT_BACKEND_PRINTINGBACKEND_H

#include "codegen/kernel/Backend.h"

namespace mlc {

/// The smallest back end: its image is the text of the kernels. Convolutions
/// keep ONNX's layout, and no kernel has more than two operations with loops.
const Backend &getPrintingBackend();

} // namespace mlc

#endif // MLC_TEST_UNIT_BACKEND_PRINTINGBACKEND_H
