//===- Head.cpp - What a call applies, or a reduction joins by ------------===//

#include "verifier/kernel/Head.h"
#include "llvm/Support/raw_ostream.h"

namespace mlc::kernel {

static std::string textOf(mlir::Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

Head Head::compare(ComparePredicate predicate, mlir::Type type) {
  Head head(Kind::Compare, type);
  head.predicate = predicate;
  return head;
}

Head Head::cast(mlir::Type from, mlir::Type to) {
  Head head(Kind::Cast, from);
  head.target = to;
  return head;
}

Head Head::element(unsigned input) {
  Head head(Kind::Element);
  head.number = input;
  return head;
}

Head Head::unwritten(llvm::StringRef name) {
  Head head(Kind::Unwritten);
  head.name = name.str();
  return head;
}

Head Head::inOrder(ReduceKind monoid, mlir::Type type, unsigned numNumbers) {
  Head head(Kind::InOrder, type);
  head.monoid = monoid;
  head.number = numNumbers;
  return head;
}

Head Head::either(BinaryFn function, mlir::Type type) {
  Head head(Kind::Either, type);
  head.binary = function;
  return head;
}

std::optional<UnaryFn> Head::getFunction() const {
  return kind == Kind::Unary && !type ? std::optional(unary) : std::nullopt;
}

Head Head::ofReals() const {
  Head head = *this;
  head.type = {};
  return head;
}

bool Head::isIdempotent() const {
  switch (kind) {
  case Kind::Max:
    return true;
  case Kind::Min: // of reals it is a maximum of negatives
    return type != nullptr;
  case Kind::Any:
  case Kind::All:
    return !type;
  case Kind::Prod:
  case Kind::Parity:
  case Kind::InOrder:
  case Kind::Either:
    return false;
  case Kind::None:
  case Kind::Unary:
  case Kind::Binary:
  case Kind::Positive:
  case Kind::Zero:
  case Kind::Less:
  case Kind::Compare:
  case Kind::Cast:
  case Kind::Element:
  case Kind::InRange:
  case Kind::Unwritten:
  case Kind::Placed:
  case Kind::Joined:
    return false;
  }
  llvm_unreachable("unknown head");
}

bool Head::keepsOneValue() const {
  switch (kind) {
  case Kind::Max:
  case Kind::Min:
  case Kind::Prod:
  case Kind::Any:
  case Kind::All:
  case Kind::Parity:
    return true;
  case Kind::InOrder: // of pairs of a place and a value
  case Kind::Either:  // of two values
    return false;
  case Kind::None:
  case Kind::Unary:
  case Kind::Binary:
  case Kind::Positive:
  case Kind::Zero:
  case Kind::Less:
  case Kind::Compare:
  case Kind::Cast:
  case Kind::Element:
  case Kind::InRange:
  case Kind::Unwritten:
  case Kind::Placed:
  case Kind::Joined:
    return false;
  }
  llvm_unreachable("unknown head");
}

std::string Head::str() const {
  auto typed = [&](llvm::StringRef text) {
    return type ? (text + ":" + textOf(type)).str() : text.str();
  };
  switch (kind) {
  case Kind::None:
    return "";
  case Kind::Unary:
    return typed(mlc::name(unary));
  case Kind::Binary:
    return typed(mlc::name(binary));
  case Kind::Positive:
    return typed("positive");
  case Kind::Zero:
    return typed("zero");
  case Kind::Less:
    return typed("less");
  case Kind::Compare:
    return typed(mlc::name(predicate));
  case Kind::Cast:
    return typed("cast") + ":" + textOf(target);
  case Kind::Element:
    return "input" + std::to_string(number) + "@";
  case Kind::InRange:
    return "in-range";
  case Kind::Unwritten:
    return "unwritten:" + name;
  case Kind::Placed:
    return "%at";
  case Kind::Joined:
    return "%value";
  case Kind::Max:
    return typed(mlc::name(ReduceKind::Max));
  case Kind::Min:
    return typed(mlc::name(ReduceKind::Min));
  case Kind::Prod:
    return typed(mlc::name(ReduceKind::Prod));
  case Kind::Any:
    return typed(mlc::name(ReduceKind::Any));
  case Kind::All:
    return typed(mlc::name(ReduceKind::All));
  case Kind::Parity:
    return typed("parity");
  case Kind::InOrder:
    return typed("in-order:" + mlc::name(monoid).str()) + ":" +
           std::to_string(number);
  case Kind::Either:
    return typed("in-order:either:" + mlc::name(binary).str());
  }
  llvm_unreachable("unknown head");
}

} // namespace mlc::kernel
