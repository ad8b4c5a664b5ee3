//===- TasksTest.cpp - Delta simulation equals full simulation ------------===//

#include "simulator/timeline/Tasks.h"

#include <catch2/catch.hpp>
#include <random>

using namespace mlc::simulator;

TEST_CASE("tasks wait for their queue and their edges", "[tasks]") {
  TaskGraph graph;
  QueueId a = graph.addQueue(), b = graph.addQueue();
  TaskId first = graph.add(a, 3), second = graph.add(a, 4),
         other = graph.add(b, 2), free = graph.add(kNoQueue, 100);
  graph.addEdge(second, other);
  graph.addEdge(other, free);
  REQUIRE(graph.simulate());
  CHECK(graph.start(second) == 3);
  CHECK(graph.start(other) == 7);
  CHECK(graph.start(free) == 9);
  CHECK(graph.span() == 9);
  graph.changeDuration(first, 1);
  CHECK(graph.update() == 3);
  CHECK(graph.span() == 7);
  // Nothing beyond `second` moves if it still ends as late.
  graph.changeDuration(second, 2);
  graph.changeDuration(first, 3);
  CHECK(graph.update() == 2);
  CHECK(graph.span() == 7);
}

TEST_CASE("circles are found and refused", "[tasks]") {
  TaskGraph graph;
  QueueId a = graph.addQueue(), b = graph.addQueue();
  TaskId a0 = graph.add(a, 1), a1 = graph.add(a, 1), b0 = graph.add(b, 1),
         b1 = graph.add(b, 1);
  graph.addEdge(a1, b0);
  REQUIRE(graph.simulate());
  CHECK_FALSE(graph.changeAddEdge(b1, a0));
  CHECK_FALSE(graph.changeAddEdge(a0, a0));
  CHECK_FALSE(graph.changeQueue(a0, b, b1) == false);
  CHECK(graph.update() > 0);
  CHECK(graph.start(a0) == 3);
  // b0 waits for a1, and cannot stand before it.
  CHECK_FALSE(graph.changeQueue(b0, a, kNoTask));
  CHECK(graph.previousInQueue(b1) == b0);

  TaskGraph stuck;
  QueueId queue = stuck.addQueue();
  TaskId early = stuck.add(queue, 1), late = stuck.add(queue, 1);
  stuck.addEdge(late, early);
  CHECK_FALSE(stuck.simulate());
  CHECK(stuck.firstStuck() == early);
  CHECK(stuck.stuckBefore(early) == late);
  CHECK(stuck.stuckBefore(late) == early);
}

namespace {

/// A graph that changes at random, beside what it should be.
class RandomGraph {
public:
  explicit RandomGraph(uint32_t seed) : random(seed) {
    const size_t queues = 1 + draw(6), tasks = 2 + draw(60);
    for (size_t i = 0; i < queues; ++i)
      graph.addQueue();
    for (size_t i = 0; i < tasks; ++i) {
      graph.add(draw(9) ? QueueId(draw(queues)) : kNoQueue, Time(draw(20)));
      for (size_t j = i ? draw(3) : 0; j > 0; --j)
        graph.addEdge(TaskId(draw(i)), TaskId(i));
    }
    REQUIRE(graph.simulate());
  }

  void change() {
    const TaskId task = any();
    switch (draw(4)) {
    case 0:
      graph.changeDuration(task, Time(draw(20)));
      return;
    case 1:
      graph.changeAddEdge(task, any());
      return;
    case 2:
      if (!graph.before(task).empty())
        graph.changeRemoveEdge(
            graph.before(task)[draw(graph.before(task).size())], task);
      return;
    default: {
      const TaskId last = any();
      if (last == task)
        return;
      if (graph.queueOf(last) == kNoQueue)
        graph.changeQueue(task, kNoQueue, kNoTask);
      else
        graph.changeQueue(task, graph.queueOf(last), draw(4) ? last : kNoTask);
    }
    }
  }

  /// The times that a graph made from scratch has.
  void compare() {
    TaskGraph copy = graph;
    graph.update();
    REQUIRE(copy.simulate());
    bool isSame = copy.span() == graph.span();
    for (TaskId task = 0; task < graph.size(); ++task)
      isSame &= copy.start(task) == graph.start(task);
    REQUIRE(isSame);
  }

  size_t draw(size_t below) {
    return std::uniform_int_distribution<size_t>(0, below - 1)(random);
  }

private:
  TaskId any() { return TaskId(draw(size_t(graph.size()))); }

  std::mt19937 random;
  TaskGraph graph;
};

} // namespace

TEST_CASE("delta equals full in 100,000 random changes", "[tasks]") {
  for (uint32_t seed = 0; seed < 500; ++seed) {
    RandomGraph graph(seed);
    for (int i = 0; i < 200; ++i) {
      graph.change();
      // Some updates have several changes.
      if (graph.draw(5))
        graph.compare();
    }
    graph.compare();
  }
}
