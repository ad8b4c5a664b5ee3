//===- EGraphTest.cpp - Congruence, analyses, explanations ----------------===//

#include "Fixture.h"
#include "rewrites/EGraph/Changes.h"
#include <catch2/catch.hpp>

using namespace mlc;
using namespace mlc::egraph;
using namespace mlir;

namespace {

/// Applies unary operators by name to nodes of one type.
struct Terms : test::Fixture {
  Terms() : graph(&context), type(RankedTensorType::get({2, 3}, f32())) {}

  Type f32() { return Float32Type::get(&context); }
  NodeId argument(unsigned index) { return graph.addArgument(index, type); }
  NodeId apply(StringRef name, ArrayRef<NodeId> children) {
    OperatorId op = graph.operators.compute(OperationName(name, &context),
                                            DictionaryAttr::get(&context), 1);
    return graph.add(op, children, noApplication);
  }

  EGraph graph;
  RankedTensorType type;
};

} // namespace

TEST_CASE("merging makes parents equal, level by level") {
  Terms t;
  NodeId a = t.argument(0), b = t.argument(1);
  NodeId fa = t.apply("mlc.relu", a), fb = t.apply("mlc.relu", b);
  NodeId gfa = t.apply("mlc.exp", fa), gfb = t.apply("mlc.exp", fb);
  NodeId other = t.apply("mlc.neg", fb);
  CHECK(t.graph.numClasses() == 7);
  REQUIRE(t.graph.merge(a, b, 0));
  CHECK_FALSE(t.graph.areEqual(gfa, gfb));
  t.graph.rebuild();
  CHECK(t.graph.areEqual(fa, fb));
  CHECK(t.graph.areEqual(gfa, gfb));
  CHECK_FALSE(t.graph.areEqual(gfa, other));
  CHECK(t.graph.numClasses() == 4);
  // One of the congruent nodes stands for both.
  CHECK(t.graph.classOf(gfa).nodes.size() == 1);
}

TEST_CASE("a node of a known form joins its class") {
  Terms t;
  NodeId a = t.argument(0);
  NodeId first = t.apply("mlc.relu", a);
  size_t classes = t.graph.numClasses();
  NodeId second = t.apply("mlc.relu", a);
  CHECK(first != second);
  CHECK(t.graph.areEqual(first, second));
  CHECK(t.graph.numClasses() == classes);
}

TEST_CASE("a pattern is new where something below has changed") {
  Terms t;
  NodeId a = t.argument(0), b = t.argument(1), c = t.argument(2);
  NodeId fa = t.apply("mlc.relu", a), gfa = t.apply("mlc.exp", fa);
  NodeId gc = t.apply("mlc.exp", c);
  t.graph.rebuild();
  Changes changes(3);
  auto isNear = [&](NodeId root, unsigned depth, bool asReaders = false) {
    return changes.isNear(t.graph, root, depth, asReaders);
  };
  changes.update(t.graph);
  CHECK(isNear(gfa, 1));
  changes.update(t.graph);
  CHECK_FALSE(isNear(gfa, 3));
  // Two levels below the root.
  REQUIRE(t.graph.merge(a, b, 0));
  t.graph.rebuild();
  changes.update(t.graph);
  CHECK(isNear(fa, 1));
  CHECK_FALSE(isNear(gfa, 1));
  CHECK(isNear(gfa, 2));
  CHECK_FALSE(isNear(gc, 3));
  // Somebody else reads what the root reads.
  NodeId hc = t.apply("mlc.neg", c);
  t.graph.rebuild();
  changes.update(t.graph);
  CHECK(isNear(hc, 1));
  CHECK_FALSE(isNear(gc, 1));
  CHECK(isNear(gc, 1, /*asReaders=*/true));
  CHECK_FALSE(isNear(gfa, 3, /*asReaders=*/true));
}

TEST_CASE("classes of different types do not merge") {
  Terms t;
  NodeId a = t.argument(0);
  NodeId b = t.graph.addArgument(1, RankedTensorType::get({3, 2}, t.f32()));
  CHECK_FALSE(t.graph.merge(a, b, 0));
  CHECK_FALSE(t.graph.areEqual(a, b));
}

TEST_CASE("an explanation rests on earlier merges alone") {
  Terms t;
  NodeId a = t.argument(0), b = t.argument(1), c = t.argument(2);
  NodeId fa = t.apply("mlc.relu", a), fb = t.apply("mlc.relu", b),
         fc = t.apply("mlc.relu", c);
  t.graph.merge(a, b, 10);
  t.graph.rebuild();
  auto early = t.graph.explain(fa, fb);
  REQUIRE(early.size() == 1);
  CHECK(early[0].reason == noApplication); // by congruence of a and b
  t.graph.merge(b, c, 11);
  t.graph.merge(fa, fc, 12);
  t.graph.rebuild();
  // The way between fa and fb is still the one that was found first.
  CHECK(t.graph.explain(fa, fb).size() == 1);
  auto late = t.graph.explain(a, c);
  REQUIRE(late.size() == 2);
  CHECK(late[0].reason == 10);
  CHECK(late[1].reason == 11);
  CHECK(late[0].from == a);
  CHECK(late[1].to == c);
}

TEST_CASE("what is equal to a constant is known at compile time") {
  Terms t;
  auto dense = DenseElementsAttr::get(t.type, 2.0f);
  OperatorId constant = t.graph.operators.compute(
      OperationName("mlc.constant", &t.context),
      DictionaryAttr::get(
          &t.context,
          NamedAttribute(StringAttr::get(&t.context, "value"), dense)),
      1);
  NodeId literal = t.graph.add(constant, {}, noApplication);
  NodeId x = t.argument(0);
  NodeId fx = t.apply("mlc.relu", x), gfx = t.apply("mlc.exp", fx);
  CHECK(t.graph.classOf(literal).isCompileTime());
  CHECK_FALSE(t.graph.classOf(gfx).isCompileTime());
  t.graph.merge(x, literal, 0);
  t.graph.rebuild();
  CHECK(t.graph.classOf(gfx).isCompileTime());
  CHECK(t.graph.literalOf(x) == dense);
  CHECK_FALSE(t.graph.literalOf(gfx));
}

TEST_CASE("dependence goes through every node of a class") {
  Terms t;
  NodeId x = t.argument(0), y = t.argument(1);
  NodeId fx = t.apply("mlc.relu", x), gy = t.apply("mlc.exp", y);
  CHECK(t.graph.dependsOn(fx, x));
  CHECK_FALSE(t.graph.dependsOn(fx, y));
  t.graph.merge(fx, gy, 0);
  t.graph.rebuild();
  CHECK(t.graph.dependsOn(fx, y));
  CHECK_FALSE(t.graph.dependsOn(x, fx));
}
