//===- ConvolutionOps.h - The operators of Convolution.td -------*- C++ -*-===//

#ifndef MLC_DIALECTS_GRAPH_CONVOLUTIONOPS_H
#define MLC_DIALECTS_GRAPH_CONVOLUTIONOPS_H

#include "dialects/Graph/OpBase.h"

#define GET_OP_CLASSES
#include "dialects/Graph/Convolution.h.inc"

#endif // MLC_DIALECTS_GRAPH_CONVOLUTIONOPS_H
