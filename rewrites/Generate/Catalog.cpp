//===- Catalog.cpp - A leaf set's operators, ready to run -----------------===//

#include "rewrites/Generate/Catalog.h"
#include "dialects/Symbolic/Attributes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

namespace mlc::generate {

/// Larger values cost more than the rules that need them gain.
static constexpr uint32_t maxElements = 600;

Signs signsOf(unsigned leaf, unsigned instantiation,
              unsigned numInstantiations) {
  if (instantiation + 1 == numInstantiations)
    return Signs::Positive;
  switch ((leaf + instantiation) % 3) {
  case 0:
    return Signs::Both;
  case 1:
    return instantiation % 2 ? Signs::Positive : Signs::Both;
  default:
    return Signs::Negative;
  }
}

std::vector<Guided> sampleValues(uint64_t seed, size_t count, Signs signs,
                                 double scale) {
  std::vector<Guided> values;
  uint64_t state = mix(seed);
  while (values.size() < count) {
    state = mix(state);
    // In [1/4, 2) before it is scaled, as a multiple of 2^-14.
    double x = static_cast<double>(4096 + state % 28672) / 16384.0 * scale;
    bool isNegative =
        signs == Signs::Negative || (signs == Signs::Both && (state >> 40 & 1));
    Guided value = guided(isNegative ? -x : x);
    // Numbers are squares where roots may be taken (Guided.h).
    if (signs == Signs::Positive) {
      Guided root;
      applyUnary(UnaryFn::Sqrt, &value, &root, 1);
      if (multiply(root, root).residue != value.residue)
        continue;
    }
    values.push_back(value);
  }
  return values;
}

Catalog::Catalog(const LeafSet &leafSet, ArrayRef<std::string> ops)
    : leafSet(leafSet),
      context(std::make_unique<MLIRContext>(MLIRContext::Threading::DISABLED)),
      builder(context.get()) {
  context->loadDialect<MlcDialect, func::FuncDialect>();
  module = ModuleOp::create(UnknownLoc::get(context.get()));
  for (auto [i, variant] : llvm::enumerate(allVariants())) {
    bool isHere = StringRef(variant.leafSets).contains(leafSet.letter) &&
                  (ops.empty() || llvm::is_contained(ops, variant.op));
    if (isHere)
      (variant.arity == 1 ? unary : binary).push_back(i);
  }
  for (const Leaf &leaf : leafSet.leaves)
    leafTypes.push_back(*intern(parseDims(context.get(), leaf.dims)));
}

std::optional<uint32_t> Catalog::intern(ArrayRef<IntExpr> dims) {
  std::vector<int64_t> key{static_cast<int64_t>(dims.size())};
  TensorType type{SmallVector<IntExpr>(dims), {}};
  for (const Assignment &sizes : leafSet.sizes) {
    int64_t count = 1;
    for (IntExpr dim : dims) {
      std::optional<int64_t> size = sizes.evaluate(dim);
      if (!size || *size <= 0)
        return std::nullopt;
      key.push_back(*size);
      count *= *size;
      if (count > maxElements) {
        ++numTooLarge;
        return std::nullopt;
      }
    }
    type.counts.push_back(count);
  }
  auto [it, isNew] = typeNumbers.try_emplace(std::move(key), types.size());
  if (isNew)
    types.push_back(std::move(type));
  return it->second;
}

uint32_t Catalog::internConstant(StringRef name, ArrayRef<IntExpr> dims) {
  std::string key = name.str();
  for (IntExpr dim : dims)
    key += "," + dim.str();
  for (auto [i, constant] : llvm::enumerate(constants))
    if (constant.key == key)
      return i;
  Constant constant{key, {}};
  uint64_t seed = llvm::xxh3_64bits(llvm::StringRef(key));
  bool isPositive = name == "variance";
  for (auto [i, sizes] : llvm::enumerate(leafSet.sizes)) {
    size_t count = 1;
    for (IntExpr dim : dims)
      count *= sizes.evaluate(dim).value_or(1);
    bool isLast = i + 1 == leafSet.sizes.size();
    constant.values.push_back(sampleValues(
        seed + i, count, isPositive || isLast ? Signs::Positive : Signs::Both));
  }
  constants.push_back(std::move(constant));
  return constants.size() - 1;
}

/// Variants that may be the identity, which gives no rule.
static bool mayBeIdentity(const Variant &variant) {
  StringRef op = variant.steps[0].op;
  return op == "slice" || op == "pad" || op == "broadcast" || op == "reshape";
}

std::optional<Application> Catalog::compile(uint32_t number,
                                            ArrayRef<uint32_t> operandTypes) {
  const Variant &variant = allVariants()[number];
  Type f32 = Float32Type::get(context.get());
  // Operators over block arguments; dropped again at the end.
  Block block;
  for (uint32_t type : operandTypes)
    block.addArgument(getTensorType(types[type].dims, f32),
                      UnknownLoc::get(context.get()));
  OpBuilder at(context.get());
  at.setInsertionPointToEnd(&block);
  Application result;
  result.variant = number;
  SmallVector<Value> operands(block.getArguments());
  auto makeConstant = [&](StringRef name, ArrayRef<IntExpr> dims) -> Value {
    result.constants.push_back(internConstant(name, dims));
    return block.addArgument(getTensorType(dims, f32),
                             UnknownLoc::get(context.get()));
  };
  FailureOr<Value> value =
      builder.build(at, variant.steps, operands, makeConstant);
  if (failed(value))
    return std::nullopt;
  auto resultType = cast<RankedTensorType>(value->getType());
  std::optional<uint32_t> type = intern(*getDims(resultType));
  bool isNothing = type && mayBeIdentity(variant) && *type == operandTypes[0];
  if (!type || isNothing)
    return std::nullopt;
  result.type = *type;
  for (auto [i, sizes] : llvm::enumerate(leafSet.sizes)) {
    EvalOptions options;
    options.domain = EvalDomain::Guided;
    options.symbols = sizes.integers;
    options.parameters = sizes.reals;
    FixedProgram program(std::move(options));
    llvm::DenseMap<Value, unsigned> tensors;
    for (BlockArgument argument : block.getArguments()) {
      SmallVector<IntExpr> own =
          *getDims(cast<RankedTensorType>(argument.getType()));
      SmallVector<int64_t> dims;
      for (IntExpr dim : own)
        dims.push_back(sizes.evaluate(dim).value_or(0));
      tensors[argument] = program.addInput(dims, f32);
    }
    for (Operation &op : block) {
      FailureOr<Definition> definition =
          getDefinition(cast<DefinitionOpInterface>(op));
      SmallVector<unsigned> from;
      for (Value operand : op.getOperands())
        from.push_back(tensors[operand]);
      llvm::Expected<unsigned> made = program.add(*definition, from);
      if (!made) {
        llvm::consumeError(made.takeError());
        return std::nullopt;
      }
      tensors[op.getResult(0)] = *made;
    }
    program.setResult(tensors[*value]);
    // Whether indices are in range does not depend on the values.
    std::vector<Guided> ones(maxElements, guided(1.0)),
        out(types[*type].counts[i]);
    SmallVector<const void *> inputs(block.getNumArguments(), ones.data());
    if (!program.run(inputs, out.data()))
      return std::nullopt;
    result.programs.push_back(std::move(program));
  }
  return result;
}

void Catalog::run(const Application &application, unsigned instantiation,
                  ArrayRef<const Guided *> operands, Guided *out) const {
  SmallVector<const void *, 6> inputs(operands.begin(), operands.end());
  for (uint32_t number : application.constants)
    inputs.push_back(constant(number, instantiation));
  [[maybe_unused]] bool hasValue =
      application.programs[instantiation].run(inputs, out);
  assert(hasValue && "it had one when it was compiled");
}

std::optional<uint32_t> Catalog::apply(uint32_t variant,
                                       ArrayRef<uint32_t> operandTypes) {
  std::vector<uint32_t> key{variant};
  llvm::append_range(key, operandTypes);
  auto it = known.find(key);
  if (it != known.end())
    return it->second;
  // Element-wise operators need equal types; most pairs end here.
  bool differ = allVariants()[variant].isPointwise &&
                operandTypes.size() == 2 && operandTypes[0] != operandTypes[1];
  std::optional<uint32_t> result;
  if (!differ)
    if (std::optional<Application> made = compile(variant, operandTypes)) {
      result = applications.size();
      applications.push_back(std::move(*made));
    }
  known[std::move(key)] = result;
  return result;
}

} // namespace mlc::generate
