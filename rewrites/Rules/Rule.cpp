//===- Rule.cpp - Reading rules -------------------------------------------===//

#include "rewrites/Rules/Rule.h"
#include "dialects/Definition/OpInterfaces.h"
#include "dialects/Definition/ScalarArithmetic.h"
#include "dialects/Module/ParseModule.h"
#include "dialects/Symbolic/Attributes.h"
#include "mlir/IR/AsmState.h"
#include "rewrites/Rules/Bindings.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/SourceMgr.h"
#include <set>

using namespace mlir;
using namespace mlc;
using llvm::StringRef;

StringRef mlc::name(RuleOrigin origin) {
  switch (origin) {
  case RuleOrigin::Given:
    return "given";
  case RuleOrigin::Written:
    return "written";
  case RuleOrigin::Generated:
    return "generated";
  }
  llvm_unreachable("unknown origin");
}

static Condition readRequire(rule::RequireOp require) {
  std::vector<Condition> parts;
  for (auto [i, predicate] : llvm::enumerate(require.getPredicates())) {
    StringRef word = cast<StringAttr>(predicate).getValue();
    IntExpr lhs = require.getLhs()[i], rhs = require.getRhs()[i];
    if (word == "divides")
      parts.push_back(Condition::divides(lhs, rhs));
    else
      parts.push_back(
          Condition::compare(lhs, *symbolizeComparePredicate(word), rhs));
  }
  return parts.size() == 1 ? parts.front() : Condition::anyOf(parts);
}

/// The text that is hashed: the rule's content without its name and
/// description.
static std::string hashText(rule::DefOp def) {
  auto copy = cast<rule::DefOp>(def->clone());
  copy.setSymName("rule");
  copy.setText("");
  std::string text;
  llvm::raw_string_ostream os(text);
  OpPrintingFlags flags;
  flags.enableDebugInfo(false).printGenericOpForm();
  copy->print(os, flags);
  copy->erase();
  return text;
}

/// Calls `callback` for the expressions of dims and attributes in a function,
/// `onReal` for the names of real parameters.
static void walkExpressions(func::FuncOp function,
                            llvm::function_ref<void(IntExpr)> callback,
                            llvm::function_ref<void(StringRef)> onReal = {}) {
  auto walkAttribute = [&](Attribute attribute) {
    attribute.walk([&](Attribute inner) {
      if (auto expr = dyn_cast<IntExpr>(inner))
        callback(expr);
      if (auto dims = dyn_cast<DimsAttr>(inner))
        for (IntExpr dim : dims)
          callback(dim);
      if (auto real = dyn_cast<RealAttr>(inner);
          onReal && real && real.isSymbol())
        onReal(real.getSymbol());
    });
  };
  // A user's rule may have arguments that are no tensors; the verifier reports
  // these.
  for (Type type : function.getArgumentTypes())
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      if (std::optional<llvm::SmallVector<IntExpr>> dims = getDims(tensor))
        for (IntExpr dim : *dims)
          callback(dim);
  function.getBody().walk([&](Operation *op) {
    for (NamedAttribute attribute : op->getAttrs())
      walkAttribute(attribute.getValue());
  });
}

/// Calls `callback` for the symbols of dims and attributes in a function.
static void walkSymbols(func::FuncOp function,
                        llvm::function_ref<void(StringRef)> callback) {
  walkExpressions(
      function, [&](IntExpr expr) { expr.walkSymbols(callback); }, callback);
}

/// The symbols of a product of two symbols, in order.
static std::optional<Split> twoFactors(IntExpr expr) {
  llvm::SetVector<StringRef> symbols;
  expr.walkSymbols([&](StringRef symbol) { symbols.insert(symbol); });
  if (symbols.size() != 2)
    return std::nullopt;
  IntExpr product = IntExpr::symbol(expr.getContext(), symbols[0]) *
                    IntExpr::symbol(expr.getContext(), symbols[1]);
  if (expr != product)
    return std::nullopt;
  return Split{symbols[0].str(), symbols[1].str()};
}

/// Whether an attribute of the function depends on more than the product of the
/// two symbols: then doubling one differs from doubling the other.
static bool dependsOnSplit(func::FuncOp function, const Split &split) {
  auto doubled = [&](const std::string &symbol) {
    Bindings bindings;
    bindings.integers[symbol] =
        IntExpr::symbol(function.getContext(), symbol) * 2;
    return bindings;
  };
  Bindings first = doubled(split.first), second = doubled(split.second);
  for (Operation &op : function.getBody().front())
    for (NamedAttribute attribute : op.getAttrs())
      if (first.substitute(attribute.getValue()) !=
          second.substitute(attribute.getValue()))
        return true;
  return false;
}

static std::vector<Split> findSplits(Rule &rule) {
  // A size that is a single symbol determines it.
  std::set<std::string> decided;
  std::vector<Split> splits;
  walkExpressions(rule.getBefore(), [&](IntExpr expr) {
    if (expr.getKind() == IntExpr::Kind::Symbol)
      decided.insert(expr.getSymbol().str());
    std::optional<Split> split = twoFactors(expr);
    if (split && !llvm::is_contained(splits, *split))
      splits.push_back(*split);
  });
  llvm::erase_if(splits, [&](const Split &split) {
    return decided.count(split.first) || decided.count(split.second) ||
           !dependsOnSplit(rule.getAfter(), split);
  });
  return splits;
}

/// The build's proof of a rule with this hash.
static std::optional<RuleProof> findProof(StringRef hash) {
  llvm::ArrayRef<ProvedRule> table = provedRules();
  const auto *it = llvm::lower_bound(
      table, hash, [](const ProvedRule &entry, StringRef wanted) {
        return entry.hash < wanted;
      });
  if (it == table.end() || hash != it->hash)
    return std::nullopt;
  return it->proof;
}

/// The types that the real parameters of both sides have, as the prover derives
/// them from definitions.
static verifier::ParameterTypes findRealTypes(Rule &rule) {
  verifier::ParameterTypes types;
  for (func::FuncOp side : {rule.getBefore(), rule.getAfter()})
    side.getBody().walk([&](DefinitionOpInterface op) {
      bool hasParameter = false;
      op->getAttrDictionary().walk(
          [&](RealAttr real) { hasParameter |= real.isSymbol(); });
      if (!hasParameter)
        return;
      // A missing definition is reported when the rule is proved.
      ScopedDiagnosticHandler quiet(op->getContext(),
                                    [](Diagnostic &) { return success(); });
      if (FailureOr<Definition> definition = getDefinition(op);
          succeeded(definition))
        verifier::collectParameters(*definition, types);
    });
  return types;
}

std::string mlc::hashOfBytes(StringRef bytes) {
  llvm::BLAKE3 hasher;
  hasher.update(bytes);
  return llvm::toHex(hasher.final<16>(), /*LowerCase=*/true);
}

FailureOr<Rule> Rule::read(rule::DefOp def, StringRef hash) {
  Rule rule;
  rule.def = def;
  for (Operation &op : def.getBody().front()) {
    if (auto require = dyn_cast<rule::RequireOp>(op))
      rule.assumptions.integers.push_back(readRequire(require));
    else if (auto real = dyn_cast<rule::AssumeRealOp>(op))
      rule.assumptions.reals.push_back({real.getParameter().str(),
                                        real.getPredicate(),
                                        real.getBound().convertToDouble()});
  }
  func::FuncOp before = rule.getBefore();
  for (ElementPredicate predicate : rule::elementPredicates())
    for (unsigned i = 0; i < before.getNumArguments(); ++i)
      if (def.assumes(i, predicate))
        rule.assumptions.tensors.push_back(
            {i, predicate, describeArgument(before, i)});
  rule.hash = hash.empty() ? hashOfBytes(hashText(def)) : hash.str();
  rule.proved = findProof(rule.hash);
  rule.splits = findSplits(rule);
  rule.realTypes = findRealTypes(rule);
  return rule;
}

std::string Rule::conditionText() const { return str(assumptions); }

bool Rule::admits(StringRef parameter, double value) const {
  auto found = realTypes.find(parameter.str());
  Type type = found == realTypes.end() ? Type() : found->second;
  // The value is rounded to the nearest number of its type.
  return verifier::ParameterRange(parameter, type, assumptions.reals)
      .contains(type && isa<FloatType>(type) ? roundToType(type, value)
                                             : value);
}

std::vector<std::string> Rule::freeSymbols() {
  std::set<std::string> bound, free;
  walkSymbols(getBefore(),
              [&](StringRef symbol) { bound.insert(symbol.str()); });
  walkSymbols(getAfter(), [&](StringRef symbol) {
    if (!bound.count(symbol.str()))
      free.insert(symbol.str());
  });
  return {free.begin(), free.end()};
}

LogicalResult RuleSet::add(OwningOpRef<ModuleOp> module,
                           llvm::ArrayRef<const char *> hashes) {
  llvm::StringSet<> names;
  for (Rule &rule : rules)
    names.insert(rule.getName());
  for (auto [i, op] : llvm::enumerate(*module->getBody())) {
    auto def = dyn_cast<rule::DefOp>(op);
    if (!def)
      return op.emitError() << "expected a rule.def";
    FailureOr<Rule> rule = Rule::read(def, hashes.empty() ? "" : hashes[i]);
    if (failed(rule))
      return failure();
    if (!names.insert(rule->getName()).second)
      return def.emitError()
             << "a rule named @" << rule->getName() << " exists already";
    rules.push_back(*rule);
  }
  modules.push_back(std::move(module));
  return success();
}

void RuleSet::dropLowering() {
  llvm::erase_if(rules, [](Rule &rule) { return rule.isLowering(); });
}

void RuleSet::keepApplicable(FpMode fp) {
  llvm::erase_if(rules, [&](Rule &rule) { return !isApplicable(rule, fp); });
}

/// What the build knows of a file with this text; null if it knows none.
static const VerifiedRuleFile *findVerified(StringRef text) {
  std::string hash = hashOfBytes(text);
  for (const VerifiedRuleFile &file : verifiedRuleFiles())
    if (hash == file.textHash)
      return &file;
  return nullptr;
}

LogicalResult mlc::addRuleFile(RuleSet &rules, MLIRContext *context,
                               StringRef text, StringRef name,
                               RuleOrigin origin) {
  context->loadDialect<rule::RuleDialect, MlcDialect, func::FuncDialect>();
  const VerifiedRuleFile *known = findVerified(text);
  OwningOpRef<ModuleOp> module = known ? parseVerifiedText(text, name, context)
                                       : parseModuleText(text, name, context);
  const size_t first = rules.rules.size();
  if (!module || failed(rules.add(std::move(module),
                                  known ? known->ruleHashes
                                        : llvm::ArrayRef<const char *>())))
    return failure();
  for (Rule &rule : llvm::drop_begin(rules.rules, first))
    rule.origin = origin;
  return success();
}

LogicalResult mlc::addShippedRules(RuleSet &rules, MLIRContext *context) {
  auto add = [&](llvm::ArrayRef<EmbeddedRuleFile> files, RuleOrigin origin) {
    for (const EmbeddedRuleFile &file : files)
      if (failed(addRuleFile(rules, context, file.text, file.name, origin)))
        return failure();
    return success();
  };
  if (failed(add(generatedRuleFiles(), RuleOrigin::Generated)))
    return failure();
  return add(writtenRuleFiles(), RuleOrigin::Written);
}

bool mlc::isBitExact(const Rule &rule) {
  return rule.proved && rule.proved->floatClass == FloatClass::BitExact;
}

bool mlc::isApplicable(const Rule &rule, FpMode fp) {
  if (!rule.proved)
    return false;
  switch (fp) {
  case FpMode::Strict:
    return isBitExact(rule);
  case FpMode::Reassociate:
    return rule.proved->floatClass != FloatClass::ValueChanging;
  case FpMode::Fast:
    return true;
  }
  llvm_unreachable("unknown mode");
}
