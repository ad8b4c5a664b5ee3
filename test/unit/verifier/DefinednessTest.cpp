//===- DefinednessTest.cpp - What is defined, masked and dead -------------===//
//
// One table of statements. A false one may not be proved, by the prover alone
// either; where numbers can show that it is false, they must. A true one may
// not be refuted. A proof that is found must be accepted by itself.
//
//===----------------------------------------------------------------------===//

#include "dialects/Module/ParseModule.h"
#include "test/random/pairs/Partial.h"
#include "verifier/Verifier.h"
#include "verifier/read/AssumeText.h"
#include "verifier/read/CheckProof.h"
#include "verifier/read/Program.h"
#include "verifier/search/Gradient.h"
#include <catch2/catch.hpp>

using namespace mlc;

namespace {

enum class Answer { Proved, NotRefuted, NotProved, Refuted };

struct Statement {
  const char *why;
  Answer answer;
  std::string before, after; // bodies of functions
};

const std::string types = R"(
!n = tensor<?xf32, #mlc.dims<[n]>>
!nb = tensor<?xi1, #mlc.dims<[n]>>
!v = tensor<?xf32, #mlc.dims<[v]>>
!k = tensor<?xf32, #mlc.dims<[k]>>
!ki = tensor<?xi64, #mlc.dims<[k]>>
!kb = tensor<?xi1, #mlc.dims<[k]>>
!k3 = tensor<3xf32>
!i3 = tensor<3xi64>
!d = tensor<?xf32>
)";
const std::string zeros =
    "%z = mlc.fill {dims = #mlc.dims<[k]>, value = #mlc.real<0.0>, type = f32} "
    ": () -> !k\n";

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

std::string result(const std::string &type) {
  return "return %r : !" + type + "\n";
}
/// Where %b holds, %g.
std::string chosen() {
  return zeros + "%r = mlc.select %b, %g, %z : (!kb, !k, !k) -> !k\n" +
         result("k");
}
/// %b times %g.
std::string multiplied() {
  return "%c = mlc.cast %b {to = f32} : (!kb) -> !k\n"
         "%r = mlc.mul %c, %g : (!k, !k) -> !k\n" +
         result("k");
}
/// An element of a function of %x at a sum of integers.
std::string looked(const std::string &function, const std::string &sum) {
  return "%l = mlc." + function + "\n%s = mlc.add " + sum +
         " : (!ki, !ki) -> !ki\n"
         "%g = mlc.gather %l, %s {axis = 0 : i64} : (!n, !ki) -> !k\n";
}
/// In index notation over a logarithm %l, which may be read anywhere.
std::string computed(const std::string &element, const std::string &type) {
  return "%l = mlc.log %x : (!n) -> !n\n"
         "%r = mlc.compute %l, %i, %j, %b {definition = \"(l, i, j, b; k) Y[q] "
         "= " +
         element +
         "\", dims = #mlc.dims<[k]>, integers = #mlc.dims<[k]>, reals = [], "
         "type = " +
         (type == "k" ? "f32" : "i1") + "} : (!n, !ki, !ki, !kb) -> !" + type +
         "\n" + result(type);
}
/// At an integer that a float is cast to.
std::string atCast(const std::string &rest) {
  return "%i8 = mlc.cast %y {to = i64} : (!k) -> !ki\n"
         "%g = mlc.gather %t, %i8 {axis = 0 : i64} : (!v, !ki) -> !k\n" +
         rest;
}
std::string largest(const std::string &rest) {
  return "%l = mlc.log %w : (!k3) -> !k3\n"
         "%g, %at = mlc.top_k %l {axis = 0 : i64, k = #mlc.int<3>, largest = "
         "true, sorted = true} : (!k3) -> (!k3, !i3)\n" +
         rest;
}
/// %x and a number of another type, made one of a narrow one, less that number.
std::string through(const std::string &number, const std::string &type,
                    const std::string &narrow = "f16") {
  std::string other = "tensor<?x" + type + ", #mlc.dims<[n]>>",
              half = "tensor<?x" + narrow + ", #mlc.dims<[n]>>";
  return "%c = mlc.fill {dims = #mlc.dims<[n]>, value = #mlc.real<" + number +
         ">, type = " + type + "} : () -> " + other +
         "\n%h = mlc.cast %c {to = " + narrow + "} : (" + other + ") -> " +
         half + "\n%f = mlc.cast %h {to = f32} : (" + half +
         ") -> !n\n%s = mlc.add %x, %f : (!n, !n) -> !n\n"
         "%r = mlc.sub %s, %f : (!n, !n) -> !n\n" +
         result("n");
}
std::string unread(const std::string &function) {
  return "%l = mlc." + function + " %x : (!n) -> !n\nreturn %x : !n\n";
}
std::string readNowhere(const std::string &function) {
  return "%l = mlc." + function +
         " %x : (!n) -> !n\n"
         "%s = mlc.slice %l {starts = #mlc.dims<[0]>, sizes = #mlc.dims<[0]>, "
         "steps = #mlc.dims<[1]>} : (!n) -> tensor<0xf32>\n"
         "%c = mlc.concat %x, %s {axis = 0 : i64} : (!n, tensor<0xf32>) -> !n\n"
         "return %c : !n\n";
}
const std::string same = "return %x : !n\n";
const std::string added =
    "%r = linalg.add ins(%p, %o : !d, !d) outs(%o : !d) -> !d\n" + result("d");
const std::string addedInLoop =
    "%c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n"
    "%r = scf.for %h = %c0 to %c1 step %c1 iter_args(%s = %o) -> (!d) {\n"
    "%q = linalg.add ins(%p, %s : !d, !d) outs(%s : !d) -> !d\n"
    "scf.yield %q : !d }\n" +
    result("d");
std::string truths(const std::string &element) {
  return "%r = mlc.compute %x, %m {definition = \"(x, m; n) Y[q] = " + element +
         "\", dims = #mlc.dims<[n]>, integers = #mlc.dims<[n]>, reals = [], "
         "type = i1} : (!n, !nb) -> !nb\n" +
         result("nb");
}

const std::string first = "%i, %j", swapped = "%j, %i";

/// Elements of what both sides compute.
std::vector<Statement> sharedStatements() {
  std::vector<Statement> all;
  for (const char *function :
       {"log %x : (!n) -> !n", "sqrt %x : (!n) -> !n",
        "reciprocal %x : (!n) -> !n", "div %x, %x : (!n, !n) -> !n"}) {
    all.push_back({"what is not chosen is multiplied by 0", Answer::NotProved,
                   looked(function, first) + chosen(),
                   looked(function, swapped) + multiplied()});
    all.push_back({"at equal places", Answer::Proved,
                   looked(function, first) + chosen(),
                   looked(function, swapped) + chosen()});
    all.push_back({"needed before, masked after", Answer::Proved,
                   looked(function, first) + multiplied(),
                   looked(function, swapped) + chosen()});
  }
  const std::string at = "l<0>[index(i[q] + j[q])]";
  all.insert(all.end(),
             {{"an unread logarithm is read", Answer::Refuted,
               computed("f32(0)", "k"), computed(at + " - " + at, "k")},
              {"times 0", Answer::Refuted, computed("f32(0)", "k"),
               computed("0 * " + at, "k")},
              {"it equals itself where it has a value", Answer::Refuted,
               computed("(q >= 0)", "kb"),
               computed("(" + at + " == " + at + ")", "kb")},
              {"chosen in one definition, multiplied in another",
               Answer::NotProved, computed("select(b[q], " + at + ", 0)", "k"),
               computed("f32(b[q]) * " + at, "k")},
              {"the other way round", Answer::Proved,
               computed("f32(b[q]) * " + at, "k"),
               computed("select(b[q], " + at + ", 0)", "k")}});
  return all;
}

/// What else is masked, or dead.
std::vector<Statement> otherStatements() {
  std::vector<Statement> all{
      {"a cast picks what is not chosen", Answer::NotProved, atCast(chosen()),
       atCast(multiplied())},
      {"a cast picks what cancels", Answer::NotProved,
       atCast(zeros + "return %z : !k\n"),
       atCast("%r = mlc.sub %g, %g : (!k, !k) -> !k\n" + result("k"))},
      {"a cast picks what is chosen", Answer::Proved, atCast(chosen()),
       atCast(chosen())},
      {"an operator without a definition, of what is not chosen",
       Answer::NotProved,
       largest(
           "%z = mlc.fill {dims = #mlc.dims<[3]>, value = "
           "#mlc.real<0.0>, type = f32} : () -> !k3\n"
           "%r = mlc.select %e, %g, %z : (tensor<3xi1>, !k3, !k3) -> !k3\n" +
           result("k3")),
       largest("%c = mlc.cast %e {to = f32} : (tensor<3xi1>) -> !k3\n"
               "%r = mlc.mul %c, %g : (!k3, !k3) -> !k3\n" +
               result("k3"))},
      {"unread, then added and taken away", Answer::NotProved,
       largest("return %w : !k3\n"),
       largest("%q = mlc.add %w, %g : (!k3, !k3) -> !k3\n"
               "%r = mlc.sub %q, %g : (!k3, !k3) -> !k3\n" +
               result("k3"))},
      {"read on both sides", Answer::Proved,
       largest("%r = mlc.add %w, %g : (!k3, !k3) -> !k3\n" + result("k3")),
       largest("%r = mlc.add %g, %w : (!k3, !k3) -> !k3\n" + result("k3"))},
      {"an integer beyond a type, added and taken away", Answer::Refuted, same,
       through("100000.0", "i64")},
      {"a number beyond a type, added and taken away", Answer::Refuted, same,
       through("100000.0", "f32")},
      {"a number without a sign beyond a type", Answer::Refuted, same,
       through("100000.0", "ui32")},
      {"the largest float32 in bfloat16", Answer::Refuted, same,
       through("3.4e38", "f32", "bf16")},
      {"an integer of a type, added and taken away", Answer::Proved, same,
       through("1000.0", "i64")},
      {"a selection moves into a logarithm", Answer::NotRefuted,
       "%u = mlc.fill {dims = #mlc.dims<[n]>, value = #mlc.real<1.0>, type = "
       "f32} : () -> !n\n"
       "%s = mlc.select %m, %x, %u : (!nb, !n, !n) -> !n\n"
       "%r = mlc.log %s : (!n) -> !n\n" +
           result("n"),
       "%l = mlc.log %x : (!n) -> !n\n"
       "%u = mlc.fill {dims = #mlc.dims<[n]>, value = #mlc.real<0.0>, type = "
       "f32} : () -> !n\n"
       "%r = mlc.select %m, %l, %u : (!nb, !n, !n) -> !n\n" +
           result("n")},
      {"a branch that is never taken", Answer::NotRefuted, same,
       "%l = mlc.log %x : (!n) -> !n\n"
       "%u = mlc.compare %x, %x {predicate = \"eq\"} : (!n, !n) -> !nb\n"
       "%r = mlc.select %u, %x, %l : (!nb, !n, !n) -> !n\n" +
           result("n")},
      {"one turn of a loop, whose operands have the same dims",
       Answer::NotRefuted, addedInLoop, added},
      {"a truth value that another decides", Answer::NotRefuted, truths("m[q]"),
       truths("or(m[q], and(m[q], log(x[q]) > 0))")},
      {"one that decides nothing", Answer::Refuted, truths("m[q]"),
       truths("and(m[q], log(x[q]) == log(x[q]))")}};
  for (const char *function : {"log", "sqrt", "reciprocal"}) {
    all.push_back({"unread after", Answer::Proved, same, unread(function)});
    all.push_back({"no element of which is read after", Answer::NotRefuted,
                   same, readNowhere(function)});
  }
  return all;
}

//===----------------------------------------------------------------------===//
// Needs, each beside each
//===----------------------------------------------------------------------===//

/// A number made of an element x and of a truth value m, which has a value for
/// some of them.
struct Partial {
  std::string text;
  bool (*hasValue)(double x, bool m);
  bool isProvable = true; // from an equal need, and shows one
};

const std::string logarithm = "log(x[q])", isAbove = "log(x[q]) > 0";

const std::vector<Partial> partials = {
    {"x[q]", [](double, bool) { return true; }},
    {logarithm, [](double x, bool) { return x > 0; }},
    {"sqrt(x[q])", [](double x, bool) { return x >= 0; }},
    {"reciprocal(x[q])", [](double x, bool) { return x != 0; }},
    {"1.0 / x[q]", [](double x, bool) { return x != 0; }},
    {"pow(x[q], 3)", [](double, bool) { return true; }},
    {"pow(x[q], -1)", [](double x, bool) { return x != 0; }},
    {"pow(x[q], 0.5)", [](double x, bool) { return x >= 0; }},
    {"pow(x[q], -0.5)", [](double x, bool) { return x > 0; }},
    {"pow(x[q], x[q])", [](double x, bool) { return x > 0 || x == int(x); },
     /*isProvable=*/false},
    {"(1.0 + " + logarithm + ")", [](double x, bool) { return x > 0; }},
    {"(" + logarithm + " + 1)", [](double x, bool) { return x > 0; }},
    {"f32(m[q]) * " + logarithm, [](double x, bool) { return x > 0; }},
    {"f32(0.0 < " + logarithm + ")", [](double x, bool) { return x > 0; }},
    {"f32(" + isAbove + ")", [](double x, bool) { return x > 0; }},
    {"select(" + isAbove + ", 1.0, 0.0)", [](double x, bool) { return x > 0; }},
    {"select(m[q], " + logarithm + ", 0)",
     [](double x, bool m) { return !m || x > 0; }},
    {"select(m[q], 0, " + logarithm + ")",
     [](double x, bool m) { return m || x > 0; }},
    {"f32(and(m[q], " + isAbove + "))",
     [](double x, bool m) { return !m || x > 0; }},
    {"f32(or(m[q], " + isAbove + "))",
     [](double x, bool m) { return m || x > 0; }},
    {"f32(and(" + isAbove + ", m[q]))",
     [](double x, bool m) { return !m || x > 0; }, /*isProvable=*/false},
    {"f32(or(" + isAbove + ", m[q]))",
     [](double x, bool m) { return m || x > 0; }, /*isProvable=*/false},
    {"f32(xor(m[q], " + isAbove + "))", [](double x, bool) { return x > 0; }}};

/// Whether one has a value wherever the other has.
bool follows(const Partial &after, const Partial &before) {
  for (double x : {-1.5, -1.0, 0.0, 1.0, 2.5})
    for (bool m : {false, true})
      if (before.hasValue(x, m) && !after.hasValue(x, m))
        return false;
  return true;
}

/// In which l is the logarithm of x.
std::string timesZero(const std::string &element) {
  return "%r = mlc.compute %x, %m {definition = \"(x, m; n) l[i < n] = "
         "log(x[i]); Y[q] = 0 * " +
         element +
         "\", dims = #mlc.dims<[n]>, integers = #mlc.dims<[n]>, reals = [], "
         "type = f32} : (!n, !nb) -> !n\n" +
         result("n");
}

/// Needs of some elements, of which others know nothing.
std::vector<Statement> statementsOfPlaces() {
  std::vector<Statement> all;
  auto add = [&](Answer answer, std::string before, std::string after) {
    all.push_back({"", answer, timesZero(before), timesZero(after)});
  };
  for (const char *some :
       {"log(select(q < 1, x[q], 1.0))", "log(select(q < 1, 1.0, x[q]))",
        "select(q < 1, l[q], 0)", "select(q < 1, 0, l[q])", "l<0>[q - 1]",
        "sum{r < 1}(l<0>[r])", "sum{r < n}(l<0>[r + 1])",
        "f32(any{r < n}(l[r] > 0))"}) {
    add(Answer::NotProved, some, "l[q]");
    add(Answer::NotProved, "x[q]", some);
    add(Answer::Proved, "sum{r < n}(l[r])", some);
  }
  add(Answer::Proved, "sum{r < n}(l[r])", "l[q]");
  add(Answer::NotProved, "l[q]", "sum{r < n}(l[r])");
  add(Answer::Proved, "sum{r < 1}(l<0>[r])", "select(q < 1, l[q], 0)");
  return all;
}

//===----------------------------------------------------------------------===//
// Answers
//===----------------------------------------------------------------------===//

struct Fixture {
  mlir::MLIRContext context{verifier::readDialects(),
                            mlir::MLIRContext::Threading::DISABLED};
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp before, after;

  Fixture() { context.loadAllAvailableDialects(); }

  void read(const std::string &text) {
    module = parseModuleText(text, "statement", &context);
    REQUIRE(module);
    auto functions = llvm::to_vector(module->getOps<mlir::func::FuncOp>());
    before = functions[0];
    after = functions[1];
  }
  void read(const Statement &statement) {
    auto typeOf = [](const std::string &body) {
      size_t at = body.rfind("return %");
      return body.substr(body.find(':', at));
    };
    std::string text = types;
    for (auto [name, body] :
         {std::pair("b", &statement.before), std::pair("a", &statement.after)})
      text += "func.func @" + std::string(name) +
              "(%x: !n, %m: !nb, %t: !v, %y: !k, %i: !ki, %j: !ki, %b: !kb, "
              "%w: !k3, %e: tensor<3xi1>, %p: !d, %o: !d) -> " +
              typeOf(*body).substr(1) + " {\n" + *body + "}\n";
    read(text);
  }
  Verdict verdict(bool withNumbers) {
    VerifierOptions options;
    options.scaleWork(0.05);
    options.classifyFloats = false;
    if (!withNumbers)
      options.trialsBefore = options.trialsAfter = 0;
    return verify(before, after, {}, options);
  }
};

} // namespace

TEST_CASE_METHOD(Fixture, "what is defined, masked and dead", "[definedness]") {
  std::vector<Statement> statements = sharedStatements();
  llvm::append_range(statements, otherStatements());
  llvm::append_range(statements, statementsOfPlaces());
  for (const Statement &statement : statements) {
    INFO(statement.why << "\n"
                       << statement.before << "---\n"
                       << statement.after);
    read(statement);
    Verdict alone = verdict(false), usual = verdict(true);
    INFO(alone.reason << usual.reason << usual.counterexample.text);
    if (alone.isProved())
      CHECK(verifier::checkProof(before, after, {}, alone.certificate.proof)
                .isAccepted);
    switch (statement.answer) {
    case Answer::Proved:
      CHECK(usual.isProved());
      break;
    case Answer::NotRefuted:
      CHECK_FALSE(usual.isRefuted());
      break;
    case Answer::Refuted:
      CHECK(usual.isRefuted());
      [[fallthrough]];
    case Answer::NotProved:
      CHECK_FALSE(alone.isProved());
      CHECK_FALSE(usual.isProved());
    }
  }
}

TEST_CASE_METHOD(Fixture, "each need shows those that follow from it",
                 "[definedness]") {
  unsigned numRefuted = 0;
  for (const Partial &before : partials)
    for (const Partial &after : partials) {
      INFO(before.text << " and " << after.text);
      read(Statement{"", Answer::Proved, timesZero(before.text),
                     timesZero(after.text)});
      Verdict alone = verdict(false), usual = verdict(true);
      INFO(alone.reason << usual.reason << usual.counterexample.text);
      if (!follows(after, before)) {
        CHECK_FALSE(alone.isProved());
        CHECK_FALSE(usual.isProved());
        numRefuted += usual.isRefuted();
      } else if (before.isProvable && after.isProvable) {
        CHECK(usual.isProved());
      } else {
        CHECK_FALSE(usual.isRefuted());
      }
    }
  CHECK(numRefuted > 100);
}

TEST_CASE_METHOD(Fixture, "a proof of what is masked is none of what is not",
                 "[definedness]") {
  const std::string log = "log %x : (!n) -> !n";
  read(Statement{"", Answer::Proved, looked(log, first) + chosen(),
                 looked(log, swapped) + chosen()});
  Verdict masked = verdict(false);
  REQUIRE(masked.isProved());
  read(Statement{"", Answer::Refuted, looked(log, first) + chosen(),
                 looked(log, swapped) + multiplied()});
  verifier::CheckVerdict checked =
      verifier::checkProof(before, after, {}, masked.certificate.proof);
  CHECK_FALSE(checked.isAccepted);
}

TEST_CASE_METHOD(Fixture, "a gradient reads what its function does not",
                 "[definedness]") {
  auto text = [](const std::string &function, const std::string &element) {
    return types + R"(
func.func @f(%x: !n, %i: tensor<?xi64, #mlc.dims<[n]>>) -> !n {
  %l = mlc.log %x : (!n) -> !n
  %r = mlc.)" +
           function +
           R"(
  return %r : !n
}
func.func @g(%x: !n, %i: tensor<?xi64, #mlc.dims<[n]>>, %dy: !n) -> !n {
  %l = mlc.log %x : (!n) -> !n
  %r = mlc.compute %x, %l, %i, %dy {definition = "(x, l, i, dy; n) Y[q] = )" +
           element +
           R"(", dims = #mlc.dims<[n]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!n, !n, tensor<?xi64, #mlc.dims<[n]>>, !n) -> !n
  return %r : !n
})";
  };
  VerifierOptions options;
  options.classifyFloats = false;
  options.trialsBefore = options.trialsAfter = 0;
  const std::string square = "mul %x, %x : (!n, !n) -> !n",
                    slope = "2 * x[q] * dy[q]";
  read(text(square, slope));
  CHECK(verifyGradient(before, after, {}, options).isProved());
  // It need have a value where the function has one.
  read(text("floor %l : (!n) -> !n", "0 * l[q] * dy[q]"));
  CHECK(verifyGradient(before, after, {}, options).isProved());
  read(text(square, slope + " + 0 * l<0>[index(i[q] + i[q])]"));
  CHECK_FALSE(verifyGradient(before, after, {}, options).isProved());
  CHECK(verifyGradient(before, after, {}).isRefuted());
}

// A sample of `random-pairs --kind=partial`.
TEST_CASE_METHOD(Fixture, "random functions that are not defined everywhere",
                 "[definedness]") {
  unsigned numProved = 0, numRefuted = 0;
  for (unsigned seed = 0; seed < 80; ++seed) {
    test::Random random(seed);
    test::PartialPair pair = test::makePartialPair(random);
    std::string text = test::partialText(pair, random);
    read(text);
    VerifierOptions options;
    options.scaleWork(0.02);
    options.classifyFloats = false;
    Verdict verdict = pair.function ? verifyGradient(before, after, {}, options)
                                    : verify(before, after, {}, options);
    test::Label label = test::labelPartial(pair, seed);
    INFO(text << label.where << verdict.counterexample.text);
    if (label.kind == test::Label::Kind::Different)
      CHECK_FALSE(verdict.isProved());
    if (pair.isTrue)
      CHECK_FALSE(verdict.isRefuted());
    numProved += verdict.isProved();
    numRefuted += verdict.isRefuted();
  }
  CHECK(numProved > 20);
  CHECK(numRefuted > 3);
}
