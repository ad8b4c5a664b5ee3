//===- EnumerateTest.cpp - What is found, and what is not -----------------===//

#include "rewrites/Generate/Generate.h"
#include <catch2/catch.hpp>

using namespace mlc;
using namespace mlc::generate;

namespace {

/// Families of all leaf sets, by text, with the pairs before pruning.
struct Found {
  std::vector<std::unique_ptr<Catalog>> catalogs;
  std::set<std::string> families, variants, conditional;
  uint64_t constant = 0;

  Found(std::vector<std::string> ops, unsigned maxOperators) {
    Pruner pruner(1);
    for (const LeafSet &leafSet : leafSets()) {
      catalogs.push_back(std::make_unique<Catalog>(leafSet, ops));
      GraphStore store(*catalogs.back());
      EnumerateOptions options;
      options.maxOperators = maxOperators;
      Enumerator enumerator(store, options);
      enumerator.run();
      pruner.add(store, enumerator.getPairs());
      for (const SizeCounts &size : enumerator.getCounts())
        constant += size.constant;
    }
    Families all = pruner.finish();
    for (const Family &family : all.conditional)
      conditional.insert(family.text);
    for (const Family &family : all.always) {
      families.insert(family.text);
      for (const Pattern &variant : family.variants)
        variants.insert(variant.text(Detail::Variant));
    }
  }
  bool has(const std::string &text) const { return families.count(text); }
};

} // namespace

TEST_CASE("known identities are found") {
  Found found({"relu", "neg", "concat", "split", "matmul", "add", "transpose"},
              3);
  CHECK(found.has("neg(neg(a)) = a"));
  CHECK(found.has("relu(relu(a)) = relu(a)"));
  CHECK(found.has("split(concat(a, b)) = a"));
  CHECK(found.has("split(concat(a, b)) = b"));
  CHECK(found.has("concat(relu(a), relu(b)) = relu(concat(a, b))"));
  CHECK(found.has("matmul(transpose(a), transpose(b)) = "
                  "transpose(matmul(b, a))"));
  CHECK(found.has("matmul(a, matmul(b, c)) = matmul(matmul(a, b), c)"));
  CHECK(found.has("add(matmul(a, b), matmul(c, b)) = matmul(add(a, c), b)"));
}

TEST_CASE("a graph may equal itself under other names") {
  Found found({"sub", "add"}, 2);
  CHECK(found.has("sub(a, add(b, c)) = sub(sub(a, b), c)"));
  CHECK(found.has("add(a, add(b, c)) = add(b, add(a, c))"));
}

TEST_CASE("windows do not agree by chance") {
  Found found({"relu", "max_pool", "pad", "global_max_pool"}, 2);
  // A maximum of a few numbers is not always positive.
  CHECK_FALSE(found.has("global_max_pool(relu(a)) = global_max_pool(a)"));
  CHECK_FALSE(found.has("max_pool(relu(a)) = max_pool(a)"));
  CHECK(found.has("max_pool(relu(a)) = relu(max_pool(a))"));
  // No border is a border too.
  CHECK_FALSE(found.has("global_max_pool(pad(a)) = "
                        "relu(global_max_pool(a))"));
  // It holds where there is one, whatever the signs.
  CHECK_FALSE(found.has("global_max_pool(pad(a)) = global_max_pool(relu(a))"));
  CHECK(found.conditional.count("global_max_pool(pad(a)) = "
                                "global_max_pool(relu(a))"));
}

TEST_CASE("magnitudes and signs do not agree by chance") {
  Found found({"min", "exp", "abs", "sqrt", "add"}, 3);
  // Of numbers below 2, none is above such a power.
  CHECK_FALSE(found.has("min(a, exp(exp(exp(b)))) = a"));
  CHECK_FALSE(found.has("min(a, exp(exp(abs(b)))) = a"));
  // Where a root is taken, all leaves are positive at first.
  CHECK_FALSE(found.has("add(abs(a), sqrt(b)) = add(a, sqrt(b))"));
  CHECK_FALSE(
      found.conditional.count("add(abs(a), sqrt(b)) = add(a, sqrt(b))"));
  CHECK(found.has("abs(sqrt(a)) = sqrt(a)"));
  CHECK(found.has("min(a, abs(a)) = a"));
}

TEST_CASE("odd functions are odd, and what divides by them is of no use") {
  Found found({"tanh", "neg", "relu", "div"}, 3);
  CHECK(found.has("neg(tanh(a)) = tanh(neg(a))"));
  CHECK(found.has("relu(tanh(a)) = tanh(relu(a))"));
  CHECK_FALSE(found.has("div(a, tanh(relu(b))) = div(a, tanh(b))"));
}

TEST_CASE("what holds in some instantiations is conditional") {
  Found found({"relu", "scale"}, 2);
  CHECK_FALSE(found.has("relu(scale(a)) = scale(relu(a))"));
  CHECK(found.conditional.count("relu(scale(a)) = scale(relu(a))"));
}

TEST_CASE("conditional candidates become rules with a condition") {
  GenerateOptions options;
  options.ops = {"relu", "scale", "neg"};
  options.maxOperators = 3;
  GenerateReport report = generate::generate(options);
  auto find = [&](llvm::StringRef text) {
    return llvm::find_if(report.conditional, [&](const FamilyReport &family) {
      return family.text == text;
    });
  };
  auto positive = find("relu(scale(a)) = scale(relu(a))");
  REQUIRE(positive != report.conditional.end());
  REQUIRE(positive->outcome);
  CHECK(positive->outcome->kind == Verdict::Kind::Proved);
  CHECK(positive->outcome->isConditional);
  CHECK(positive->outcome->rule.find("rule.assume_real") != std::string::npos);
  CHECK(positive->isBasis);
  // Families that need no condition are counted without it.
  CHECK(llvm::none_of(report.families, [](const FamilyReport &family) {
    return family.text == "relu(scale(a)) = scale(relu(a))";
  }));
  // What follows from it is not looked for.
  CHECK(report.prune.conditionalDerived > 0);
  auto derived = find("neg(relu(scale(a))) = scale(neg(relu(a)))");
  if (derived != report.conditional.end())
    CHECK(derived->isDerived);
}

TEST_CASE("constants are no classes") {
  Found found({"sub", "neg"}, 2);
  CHECK(found.constant > 0);
  for (const std::string &text : found.families)
    CHECK(text.find("sub(a, a)") == std::string::npos);
}

TEST_CASE("instances and common subgraphs are pruned") {
  Found found({"relu", "neg", "exp"}, 3);
  CHECK(found.has("neg(neg(a)) = a"));
  CHECK_FALSE(found.has("neg(neg(exp(a))) = exp(a)"));
  CHECK_FALSE(found.has("neg(neg(relu(a))) = relu(a)"));
  // Only exponentials are positive: no rule about anything.
  CHECK(found.has("relu(exp(a)) = exp(a)"));
  CHECK_FALSE(found.has("relu(a) = a"));
}

TEST_CASE("roots are compared where they are defined") {
  Found found({"sqrt", "mul", "abs", "relu"}, 3);
  CHECK(found.has("mul(sqrt(a), sqrt(a)) = a"));
  CHECK_FALSE(found.has("relu(a) = a"));
}

TEST_CASE("the number of threads changes nothing") {
  GenerateOptions options;
  options.ops = {"relu", "scale", "matmul", "concat", "split", "max_pool"};
  options.maxOperators = 2;
  GenerateReport one = generate::generate(options);
  options.jobs = 3;
  GenerateReport three = generate::generate(options);
  CHECK(ruleFiles(one) == ruleFiles(three));
  CHECK(one.prune.pairs == three.prune.pairs);
  CHECK(one.count(Verdict::Kind::Proved, false) > 8);
}

TEST_CASE("a run goes on where its state ends") {
  GenerateOptions options;
  options.ops = {"relu", "neg"};
  options.maxOperators = 2;
  std::string state = stateHeader(options);
  options.proved = [&](const std::string &family, const Outcome &outcome) {
    state += stateLine(family, outcome);
  };
  GenerateReport first = generate::generate(options);
  // The last line is cut off.
  state.resize(state.size() - 20);
  unsigned again = 0;
  GenerateOptions resumed;
  resumed.ops = options.ops;
  resumed.maxOperators = 2;
  REQUIRE_FALSE(bool(readState(state, resumed)));
  // All but the header.
  CHECK(resumed.known.size() + 1 == size_t(llvm::count(state, '\n')));
  resumed.proved = [&](const std::string &, const Outcome &) { ++again; };
  GenerateReport second = generate::generate(resumed);
  CHECK(again == 1);
  CHECK(ruleFiles(first) == ruleFiles(second));
  GenerateOptions other;
  other.ops = {"relu"};
  llvm::Error error = readState(state, other);
  CHECK(bool(error));
  llvm::consumeError(std::move(error));
}
