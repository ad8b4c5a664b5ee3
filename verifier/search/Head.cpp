//===- Head.cpp - What a call applies, or a reduction joins by ------------===//

#include "verifier/search/Head.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Support/raw_ostream.h"

using llvm::StringRef;

namespace mlc::verifier {

std::string named(StringRef function, mlir::Type type) {
  if (mlir::isa<mlir::FloatType>(type) || type.isInteger(1))
    return function.str();
  std::string text;
  llvm::raw_string_ostream(text) << function << ':' << type;
  return text;
}

static StringRef nameOf(Head::Kind kind) {
  switch (kind) {
  case Head::Kind::Positive:
    return "positive";
  case Head::Kind::Zero:
    return "zero";
  case Head::Kind::Less:
    return "<";
  case Head::Kind::Max:
    return name(ReduceKind::Max);
  case Head::Kind::Min:
    return name(ReduceKind::Min);
  case Head::Kind::Prod:
    return name(ReduceKind::Prod);
  case Head::Kind::Any:
    return name(ReduceKind::Any);
  case Head::Kind::All:
    return name(ReduceKind::All);
  case Head::Kind::Parity:
    return "parity";
  case Head::Kind::None:
  case Head::Kind::Unary:
  case Head::Kind::Binary:
  case Head::Kind::Compare:
  case Head::Kind::Cast:
  case Head::Kind::Element:
  case Head::Kind::InRange:
  case Head::Kind::Unwritten:
  case Head::Kind::Placed:
  case Head::Kind::Joined:
  case Head::Kind::InOrder:
  case Head::Kind::Either:
    break;
  }
  llvm_unreachable("it has a text or a function");
}

Head::Head(UnaryFn function)
    : kind(Kind::Unary), unary(function),
      text(function == UnaryFn::Reciprocal ? "recip" : name(function).str()) {}

Head::Head(Kind kind, mlir::Type elementType)
    : kind(kind), text(nameOf(kind).str()) {
  bool isReal = !elementType || mlir::isa<mlir::FloatType>(elementType) ||
                elementType.isInteger(1);
  if (isReal)
    return;
  type = elementType;
  text = named(text, type);
}

Head Head::uninterpreted(const llvm::Twine &text) {
  Head head;
  head.text = text.str();
  return head;
}

} // namespace mlc::verifier
