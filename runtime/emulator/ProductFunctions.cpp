//===- ProductFunctions.cpp - Products of warpgroups ----------------------===//

#include "runtime/emulator/Access.h"
#include "runtime/emulator/Arena.h"
#include "runtime/emulator/Counters.h"
#include "runtime/emulator/Cuda.h"
#include "runtime/emulator/Execution.h"
#include "runtime/emulator/Numbers.h"
#include "runtime/emulator/Products.h"
#include "runtime/emulator/TensorMap.h"

#include <algorithm>
#include <cstring>

namespace mlc::emulator {

/// What sums hold until their product is waited for: NaN.
static constexpr uint32_t poison = 0x7fdeadff;

//===----------------------------------------------------------------------===//
// Issuing
//===----------------------------------------------------------------------===//

void Products::startBlock(unsigned threads) {
  states.assign(threads, {});
  groups.clear();
  groups.resize((threads + size - 1) / size);
}

/// The product that the thread issues, which must be the one of its warpgroup.
Products::Product &Products::enter(Group &group, State &state,
                                   const ProductCall &call, void *at) {
  size_t index = size_t(state.issued - group.done);
  if (index == group.products.size()) {
    Product &product = group.products.emplace_back();
    product.call = call;
    product.first = execution.running;
    product.at = at;
  }
  Product &product = group.products[index];
  if (!(product.call == call)) {
    execution.report(
        {Problem::Divergence,
         {execution.place(at), execution.running, 0, "issues a product"},
         {execution.place(product.at), product.first,
          execution.order.stamp(product.first), "issued another one"},
         "the threads of a warpgroup issue one product together, with the same "
         "operands"});
    execution.misuse(at, "issues a product", "its warpgroup issues another");
  }
  return product;
}

/// Adds what lies before the product in this thread. Products in a row share a
/// view if the first thread has learnt nothing in between.
void Products::addView(Group &group, State &state, Product &product) {
  unsigned me = execution.running;
  Order &order = execution.order;
  uint64_t version = order.version(me);
  if (!product.view) {
    product.isFresh = !group.view || !state.issued || state.version != version;
    product.view = group.view;
    if (product.isFresh) {
      product.view = std::make_shared<View>();
      product.view->reset(order.components(), 0);
      order.release(me, *product.view, execution.clock);
    }
    group.view = product.view;
  } else if (product.isFresh) {
    View mine;
    mine.reset(order.components(), 0);
    order.release(me, mine, execution.clock);
    product.view->meet(mine);
  }
  state.version = version;
}

/// Registers for a product to use, which a fence must separate from other uses.
Products::Registers &Products::use(State &state, uintptr_t address,
                                   size_t bytes, bool isSums, void *at) {
  auto same = [&](const Registers &registers) {
    return registers.address == address && registers.bytes == bytes &&
           registers.values.empty() != isSums;
  };
  auto found =
      std::find_if(state.registers.begin(), state.registers.end(), same);
  if (found == state.registers.end()) {
    auto overlaps = [&](const Registers &registers) {
      return registers.overlaps(address, bytes);
    };
    for (const Registers &registers : state.registers)
      if (overlaps(registers) && registers.isPending)
        execution.misuse(at, "issues a product",
                         "other products use a part of its registers");
    std::erase_if(state.registers, overlaps);
    state.registers.push_back(
        {address, bytes, state.isFenced, 0, nullptr, false, {}});
    found = std::prev(state.registers.end());
    found->values.resize(isSums ? bytes / 4 : 0);
  }
  if (!found->isFenced)
    execution.misuse(at, "issues a product",
                     "no fenceProducts() since other uses of its registers");
  found->last = state.issued;
  found->at = at;
  return *found;
}

void Products::issue(ProductCall call, void *d, const uint32_t *rows,
                     void *at) {
  unsigned me = execution.running;
  State &state = states[me];
  if (me / size * size + size > states.size())
    execution.misuse(at, "issues a product",
                     "its warpgroup has not four warps");
  call.group = state.commits;
  Group &group = groups[me / size];
  Product &product = enter(group, state, call, at);
  addView(group, state, product);
  Operands &operands = product.operands[me % size];
  operands = {reinterpret_cast<uintptr_t>(d), {}};
  if (rows) {
    use(state, reinterpret_cast<uintptr_t>(rows), 16, false, at).isPending =
        true;
    std::copy(rows, rows + 4, operands.rows);
  }
  Registers &sums = use(state, operands.sums, 4 * call.half, true, at);
  if (!sums.isPending)
    std::memcpy(sums.values.data(), d, sums.bytes);
  sums.isPending = true;
  std::fill_n(static_cast<uint32_t *>(d), call.half, poison);
  if (state.ends.empty() || state.ends.back().first != call.group)
    state.ends.push_back({call.group, 0});
  state.ends.back().second = state.issued;
  ++product.issued;
  ++state.issued;
}

void Products::fence(unsigned thread) {
  State &state = states[thread];
  state.isFenced = true;
  for (Registers &registers : state.registers)
    registers.isFenced = true;
}

void Products::touch(uintptr_t address, size_t bytes, const void *at) {
  for (Registers &registers : states[execution.running].registers) {
    if (!registers.overlaps(address, bytes))
      continue;
    registers.isFenced = false;
    if (registers.isPending)
      execution.report(
          {Problem::Registers,
           {execution.place(at), execution.running, 0, "uses registers"},
           {execution.place(registers.at), execution.running,
            execution.order.stamp(execution.running), "issued the product"},
           ""});
  }
}

//===----------------------------------------------------------------------===//
// Waiting
//===----------------------------------------------------------------------===//

bool Products::areIssued(unsigned thread, int64_t product) const {
  const Group &group = groups[thread / size];
  return product < group.done ||
         group.products[size_t(product - group.done)].issued == size;
}

/// Gives the thread the sums of products up to `upTo`.
void Products::deliver(State &state, int64_t upTo) {
  for (Registers &registers : state.registers) {
    if (!registers.isPending || registers.last > upTo)
      continue;
    registers.isPending = false;
    if (!registers.values.empty())
      std::memcpy(reinterpret_cast<void *>(registers.address),
                  registers.values.data(), registers.bytes);
  }
}

void Products::wait(unsigned pending, void *at) {
  unsigned me = execution.running;
  State &state = states[me];
  Group &group = groups[me / size];
  // The last product of a group that is complete afterwards.
  int64_t last = -1;
  for (const auto &[commit, product] : state.ends)
    if (commit + pending < state.commits)
      last = std::max(last, product);
  if (last < 0)
    return;
  if (!areIssued(me, last)) {
    execution.current().phase = last;
    execution.wait(Wait::Products, at);
  }
  while (group.done <= last && !execution.hasStopped())
    compute(me / size * size, group);
  deliver(state, last);
  unsigned actor = execution.order.actor(Order::Actor::Products, me / size, me);
  execution.order.observe(me, actor, group.stamps[size_t(last)] + 1);
  std::erase_if(state.ends,
                [&](const auto &end) { return end.second <= last; });
}

void Products::endBlock() {
  for (unsigned i = 0; i < states.size(); ++i)
    for (const Registers &registers : states[i].registers)
      if (registers.isPending)
        return execution.report(
            {Problem::Unfinished,
             {execution.place(registers.at), i, 0, "issued a product"},
             {},
             "its sums are lost"});
}

//===----------------------------------------------------------------------===//
// Computing
//===----------------------------------------------------------------------===//

namespace {

/// A matrix descriptor of the PTX ISA.
struct Tile {
  uint64_t start, leading, stride;
  unsigned width; ///< of the swizzle
  unsigned base;

  explicit Tile(uint64_t bits)
      : start((bits & 0x3fff) << 4), leading((bits >> 16 & 0x3fff) << 4),
        stride((bits >> 32 & 0x3fff) << 4),
        width(bits >> 62 ? 256u >> (bits >> 62) : 0),
        base(unsigned(bits >> 49) & 7) {}

  /// Where the repeating pattern of the swizzle begins, in its rows of 128
  /// bytes.
  unsigned expectedBase() const {
    return width ? unsigned(start >> 7) & (width / 16 - 1) : 0;
  }
  /// 16 bytes of line i along K, which are the c-th.
  uint64_t along(unsigned i, unsigned c) const {
    uint64_t offset = width ? i / 8 * stride + i % 8 * width + c * 16
                            : i / 8 * stride + i % 8 * 16 + c * leading;
    return swizzled(start + offset, width);
  }
  /// 16 bytes of eight lines from i on, at place k.
  uint64_t across(unsigned i, unsigned k) const {
    unsigned run = width / 2;
    uint64_t offset =
        width ? i / run * leading + i % run * 2 + k / 8 * stride + k % 8 * width
              : i / 8 * stride + k / 8 * leading + k % 8 * 16;
    return swizzled(start + offset, width);
  }
};

/// Element `i` of 16 bytes.
float numberOf(unsigned kind, bool isSigned, const uint8_t *bytes, unsigned i) {
  if (kind == 2) {
    uint32_t word;
    std::memcpy(&word, bytes + 4 * i, 4);
    return fromTF32(word);
  }
  if (kind == 8)
    return fromE4M3(bytes[i]);
  if (kind >= 4)
    return isSigned ? float(int8_t(bytes[i])) : float(bytes[i]);
  uint16_t half;
  std::memcpy(&half, bytes + 2 * i, 2);
  return kind ? fromBF16(half) : fromF16(half);
}

bool isSignedFactor(const ProductCall &call, bool ofB) {
  return call.kind & (ofB ? 1 : 2);
}

/// The row and column of sum `e` of a thread.
unsigned rowOf(unsigned thread, unsigned e) {
  return thread / 32 * 16 + thread % 32 / 4 + e / 2 % 2 * 8;
}
unsigned columnOf(unsigned thread, unsigned e) {
  return e / 4 * 8 + thread % 4 * 2 + e % 2;
}

} // namespace

/// Reads `count` lines of a factor from shared memory; line i has its numbers
/// at i * depth.
void Products::readTile(const Product &product, bool ofB, unsigned count,
                        Who who, std::vector<float> &values) const {
  const ProductCall &call = product.call;
  Tile tile(ofB ? call.b : call.a);
  unsigned depth = call.depth(), each = depth / 2;
  if (tile.base != tile.expectedBase())
    execution.misuse(
        product.at, "issued a product",
        "a descriptor's base offset is " + std::to_string(tile.base) +
            ", but its start asks for " + std::to_string(tile.expectedBase()));
  auto read = [&](uint64_t offset, uint8_t *bytes) {
    uintptr_t address = arena->sharedWindow() + offset;
    if (execution.checks)
      checkAsync(address, 16, false, product.at, who, *product.view);
    std::memcpy(bytes, reinterpret_cast<const void *>(address), 16);
  };
  uint8_t bytes[16];
  bool isSigned = isSignedFactor(call, ofB);
  if (call.isAcross(ofB)) {
    for (unsigned i = 0; i < count; i += 8)
      for (unsigned k = 0; k < depth; ++k) {
        read(tile.across(i, k), bytes);
        for (unsigned j = 0; j < 8; ++j)
          values[(i + j) * depth + k] = numberOf(call.kind, isSigned, bytes, j);
      }
    return;
  }
  for (unsigned i = 0; i < count; ++i)
    for (unsigned c = 0; c < 2; ++c) {
      read(tile.along(i, c), bytes);
      for (unsigned j = 0; j < each; ++j)
        values[i * depth + c * each + j] =
            numberOf(call.kind, isSigned, bytes, j);
    }
}

/// The same of a in registers: word r has rows of r % 2, columns of r / 2.
void Products::readRows(const Product &product,
                        std::vector<float> &values) const {
  const ProductCall &call = product.call;
  unsigned depth = call.depth(), inWord = depth / 8;
  for (unsigned thread = 0; thread < size; ++thread) {
    const uint32_t *words = product.operands[thread].rows;
    for (unsigned r = 0; r < 4; ++r) {
      uint8_t bytes[16] = {};
      std::memcpy(bytes, words + r, 4);
      unsigned row = rowOf(thread, r % 2 * 2);
      for (unsigned j = 0; j < inWord; ++j)
        values[row * depth + r / 2 * (depth / 2) + thread % 4 * inWord + j] =
            numberOf(call.kind, isSignedFactor(call, false), bytes, j);
    }
  }
}

/// Computes the warpgroup's next product, of which the first thread is given.
void Products::compute(unsigned first, Group &group) {
  Product &product = group.products.front();
  const ProductCall &call = product.call;
  unsigned columns = 2 * call.half, depth = call.depth();
  if (counting) {
    Counts &counts = counters.at(execution.place(product.at));
    ++counts.products;
    counts.multiplyAdds += uint64_t(64) * columns * depth;
  }
  unsigned actor = execution.order.actor(Order::Actor::Products, first / size,
                                         product.first);
  Who who = makeWho(execution.clock.next++, actor) | asynchronous;
  std::vector<float> a(64 * depth), b(columns * depth);
  if (call.hasRows)
    readRows(product, a);
  else
    readTile(product, false, 64, who, a);
  readTile(product, true, columns, who, b);
  // Exact products, summed in double and rounded once to float.
  bool isInteger = call.kind >= 4 && call.kind < 8;
  for (unsigned thread = 0; thread < size; ++thread) {
    State &state = states[first + thread];
    uintptr_t address = product.operands[thread].sums;
    auto sums = std::find_if(state.registers.begin(), state.registers.end(),
                             [&](const Registers &registers) {
                               return registers.address == address &&
                                      !registers.values.empty();
                             });
    for (unsigned e = 0; e < call.half; ++e) {
      const float *row = &a[rowOf(thread, e) * depth];
      const float *column = &b[columnOf(thread, e) * depth];
      double sum = 0;
      for (unsigned k = 0; k < depth; ++k)
        sum += double(row[k]) * column[k];
      uint32_t &word = sums->values[e];
      if (isInteger) {
        word = (call.adds() ? word : 0) + uint32_t(int64_t(sum));
        continue;
      }
      auto value = float((call.adds() ? double(fromWord(word)) : 0) + sum);
      std::memcpy(&word, &value, sizeof(word));
    }
  }
  group.stamps.push_back(stampOf(who));
  group.products.pop_front();
  ++group.done;
}

} // namespace mlc::emulator

//===----------------------------------------------------------------------===//
// Functions that kernels call
//===----------------------------------------------------------------------===//

using namespace mlc::emulator;

#define MLC_HERE __builtin_return_address(0)

extern "C" {

MLC_EMULATOR_API unsigned mlcEmulatorSharedAddress(const void *memory) {
  return unsigned(reinterpret_cast<uintptr_t>(memory) - arena->sharedWindow());
}
MLC_EMULATOR_API void mlcEmulatorFenceProducts() {
  execution.products.fence(execution.running);
}
MLC_EMULATOR_API void mlcEmulatorCommitProducts() {
  execution.products.commit(execution.running);
}
MLC_EMULATOR_API void mlcEmulatorWaitForProducts(unsigned pending) {
  execution.products.wait(pending, MLC_HERE);
}
MLC_EMULATOR_API void mlcEmulatorProduct(unsigned kind, int half, void *d,
                                         const uint32_t *rows, uint64_t a,
                                         uint64_t b, unsigned flags,
                                         unsigned site) {
  ProductCall call{kind, unsigned(half), flags, site, a, b, rows != nullptr, 0};
  execution.products.issue(call, d, rows, MLC_HERE);
}
}
