//===- ResultTest.cpp - What a trail builds in the end --------------------===//

#include "Fixture.h"
#include "mlir/IR/Verifier.h"

using namespace mlc;
using namespace mlc::test;

namespace {

constexpr const char *text = R"(
!t = tensor<2x2xf32>
func.func @main(%x: !t, %y: !t) -> (!t, !t) {
  %0 = mlc.sub %x, %y : (!t, !t) -> !t
  %1 = mlc.sqrt %0 : (!t) -> !t
  return %1, %0 : !t, !t
})";

std::string whyNot(std::vector<ChosenOperator> chosen,
                   std::vector<TermId> outputs, const char *function = text) {
  return Fixture().why(function,
                       {"main", {}, std::move(chosen), std::move(outputs)});
}

} // namespace

TEST_CASE("what is chosen is built") {
  Fixture fixture;
  mlir::func::FuncOp function = fixture.function(text);
  CHECK(fixture.why(function, {"main", {}, {{2, {0, 1}}, {3, {2}}}, {3, 2}}) ==
        "");
  CHECK(succeeded(mlir::verify(function)));
  auto results = function.getBody().front().getTerminator()->getOperands();
  CHECK(results[0].getDefiningOp()->getOperand(0) == results[1]);
}

TEST_CASE("an operator is chosen once, by its first result, in order") {
  CHECK_SAYS(whyNot({{2, {0, 1}}, {4, {2}}}, {3, 2}),
             "term 4 is no operator's first result");
  CHECK_SAYS(whyNot({{0, {}}, {2, {0, 1}}, {3, {2}}}, {3, 2}),
             "term 0 is no operator's first result");
  CHECK_SAYS(whyNot({{2, {0, 1}}, {2, {0, 1}}, {3, {2}}}, {3, 2}),
             "term 2 is chosen twice");
  CHECK_SAYS(whyNot({{3, {2}}, {2, {0, 1}}}, {3, 2}),
             "term 3 reads term 2, which is not chosen before it");
  CHECK_SAYS(whyNot({{3, {9}}}, {3, 2}),
             "term 3 reads term 9, which is not chosen before it");
  const char *both = R"(
!i = tensor<4xi64>
!k = tensor<1xi64>
func.func @main(%x: !i) -> !k {
  %0, %1 = mlc.top_k %x {axis = 0 : i64, k = #mlc.int<1>, largest = true, sorted = true} : (!i) -> (!k, !k)
  return %0 : !k
})";
  CHECK(whyNot({{1, {0}}}, {1}, both) == "");
  CHECK_SAYS(whyNot({{2, {0}}}, {1}, both),
             "term 2 is no operator's first result");
  CHECK_SAYS(whyNot({{1, {0}}}, {2}, both),
             "output 0 is term 2, which is not known to equal term 1");
}

TEST_CASE("an operator reads what it was made with, or an equal") {
  CHECK_SAYS(whyNot({{2, {0}}, {3, {2}}}, {3, 2}),
             "term 2 has 2 operands, not 1");
  CHECK_SAYS(whyNot({{2, {0, 1, 1}}, {3, {2}}}, {3, 2}),
             "term 2 has 2 operands, not 3");
  CHECK_SAYS(
      whyNot({{2, {1, 0}}, {3, {2}}}, {3, 2}),
      "term 2 reads term 1, which is not known to equal its operand, term 0");
  CHECK_SAYS(
      whyNot({{2, {0, 0}}, {3, {2}}}, {3, 2}),
      "term 2 reads term 0, which is not known to equal its operand, term 1");
}

TEST_CASE("outputs are those of the function") {
  CHECK_SAYS(whyNot({{2, {0, 1}}, {3, {2}}}, {3}),
             "the function has 2 outputs, not 1");
  CHECK_SAYS(whyNot({{2, {0, 1}}, {3, {2}}}, {3, 2, 2}),
             "the function has 2 outputs, not 3");
  CHECK_SAYS(whyNot({{2, {0, 1}}}, {3, 2}),
             "output 0 is term 3, which is not chosen");
  CHECK_SAYS(whyNot({{2, {0, 1}}, {3, {2}}}, {2, 3}),
             "output 0 is term 2, which is not known to equal term 3");
  CHECK_SAYS(whyNot({{2, {0, 1}}, {3, {2}}}, {3, 0}),
             "output 1 is term 0, which is not known to equal term 2");
}
