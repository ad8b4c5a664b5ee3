//===- InstanceTest.cpp - Sizes that satisfy conditions -------------------===//

#include "verifier/read/Instance.h"
#include "Pair.h"

using namespace mlc;
using namespace mlc::test;
using namespace mlc::verifier;

namespace {
/// Calls `use` with an instance of x = x under the conditions.
template <typename Use>
void withInstance(const std::string &dims,
                  const std::vector<std::string> &conditions, Use use) {
  auto same = [](Side &f) { return f.relu(f[0]); };
  Pair({dims}, conditions)
      .ask(same, same,
           [&](auto before, auto after, const Assumptions &assumptions) {
             Goal goal = makeGoal(before, after, assumptions);
             REQUIRE_FALSE(goal.cases.empty());
             Unknowns unknowns(goal);
             for (uint64_t seed = 0; seed < 20; ++seed) {
               Instance instance(goal, goal.cases.front(), assumptions, seed);
               use(instance, unknowns);
             }
             return 0;
           });
}
} // namespace

TEST_CASE("conditions are solved rather than hoped for") {
  withInstance(
      "n, m",
      {"n >= 70", "2 * m == k - 1", "m >= 17", "7 divides n", "n != 77"},
      [](Instance &instance, const Unknowns &unknowns) {
        for (SizeKind kind : {SizeKind::Ordinary, SizeKind::Corner,
                              SizeKind::Numbers, SizeKind::Beyond}) {
          REQUIRE(instance.drawSymbols(unknowns, kind));
          const SymbolValues &v = instance.getSymbols();
          CHECK(v.at("n") >= 70);
          CHECK(v.at("n") % 7 == 0);
          CHECK(v.at("n") != 77);
          CHECK(2 * v.at("m") == v.at("k") - 1);
          CHECK(v.at("m") >= 17);
        }
      });
}

TEST_CASE("sizes go beyond every number that is mentioned") {
  bool around = false, beyond = false;
  withInstance("n, max(n - 150, 0)", {},
               [&](Instance &instance, const Unknowns &unknowns) {
                 REQUIRE(instance.drawSymbols(unknowns, SizeKind::Numbers));
                 int64_t n = instance.getSymbols().at("n");
                 around |= n >= 149 && n <= 151;
                 REQUIRE(instance.drawSymbols(unknowns, SizeKind::Beyond));
                 beyond |= instance.getSymbols().at("n") > 151;
               });
  CHECK(around);
  CHECK(beyond);
}

TEST_CASE("integers are drawn to the ends of their type") {
  auto twice = [](Side &f) { return f.add(f[0], f[0]); };
  Pair({"n"}).ask(
      twice, twice, [&](auto before, auto after, const Assumptions &a) {
        mlir::MLIRContext *context = before.getContext();
        mlir::Type i8 = mlir::RankedTensorType::get(
            {50}, mlir::IntegerType::get(context, 8));
        for (mlir::func::FuncOp f : {before, after})
          f.walk([&](mlir::Operation *op) {
            for (mlir::Value value : op->getResults())
              value.setType(i8);
            for (mlir::BlockArgument argument :
                 f.getBody().front().getArguments())
              argument.setType(i8);
          });
        Goal goal = makeGoal(before, after, a);
        REQUIRE_FALSE(goal.cases.empty());
        Unknowns unknowns(goal);
        bool least = false, most = false;
        for (uint64_t seed = 0; seed < 20; ++seed) {
          Instance instance(goal, goal.cases.front(), a, seed);
          REQUIRE(instance.drawSymbols(unknowns));
          REQUIRE(instance.drawTensors(Spread::Mixed));
          least |= llvm::is_contained(instance.getNumbers()[0], -128.0);
          most |= llvm::is_contained(instance.getNumbers()[0], 127.0);
          CHECK(instance.compareReals().outcome == Comparison::Outcome::Equal);
        }
        CHECK(least);
        CHECK(most);
        return 0;
      });
}
