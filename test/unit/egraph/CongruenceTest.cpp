//===- CongruenceTest.cpp - Hash-consing and congruence alone -------------===//

#include "rewrites/EGraph/Congruence.h"
#include <catch2/catch.hpp>

using namespace mlc::egraph;

namespace {

enum : OperatorId { A, B, C, Sum, Pair };

struct Label {
  int smallest = 0;
};

/// Sums do not care for the order of their terms.
struct SumOrder {
  void operator()(OperatorId op, llvm::MutableArrayRef<NodeId> children) const {
    if (op == Sum)
      llvm::sort(children);
  }
};

struct Terms : Congruence<Label, SumOrder> {
  NodeId add(OperatorId op, llvm::ArrayRef<NodeId> children = {}) {
    NodeId node = append(op, children);
    if (NodeId known = lookup(op, children); known != noNode)
      joinClass(node, known);
    else
      makeClass(node, {static_cast<int>(op)});
    return node;
  }
  void merge(NodeId a, NodeId b) {
    a = find(a);
    b = find(b);
    if (a == b)
      return;
    Label &label = classOf(a);
    label.smallest = std::min(label.smallest, classOf(b).smallest);
    unite(a, b);
  }
  void rebuild() {
    repair([&](NodeId a, NodeId b) { merge(a, b); });
    dropCongruent();
  }
};

} // namespace

TEST_CASE("terms in another order are one form where order says nothing") {
  Terms t;
  NodeId a = t.add(A), b = t.add(B);
  NodeId sum = t.add(Sum, {a, b}), pair = t.add(Pair, {a, b});
  CHECK(t.find(t.add(Sum, {b, a})) == sum);
  CHECK(t.find(t.add(Pair, {b, a})) != pair);
  CHECK(t.numNodes() == 6);
  CHECK(t.numLiveNodes() == 5);
  CHECK(t.numClasses() == 5);
}

TEST_CASE("what is congruent is merged by who owns the classes") {
  Terms t;
  NodeId a = t.add(A), b = t.add(B), c = t.add(C);
  NodeId first = t.add(Sum, {c, a}), second = t.add(Sum, {b, c});
  NodeId pair = t.add(Pair, {first, second});
  t.merge(b, a);
  CHECK(t.isMerged());
  CHECK(t.find(first) != t.find(second));
  t.rebuild();
  CHECK_FALSE(t.isMerged());
  CHECK(t.find(first) == t.find(second));
  // Of the two congruent sums one is left; children stay as they were made.
  CHECK(t.classOf(first).nodes.size() == 1);
  CHECK(t.numLiveNodes() == 5);
  CHECK(t.numClasses() == 4);
  CHECK(t.children(pair)[1] == second);
  CHECK(t.lookup(Pair, {second, second}) == pair);
  CHECK(t.classOf(a).smallest == A);
}
