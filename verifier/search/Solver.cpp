//===- Solver.cpp - Quantifier-free integer lemmas ------------------------===//

#include "verifier/search/Solver.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <z3.h>

namespace mlc::verifier {

//===----------------------------------------------------------------------===//
// Formulas
//===----------------------------------------------------------------------===//

struct Formula::Node {
  enum class Kind { Guard, AllOf, AnyOf, Not, WeightedZero };
  Kind kind = Kind::AllOf;
  Guard guard;
  std::vector<Formula> parts;
  std::vector<int64_t> weights;
};

Formula Formula::truth(bool value) { return value ? Formula() : anyOf({}); }

Formula Formula::guard(const Guard &guard) {
  Formula result;
  result.node =
      std::make_shared<const Node>(Node{Node::Kind::Guard, guard, {}, {}});
  return result;
}

Formula Formula::allOf(std::vector<Formula> parts) {
  if (parts.size() == 1)
    return parts.front();
  Formula result;
  result.node = std::make_shared<const Node>(
      Node{Node::Kind::AllOf, {}, std::move(parts), {}});
  return result;
}

Formula Formula::anyOf(std::vector<Formula> parts) {
  if (parts.size() == 1)
    return parts.front();
  Formula result;
  result.node = std::make_shared<const Node>(
      Node{Node::Kind::AnyOf, {}, std::move(parts), {}});
  return result;
}

Formula Formula::negation(Formula part) {
  Formula result;
  result.node = std::make_shared<const Node>(
      Node{Node::Kind::Not, {}, {std::move(part)}, {}});
  return result;
}

Formula Formula::implies(Formula premise, Formula conclusion) {
  return anyOf({negation(std::move(premise)), std::move(conclusion)});
}

Formula Formula::weightedZero(std::vector<std::pair<int64_t, Formula>> parts) {
  Node node{Node::Kind::WeightedZero, {}, {}, {}};
  for (auto &[weight, part] : parts) {
    node.weights.push_back(weight);
    node.parts.push_back(std::move(part));
  }
  Formula result;
  result.node = std::make_shared<const Node>(std::move(node));
  return result;
}

static std::string number(int64_t value) {
  return value < 0 ? "(- " + std::to_string(-static_cast<uint64_t>(value)) + ")"
                   : std::to_string(value);
}

static std::string printExpr(IntExpr expr, Formula::Script &script) {
  auto call = [&](const std::string &fn) {
    std::string text = "(" + fn;
    for (IntExpr operand : expr.getOperands())
      text += " " + printExpr(operand, script);
    return text + ")";
  };
  auto choose = [&](const char *relation) {
    std::string text = printExpr(expr.getOperands()[0], script);
    for (IntExpr operand : expr.getOperands().drop_front()) {
      std::string other = printExpr(operand, script);
      text = std::string("(ite (") + relation + " " + text + " " + other +
             ") " + text + " " + other + ")";
    }
    return text;
  };
  switch (expr.getKind()) {
  case IntExpr::Kind::Constant:
    return number(expr.getConstant());
  case IntExpr::Kind::Symbol: {
    auto [it, isNew] = script.symbols.try_emplace(
        expr.getSymbol().str(), "s" + std::to_string(script.symbols.size()));
    return it->second;
  }
  case IntExpr::Kind::Add:
    return call("+");
  case IntExpr::Kind::Mul:
    return call("*");
  case IntExpr::Kind::Min:
    return choose("<=");
  case IntExpr::Kind::Max:
    return choose(">=");
  case IntExpr::Kind::FloorDiv:
  case IntExpr::Kind::Mod:
    break;
  }
  // A quotient by a symbol becomes a name with two axioms, which are void if
  // the divisor is not positive.
  std::string e = printExpr(expr.getOperands()[0], script),
              d = printExpr(expr.getOperands()[1], script);
  bool isMod = expr.getKind() == IntExpr::Kind::Mod;
  if (expr.getOperands()[1].isKnownPositive() &&
      expr.getOperands()[1].isConstant())
    return (isMod ? "(mod " : "(div ") + e + " " + d + ")";
  std::string key = "(div " + e + " " + d + ")";
  auto [it, isNew] = script.quotients.try_emplace(
      key, "!q" + std::to_string(script.quotients.size()));
  std::string q = it->second;
  if (isNew)
    script.definitions.push_back(
        "(declare-const " + q + " Int)\n(assert (=> (> " + d +
        " 0) (and (<= (* " + d + " " + q + ") " + e + ") (< " + e + " (+ (* " +
        d + " " + q + ") " + d + ")))))");
  return isMod ? "(- " + e + " (* " + d + " " + q + "))" : q;
}

std::string Formula::print(Script &script) const {
  if (!node)
    return "true";
  auto join = [&](const char *fn, const char *none) {
    if (node->parts.empty())
      return std::string(none);
    std::string text = std::string("(") + fn;
    for (const Formula &part : node->parts)
      text += " " + part.print(script);
    return text + ")";
  };
  switch (node->kind) {
  case Node::Kind::Guard: {
    std::string e = printExpr(node->guard.expr, script);
    switch (node->guard.kind) {
    case Guard::Kind::NonNegative:
      return "(>= " + e + " 0)";
    case Guard::Kind::Zero:
      return "(= " + e + " 0)";
    case Guard::Kind::NonZero:
      return "(not (= " + e + " 0))";
    }
    llvm_unreachable("unknown guard");
  }
  case Node::Kind::AllOf:
    return join("and", "true");
  case Node::Kind::AnyOf:
    return join("or", "false");
  case Node::Kind::Not:
    return join("not", "");
  case Node::Kind::WeightedZero: {
    std::string text = "(= 0 (+ 0";
    for (auto [weight, part] : llvm::zip(node->weights, node->parts))
      text += " (ite " + part.print(script) + " " + number(weight) + " 0)";
    return text + "))";
  }
  }
  llvm_unreachable("unknown formula");
}

//===----------------------------------------------------------------------===//
// Solver
//===----------------------------------------------------------------------===//

std::string solverVersion() {
  unsigned major, minor, build, revision;
  Z3_get_version(&major, &minor, &build, &revision);
  return std::to_string(major) + "." + std::to_string(minor) + "." +
         std::to_string(build);
}

struct Solver::Impl {
  Z3_context context = nullptr;

  void setLimits(Z3_solver solver, const VerifierOptions &options,
                 uint64_t maxWork) {
    Z3_params params = Z3_mk_params(context);
    Z3_params_inc_ref(context, params);
    auto set = [&](const char *name, uint64_t value) {
      Z3_params_set_uint(
          context, params, Z3_mk_string_symbol(context, name),
          static_cast<unsigned>(std::min<uint64_t>(value, UINT32_MAX)));
    };
    set("rlimit", maxWork);
    set("random_seed", options.seed);
    Z3_solver_set_params(context, solver, params);
    Z3_params_dec_ref(context, params);
  }

  /// Z3's work count, which covers all work of the context.
  uint64_t readCount(Z3_solver solver) {
    Z3_stats stats = Z3_solver_get_statistics(context, solver);
    Z3_stats_inc_ref(context, stats);
    uint64_t result = 0;
    for (unsigned i = 0, n = Z3_stats_size(context, stats); i < n; ++i)
      if (llvm::StringRef(Z3_stats_get_key(context, stats, i)) ==
          "rlimit count")
        result = Z3_stats_get_uint_value(context, stats, i);
    Z3_stats_dec_ref(context, stats);
    return result;
  }
};

Solver::Solver(const VerifierOptions &options)
    : impl(std::make_unique<Impl>()), options(options) {
  Z3_config config = Z3_mk_config();
  impl->context = Z3_mk_context_rc(config);
  Z3_del_config(config);
  // The default handler ends the process.
  Z3_set_error_handler(impl->context, nullptr);
}

Solver::~Solver() { Z3_del_context(impl->context); }

/// Declarations, then `assertion`.
static std::string scriptOf(const Formula &formula, bool negate) {
  Formula::Script parts;
  std::string body = formula.print(parts);
  std::string text;
  llvm::raw_string_ostream os(text);
  for (const auto &[name, symbol] : parts.symbols) {
    os << "; " << symbol << ": ";
    llvm::printEscapedString(name, os);
    os << "\n(declare-const " << symbol << " Int)\n(assert (>= " << symbol
       << " 0))\n";
  }
  for (const std::string &definition : parts.definitions)
    text += definition + "\n";
  return text +
         (negate ? "(assert (not " + body + "))\n" : "(assert " + body + ")\n");
}

namespace {
struct Stopwatch {
  double &ms;
  std::chrono::steady_clock::time_point start =
      std::chrono::steady_clock::now();
  ~Stopwatch() {
    ms += std::chrono::duration<double, std::milli>(
              std::chrono::steady_clock::now() - start)
              .count();
  }
};
} // namespace

Solver::Satisfiable Solver::ask(const std::string &text, double share) {
  uint64_t most = std::min(static_cast<uint64_t>(options.maxLemmaWork * share),
                           options.maxSolverWork - work);
  if (most == 0)
    return Satisfiable::Unknown;
  Stopwatch watch{ms};
  Z3_context c = impl->context;
  Z3_solver solver = Z3_mk_solver(c);
  Z3_solver_inc_ref(c, solver);
  impl->setLimits(solver, options, most);
  Z3_solver_from_string(c, solver, text.c_str());
  Z3_lbool result = Z3_L_UNDEF;
  if (Z3_get_error_code(c) == Z3_OK) {
    uint64_t before = impl->readCount(solver);
    result = Z3_solver_check(c, solver);
    work += std::min(impl->readCount(solver) - before,
                     options.maxSolverWork - work);
  }
  Z3_solver_dec_ref(c, solver);
  return result == Z3_L_TRUE    ? Satisfiable::Yes
         : result == Z3_L_FALSE ? Satisfiable::No
                                : Satisfiable::Unknown;
}

Solver::Answer Solver::check(const Formula &formula, const char *title,
                             double share) {
  std::string text = scriptOf(formula, /*negate=*/true);
  switch (ask(text, share)) {
  case Satisfiable::Yes:
    return Answer::Invalid;
  case Satisfiable::Unknown:
    return Answer::Unknown;
  case Satisfiable::No:
    break;
  }
  if (title)
    append(text, title);
  return Answer::Valid;
}

void Solver::append(const std::string &text, const char *title) {
  if (!known.insert(text).second)
    return;
  lemmas.add(title, text);
}

void Solver::record(const Formula &formula, const char *title) {
  append(scriptOf(formula, /*negate=*/true), title);
}

bool Solver::isSatisfiable(const Formula &formula) {
  return ask(scriptOf(formula, /*negate=*/false)) == Satisfiable::Yes;
}

} // namespace mlc::verifier
