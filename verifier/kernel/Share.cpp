//===- Share.cpp - What both functions compute alike ----------------------===//
//
// A graph in which tensors are read more than once grows without end when each
// read is expanded. Stages get numbers, one for all that are written alike over
// inputs and stages of equal numbers; those that both sides have become inputs.
// A sum of two tensors is what it adds, in any order; among real numbers, so
// are sums of sums.
//
//===----------------------------------------------------------------------===//

#include "verifier/kernel/Share.h"
#include "verifier/kernel/Defined.h"
#include "llvm/ADT/STLExtras.h"
#include <bit>
#include <set>

namespace mlc::kernel {

namespace {

/// What a stage is, in numbers: everything in it is uniqued or renumbered.
using Form = std::vector<uint64_t>;

class FormWriter {
public:
  FormWriter(const std::vector<unsigned> &numbers,
             std::map<std::string, uint64_t> &names)
      : numbers(numbers), names(names) {}

  Form run(const Stage &stage) {
    write(stage.elementType);
    write(stage.dims);
    form.push_back(stage.pieces.size());
    for (const Piece &piece : stage.pieces) {
      write(piece.offset);
      write(piece.loops);
      write(*piece.body);
    }
    return std::move(form);
  }

private:
  void write(const void *unique) {
    form.push_back(reinterpret_cast<uintptr_t>(unique));
  }
  void write(mlir::Type type) { write(type.getAsOpaquePointer()); }
  void write(IntExpr expr) {
    write(expr ? expr.getAsOpaquePointer() : nullptr);
  }
  void write(llvm::ArrayRef<IntExpr> exprs) {
    form.push_back(exprs.size());
    for (IntExpr expr : exprs)
      write(expr);
  }
  void write(llvm::ArrayRef<Loop> loops) {
    form.push_back(loops.size());
    for (const Loop &loop : loops) {
      loopNumbers[loop.id] = loopNumbers.size();
      write(loop.extent);
    }
  }
  void write(const ExprNode &node) {
    for (uint64_t number :
         {uint64_t(node.kind), uint64_t(node.unary), uint64_t(node.binary),
          uint64_t(node.predicate), uint64_t(node.reduce),
          uint64_t(node.guarded), std::bit_cast<uint64_t>(node.number),
          uint64_t(node.integerNumber), uint64_t(node.operands.size())})
      form.push_back(number);
    write(node.type);
    write(node.integer);
    if (node.kind == Expr::Kind::Loop)
      form.push_back(loopNumbers.lookup(node.loop));
    // Of a constant: the parameter that can be nothing else.
    if (!node.parameter.empty())
      form.push_back(
          names.try_emplace(node.parameter, names.size()).first->second);
    if (node.kind == Expr::Kind::Read) {
      form.push_back(node.tensor.isStage);
      form.push_back(node.tensor.isStage ? numbers[node.tensor.index]
                                         : node.tensor.index);
    }
    write(node.loops);
    for (const Expr &operand : node.operands)
      write(*operand);
  }

  const std::vector<unsigned> &numbers;
  std::map<std::string, uint64_t> &names;
  llvm::DenseMap<unsigned, uint64_t> loopNumbers;
  Form form;
};

/// A tensor by whether it is a stage, and the number of the stage or input.
using Addend = std::pair<uint64_t, uint64_t>;

/// The tensors whose elements at the same place a stage adds as floats; none
/// if it is something else.
std::vector<TensorId> addedBy(const Stage &stage) {
  if (stage.pieces.size() != 1 ||
      !mlir::isa<mlir::FloatType>(stage.elementType))
    return {};
  const Piece &piece = stage.pieces.front();
  const ExprNode &sum = *piece.body;
  if (sum.kind != Expr::Kind::Binary || sum.binary != BinaryFn::Add ||
      sum.type != stage.elementType ||
      !llvm::all_of(piece.offset,
                    [](IntExpr at) { return at.isConstant(0); }) ||
      !llvm::equal(
          llvm::map_range(piece.loops,
                          [](const Loop &loop) { return loop.extent; }),
          stage.dims))
    return {};
  std::vector<TensorId> added;
  for (const Expr &read : sum.operands) {
    if (read->kind != Expr::Kind::Read || read->guarded ||
        read->type != sum.type || read->operands.size() != piece.loops.size())
      return {};
    for (auto [index, loop] : llvm::zip(read->operands, piece.loops))
      if (index->kind != Expr::Kind::Loop || index->loop != loop.id)
        return {};
    added.push_back(read->tensor);
  }
  return added;
}

struct Numbering {
  explicit Numbering(bool isLiteral) : isLiteral(isLiteral) {}

  const bool isLiteral;
  std::map<Form, unsigned> forms;
  std::map<std::string, uint64_t> parameters;
  /// By number.
  std::vector<TensorShape> shapes;
  std::vector<bool> partial;
  std::vector<std::vector<Addend>> addends;

  /// What a stage adds, in one order; nothing if it is no sum, or has too many
  /// addends. Among real numbers sums in it are replaced by what these add.
  /// Bits of two addends do not depend on their order.
  std::vector<Addend> addendsOf(const Stage &stage,
                                const std::vector<unsigned> &numbers) const {
    constexpr size_t most = 1000;
    std::vector<Addend> all;
    for (TensorId tensor : addedBy(stage)) {
      const unsigned number =
          tensor.isStage ? numbers[tensor.index] : tensor.index;
      if (isLiteral || !tensor.isStage || addends[number].empty())
        all.emplace_back(tensor.isStage, number);
      else
        llvm::append_range(all, addends[number]);
      if (all.size() > most)
        return {};
    }
    llvm::sort(all);
    return all;
  }

  /// Written so that no other stage is.
  static Form formOf(const Stage &stage, const std::vector<Addend> &sum) {
    Form form{
        0, reinterpret_cast<uintptr_t>(stage.elementType.getAsOpaquePointer()),
        stage.dims.size()};
    for (IntExpr dim : stage.dims)
      form.push_back(reinterpret_cast<uintptr_t>(dim.getAsOpaquePointer()));
    for (auto [isStage, number] : sum) {
      form.push_back(isStage);
      form.push_back(number);
    }
    return form;
  }

  /// Of the stages of one side.
  std::vector<unsigned> number(const Definition &side,
                               const Assumptions &assumptions) {
    std::vector<unsigned> numbers;
    Names names;
    Definedness defined(side, assumptions, names);
    for (auto [i, stage] : llvm::enumerate(side.stages)) {
      std::vector<Addend> sum = addendsOf(stage, numbers);
      auto [it, isNew] = forms.try_emplace(
          sum.empty() ? FormWriter(numbers, parameters).run(stage)
                      : formOf(stage, sum),
          forms.size());
      numbers.push_back(it->second);
      if (!isNew)
        continue;
      addends.push_back(std::move(sum));
      shapes.push_back({stage.dims, stage.elementType});
      partial.push_back(defined.mayBeUndefined(i));
    }
    return numbers;
  }
};

/// Whether a stage only hands on what it reads: nothing is gained by sharing
/// it.
bool isMovement(const Stage &stage) {
  return llvm::all_of(stage.pieces, [](const Piece &piece) {
    return piece.body->kind == Expr::Kind::Read ||
           piece.body->kind == Expr::Kind::Constant;
  });
}

void readShared(Definition &side, const std::vector<unsigned> &numbers,
                const std::map<unsigned, unsigned> &inputOf) {
  auto sharedInput = [&](TensorId tensor) -> std::optional<unsigned> {
    if (!tensor.isStage)
      return std::nullopt;
    auto it = inputOf.find(numbers[tensor.index]);
    return it == inputOf.end() ? std::nullopt : std::optional(it->second);
  };
  std::function<Expr(const Expr &)> move = [&](const Expr &expr) {
    ExprNode node = *expr;
    if (node.kind == Expr::Kind::Read)
      if (std::optional<unsigned> input = sharedInput(node.tensor))
        node.tensor = {false, *input};
    for (Expr &operand : node.operands)
      operand = move(operand);
    return Expr(std::make_shared<const ExprNode>(std::move(node)));
  };
  for (auto [i, stage] : llvm::enumerate(side.stages)) {
    stage.reinterprets.reset();
    std::optional<unsigned> input =
        sharedInput({true, static_cast<unsigned>(i)});
    if (!input) {
      for (Piece &piece : stage.pieces)
        piece.body = move(piece.body);
      continue;
    }
    // Results are stages, so the stage stays as a copy of the input.
    mlir::Type index = mlir::IndexType::get(stage.elementType.getContext());
    Piece copy;
    ExprNode read(Expr::Kind::Read, stage.elementType);
    read.tensor = {false, *input};
    for (IntExpr dim : stage.dims) {
      copy.offset.push_back(IntExpr::constant(dim.getContext(), 0));
      copy.loops.push_back({side.numLoops++, dim});
      ExprNode loop(Expr::Kind::Loop, index);
      loop.loop = copy.loops.back().id;
      read.operands.push_back(
          Expr(std::make_shared<const ExprNode>(std::move(loop))));
    }
    copy.body = Expr(std::make_shared<const ExprNode>(std::move(read)));
    stage.pieces.assign(1, std::move(copy));
  }
}

} // namespace

std::optional<Statement> withSharedStages(const Statement &statement) {
  Numbering numbering(statement.assumptions.isLiteral);
  std::vector<unsigned> before = numbering.number(statement.before,
                                                  statement.assumptions),
                        after = numbering.number(statement.after,
                                                 statement.assumptions);
  Statement result = statement;
  Definition &first = result.before, &second = result.after;
  std::vector<Assumed> &assumed = result.assumptions.inputs;
  assumed.resize(first.inputs.size());
  std::map<unsigned, unsigned> inputOf;
  std::set<unsigned> others(after.begin(), after.end());
  for (auto [i, stage] : llvm::enumerate(statement.before.stages)) {
    unsigned number = before[i];
    if (isMovement(stage) || !others.count(number) ||
        !inputOf.try_emplace(number, first.inputs.size()).second)
      continue;
    first.inputs.push_back(numbering.shapes[number]);
    second.inputs.push_back(numbering.shapes[number]);
    assumed.push_back({.isPartial = numbering.partial[number],
                       .width = widthOf(stage.elementType)});
  }
  if (inputOf.empty())
    return std::nullopt;
  readShared(first, before, inputOf);
  readShared(second, after, inputOf);
  return result;
}

static bool areAlike(const Statement &statement, bool isLiteral) {
  Numbering numbering(isLiteral);
  std::vector<unsigned> before = numbering.number(statement.before,
                                                  statement.assumptions),
                        after = numbering.number(statement.after,
                                                 statement.assumptions);
  return llvm::all_of(
      llvm::zip(statement.before.results, statement.after.results),
      [&](auto pair) {
        return before[std::get<0>(pair)] == after[std::get<1>(pair)];
      });
}

bool areAlike(const Statement &statement) {
  return areAlike(statement, statement.assumptions.isLiteral);
}

bool addsInOtherOrder(const Statement &statement) {
  return areAlike(statement, /*isLiteral=*/false) &&
         !areAlike(statement, /*isLiteral=*/true);
}

} // namespace mlc::kernel
