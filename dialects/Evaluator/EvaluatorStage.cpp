//===- EvaluatorStage.cpp - Compiles stages at fixed sizes ----------------===//

#include "dialects/Evaluator/Compare.h"
#include "dialects/Evaluator/Evaluator.h"
#include "dialects/Evaluator/EvaluatorProgram.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::Error;
using llvm::Expected;
using llvm::SmallVector;

namespace mlc::evaluator {

SmallVector<int64_t> stridesOf(ArrayRef<int64_t> dims, bool isSplat) {
  SmallVector<int64_t> strides(dims.size(), 0);
  int64_t stride = isSplat ? 0 : 1;
  for (size_t d = dims.size(); d-- > 0;) {
    strides[d] = stride;
    // Strides of an empty tensor are never used and may not overflow.
    if (llvm::MulOverflow(stride, std::max<int64_t>(dims[d], 1), stride))
      stride = 0;
  }
  return strides;
}

Error checkRequirements(const Definition &definition,
                        const llvm::StringMap<int64_t> &symbols) {
  for (const Requirement &r : definition.requirements) {
    Expected<SmallVector<int64_t>> sides =
        evaluateDims({r.lhs, r.rhs}, symbols);
    if (!sides)
      return sides.takeError();
    int64_t lhs = sides->front(), rhs = sides->back();
    if (!compareNumbers(lhs, r.predicate, rhs))
      return evalError(EvalFailure::Requirement,
                       r.message + " (" + llvm::Twine(lhs) + " " +
                           name(r.predicate) + " " + llvm::Twine(rhs) +
                           " does not hold)");
  }
  return Error::success();
}

namespace {

/// A piece's box in its stage: the loops that run, and where to store elements.
struct Box {
  SmallVector<RealLoop> loops;
  Form store;
};

Expected<Box> boxOf(const Stage &stage, const Piece &piece,
                    ArrayRef<int64_t> dims,
                    const llvm::StringMap<int64_t> &symbols) {
  Box box;
  SmallVector<IntExpr> extents;
  for (const Loop &loop : piece.loops)
    extents.push_back(loop.extent);
  Expected<SmallVector<int64_t>> sizes = evaluateDims(extents, symbols),
                                 offsets = evaluateDims(piece.offset, symbols);
  auto misfit = [&] {
    return evalError(EvalFailure::Input,
                     "piece of stage " + stage.name + " does not fit");
  };
  if (!sizes || !offsets) {
    for (auto *numbers : {&sizes, &offsets})
      llvm::consumeError(numbers->takeError());
    return misfit();
  }
  SmallVector<int64_t> strides = stridesOf(dims, false);
  for (auto [d, loop] : llvm::enumerate(piece.loops)) {
    int64_t extent = (*sizes)[d], offset = (*offsets)[d];
    if (extent < 0 || offset < 0 || extent > dims[d] - offset)
      return misfit();
    box.loops.push_back({loop.id, extent});
    box.store.constant += offset * strides[d];
    if (extent > 1)
      box.store.add(loop.id, strides[d]);
  }
  return box;
}

} // namespace

Expected<CompiledStage> compileStage(const CompileContext &context,
                                     const Stage &stage, bool maySplat) {
  CompiledStage compiled;
  compiled.elementType = stage.elementType;
  Expected<SmallVector<int64_t>> dims =
      evaluateDims(stage.dims, *context.symbols);
  if (!dims)
    return dims.takeError();
  compiled.dims = std::move(*dims);
  if (llvm::any_of(compiled.dims, [](int64_t d) { return d < 0; }))
    return evalError(EvalFailure::Input,
                     "stage " + stage.name + " has a negative dim");
  std::optional<int64_t> count = elementCount(compiled.dims);
  if (stage.reinterprets) {
    TensorId id = *stage.reinterprets;
    const Source &from =
        context.sources[id.index + (id.isStage ? context.numInputs : 0)];
    if (count && count == elementCount(from.dims)) {
      compiled.reinterprets = id;
      compiled.isSplat = from.isSplat;
      return compiled;
    }
  }
  if (!count)
    return evalError(EvalFailure::Limit, "stage too large to evaluate");
  if (!storageOf(stage.elementType, context.domain))
    return EvalTensor::allocate({}, stage.elementType, context.domain)
        .takeError();
  maySplat &= stage.pieces.size() == 1;
  for (auto [number, piece] : llvm::enumerate(stage.pieces)) {
    Expected<Box> box = boxOf(stage, piece, compiled.dims, *context.symbols);
    if (!box)
      return box.takeError();
    if (llvm::any_of(box->loops, [](RealLoop l) { return l.extent == 0; }))
      continue;
    auto program =
        compileBody(context, piece.body, box->loops, box->store, std::nullopt);
    if (!program)
      return program.takeError();
    int64_t points = (*program)->points;
    if (maySplat && points > 1 && !(*program)->dependsOnLanes) {
      program = compileBody(context, piece.body, box->loops, box->store, 1);
      if (!program)
        return program.takeError();
      compiled.isSplat = true;
      points = 1;
    }
    compiled.pieces.push_back(
        {static_cast<unsigned>(number), std::move(*program), points});
  }
  return compiled;
}

} // namespace mlc::evaluator
