//===- Products.h - Products of warpgroups ----------------------*- C++ -*-===//
//
// A product is computed when a thread waits for its group. Until then its
// factors are read by an actor, and its registers hold no numbers: a use of
// them is found, since the device header gives their addresses.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_EMULATOR_PRODUCTS_H
#define MLC_RUNTIME_EMULATOR_PRODUCTS_H

#include "runtime/emulator/Order.h"

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

namespace mlc::emulator {

/// A product, as one thread issues it.
struct ProductCall {
  unsigned kind = 0; ///< as in the device header
  unsigned half = 0; ///< registers of d
  unsigned flags = 0;
  unsigned site = 0;
  uint64_t a = 0, b = 0; ///< descriptors
  bool hasRows = false;  ///< a is in registers
  unsigned group = 0;

  bool operator==(const ProductCall &) const = default;
  bool isAcross(bool ofB) const { return flags & (ofB ? 2u : 1u); }
  bool adds() const { return flags & 4; }
  /// Numbers in 32 bytes.
  unsigned depth() const { return kind < 2 ? 16 : kind == 2 ? 8 : 32; }
};

class Products {
public:
  void startBlock(unsigned threads);
  /// Reports products that nobody has waited for.
  void endBlock();

  void issue(ProductCall call, void *d, const uint32_t *rows, void *at);
  void fence(unsigned thread);
  void commit(unsigned thread) { ++states[thread].commits; }
  /// Waits for all but the last `pending` groups of the running thread.
  void wait(unsigned pending, void *at);
  /// Whether the whole warpgroup has issued that product.
  bool areIssued(unsigned thread, int64_t product) const;
  /// The running thread uses its own memory.
  void touch(uintptr_t address, size_t bytes, const void *at);

private:
  static constexpr unsigned size = 128; ///< threads of a warpgroup

  /// Registers that products use: sums, or rows of a.
  struct Registers {
    uintptr_t address;
    size_t bytes;
    bool isFenced;    ///< not used since a fence
    int64_t last = 0; ///< the last product that uses them
    void *at = nullptr;
    bool isPending = false;
    std::vector<uint32_t> values; ///< of sums; else empty

    bool overlaps(uintptr_t other, size_t others) const {
      return address < other + others && other < address + bytes;
    }
  };
  struct Operands {
    uintptr_t sums;
    uint32_t rows[4];
  };
  struct Product {
    ProductCall call;
    unsigned issued = 0;
    unsigned first = 0; ///< the thread that issued it first
    void *at = nullptr;
    std::shared_ptr<View> view; ///< what lies before in all threads
    bool isFresh = false;       ///< the view is not that of the one before
    std::array<Operands, size> operands;
  };
  struct Group {
    std::deque<Product> products; ///< not computed yet
    int64_t done = 0;             ///< how many are
    std::vector<uint64_t> stamps; ///< of those that are
    std::shared_ptr<View> view;
  };
  struct State {
    int64_t issued = 0;
    unsigned commits = 0;
    bool isFenced = false;
    uint64_t version = 0;
    std::vector<Registers> registers;
    std::vector<std::pair<unsigned, int64_t>> ends; ///< group, last product
  };

  Product &enter(Group &group, State &state, const ProductCall &call, void *at);
  void addView(Group &group, State &state, Product &product);
  Registers &use(State &state, uintptr_t address, size_t bytes, bool isSums,
                 void *at);
  void compute(unsigned first, Group &group);
  void readTile(const Product &product, bool ofB, unsigned count, Who who,
                std::vector<float> &values) const;
  void readRows(const Product &product, std::vector<float> &values) const;
  void deliver(State &state, int64_t upTo);

  std::vector<State> states;
  std::vector<Group> groups;
};

} // namespace mlc::emulator

#endif // MLC_RUNTIME_EMULATOR_PRODUCTS_H
