//===- ExportCommand.cpp - mlc-rules export -------------------------------===//
//
// Exports rules in two equivalent formats for other tools: docs/RuleExport.md.
//
//===----------------------------------------------------------------------===//

#include "dialects/Definition/OpInterfaces.h"
#include "dialects/Module/ParseModule.h"
#include "tools/mlc-rules/Command.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

namespace mlc::rules {
namespace {

//===----------------------------------------------------------------------===//
// S-expressions, as egg reads them
//===----------------------------------------------------------------------===//

class EggWriter {
public:
  explicit EggWriter(llvm::raw_ostream &os) : os(os) {}

  void write(Rule &rule);

private:
  void write(IntExpr expr);
  void write(mlir::Attribute attribute);
  void write(mlir::Value value);
  void writeResults(mlir::func::FuncOp function);
  void write(const Condition &condition);
  void writeDims(mlir::Value argument);
  void writeConditions(Rule &rule);
  template <typename Range> void writeAll(const Range &range) {
    for (const auto &part : range) {
      os << ' ';
      write(part);
    }
  }

  llvm::raw_ostream &os;
};

/// An argument's name in @before, also for arguments of @after.
std::string nameOf(mlir::BlockArgument argument) {
  auto def = argument.getOwner()->getParentOp()->getParentOfType<rule::DefOp>();
  unsigned number = argument.getArgNumber();
  llvm::StringRef name = argumentName(def.getBefore().getArgument(number));
  return name.empty() ? "arg" + std::to_string(number) : name.str();
}

llvm::StringRef nameOf(IntExpr::Kind kind) {
  switch (kind) {
  case IntExpr::Kind::Add:
    return "+";
  case IntExpr::Kind::Mul:
    return "*";
  case IntExpr::Kind::FloorDiv:
    return "floordiv";
  case IntExpr::Kind::Mod:
    return "mod";
  case IntExpr::Kind::Min:
    return "min";
  case IntExpr::Kind::Max:
    return "max";
  case IntExpr::Kind::Constant:
  case IntExpr::Kind::Symbol:
    break;
  }
  return "";
}

void EggWriter::write(IntExpr expr) {
  if (expr.isConstant()) {
    os << expr.getConstant();
  } else if (expr.getKind() == IntExpr::Kind::Symbol) {
    os << '?' << expr.getSymbol();
  } else {
    os << '(' << nameOf(expr.getKind());
    writeAll(expr.getOperands());
    os << ')';
  }
}

void EggWriter::write(mlir::Attribute attribute) {
  llvm::TypeSwitch<mlir::Attribute>(attribute)
      .Case([&](IntExpr expr) { write(expr); })
      .Case([&](DimsAttr dims) {
        os << "(list";
        writeAll(dims);
        os << ')';
      })
      .Case([&](RealAttr real) {
        if (real.isSymbol())
          os << '?' << real.getSymbol();
        else
          os << llvm::format("%.17g", real.getDouble());
      })
      .Case([&](mlir::IntegerAttr integer) {
        os << integer.getValue().getSExtValue();
      })
      .Case([&](mlir::DenseI64ArrayAttr numbers) {
        os << "(list";
        for (int64_t number : numbers.asArrayRef())
          os << ' ' << number;
        os << ')';
      })
      .Case([&](mlir::StringAttr text) {
        os << '"';
        llvm::printEscapedString(text.getValue(), os);
        os << '"';
      })
      .Case([&](mlir::TypeAttr type) { os << type.getValue(); })
      .Default([&](mlir::Attribute other) {
        std::string text;
        llvm::raw_string_ostream(text) << other;
        os << '"';
        llvm::printEscapedString(text, os);
        os << '"';
      });
}

void EggWriter::write(mlir::Value value) {
  if (auto argument = mlir::dyn_cast<mlir::BlockArgument>(value)) {
    os << "?%" << nameOf(argument);
    return;
  }
  mlir::Operation *op = value.getDefiningOp();
  bool isOneOfSeveral = op->getNumResults() > 1;
  if (isOneOfSeveral)
    os << "(result " << mlir::cast<mlir::OpResult>(value).getResultNumber()
       << ' ';
  os << '(' << op->getName().getStringRef();
  for (mlir::NamedAttribute attribute : op->getAttrs()) {
    os << " (" << attribute.getName().getValue() << ' ';
    write(attribute.getValue());
    os << ')';
  }
  writeAll(op->getOperands());
  os << ')' << (isOneOfSeveral ? ")" : "");
}

/// One term, or a tuple of all results.
void EggWriter::writeResults(mlir::func::FuncOp function) {
  auto results = function.getBody().front().getTerminator()->getOperands();
  if (results.size() == 1)
    return write(results.front());
  os << "(tuple";
  writeAll(results);
  os << ')';
}

void EggWriter::write(const Condition &condition) {
  os << '(';
  switch (condition.getKind()) {
  case Condition::Kind::Compare:
    os << name(condition.getPredicate()) << ' ';
    write(condition.getLhs());
    os << ' ';
    write(condition.getRhs());
    break;
  case Condition::Kind::Divides:
    os << "divides ";
    write(condition.getLhs());
    os << ' ';
    write(condition.getRhs());
    break;
  case Condition::Kind::AllOf:
    os << "and";
    writeAll(condition.getParts());
    break;
  case Condition::Kind::AnyOf:
    os << "or";
    writeAll(condition.getParts());
    break;
  case Condition::Kind::Not:
    os << "not";
    writeAll(condition.getParts());
    break;
  }
  os << ')';
}

void EggWriter::writeDims(mlir::Value argument) {
  auto type = mlir::dyn_cast<mlir::RankedTensorType>(argument.getType());
  std::optional<llvm::SmallVector<IntExpr>> dims =
      type ? getDims(type) : std::nullopt;
  if (!dims)
    return;
  os << "\n    (= (tensor ";
  write(argument);
  os << ") (list " << type.getElementType();
  writeAll(*dims);
  os << "))";
}

void EggWriter::writeConditions(Rule &rule) {
  os << "\n  :when (";
  for (mlir::Value argument : rule.getBefore().getArguments())
    writeDims(argument);
  for (const Condition &condition : rule.assumptions.integers) {
    os << "\n    ";
    write(condition);
  }
  for (const TensorAssumption &assumption : rule.assumptions.tensors)
    os << "\n    (" << name(assumption.predicate) << " ?%"
       << nameOf(rule.getBefore().getArgument(assumption.argument)) << ')';
  for (const RealAssumption &assumption : rule.assumptions.reals)
    os << "\n    (" << name(assumption.predicate) << " ?"
       << assumption.parameter << ' ' << llvm::format("%.17g", assumption.bound)
       << ')';
  os << ")";
}

void EggWriter::write(Rule &rule) {
  os << "; " << rule.getText() << "\n(rewrite " << rule.getName() << "\n  ";
  writeResults(rule.getBefore());
  os << "\n  ";
  writeResults(rule.getAfter());
  writeConditions(rule);
  os << ")\n";
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

class JsonWriter {
public:
  static llvm::json::Object write(Rule &rule);

private:
  static llvm::json::Value write(IntExpr expr);
  static llvm::json::Value write(mlir::Attribute attribute);
  static llvm::json::Value write(const Condition &condition);
  static llvm::json::Object write(mlir::func::FuncOp function);
  static llvm::json::Array writeArguments(mlir::func::FuncOp function);
  static llvm::json::Object writeConditions(Rule &rule);
  template <typename Range> static llvm::json::Array all(const Range &range) {
    llvm::json::Array array;
    for (const auto &part : range)
      array.push_back(write(part));
    return array;
  }
};

/// A number, a symbol's name, or [function, operand...].
llvm::json::Value JsonWriter::write(IntExpr expr) {
  if (expr.isConstant())
    return expr.getConstant();
  if (expr.getKind() == IntExpr::Kind::Symbol)
    return expr.getSymbol();
  llvm::json::Array array = all(expr.getOperands());
  array.insert(array.begin(), nameOf(expr.getKind()));
  return array;
}

llvm::json::Value JsonWriter::write(mlir::Attribute attribute) {
  using llvm::json::Object, llvm::json::Value;
  return llvm::TypeSwitch<mlir::Attribute, Value>(attribute)
      .Case([](IntExpr expr) { return Object{{"integer", write(expr)}}; })
      .Case([](DimsAttr dims) {
        return Object{{"integers", all(dims.getDims())}};
      })
      .Case([](RealAttr real) {
        return Object{{"real", real.isSymbol() ? Value(real.getSymbol())
                                               : Value(real.getDouble())}};
      })
      .Case([](mlir::IntegerAttr integer) {
        return Object{{"integer", integer.getValue().getSExtValue()}};
      })
      .Case([](mlir::DenseI64ArrayAttr numbers) {
        return Object{{"integers", llvm::json::Array(numbers.asArrayRef())}};
      })
      .Case([](mlir::StringAttr text) {
        return Object{{"text", text.getValue()}};
      })
      .Default([](mlir::Attribute other) {
        std::string text;
        llvm::raw_string_ostream(text) << other;
        return Object{{"mlir", text}};
      });
}

/// [predicate, part...].
llvm::json::Value JsonWriter::write(const Condition &condition) {
  using llvm::json::Array;
  switch (condition.getKind()) {
  case Condition::Kind::Compare:
    return Array{name(condition.getPredicate()), write(condition.getLhs()),
                 write(condition.getRhs())};
  case Condition::Kind::Divides:
    return Array{"divides", write(condition.getLhs()),
                 write(condition.getRhs())};
  case Condition::Kind::AllOf:
  case Condition::Kind::AnyOf:
  case Condition::Kind::Not:
    break;
  }
  Array array = all(condition.getParts());
  array.insert(array.begin(),
               condition.getKind() == Condition::Kind::AllOf   ? "and"
               : condition.getKind() == Condition::Kind::AnyOf ? "or"
                                                               : "not");
  return array;
}

/// The operators in order; a value is an argument or an earlier result.
llvm::json::Object JsonWriter::write(mlir::func::FuncOp function) {
  using llvm::json::Array, llvm::json::Object;
  llvm::DenseMap<mlir::Operation *, int64_t> number;
  auto values = [&](mlir::ValueRange range) {
    Array array;
    for (mlir::Value value : range) {
      if (auto argument = mlir::dyn_cast<mlir::BlockArgument>(value))
        array.push_back(Object{{"argument", nameOf(argument)}});
      else
        array.push_back(Object{
            {"node", number.lookup(value.getDefiningOp())},
            {"result", mlir::cast<mlir::OpResult>(value).getResultNumber()}});
    }
    return array;
  };
  Array nodes;
  mlir::Block &body = function.getBody().front();
  for (mlir::Operation &op : body.without_terminator()) {
    Object attributes;
    for (mlir::NamedAttribute attribute : op.getAttrs())
      attributes[attribute.getName().getValue()] = write(attribute.getValue());
    number[&op] = nodes.size();
    nodes.push_back(Object{{"operator", op.getName().getStringRef()},
                           {"attributes", std::move(attributes)},
                           {"operands", values(op.getOperands())}});
  }
  return Object{{"nodes", std::move(nodes)},
                {"results", values(body.getTerminator()->getOperands())}};
}

llvm::json::Array JsonWriter::writeArguments(mlir::func::FuncOp function) {
  llvm::json::Array array;
  for (mlir::BlockArgument argument : function.getArguments()) {
    auto tensor = mlir::dyn_cast<mlir::RankedTensorType>(argument.getType());
    auto dims = tensor ? getDims(tensor) : std::nullopt;
    std::string element;
    if (tensor)
      llvm::raw_string_ostream(element) << tensor.getElementType();
    array.push_back(
        llvm::json::Object{{"name", nameOf(argument)},
                           {"element", element},
                           {"dims", dims ? all(*dims) : llvm::json::Array()}});
  }
  return array;
}

llvm::json::Object JsonWriter::writeConditions(Rule &rule) {
  using llvm::json::Array, llvm::json::Object;
  const Assumptions &assumptions = rule.assumptions;
  Array tensors, reals;
  for (const TensorAssumption &assumption : assumptions.tensors)
    tensors.push_back(Object{
        {"argument", nameOf(rule.getBefore().getArgument(assumption.argument))},
        {"is", name(assumption.predicate)}});
  for (const RealAssumption &assumption : assumptions.reals)
    reals.push_back(Array{name(assumption.predicate), assumption.parameter,
                          assumption.bound});
  return Object{{"integers", all(assumptions.integers)},
                {"tensors", std::move(tensors)},
                {"reals", std::move(reals)}};
}

llvm::json::Object JsonWriter::write(Rule &rule) {
  llvm::json::Object object{{"name", rule.getName()},
                            {"text", rule.getText()},
                            {"hash", rule.hash},
                            {"origin", name(rule.origin)},
                            {"arguments", writeArguments(rule.getBefore())},
                            {"before", write(rule.getBefore())},
                            {"after", write(rule.getAfter())},
                            {"when", writeConditions(rule)}};
  if (rule.proved)
    object["proved"] = name(rule.proved->floatClass);
  return object;
}

} // namespace

//===----------------------------------------------------------------------===//
// The command
//===----------------------------------------------------------------------===//

static llvm::cl::SubCommand
    command("export", "print rules for other tools to read: egg's "
                      "s-expressions, or JSON (docs/RuleExport.md)");
static RuleFileOptions options(command);

static Exit run() {
  mlir::MLIRContext context;
  RuleSet rules;
  if (Exit code = options.load(rules, context); code != Exit::Done)
    return code;
  llvm::json::Array array;
  for (Rule &rule : rules.rules)
    if (options.json)
      array.push_back(JsonWriter::write(rule));
    else
      EggWriter(llvm::outs()).write(rule);
  if (options.json)
    printJson(std::move(array));
  return Exit::Done;
}

Command exportCommand() { return {command, run}; }

} // namespace mlc::rules
