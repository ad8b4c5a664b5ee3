//===- ProfileTest.cpp - Where the time of a run goes ---------------------===//

#include "runtime/Profile.h"

#include <catch2/catch.hpp>

using namespace mlc::runtime;
using Catch::Contains;

static ProfiledStep step(const char *name, double ns, mlc_step_cost cost) {
  ProfiledStep step;
  step.name = name;
  step.ns = ns;
  step.cost = cost;
  return step;
}

TEST_CASE("the least time is that of bytes or of operations", "[profile]") {
  // A cache of 1000 bytes at 10 bytes/ns, memory at 1.
  Roofline roofline{{{1000, 10e9}, {1e30, 1e9}}, 100e9, 10e9};
  CHECK(roofline.leastNanoseconds({600, 400, 0, 0}) == Approx(100));
  CHECK(roofline.leastNanoseconds({600, 401, 0, 0}) == Approx(1001));
  CHECK(roofline.leastNanoseconds({0, 10, 3000, 2000}) == Approx(20 + 100));
  // Casts in a contraction's body may not be counted.
  CHECK(roofline.leastNanoseconds({0, 10, 1000, 2000}) == Approx(20));
}

TEST_CASE("times have a middle", "[profile]") {
  std::vector<double> none, odd = {5, 1, 3}, even = {4, 1, 3, 2};
  CHECK(median(none) == 0);
  CHECK(median(odd) == 3);
  CHECK(median(even) == 2.5);
}

TEST_CASE("a profile is sorted and summed", "[profile]") {
  Roofline roofline{{{1e30, 1e9}}, 100e9, 10e9};
  std::vector<ProfiledStep> steps = {
      step("a", 2000, {500, 500, 0, 0}), step("skipped", 0, {9, 9, 9, 9}),
      step("b", 6000, {1000, 2000, 40, 0}), step("c", 2000, {1, 1, 20000, 0})};
  std::vector<ProfiledStep> plain = steps;
  finishProfile(steps, &roofline);
  REQUIRE(steps.size() == 3);
  CHECK(steps[0].name == "b");
  CHECK(steps[0].share == Approx(0.5));
  CHECK(steps[1].name == "a"); // equal times stay in order
  CHECK(steps[1].share == Approx(0.5));
  CHECK(steps[2].share == Approx(1));
  ProfiledStep total = totalOf(steps);
  CHECK(total.ns == 10000);
  CHECK(total.cost.bytes_read == 1501);
  CHECK(total.cost.bytes_written == 2501);
  CHECK(total.cost.operations == 20040);
  CHECK(total.share == Approx(0.6));
  steps[0].nodes = {"MatMul_0", "Re\nlu"};
  steps[0].skeleton = "tensor";
  CHECK_THAT(profileTable(steps), Contains(" 60.0%") && Contains("tensor") &&
                                      Contains("b: MatMul_0, Re\\nlu\n") &&
                                      Contains("total\n"));
  // Without a roofline nothing is said of one.
  finishProfile(plain, nullptr);
  CHECK(totalOf(plain).share < 0);
  CHECK(totalOf({}).share < 0);
  CHECK_THAT(profileTable({}), Contains("total\n"));
}
