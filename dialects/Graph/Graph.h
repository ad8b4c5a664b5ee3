//===- Graph.h - All operators of the mlc dialect ---------------*- C++ -*-===//
//
// Include the single files instead to avoid rebuilds when other operators
// change.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_DIALECTS_GRAPH_GRAPH_H
#define MLC_DIALECTS_GRAPH_GRAPH_H

#include "dialects/Graph/ComputeOps.h"
#include "dialects/Graph/ContractionOps.h"
#include "dialects/Graph/ConvolutionOps.h"
#include "dialects/Graph/LayoutOps.h"
#include "dialects/Graph/ModelOps.h"
#include "dialects/Graph/MovementOps.h"
#include "dialects/Graph/OpaqueOps.h"
#include "dialects/Graph/PointwiseOps.h"
#include "dialects/Graph/PoolingOps.h"
#include "dialects/Graph/RandomOps.h"
#include "dialects/Graph/ReductionOps.h"

#endif // MLC_DIALECTS_GRAPH_GRAPH_H
