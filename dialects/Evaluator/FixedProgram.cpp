//===- FixedProgram.cpp - Operators at fixed sizes, run many times --------===//

#include "dialects/Evaluator/FixedProgram.h"
#include "dialects/Definition/DefinitionForms.h"
#include "dialects/Evaluator/EvaluatorProgram.h"

using namespace mlc::evaluator;
using llvm::ArrayRef;
using llvm::Error;
using llvm::Expected;

namespace mlc {

/// A stage, and where its elements are stored: in scratch, or in `sameAs`.
struct FixedProgram::Step {
  CompiledStage stage;
  ElementStorage storage;
  unsigned tensor;
  std::optional<unsigned> sameAs;
  size_t offset = 0; // in scratch
};

FixedProgram::FixedProgram(EvalOptions options) : options(std::move(options)) {}
FixedProgram::FixedProgram(FixedProgram &&) = default;
FixedProgram::~FixedProgram() = default;

static size_t bytesOf(const Source &tensor) {
  return *elementCount(tensor.dims) * bytesOf(tensor.storage);
}

unsigned FixedProgram::addInput(ArrayRef<int64_t> dims,
                                mlir::Type elementType) {
  assert(steps.empty() && "inputs come first");
  tensors.push_back({*storageOf(elementType, options.domain),
                     {dims.begin(), dims.end()},
                     /*isSplat=*/false,
                     numInputs});
  return numInputs++;
}

Expected<unsigned> FixedProgram::add(const Definition &given,
                                     ArrayRef<unsigned> operands) {
  const Definition definition =
      options.domain == EvalDomain::Native ? widenSmallFloats(given) : given;
  llvm::StringMap<int64_t> symbols = options.symbols;
  CompileContext context{
      options.domain,     &options, &symbols, {}, unsigned(operands.size()),
      definition.numLoops};
  for (auto [shape, operand] : llvm::zip_equal(definition.inputs, operands)) {
    if (Error error = bindSymbols(shape.dims, tensors[operand].dims, symbols))
      return error;
    context.sources.push_back(tensors[operand]);
  }
  if (Error error = checkRequirements(definition, symbols))
    return error;
  for (const Stage &stage : definition.stages) {
    Expected<CompiledStage> compiled =
        compileStage(context, stage, /*maySplat=*/false);
    if (!compiled)
      return compiled.takeError();
    unsigned number = tensors.size();
    Source source{*storageOf(stage.elementType, options.domain), compiled->dims,
                  /*isSplat=*/false, number};
    Step step{std::move(*compiled), source.storage, number, std::nullopt,
              scratchBytes};
    if (std::optional<TensorId> id = step.stage.reinterprets)
      step.sameAs =
          context.sources[id->index + (id->isStage ? context.numInputs : 0)]
              .place;
    else
      scratchBytes += llvm::alignTo(bytesOf(source), 64);
    context.sources.push_back(source);
    tensors.push_back(std::move(source));
    steps.push_back(std::move(step));
  }
  return context.sources[context.numInputs + definition.results.front()].place;
}

void FixedProgram::setResult(unsigned tensor) {
  result = origin = tensor;
  while (origin >= numInputs && steps[origin - numInputs].sameAs)
    origin = *steps[origin - numInputs].sameAs;
}

bool FixedProgram::run(ArrayRef<const void *> inputs, void *out) const {
  /// Memory of one run, reused by the next.
  struct Scratch {
    Runner runner;
    std::vector<char> bytes;
    std::vector<const void *> memory;
    Marks marks;
  };
  static thread_local Scratch scratch;
  if (scratch.bytes.size() < scratchBytes + 64)
    scratch.bytes.resize(scratchBytes + 64);
  char *start = reinterpret_cast<char *>(llvm::alignTo(
      reinterpret_cast<uintptr_t>(scratch.bytes.data()), uintptr_t(64)));
  scratch.memory.assign(inputs.begin(), inputs.end());
  for (const Step &step : steps) {
    if (step.sameAs) {
      scratch.memory.push_back(scratch.memory[*step.sameAs]);
      continue;
    }
    void *to = step.tensor == origin ? out : start + step.offset;
    scratch.memory.push_back(to);
    for (const CompiledStage::Piece &piece : step.stage.pieces) {
      scratch.marks.clear();
      scratch.runner.run(*piece.program, scratch.memory, {}, piece.points,
                         step.storage, *elementCount(step.stage.dims), to,
                         scratch.marks);
      if (!scratch.marks.empty())
        return false;
    }
  }
  if (origin < numInputs)
    memcpy(out, inputs[origin], bytesOf(tensors[result]));
  return true;
}

} // namespace mlc
