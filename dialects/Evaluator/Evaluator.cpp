//===- Evaluator.cpp - Values of definitions on concrete tensors ----------===//

#include "dialects/Evaluator/Evaluator.h"
#include "dialects/Definition/DefinitionForms.h"
#include "dialects/Evaluator/EvaluatorProgram.h"
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
  std::vector<bool> liveStages() const;
  Error runStage(const Stage &stage);
  void addSource(const EvalTensor &tensor);
  Error undefined(const Stage &stage, const EvalTensor &tensor, size_t element,
                  Undefined reason);
  Error account(const EvalTensor &tensor);
  Error charge(const Stage &stage, const Program &program);

  const Definition &definition;
  ArrayRef<EvalTensor> inputs;
  const EvalOptions &options;
  llvm::StringMap<int64_t> symbols;
  std::vector<EvalTensor> stages;
  CompileContext context;
  // For the context's sources.
  std::vector<const void *> memory;
  std::vector<Marks> marks;
  Runner runner;
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
  // Check dims that were open when symbols were bound one by one.
  for (auto [i, shape] : llvm::enumerate(definition.inputs))
    for (auto [dim, size] : llvm::zip(shape.dims, inputs[i].getDims()))
      if (std::optional<int64_t> value = evaluate(dim, symbols);
          value && *value != size)
        return evalError(EvalFailure::Input, "input " + llvm::Twine(i) +
                                                 ": dim " + dim.str() + " is " +
                                                 llvm::Twine(size));
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

Error Run::undefined(const Stage &stage, const EvalTensor &tensor,
                     size_t element, Undefined reason) {
  SmallVector<int64_t> place;
  for (int64_t size : llvm::reverse(tensor.getDims())) {
    place.insert(place.begin(), element % size);
    element /= size;
  }
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "stage " << stage.name << " at [";
  llvm::interleaveComma(place, os);
  os << "]: " << describe(reason);
  return evalError(EvalFailure::Undefined, text);
}

/// Whether it divides integers, other than indices or truth values. Division by
/// 0 is an error there, even in values that are not read.
bool dividesIntegers(const Stage &stage) {
  bool found = false;
  for (const Piece &piece : stage.pieces)
    walk(piece.body, [&](const ExprNode &node) {
      bool isQuotient =
          node.kind == Expr::Kind::Binary &&
          (node.binary == BinaryFn::Div || node.binary == BinaryFn::FloorDiv ||
           node.binary == BinaryFn::Mod);
      found |=
          isQuotient && isa<IntegerType>(node.type) && !node.type.isInteger(1);
    });
  return found;
}

/// Stages that results read, and stages whose integer quotients must be defined
/// in any case, with the stages that these read.
std::vector<bool> Run::liveStages() const {
  std::vector<bool> isLive(definition.stages.size());
  for (unsigned result : definition.results)
    isLive[result] = true;
  for (size_t i = isLive.size(); i-- > 0;) {
    const Stage &stage = definition.stages[i];
    isLive[i] = isLive[i] || dividesIntegers(stage);
    if (!isLive[i])
      continue;
    if (stage.reinterprets && stage.reinterprets->isStage)
      isLive[stage.reinterprets->index] = true;
    for (const Piece &piece : stage.pieces)
      walk(piece.body, [&](const ExprNode &node) {
        if (node.kind == Expr::Kind::Read && node.tensor.isStage)
          isLive[node.tensor.index] = true;
      });
  }
  return isLive;
}

Error Run::runStage(const Stage &stage) {
  Expected<CompiledStage> compiled =
      compileStage(context, stage, /*maySplat=*/true);
  if (!compiled)
    return compiled.takeError();
  if (compiled->reinterprets) {
    TensorId id = *compiled->reinterprets;
    const EvalTensor &from = id.isStage ? stages[id.index] : inputs[id.index];
    stages.push_back(from.reshaped(compiled->dims));
    addSource(stages.back());
    marks.back() = marks[id.index + (id.isStage ? inputs.size() : 0)];
    return Error::success();
  }
  Expected<EvalTensor> out = EvalTensor::allocate(
      compiled->dims, compiled->elementType, options.domain, compiled->isSplat);
  if (!out)
    return out.takeError();
  if (Error error = account(*out))
    return error;
  Marks own;
  for (const CompiledStage::Piece &piece : compiled->pieces) {
    if (Error error = charge(stage, *piece.program))
      return error;
    runner.run(*piece.program, memory, marks, piece.points, out->getStorage(),
               out->isSplat() ? 1 : out->getNumElements(),
               out->getMutableData(), own);
  }
  if (dividesIntegers(stage))
    for (auto [i, mark] : llvm::enumerate(own))
      if (mark == uint8_t(Undefined::IntegerDivisionByZero))
        return undefined(stage, *out, i, Undefined::IntegerDivisionByZero);
  stages.push_back(std::move(*out));
  addSource(stages.back());
  marks.back() = std::move(own);
  return Error::success();
}

void Run::addSource(const EvalTensor &tensor) {
  unsigned place = memory.size();
  llvm::ArrayRef<int64_t> dims = tensor.getDims();
  context.sources.push_back({tensor.getStorage(),
                             {dims.begin(), dims.end()},
                             tensor.isSplat(),
                             place});
  memory.push_back(tensor.getData());
  marks.emplace_back();
}

Expected<std::vector<EvalTensor>> Run::run() {
  if (Error error = bindInputs())
    return error;
  if (Error error = checkRequirements(definition, symbols))
    return error;
  context.domain = options.domain;
  context.options = &options;
  context.symbols = &symbols;
  context.numInputs = inputs.size();
  context.numLoops = definition.numLoops;
  for (const EvalTensor &input : inputs)
    addSource(input);
  stages.reserve(definition.stages.size());
  std::vector<bool> isLive = liveStages();
  for (auto [i, stage] : llvm::enumerate(definition.stages)) {
    if (!isLive[i]) {
      stages.emplace_back();
      addSource(stages.back());
    } else if (Error error = runStage(stage)) {
      return error;
    }
  }
  std::vector<EvalTensor> results;
  for (unsigned result : definition.results) {
    for (auto [i, mark] : llvm::enumerate(marks[inputs.size() + result]))
      if (mark)
        return undefined(definition.stages[result], stages[result], i,
                         static_cast<Undefined>(mark));
    results.push_back(stages[result]);
  }
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
