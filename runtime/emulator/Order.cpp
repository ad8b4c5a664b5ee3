//===- Order.cpp - What happens before what, by vector clocks -------------===//

#include "runtime/emulator/Order.h"

#include <algorithm>

namespace mlc::emulator {

static void raise(std::vector<uint64_t> &to, const std::vector<uint64_t> &by) {
  for (size_t i = 0, n = std::min(to.size(), by.size()); i < n; ++i)
    to[i] = std::max(to[i], by[i]);
}

static void lower(std::vector<uint64_t> &to, const std::vector<uint64_t> &by) {
  for (size_t i = 0, n = std::min(to.size(), by.size()); i < n; ++i)
    to[i] = std::min(to[i], by[i]);
}

void View::reset(size_t components, uint64_t stamp) {
  seen.assign(components, stamp);
  fenced.assign(components, stamp);
}

void View::join(const View &other) {
  raise(seen, other.seen);
  raise(fenced, other.fenced);
}

void View::meet(const View &other) {
  lower(seen, other.seen);
  lower(fenced, other.fenced);
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
