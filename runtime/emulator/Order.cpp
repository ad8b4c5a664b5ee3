//===- Order.cpp - What happens before what, by vector clocks -------------===//

#include "runtime/emulator/Order.h"

#include <algorithm>
#include <iterator>

namespace mlc::emulator {

static void raise(std::vector<uint64_t> &to, const std::vector<uint64_t> &by) {
  for (size_t i = 0, n = std::min(to.size(), by.size()); i < n; ++i)
    to[i] = std::max(to[i], by[i]);
}

static void lower(std::vector<uint64_t> &to, const std::vector<uint64_t> &by) {
  for (size_t i = 0, n = std::min(to.size(), by.size()); i < n; ++i)
    to[i] = std::min(to[i], by[i]);
}

/// Adds numbers to others; both are in order.
static void unite(std::vector<uint32_t> &to, const std::vector<uint32_t> &by) {
  if (by.empty())
    return;
  std::vector<uint32_t> all;
  std::set_union(to.begin(), to.end(), by.begin(), by.end(),
                 std::back_inserter(all));
  to = std::move(all);
}

void View::reset(size_t components, uint64_t stamp) {
  received.clear();
  seen.assign(components, stamp);
  fenced.assign(components, stamp);
}

void View::join(const View &other) {
  raise(seen, other.seen);
  raise(fenced, other.fenced);
  unite(received, other.received);
}

void View::meet(const View &other) {
  lower(seen, other.seen);
  lower(fenced, other.fenced);
  std::erase_if(received, [&](uint32_t number) {
    return !std::binary_search(other.received.begin(), other.received.end(),
                               number);
  });
}

void Order::startLaunch() {
  handovers.clear();
  handedOver.clear();
}

void Order::startBlock(unsigned threads, Clock &clock) {
  stamps.resize(threads);
  versions.assign(threads, 0);
  views.resize(threads);
  for (unsigned i = 0; i < threads; ++i) {
    stamps[i] = clock.next++;
    views[i].reset(components(), clock.block);
    if (isTracking)
      views[i].seen[priorLaunch] = 0;
  }
  actorNumbers.clear();
  actors.assign(1, {Actor::Copies, 0});
  used = 0;
}

/// Gives the thread a new stamp.
void Order::renew(unsigned thread, Clock &clock) {
  stamps[thread] = clock.next++;
  if (threadOf(clock.me) == thread)
    clock.me = makeWho(stamps[thread], thread);
}

void Order::release(unsigned thread, View &into, Clock &clock) {
  renew(thread, clock);
  if (!isTracking)
    return;
  into.join(views[thread]);
  into.seen[actorCount + thread] = stamps[thread];
}

void Order::acquire(unsigned thread, const View &from) {
  views[thread].join(from);
  ++versions[thread];
}

void Order::synchronize(unsigned first, unsigned end, Clock &clock) {
  if (!isTracking)
    return;
  together.reset(components(), 0);
  for (unsigned i = first; i < end; ++i)
    release(i, together, clock);
  for (unsigned i = first; i < end; ++i)
    acquire(i, together);
}

void Order::fence(unsigned thread, Clock &clock) {
  if (!isTracking)
    return;
  View &view = views[thread];
  renew(thread, clock);
  view.fenced = view.seen;
  view.fenced[actorCount + thread] = stamps[thread];
  ++versions[thread];
}

void Order::count(unsigned thread, uintptr_t address, Clock &clock) {
  if (!isTracking)
    return;
  View &view = views[thread];
  std::vector<uint32_t> &here = handedOver[address];
  unite(view.received, here);
  unite(here, view.received);
  renew(thread, clock);
  here.push_back(uint32_t(handovers.size()));
  handovers.push_back({clock.block, view.seen});
  handovers.back().seen[actorCount + thread] = stamps[thread];
  ++versions[thread];
}

bool Order::hasReceived(const View &view, uint64_t stamp,
                        unsigned component) const {
  return std::any_of(
      view.received.begin(), view.received.end(), [&](uint32_t number) {
        const Handover &given = handovers[number];
        return given.from <= stamp && stamp < given.seen[component];
      });
}

unsigned Order::actor(Actor kind, uint64_t key, unsigned thread) {
  // The last one serves all that find no free one, less precisely.
  unsigned next = unsigned(std::min<size_t>(actors.size(), actorCount - 1));
  auto [found, isNew] = actorNumbers.try_emplace({kind, key}, next);
  if (isNew && next == actors.size())
    actors.push_back({kind, thread});
  actors[found->second].thread = thread;
  return found->second;
}

void Order::observe(unsigned thread, unsigned actor, uint64_t stamp) {
  if (!isTracking)
    return;
  uint64_t &seen = views[thread].seen[actor];
  seen = std::max(seen, stamp);
  ++versions[thread];
}

} // namespace mlc::emulator
