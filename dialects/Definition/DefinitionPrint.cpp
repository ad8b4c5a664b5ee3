//===- DefinitionPrint.cpp - Definitions as text --------------------------===//

#include "dialects/Definition/DefinitionText.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace mlir;
using llvm::ArrayRef;
using llvm::StringRef;

namespace mlc {

namespace {

/// How tightly an expression binds; a looser one gets parentheses.
enum class Level { Compare, Sum, Product, Factor };

struct Printer {
  const Definition &definition;
  llvm::raw_ostream &os;
  std::vector<std::string> tensorNames;
  llvm::DenseMap<unsigned, std::string> loopNames;

  Printer(const Definition &definition, llvm::raw_ostream &os,
          ArrayRef<std::string> tensorNames = {})
      : definition(definition), os(os), tensorNames(tensorNames) {}

  std::string loopName(unsigned loop) {
    auto it = loopNames.find(loop);
    return it == loopNames.end() ? "i" + std::to_string(loop) : it->second;
  }

  void tensor(TensorId id) {
    if (id.isStage)
      os << definition.stages[id.index].name;
    else if (id.index < tensorNames.size())
      os << tensorNames[id.index];
    else
      os << "in" << id.index;
  }

  void list(ArrayRef<Expr> exprs) {
    llvm::interleaveComma(exprs, os, [&](const Expr &e) { expr(e); });
  }

  void loops(ArrayRef<Loop> loops) {
    llvm::interleaveComma(loops, os, [&](const Loop &loop) {
      os << loopName(loop.id) << " < " << loop.extent;
    });
  }

  void call(StringRef function, ArrayRef<Expr> arguments) {
    os << function << '(';
    list(arguments);
    os << ')';
  }

  void read(const ExprNode &node) {
    tensor(node.tensor);
    if (node.guarded) {
      os << '<';
      expr(node.operands.back(), Level::Factor);
      os << '>';
    }
    os << '[';
    list(node.indices());
    os << ']';
  }

  void infix(StringRef op, const ExprNode &node, Level own, Level place,
             bool isAssociative) {
    bool parens = own < place;
    Level next = static_cast<Level>(static_cast<int>(own) + 1);
    os << (parens ? "(" : "");
    expr(node.operands[0], isAssociative ? own : next);
    os << ' ' << op << ' ';
    expr(node.operands[1], next);
    os << (parens ? ")" : "");
  }

  void number(double value) {
    if (std::isnan(value))
      os << "nan";
    else if (std::isinf(value))
      os << (value < 0 ? "-inf" : "inf");
    else if (value == std::rint(value) && std::fabs(value) < 1e15)
      os << static_cast<int64_t>(value);
    else
      os << llvm::format("%.17g", value);
  }

  void integer(IntExpr value, Level place) {
    Level own = value.getKind() == IntExpr::Kind::Add   ? Level::Sum
                : value.getKind() == IntExpr::Kind::Mul ? Level::Product
                                                        : Level::Factor;
    bool parens = own < place;
    os << (parens ? "(" : "") << value << (parens ? ")" : "");
  }

  void binary(const ExprNode &node, Level place) {
    switch (node.binary) {
    case BinaryFn::Add:
    case BinaryFn::Sub:
      return infix(name(node.binary), node, Level::Sum, place, true);
    case BinaryFn::Mul:
    case BinaryFn::Div:
      return infix(name(node.binary), node, Level::Product, place, true);
    default:
      return call(name(node.binary), node.operands);
    }
  }

  void expr(const Expr &e, Level place = Level::Compare) {
    const ExprNode &node = *e;
    switch (node.kind) {
    case Expr::Kind::Loop:
      os << loopName(node.loop);
      return;
    case Expr::Kind::Int:
      return integer(node.integer, place);
    case Expr::Kind::Constant:
      if (isa<FloatType>(node.type))
        return number(node.number);
      os << node.integerNumber;
      return;
    case Expr::Kind::Param:
      os << node.parameter;
      return;
    case Expr::Kind::Read:
      return read(node);
    case Expr::Kind::Unary:
      return call(name(node.unary), node.operands);
    case Expr::Kind::Binary:
      return binary(node, place);
    case Expr::Kind::Compare:
      return infix(name(node.predicate), node, Level::Compare, place, false);
    case Expr::Kind::Select:
      return call("select", node.operands);
    case Expr::Kind::Cast:
      os << node.type;
      return call("", node.operands);
    case Expr::Kind::Reduce:
      os << name(node.reduce) << '{';
      loops(node.loops);
      os << "}(";
      expr(node.operands[0]);
      os << ')';
      return;
    }
  }

  /// `at offset` marks a piece that does not begin at 0.
  void stage(const Stage &stage, const Piece &piece, bool withBounds) {
    os << stage.name << '[';
    for (auto [i, loop] : llvm::enumerate(piece.loops)) {
      os << (i ? ", " : "") << loopName(loop.id);
      if (withBounds)
        os << " < " << loop.extent;
      if (!piece.offset[i].isConstant(0))
        os << " at " << piece.offset[i];
    }
    os << "] = ";
    expr(piece.body);
  }
};

/// Symbols, real parameters and loops of a definition, in order.
struct Names {
  std::vector<std::string> integers, reals;
  std::vector<unsigned> loops;
  llvm::StringSet<> used;

  void add(std::vector<std::string> &list, StringRef name) {
    if (used.insert(name).second)
      list.push_back(name.str());
  }
  void add(IntExpr expr) {
    expr.walkSymbols([&](StringRef symbol) { add(integers, symbol); });
  }
  void add(const Expr &body) {
    walk(body, [&](const ExprNode &node) {
      if (node.integer)
        add(node.integer);
      if (node.kind == Expr::Kind::Param)
        add(reals, node.parameter);
      for (const Loop &loop : node.loops) {
        loops.push_back(loop.id);
        add(loop.extent);
      }
    });
  }
  std::string fresh(StringRef preferred) {
    for (unsigned i = 0;; ++i) {
      std::string name = preferred.str() + (i ? std::to_string(i) : "");
      if (used.insert(name).second)
        return name;
    }
  }
};

} // namespace

void print(const Definition &definition, llvm::raw_ostream &os) {
  Printer printer(definition, os);
  for (const Stage &stage : definition.stages)
    for (const Piece &piece : stage.pieces) {
      printer.stage(stage, piece, /*withBounds=*/true);
      os << '\n';
    }
  for (const Requirement &r : definition.requirements)
    os << "requires " << r.lhs << ' ' << name(r.predicate) << ' ' << r.rhs
       << '\n';
}

DefinitionText printDefinition(const Definition &definition,
                               ArrayRef<std::string> tensorNames) {
  Names names;
  for (const std::string &name : tensorNames)
    names.used.insert(name);
  for (const Stage &stage : definition.stages)
    names.used.insert(stage.name);
  const Stage &result = definition.stages.back();
  for (const Stage &stage : definition.stages)
    for (const Piece &piece : stage.pieces) {
      assert(stage.pieces.size() == 1 && "text has no pieces");
      for (const Loop &loop : piece.loops) {
        names.loops.push_back(loop.id);
        if (&stage != &result)
          names.add(loop.extent);
      }
      names.add(piece.body);
    }
  DefinitionText out;
  llvm::raw_string_ostream os(out.text);
  Printer printer(definition, os, tensorNames);
  static constexpr const char *letters[] = {"i", "j", "u", "v", "r", "t"};
  for (auto [n, loop] : llvm::enumerate(names.loops))
    printer.loopNames[loop] =
        names.fresh(letters[std::min<size_t>(n, std::size(letters) - 1)]);
  os << '(';
  llvm::interleaveComma(tensorNames, os);
  if (!names.integers.empty() || !names.reals.empty()) {
    os << "; ";
    llvm::interleaveComma(names.integers, os);
  }
  if (!names.reals.empty()) {
    os << "; ";
    llvm::interleaveComma(names.reals, os);
  }
  os << ") ";
  for (const Stage &stage : definition.stages) {
    printer.stage(stage, stage.pieces[0], &stage != &result);
    os << (&stage != &result ? "; " : "");
  }
  out.integers = std::move(names.integers);
  out.reals = std::move(names.reals);
  return out;
}

} // namespace mlc
