//===- Evaluator.cpp - Values of definitions on concrete tensors ----------===//

#include "dialects/Interfaces/Evaluator.h"
#include "dialects/Interfaces/Compare.h"
#include "dialects/Interfaces/DefinitionForms.h"
#include "dialects/Interfaces/EvaluatorProgram.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlc::evaluator;
using llvm::ArrayRef;
using llvm::Error;
using llvm::Expected;
using llvm::SmallVector;
using llvm::StringRef;

namespace mlc {

namespace {

std::optional<int64_t> evaluate(IntExpr expr,
                                const llvm::StringMap<int64_t> &symbols) {
  return expr.evaluate([&](StringRef symbol) -> std::optional<int64_t> {
    auto it = symbols.find(symbol);
    return it == symbols.end() ? std::nullopt : std::optional(it->second);
  });
}

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

/// One evaluation: binds, checks, then runs stage after stage.
class Run {
public:
  Run(const Definition &definition, ArrayRef<EvalTensor> inputs,
      const EvalOptions &options)
      : definition(definition), inputs(inputs), options(options),
        symbols(options.symbols) {}

  Expected<std::vector<EvalTensor>> run();

private:
  Error bindInputs();
  Error checkRequirements();
  Error runStage(const Stage &stage);
  Error runPiece(const Stage &stage, const Piece &piece, EvalTensor &out,
                 bool whole);
  Error undefined(const Stage &stage, const Piece &piece, UndefinedAt at);
  Error account(const EvalTensor &tensor);
  Error charge(const Stage &stage, const Program &program);

  const Definition &definition;
  ArrayRef<EvalTensor> inputs;
  const EvalOptions &options;
  llvm::StringMap<int64_t> symbols;
  std::vector<EvalTensor> stages;
  CompileContext context;
  int64_t bytes = 0, steps = 0;
};

Error Run::bindInputs() {
  if (inputs.size() != definition.inputs.size())
    return evalError(EvalFailure::Input,
                     "expected " + llvm::Twine(definition.inputs.size()) +
                         " inputs, got " + llvm::Twine(inputs.size()));
  for (auto [i, shape] : llvm::enumerate(definition.inputs)) {
    const EvalTensor &input = inputs[i];
    if (input.getElementType() != shape.elementType ||
        input.getDomain() != options.domain)
      return evalError(EvalFailure::Input,
                       "input " + llvm::Twine(i) +
                           " has another element type or domain");
    if (Error error = bindSymbols(shape.dims, input.getDims(), symbols))
      return error;
  }
  // Dims that were not decided yet when symbols were bound one by one.
  for (auto [i, shape] : llvm::enumerate(definition.inputs))
    for (auto [dim, size] : llvm::zip(shape.dims, inputs[i].getDims()))
      if (std::optional<int64_t> value = evaluate(dim, symbols);
          value && *value != size)
        return evalError(EvalFailure::Input, "input " + llvm::Twine(i) +
                                                 ": dim " + dim.str() + " is " +
                                                 llvm::Twine(size));
  return Error::success();
}

Error Run::checkRequirements() {
  for (const Requirement &r : definition.requirements) {
    std::optional<int64_t> lhs = evaluate(r.lhs, symbols);
    std::optional<int64_t> rhs = evaluate(r.rhs, symbols);
    if (!lhs || !rhs)
      return evalError(EvalFailure::Input,
                       "cannot evaluate " + (lhs ? r.rhs : r.lhs).str());
    if (!compareNumbers(*lhs, r.predicate, *rhs))
      return evalError(EvalFailure::Requirement,
                       r.message + " (" + llvm::Twine(*lhs) + " " +
                           name(r.predicate) + " " + llvm::Twine(*rhs) +
                           " does not hold)");
  }
  return Error::success();
}

Error Run::account(const EvalTensor &tensor) {
  if (llvm::AddOverflow(bytes, tensor.getNumBytes(), bytes) ||
      bytes > options.maxBytes)
    return evalError(EvalFailure::Limit, "evaluation needs more than " +
                                             llvm::Twine(options.maxBytes) +
                                             " bytes");
  return Error::success();
}

Error Run::charge(const Stage &stage, const Program &program) {
  if (llvm::AddOverflow(steps, program.steps, steps) ||
      steps > options.maxSteps)
    return evalError(EvalFailure::Limit,
                     "stage " + stage.name + " needs more than " +
                         llvm::Twine(options.maxSteps) + " steps");
  return Error::success();
}

Error Run::undefined(const Stage &stage, const Piece &piece, UndefinedAt at) {
  SmallVector<int64_t> place(piece.loops.size());
  for (size_t d = piece.loops.size(); d-- > 0;) {
    int64_t extent =
        std::max<int64_t>(*evaluate(piece.loops[d].extent, symbols), 1);
    place[d] = at.point % extent + *evaluate(piece.offset[d], symbols);
    at.point /= extent;
  }
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "stage " << stage.name << " at [";
  llvm::interleaveComma(place, os);
  os << "]: " << describe(at.reason);
  return evalError(EvalFailure::Undefined, text);
}

/// `whole`: the piece is the whole stage, which may then become a splat.
Error Run::runPiece(const Stage &stage, const Piece &piece, EvalTensor &out,
                    bool whole) {
  SmallVector<RealLoop> loops;
  Form store;
  SmallVector<int64_t> strides = stridesOf(out.getDims(), false);
  for (auto [d, loop] : llvm::enumerate(piece.loops)) {
    std::optional<int64_t> extent = evaluate(loop.extent, symbols);
    std::optional<int64_t> offset = evaluate(piece.offset[d], symbols);
    if (!extent || !offset || *extent < 0 || *offset < 0 ||
        *extent > out.getDims()[d] - *offset)
      return evalError(EvalFailure::Input,
                       "piece of stage " + stage.name + " does not fit");
    loops.push_back({loop.id, *extent});
    store.constant += *offset * strides[d];
    if (*extent > 1)
      store.add(loop.id, strides[d]);
  }
  if (llvm::any_of(loops, [](RealLoop loop) { return loop.extent == 0; }))
    return Error::success();
  auto program = compileBody(context, piece.body, loops, store, std::nullopt);
  if (!program)
    return program.takeError();
  int64_t points = (*program)->points;
  if (whole && points > 1 && !(*program)->dependsOnLanes) {
    program = compileBody(context, piece.body, loops, store, 1);
    if (!program)
      return program.takeError();
    Expected<EvalTensor> splat = EvalTensor::allocate(
        out.getDims(), stage.elementType, options.domain, /*isSplat=*/true);
    if (!splat)
      return splat.takeError();
    out = std::move(*splat);
    points = 1;
    if (Error error = account(out))
      return error;
  } else if (!out) {
    Expected<EvalTensor> dense =
        EvalTensor::allocate(out.getDims(), stage.elementType, options.domain);
    if (!dense)
      return dense.takeError();
    out = std::move(*dense);
    if (Error error = account(out))
      return error;
  }
  if (Error error = charge(stage, **program))
    return error;
  if (std::optional<UndefinedAt> at =
          runProgram(**program, context, points, out, definition.numLoops))
    return undefined(stage, piece, *at);
  return Error::success();
}

Error Run::runStage(const Stage &stage) {
  Expected<SmallVector<int64_t>> dims = evaluateDims(stage.dims, symbols);
  if (!dims)
    return dims.takeError();
  if (llvm::any_of(*dims, [](int64_t d) { return d < 0; }))
    return evalError(EvalFailure::Input,
                     "stage " + stage.name + " has a negative dim");
  if (stage.reinterprets) {
    TensorId id = *stage.reinterprets;
    const EvalTensor &from = id.isStage ? stages[id.index] : inputs[id.index];
    if (elementCount(*dims) == from.getNumElements()) {
      stages.push_back(from.reshaped(*dims));
      return Error::success();
    }
  }
  // Checked before memory is asked for; a splat then needs less.
  EvalTensor out = EvalTensor::withDims(*dims);
  bool whole = stage.pieces.size() == 1;
  std::optional<int64_t> count = elementCount(*dims);
  if (!count)
    return evalError(EvalFailure::Limit, "stage too large to evaluate");
  bool isDense = !whole || *count <= 1;
  if (isDense) {
    Expected<EvalTensor> dense =
        EvalTensor::allocate(*dims, stage.elementType, options.domain);
    if (!dense)
      return dense.takeError();
    out = std::move(*dense);
    if (Error error = account(out))
      return error;
  } else if (!storageOf(stage.elementType, options.domain)) {
    return EvalTensor::allocate(*dims, stage.elementType, options.domain)
        .takeError();
  }
  for (const Piece &piece : stage.pieces)
    if (Error error = runPiece(stage, piece, out, whole))
      return error;
  stages.push_back(std::move(out));
  return Error::success();
}

Expected<std::vector<EvalTensor>> Run::run() {
  if (Error error = bindInputs())
    return error;
  if (Error error = checkRequirements())
    return error;
  context.domain = options.domain;
  context.options = &options;
  context.symbols = &symbols;
  context.numInputs = inputs.size();
  for (const EvalTensor &input : inputs)
    context.sources.push_back(
        {&input, stridesOf(input.getDims(), input.isSplat())});
  stages.reserve(definition.stages.size());
  for (const Stage &stage : definition.stages) {
    if (Error error = runStage(stage))
      return error;
    const EvalTensor &out = stages.back();
    context.sources.push_back({&out, stridesOf(out.getDims(), out.isSplat())});
  }
  std::vector<EvalTensor> results;
  for (unsigned result : definition.results)
    results.push_back(stages[result]);
  return results;
}

} // namespace

Expected<std::vector<EvalTensor>> evaluate(const Definition &definition,
                                           ArrayRef<EvalTensor> inputs,
                                           const EvalOptions &options) {
  // Machines round small floats.
  if (options.domain == EvalDomain::Native)
    return Run(widenSmallFloats(definition), inputs, options).run();
  return Run(definition, inputs, options).run();
}

Error bindSymbols(ArrayRef<IntExpr> dims, ArrayRef<int64_t> sizes,
                  llvm::StringMap<int64_t> &symbols) {
  if (dims.size() != sizes.size())
    return evalError(EvalFailure::Input,
                     "expected rank " + llvm::Twine(dims.size()) + ", got " +
                         llvm::Twine(sizes.size()));
  for (auto [dim, size] : llvm::zip(dims, sizes)) {
    if (dim.getKind() == IntExpr::Kind::Symbol)
      symbols.try_emplace(dim.getSymbol(), size);
    if (std::optional<int64_t> value = evaluate(dim, symbols);
        value && *value != size)
      return evalError(EvalFailure::Input, "dim " + dim.str() + " must be " +
                                               llvm::Twine(*value) + ", got " +
                                               llvm::Twine(size));
  }
  return Error::success();
}

Expected<SmallVector<int64_t>>
evaluateDims(ArrayRef<IntExpr> dims, const llvm::StringMap<int64_t> &symbols) {
  SmallVector<int64_t> sizes;
  for (IntExpr dim : dims) {
    std::optional<int64_t> value = evaluate(dim, symbols);
    if (!value)
      return evalError(EvalFailure::Input, "cannot evaluate " + dim.str());
    sizes.push_back(*value);
  }
  return sizes;
}

} // namespace mlc
