//===- WrittenShardings.h - Shardings as papers have them -------*- C++ -*-===//
//
// Where weights of a model are by strategies that people have written down for
// some networks, found in any model by the factors of its operators
// (passes/Distribute/Factors.h). The model is the function @main as it is
// imported, whose trained weights are arguments with `mlc.parameter`.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_PASSES_SHARDINGS_WRITTENSHARDINGS_H
#define MLC_PASSES_SHARDINGS_WRITTENSHARDINGS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Distribute/Place.h"
#include "runtime/plan/Plan.h"

namespace mlc::dist {

/// Megatron-LM's (Shoeybi et al. 2019): of products with weights, columns of
/// the first and rows of the next, so that what is between them is split and
/// only the result of the second is summed. Between them may be anything that
/// ranks do on parts: activations, heads of attention, biases, which are split
/// as well. A product behind which parts have to be gathered stays whole, and
/// the last one before the results is split by columns. Tables in which data
/// look rows up are split by rows. Parts are even. Empty if nothing is split.
std::vector<runtime::TensorSharding> splitInPairs(mlir::func::FuncOp main,
                                                  AxisAttr axis);

/// "One weird trick" (Krizhevsky 2014): convolutions by samples, dense layers
/// by columns, with their biases. Empty if the model has no layers of one of
/// the two kinds, or cannot be split evenly so.
std::vector<runtime::TensorSharding>
splitSamplesThenColumns(mlir::func::FuncOp main, AxisAttr axis);

/// The nodes that layers of the model end with, but for the last one: a layer
/// is a product, convolution or lookup with a weight, and what follows until
/// the next.
std::vector<std::string> listLayerEnds(mlir::func::FuncOp main);

} // namespace mlc::dist

#endif // MLC_PASSES_SHARDINGS_WRITTENSHARDINGS_H
