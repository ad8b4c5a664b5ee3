//===- Decide.cpp - Obligations and who decides them ----------------------===//

#include "verifier/kernel/Decide.h"
#include "verifier/kernel/Polynomial.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <chrono>
#include <optional>
#include <utility>
#include <z3.h>

namespace mlc::kernel {

namespace {

/// A product of a number and of what is no sum and no product.
struct Monomial {
  int64_t coefficient = 1;
  std::vector<Integer> factors;
};

/// A product of sums may have as many as there are ways to choose one of each:
/// one that has too many is left as it is.
std::vector<Monomial> monomialsOf(const Integer &integer) {
  constexpr size_t mostMonomials = 64;
  switch (integer.kind()) {
  case Integer::Kind::Constant:
    return {{integer.value(), {}}};
  case Integer::Kind::Add: {
    std::vector<Monomial> all = monomialsOf(integer.left());
    llvm::append_range(all, monomialsOf(integer.right()));
    return all;
  }
  case Integer::Kind::Multiply: {
    std::vector<Monomial> all, left = monomialsOf(integer.left()),
                               right = monomialsOf(integer.right());
    if (left.size() * right.size() > mostMonomials)
      return {{1, {integer}}};
    for (const Monomial &x : left)
      for (const Monomial &y : right) {
        Monomial product = x;
        if (llvm::MulOverflow(x.coefficient, y.coefficient,
                              product.coefficient))
          product.coefficient = 0;
        llvm::append_range(product.factors, y.factors);
        all.push_back(std::move(product));
      }
    return all;
  }
  default:
    return {{1, {integer}}};
  }
}

/// What the quotient of two integers may be: of those parts of the dividend
/// that the divisor divides. A guess, of which nothing depends but speed.
std::optional<Integer> guessQuotient(const Integer &dividend,
                                     const Integer &divisor) {
  std::vector<Monomial> divisors = monomialsOf(divisor);
  if (divisors.size() != 1 || divisors[0].coefficient <= 0)
    return std::nullopt;
  Integer quotient = 0;
  for (Monomial part : monomialsOf(dividend)) {
    bool isMultiple = part.coefficient % divisors[0].coefficient == 0;
    for (const Integer &factor : divisors[0].factors) {
      auto it = llvm::find(part.factors, factor);
      isMultiple = isMultiple && it != part.factors.end();
      if (it != part.factors.end())
        part.factors.erase(it);
    }
    if (!isMultiple)
      continue;
    Integer product = part.coefficient / divisors[0].coefficient;
    for (const Integer &factor : part.factors)
      product = product * factor;
    quotient = quotient + product;
  }
  return quotient;
}

} // namespace

/// Of how many factors a product in it is at most.
static unsigned degreeOf(const Integer &integer) {
  if (integer.isLeaf())
    return integer.kind() == Integer::Kind::Constant ? 0 : 1;
  unsigned a = degreeOf(integer.left()), b = degreeOf(integer.right());
  return integer.kind() == Integer::Kind::Multiply ? a + b : std::max(a, b);
}

static unsigned degreeOf(const Formula &formula) {
  unsigned degree = degreeOf(formula.integer());
  for (const Formula &part : formula.parts())
    degree = std::max(degree, degreeOf(part));
  return degree;
}

/// SMT-LIB text of formulas. Names come from outside and may hold anything, so
/// a script has numbers of its own.
class Script {
public:
  std::string text(const Integer &integer) {
    auto pair = [&](const char *function) {
      return std::string("(") + function + " " + text(integer.left()) + " " +
             text(integer.right()) + ")";
    };
    switch (integer.kind()) {
    case Integer::Kind::Constant:
      return number(integer.value());
    case Integer::Kind::Size:
      return symbol("s" + integer.name().str(), /*isNotNegative=*/true);
    case Integer::Kind::Variable:
      return symbol("v" + std::to_string(integer.value()), false);
    case Integer::Kind::Slot:
      break;
    case Integer::Kind::Add:
      return pair("+");
    case Integer::Kind::Multiply:
      return pair("*");
    case Integer::Kind::FloorDivide:
    case Integer::Kind::Modulo: {
      // Once each, for they may hold others.
      std::string a = text(integer.left()), b = text(integer.right()),
                  q = quotient(integer, a, b);
      return integer.kind() == Integer::Kind::FloorDivide
                 ? q
                 : "(- " + a + " (* " + b + " " + q + "))";
    }
    case Integer::Kind::Minimum:
    case Integer::Kind::Maximum: {
      std::string a = text(integer.left()), b = text(integer.right());
      bool isMinimum = integer.kind() == Integer::Kind::Minimum;
      std::string value = "(ite (<= " + a + " " + b + ") " +
                          (isMinimum ? a : b) + " " + (isMinimum ? b : a) + ")";
      // By a name, for it may stand in others that name it twice.
      auto [it, isNew] =
          extremes.try_emplace(value, "m" + std::to_string(extremes.size()));
      if (isNew)
        head += "(define-const " + it->second + " Int " + value + ")\n";
      return it->second;
    }
    case Integer::Kind::Element:
      if (!std::exchange(hasElements, true))
        head += "(declare-fun element (Int Int) Int)\n";
      return pair("element");
    }
    llvm_unreachable("a slot is in no statement");
  }

  std::string text(const Formula &formula) {
    switch (formula.kind()) {
    case Formula::Kind::NotNegative:
      return "(>= " + text(formula.integer()) + " 0)";
    case Formula::Kind::Zero:
      return "(= " + text(formula.integer()) + " 0)";
    case Formula::Kind::Not:
      return "(not " + text(formula.parts()[0]) + ")";
    case Formula::Kind::All:
      return joined("and", "true", formula.parts());
    case Formula::Kind::Any:
      return joined("or", "false", formula.parts());
    }
    llvm_unreachable("unknown formula");
  }

  void require(const std::string &truth) { body += "(assert " + truth + ")\n"; }

  /// By symbol of the script.
  Model modelOf(const std::map<std::string, int64_t> &values) const {
    Model model;
    for (const auto &[key, symbol] : symbols)
      if (auto it = values.find(symbol); it != values.end())
        model[key] = it->second;
    return model;
  }

  std::string take() { return head + body; }

private:
  static std::string number(int64_t value) {
    std::string text = std::to_string(value);
    return value < 0 ? "(- " + text.substr(1) + ")" : text;
  }

  std::string symbol(const std::string &key, bool isNotNegative) {
    auto [it, isNew] =
        symbols.try_emplace(key, "x" + std::to_string(symbols.size()));
    if (isNew) {
      head += "(declare-const " + it->second + " Int)\n";
      if (isNotNegative)
        head += "(assert (>= " + it->second + " 0))\n";
    }
    return it->second;
  }

  /// The quotient of a positive divisor is the one integer q with b q <= a <
  /// b q + b; of others nothing is said.
  std::string quotient(const Integer &integer, const std::string &a,
                       const std::string &b) {
    auto [it, isNew] = quotients.try_emplace(
        a + " / " + b, "q" + std::to_string(quotients.size()));
    if (isNew) {
      const std::string &q = it->second;
      // A function of its operands: equal ones have one quotient.
      if (quotients.size() == 1)
        head += "(declare-fun quotient (Int Int) Int)\n";
      head += "(declare-const " + q + " Int)\n(assert (= " + q + " (quotient " +
              a + " " + b + ")))\n(assert (=> (> " + b + " 0) (and (<= (* " +
              b + " " + q + ") " + a + ") (< " + a + " (+ (* " + b + " " + q +
              ") " + b + ")))))\n";
      guess(integer, a, b, q);
      Quotient own{integer.right(), a, b, q};
      for (const Quotient &other : parts)
        if (other.dividend == a) {
          relate(own, other);
          relate(other, own);
        }
      parts.push_back(std::move(own));
    }
    return it->second;
  }

  struct Quotient {
    Integer divisor;
    std::string dividend, by, name;
  };

  /// a divided by x y is what a divided by y is divided by x. Said where both
  /// occur, for solvers do not find that either.
  void relate(const Quotient &whole, const Quotient &part) {
    if (whole.divisor.kind() != Integer::Kind::Multiply)
      return;
    std::string x = text(whole.divisor.left()), y = text(whole.divisor.right());
    if (x == part.by)
      std::swap(x, y);
    if (y == part.by)
      head += "(assert (=> (and (> " + x + " 0) (> " + y + " 0)) (and (<= (* " +
              x + " " + whole.name + ") " + part.name + ") (< " + part.name +
              " (+ (* " + x + " " + whole.name + ") " + x + ")))))\n";
  }

  /// The quotient is any number that has the quotient's property. Said of a
  /// guess, for solvers do not find it among products.
  void guess(const Integer &integer, const std::string &a, const std::string &b,
             const std::string &quotient) {
    std::optional<Integer> guessed =
        guessQuotient(integer.left(), integer.right());
    if (!guessed)
      return;
    std::string g = text(*guessed);
    head += "(assert (=> (and (> " + b + " 0) (<= (* " + b + " " + g + ") " +
            a + ") (< " + a + " (+ (* " + b + " " + g + ") " + b +
            "))) (= " + quotient + " " + g + ")))\n";
  }

  std::string joined(const char *function, const char *none,
                     llvm::ArrayRef<Formula> parts) {
    if (parts.empty())
      return none;
    std::string result = std::string("(") + function;
    for (const Formula &part : parts)
      result += " " + text(part);
    return result + ")";
  }

  std::string head, body;
  bool hasElements = false;
  std::map<std::string, std::string> symbols, quotients, extremes;
  std::vector<Quotient> parts; // of `quotients`
};

/// Z3's count of the work that a context has done.
static uint64_t workOf(Z3_context context, Z3_solver solver) {
  Z3_stats stats = Z3_solver_get_statistics(context, solver);
  Z3_stats_inc_ref(context, stats);
  uint64_t result = 0;
  for (unsigned i = 0, n = Z3_stats_size(context, stats); i < n; ++i)
    if (llvm::StringRef(Z3_stats_get_key(context, stats, i)) == "rlimit count")
      result = Z3_stats_get_uint_value(context, stats, i);
  Z3_stats_dec_ref(context, stats);
  return result;
}

static void readModel(Z3_context context, Z3_solver solver,
                      std::map<std::string, int64_t> &values) {
  Z3_model model = Z3_solver_get_model(context, solver);
  if (!model)
    return;
  Z3_model_inc_ref(context, model);
  for (unsigned i = 0; i < Z3_model_get_num_consts(context, model); ++i) {
    Z3_func_decl declaration = Z3_model_get_const_decl(context, model, i);
    Z3_ast value = Z3_model_get_const_interp(context, model, declaration);
    int64_t number;
    if (value && Z3_is_numeral_ast(context, value) &&
        Z3_get_numeral_int64(context, value, &number))
      values[Z3_get_symbol_string(
          context, Z3_get_decl_name(context, declaration))] = number;
  }
  Z3_model_dec_ref(context, model);
}

static Z3_context makeContext() {
  Z3_config config = Z3_mk_config();
  Z3_context context = Z3_mk_context(config);
  Z3_del_config(config);
  // An error is no answer.
  Z3_set_error_handler(context, nullptr);
  return context;
}

Decider::~Decider() {
  if (reused)
    Z3_del_context(reused);
}

Decider::Answer Decider::ask(const std::string &script,
                             std::map<std::string, int64_t> *values) {
  if (workLeft == 0)
    return Answer::Unknown;
  auto start = std::chrono::steady_clock::now();
  // Each time from nothing, so that an answer depends on the query alone.
  Z3_context context = isHasty && reused ? reused : makeContext();
  uint64_t before = workDone;
  Z3_solver solver = Z3_mk_solver(context);
  Z3_solver_inc_ref(context, solver);
  Z3_params parameters = Z3_mk_params(context);
  Z3_params_inc_ref(context, parameters);
  auto set = [&](const char *name, uint64_t value) {
    Z3_params_set_uint(
        context, parameters, Z3_mk_string_symbol(context, name),
        static_cast<unsigned>(std::min<uint64_t>(value, UINT32_MAX)));
  };
  set("rlimit", maxWork);
  Z3_solver_set_params(context, solver, parameters);
  Z3_params_dec_ref(context, parameters);
  Z3_solver_from_string(context, solver, script.c_str());
  Answer answer = Answer::Unknown;
  if (Z3_get_error_code(context) == Z3_OK) {
    Z3_lbool result = Z3_solver_check(context, solver);
    answer = result == Z3_L_FALSE  ? Answer::Never
             : result == Z3_L_TRUE ? Answer::Sometimes
                                   : Answer::Unknown;
    if (values && answer == Answer::Sometimes)
      readModel(context, solver, *values);
    if (workLeft != UINT64_MAX) {
      workDone = workOf(context, solver);
      workLeft -= std::min(workLeft, workDone - before);
    }
  }
  Z3_solver_dec_ref(context, solver);
  // An error may leave anything behind.
  bool isKept = isHasty && Z3_get_error_code(context) == Z3_OK;
  reused = isKept ? context : nullptr;
  if (!isKept) {
    Z3_del_context(context);
    workDone = 0;
  }
  ms += std::chrono::duration<double, std::milli>(
            std::chrono::steady_clock::now() - start)
            .count();
  return answer;
}

/// The solver's count of its work does not bound arithmetic of high degree.
static bool isTooHigh(const Obligation &obligation) {
  constexpr unsigned mostDegree = 24;
  auto isHigh = [](const Formula &formula) {
    return degreeOf(formula) > mostDegree;
  };
  return llvm::any_of(obligation.given, isHigh) ||
         (obligation.goal && isHigh(*obligation.goal)) ||
         llvm::any_of(obligation.sum, [&](const Weighted &part) {
           return isHigh(part.formula) || degreeOf(part.weight) > mostDegree;
         });
}

bool Decider::isUnsatisfiable(Script &builder, const Obligation &obligation) {
  if (isTooHigh(obligation))
    return false;
  std::string script = builder.take();
  auto [it, isNew] = known.try_emplace(script, false);
  if (isNew) {
    ++numAsked;
    std::map<std::string, int64_t> values;
    Answer answer = ask(script, isHasty ? &values : nullptr);
    if (answer == Answer::Sometimes && isHasty)
      learn(obligation, builder.modelOf(values));
    it->second = answer == Answer::Never;
  }
  if (it->second && onProved)
    onProved(script);
  return it->second;
}

bool Decider::holds(llvm::ArrayRef<Formula> given, const Formula &goal) {
  auto isGiven = [&](const Formula &formula) {
    return formula == goal || (formula.kind() == Formula::Kind::All &&
                               llvm::is_contained(formula.parts(), goal));
  };
  if (llvm::any_of(given, isGiven) || plainlyHolds(given, goal))
    return true;
  // Each by itself is the easier query.
  if (goal.kind() == Formula::Kind::All)
    return llvm::all_of(
        goal.parts(), [&](const Formula &part) { return holds(given, part); });
  Obligation obligation{given, &goal};
  if (isHasty && isKnownToFail(obligation))
    return false;
  Script script;
  for (const Formula &formula : given)
    script.require(script.text(formula));
  script.require(script.text(Formula::negation(goal)));
  return isUnsatisfiable(script, obligation);
}

static void addParts(const Formula &formula, std::vector<Formula> &out) {
  if (formula.kind() != Formula::Kind::All) {
    out.push_back(formula);
    return;
  }
  for (const Formula &part : formula.parts())
    addParts(part, out);
}

bool Decider::isZeroSum(llvm::ArrayRef<Formula> given,
                        llvm::ArrayRef<Weighted> sum, unsigned width) {
  // Two that cancel count at the same points.
  bool isPair = width == 0 && sum.size() == 2 &&
                sum[0].weight.kind() == Integer::Kind::Constant &&
                sum[1].weight.kind() == Integer::Kind::Constant &&
                sum[0].weight + sum[1].weight == Integer(0);
  auto implies = [&](const Formula &premise, const Formula &conclusion) {
    std::vector<Formula> known = given.vec();
    addParts(premise, known);
    return holds(known, conclusion);
  };
  if (isPair && implies(sum[0].formula, sum[1].formula) &&
      implies(sum[1].formula, sum[0].formula))
    return true;
  Obligation obligation{given, nullptr, sum, width};
  if (isHasty && isKnownToFail(obligation))
    return false;
  Script script;
  for (const Formula &formula : given)
    script.require(script.text(formula));
  std::string total = "(+ 0 0";
  for (const Weighted &part : sum)
    total += " (ite " + script.text(part.formula) + " " +
             script.text(part.weight) + " 0)";
  total += ")";
  if (width > 0) {
    std::string modulus = "1";
    for (unsigned i = 0; i < width; ++i)
      modulus = "(* 2 " + modulus + ")";
    total = "(mod " + total + " " + modulus + ")";
  }
  script.require("(not (= " + total + " 0))");
  return isUnsatisfiable(script, obligation);
}

} // namespace mlc::kernel
