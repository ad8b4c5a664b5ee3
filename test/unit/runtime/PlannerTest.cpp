//===- PlannerTest.cpp - The memory planner against its lower bound -------===//

#include "runtime/Planner.h"

#include <catch2/catch.hpp>

#include <random>

using namespace mlc::runtime;

namespace {

/// A network as the planner sees it: nodes in execution order, each with the
/// bytes of its result and the nodes that it reads.
struct Net {
  std::vector<PlanItem> items;

  uint32_t node(uint64_t bytes, std::vector<uint32_t> reads,
                bool inPlace = false) {
    uint32_t step = items.size();
    for (uint32_t r : reads)
      items[r].last = std::max(items[r].last, step);
    items.push_back({bytes, step, step, {}});
    if (inPlace)
      items.back().inPlaceOf = reads;
    return step;
  }
};

uint64_t image(uint64_t channels, uint64_t side) {
  return channels * side * side * 4;
}

Net resnet(bool inPlace) {
  Net net;
  uint32_t x = net.node(image(64, 112), {});
  x = net.node(image(64, 56), {x});
  const unsigned blocks[] = {3, 4, 6, 3};
  for (unsigned stage = 0, side = 56, width = 64; stage < 4;
       ++stage, side /= 2, width *= 2)
    for (unsigned b = 0; b < blocks[stage]; ++b) {
      unsigned in = b == 0 && stage > 0 ? side * 2 : side;
      uint32_t a = net.node(image(width, in), {x});
      a = net.node(image(width, side), {a});
      uint32_t skip = b == 0 ? net.node(image(width * 4, side), {x}) : x;
      uint32_t c = net.node(image(width * 4, side), {a});
      x = net.node(image(width * 4, side), {c, skip}, inPlace);
      if (stage == 3 && side == 1)
        break;
    }
  net.node(2048 * 4, {x});
  return net;
}

/// Concatenations as copies: each layer reads all of the block so far.
Net densenet() {
  Net net;
  uint32_t x = net.node(image(64, 56), {});
  unsigned channels = 64, side = 56;
  for (unsigned layers : {6, 12, 24, 16}) {
    for (unsigned l = 0; l < layers; ++l) {
      uint32_t n = net.node(image(channels, side), {x});
      uint32_t a = net.node(image(128, side), {n});
      uint32_t b = net.node(image(32, side), {a});
      channels += 32;
      x = net.node(image(channels, side), {x, b});
    }
    channels /= 2;
    x = net.node(image(channels, side), {x});
    side /= 2;
    x = net.node(image(channels, side), {x});
  }
  return net;
}

Net inception() {
  Net net;
  uint32_t x = net.node(image(192, 28), {});
  const unsigned widths[][6] = {
      {64, 96, 128, 16, 32, 32},     {128, 128, 192, 32, 96, 64},
      {192, 96, 208, 16, 48, 64},    {160, 112, 224, 24, 64, 64},
      {128, 128, 256, 24, 64, 64},   {112, 144, 288, 32, 64, 64},
      {256, 160, 320, 32, 128, 128}, {384, 192, 384, 48, 128, 128}};
  unsigned side = 28, index = 0;
  for (auto &w : widths) {
    uint32_t a = net.node(image(w[0], side), {x});
    uint32_t b = net.node(image(w[1], side), {x});
    b = net.node(image(w[2], side), {b});
    uint32_t c = net.node(image(w[3], side), {x});
    c = net.node(image(w[4], side), {c});
    uint32_t d = net.node(image(480, side), {x});
    d = net.node(image(w[5], side), {d});
    x = net.node(image(w[0] + w[2] + w[4] + w[5], side), {a, b, c, d});
    if (++index == 2 || index == 7) {
      side /= 2;
      x = net.node(image(w[0] + w[2] + w[4] + w[5], side), {x});
    }
  }
  return net;
}

/// A backbone whose stages live on into a feature pyramid with two heads per
/// level, all concatenated at the end.
Net detection(unsigned side) {
  Net net;
  uint32_t x = net.node(image(3, side), {});
  std::vector<uint32_t> stages;
  unsigned channels = 16;
  for (unsigned s = 0; s < 5; ++s) {
    side /= 2;
    channels = std::min(channels * 2, 256u);
    x = net.node(image(channels, side), {x});
    for (unsigned b = 0; b < 3; ++b) {
      uint32_t half = net.node(image(channels / 2, side), {x});
      uint32_t y = net.node(image(channels / 2, side), {half});
      y = net.node(image(channels / 2, side), {y, half});
      x = net.node(image(channels, side), {y, x});
    }
    stages.push_back(x);
  }
  std::vector<uint32_t> results;
  uint32_t up = stages[4];
  for (int level = 4; level >= 2; --level, side *= 2) {
    if (level < 4) {
      up = net.node(image(128, side), {up});
      up = net.node(image(256, side), {up, stages[level]});
    }
    up = net.node(image(128, side), {up});
    for (unsigned head : {64u, 80u}) {
      uint32_t h = net.node(image(head, side), {up});
      h = net.node(image(head, side), {h});
      results.push_back(net.node(image(head, side), {h}));
    }
  }
  net.node(1 << 20, results);
  return net;
}

Net transformer(unsigned layers, uint64_t tokens, uint64_t width) {
  Net net;
  uint64_t act = tokens * width * 4;
  uint32_t x = net.node(act, {});
  for (unsigned l = 0; l < layers; ++l) {
    uint32_t n = net.node(act, {x});
    uint32_t q = net.node(act, {n}), k = net.node(act, {n}),
             v = net.node(act, {n});
    uint32_t s = net.node(tokens * tokens * 8 * 4, {q, k});
    s = net.node(tokens * tokens * 8 * 4, {s}, true);
    uint32_t o = net.node(act, {s, v});
    x = net.node(act, {net.node(act, {o}), x}, true);
    n = net.node(act, {x});
    uint32_t h = net.node(act * 4, {n});
    x = net.node(act, {net.node(act, {h}), x}, true);
  }
  return net;
}

/// A random graph: mostly chains, some long skips, sizes over four decades.
Net random(unsigned seed, unsigned nodes) {
  std::mt19937 rng(seed);
  Net net;
  net.node(4096, {});
  for (unsigned i = 1; i < nodes; ++i) {
    std::vector<uint32_t> reads;
    reads.push_back(i - 1 - rng() % std::min(i, 4u));
    if (rng() % 3 == 0)
      reads.push_back(i - 1 - rng() % std::min(i, 40u));
    net.node((rng() % 1000 + 1) << (rng() % 12), reads, rng() % 2);
  }
  return net;
}

/// Takeovers may put an item onto the one whose last step is its first;
/// otherwise items of one time must not overlap. Returns peak over bound.
double check(const Net &net) {
  MemoryPlan plan = planMemory(net.items);
  REQUIRE(plan.ok);
  REQUIRE(plan.offsets.size() == net.items.size());
  for (size_t i = 0; i < net.items.size(); ++i) {
    const PlanItem &a = net.items[i];
    REQUIRE(plan.offsets[i] % 64 == 0);
    REQUIRE(plan.offsets[i] + a.size <= plan.peak);
    for (size_t j = i + 1; j < net.items.size(); ++j) {
      const PlanItem &b = net.items[j];
      if (a.last < b.first || b.last < a.first)
        continue;
      bool apart = plan.offsets[i] + a.size <= plan.offsets[j] ||
                   plan.offsets[j] + b.size <= plan.offsets[i];
      bool taken = std::count(b.inPlaceOf.begin(), b.inPlaceOf.end(), i) &&
                   a.last == b.first && plan.offsets[i] == plan.offsets[j];
      if (!(apart || taken))
        FAIL("items " << i << " and " << j << " overlap");
    }
  }
  REQUIRE(plan.peak >= plan.lowerBound);
  MemoryPlan again = planMemory(net.items);
  REQUIRE(again.offsets == plan.offsets);
  return double(plan.peak) / plan.lowerBound;
}

} // namespace

TEST_CASE("plans of networks are within 5 % of the lower bound", "[planner]") {
  struct {
    const char *name;
    Net net;
  } cases[] = {{"resnet", resnet(false)},
               {"resnet in place", resnet(true)},
               {"densenet", densenet()},
               {"inception", inception()},
               {"detection 320", detection(320)},
               {"detection 640", detection(640)},
               {"detection 736", detection(736)},
               {"transformer", transformer(12, 384, 768)},
               {"transformer long", transformer(24, 2048, 1024)}};
  for (auto &c : cases) {
    double ratio = check(c.net);
    UNSCOPED_INFO(c.name << ": " << c.net.items.size() << " buffers, ratio "
                         << ratio);
    CHECK(ratio <= 1.05);
  }
}

TEST_CASE("plans of random graphs are near the lower bound", "[planner]") {
  double worst = 1, sum = 0;
  const unsigned count = 60;
  for (unsigned seed = 0; seed < count; ++seed) {
    double ratio = check(random(seed, 20 + seed * 8));
    worst = std::max(worst, ratio);
    sum += ratio;
  }
  INFO("worst " << worst << ", mean " << sum / count);
  CHECK(worst <= 1.05);
  CHECK(sum / count <= 1.01);
}

TEST_CASE("takeovers share memory exactly once", "[planner]") {
  // 0 is read by 1 and 2 at step 1; only one of them may take its memory.
  std::vector<PlanItem> items = {
      {640, 0, 1, {}}, {640, 1, 2, {0}}, {640, 1, 2, {0}}};
  MemoryPlan plan = planMemory(items);
  CHECK(plan.peak == 1280);
  CHECK(plan.lowerBound == 1280);
  CHECK(plan.offsets[1] != plan.offsets[2]);
}

TEST_CASE("empty, zero-sized and absurd inputs", "[planner]") {
  CHECK(planMemory({}).peak == 0);
  MemoryPlan zero = planMemory({{0, 0, 5, {}}, {64, 0, 5, {}}});
  CHECK(zero.peak == 64);
  CHECK_FALSE(planMemory({{UINT64_MAX, 0, 1, {}}}).ok);
  CHECK_FALSE(planMemory({{uint64_t(1) << 61, 0, 1, {}},
                          {uint64_t(1) << 61, 0, 1, {}},
                          {64, 0, 1, {}}})
                  .ok);
  CHECK_FALSE(planMemory({{64, 2, 1, {}}}).ok);
}

// The runner's limit is the only clock: what tries all orders never ends.
TEST_CASE("a huge program is planned", "[planner]") {
  std::vector<PlanItem> all(20000);
  for (uint32_t i = 0; i < all.size(); ++i)
    all[i] = {64 + i, i % 7, 20000 + i % 3, {}};
  MemoryPlan plan = planMemory(all);
  CHECK(plan.peak == plan.lowerBound);
  Net net = random(3, 20000);
  plan = planMemory(net.items);
  CHECK(plan.ok);
}
