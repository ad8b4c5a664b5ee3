//===- EvaluatorDomain.cpp - Which domains evaluate a definition ----------===//

#include "dialects/Evaluator/Evaluator.h"
#include "dialects/Evaluator/EvaluatorProgram.h"

using namespace mlir;

namespace mlc {

namespace {

bool isFloat(Type type) { return isa<FloatType>(type); }

/// Collects the functions and types that a domain lacks.
struct Scan {
  EvalDomain domain;
  DomainAnswer answer;

  void cannot(const llvm::Twine &what) {
    if (!answer.applies)
      return;
    answer.applies = answer.isExact = false;
    answer.reason = (what + " has no meaning there").str();
  }
  void uninterpreted(const llvm::Twine &what) {
    if (!answer.isExact)
      return;
    answer.isExact = false;
    answer.reason = (what + " is uninterpreted there").str();
  }

  void visit(const ExprNode &node) {
    switch (node.kind) {
    case Expr::Kind::Unary:
      return unary(node);
    case Expr::Kind::Binary:
      return binary(node);
    case Expr::Kind::Compare:
      if (domain == EvalDomain::Modular && isFloat(node.operands[0]->type))
        cannot("order");
      return;
    case Expr::Kind::Cast:
      return cast(node);
    case Expr::Kind::Reduce:
      if (domain == EvalDomain::Modular && isFloat(node.type) &&
          (node.reduce == ReduceKind::Max || node.reduce == ReduceKind::Min))
        cannot(name(node.reduce));
      return;
    default:
      return;
    }
  }

  void unary(const ExprNode &node) {
    if (!isFloat(node.type))
      return;
    switch (factsOf(node.unary).exact) {
    case ExactMeaning::Field:
      return;
    case ExactMeaning::Order:
      if (domain == EvalDomain::Modular)
        uninterpreted(name(node.unary));
      return;
    case ExactMeaning::Uninterpreted:
      if (domain != EvalDomain::Interval)
        uninterpreted(name(node.unary));
      return;
    case ExactMeaning::None:
      return cannot(name(node.unary));
    }
  }

  void binary(const ExprNode &node) {
    if (!isFloat(node.type))
      return;
    switch (factsOf(node.binary).exact) {
    case ExactMeaning::Field:
      return;
    case ExactMeaning::Order:
      if (domain == EvalDomain::Modular)
        cannot(name(node.binary));
      return;
    case ExactMeaning::Uninterpreted:
      if (domain != EvalDomain::Interval)
        uninterpreted(name(node.binary));
      return;
    case ExactMeaning::None:
      return cannot(name(node.binary));
    }
  }

  void cast(const ExprNode &node) {
    Type from = node.operands[0]->type;
    if (isFloat(from) && !isFloat(node.type)) {
      if (domain == EvalDomain::Modular || domain == EvalDomain::Guided)
        cannot("conversion to an integer");
      return;
    }
    if (!evaluator::narrows(from, node.type) || domain == EvalDomain::Interval)
      return;
    if (domain == EvalDomain::Guided)
      return cannot("narrowing");
    uninterpreted("narrowing");
  }
};

} // namespace

DomainAnswer domainApplies(const Definition &definition, EvalDomain domain) {
  Scan scan{domain, {}};
  if (domain == EvalDomain::Native || domain == EvalDomain::Float64)
    return scan.answer;
  for (const Stage &stage : definition.stages) {
    // A reinterpreted tensor is moved, not computed.
    if (stage.reinterprets)
      continue;
    for (const Piece &piece : stage.pieces)
      walk(piece.body, [&](const ExprNode &node) { scan.visit(node); });
  }
  return scan.answer;
}

} // namespace mlc
