//===- Watch.cpp - Detects missing ranks ----------------------------------===//

#include "runtime/transport/Watch.h"
#include "runtime/Text.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <thread>

namespace mlc::runtime::transport {

std::string inSeconds(std::chrono::nanoseconds time) {
  char text[32];
  snprintf(text, sizeof(text), "%g s",
           std::chrono::duration<double>(time).count());
  return text;
}

static constexpr auto interval = std::chrono::milliseconds(10);
static constexpr auto lastWords = std::chrono::milliseconds(400);
static constexpr auto farewellTime = std::chrono::seconds(2);

Watch::Watch(const mlc_engine &engine, mlc_comm *comm, Clock::duration timeout,
             std::string group, std::vector<int> among)
    : engine(engine), comm(comm), timeout(timeout), rank(engine.rank(comm)),
      size(engine.size(comm)), group(std::move(group)), ranks(std::move(among)),
      family(std::make_shared<Family>()), others(size) {
  own.blamed = -1;
  family->watches.push_back(this);
  for (int other = 0; ranks.size() < static_cast<size_t>(size); ++other)
    ranks.push_back(other);
}

Watch::~Watch() {
  auto &watches = family->watches;
  watches.erase(std::remove(watches.begin(), watches.end(), this),
                watches.end());
}

void Watch::join(std::shared_ptr<Family> relatives) {
  family = std::move(relatives); // it was alone
  family->watches.push_back(this);
}

void Watch::publish(mlc_rank_state state, int blamed) {
  own.state = state;
  own.blamed = blamed;
  ++own.beat;
  engine.publish(comm, &own);
}

void Watch::enter(const std::string &name) {
  ++own.number;
  std::memset(own.name, 0, sizeof(own.name));
  std::memcpy(own.name, name.data(),
              std::min(name.size(), sizeof(own.name) - 1));
  publish(MLC_RANK_INSIDE);
  lastProgress = Clock::now();
  lastLook = {};
  for (Seen &seen : others)
    seen.since = lastProgress;
}

void Watch::leave() { publish(MLC_RANK_OUTSIDE); }

void Watch::end() { publish(MLC_RANK_LEFT); }

void Watch::lookAround(Clock::time_point now) {
  lastLook = now;
  for (int other = 0; other < size; ++other) {
    if (other == rank)
      continue;
    Seen &seen = others[other];
    mlc_notice notice;
    if (!engine.look(comm, other, &notice))
      continue;
    notice.name[sizeof(notice.name) - 1] = 0;
    if (!seen.known || notice.beat != seen.notice.beat)
      seen.since = now;
    seen.known = true;
    seen.notice = notice;
  }
}

std::string Watch::describe(const mlc_notice &notice) const {
  return "collective " + std::to_string(notice.number) +
         (group.empty() ? "" : " of group " + printable(group)) + " (" +
         printable(notice.name) + ")";
}

Status Watch::fail(mlc_status code, const std::string &what, int blamed) {
  family->failed = true;
  for (Watch *relative : family->watches) {
    relative->own.code = code;
    relative->publish(MLC_RANK_FAILED, blamed);
  }
  return Status::error(code, who(rank) + ": " + describe(own) + ": " + what);
}

/// A rank that fails because of another ends with that one's code.
static mlc_status codeOf(const mlc_notice &notice) {
  const bool isCode = (notice.code > MLC_OK && notice.code <= MLC_RESOURCES) ||
                      notice.code == MLC_INTERRUPTED;
  return isCode ? static_cast<mlc_status>(notice.code) : MLC_RESOURCES;
}

std::string Watch::givenUp(int other) const {
  const mlc_notice &notice = others[other].notice;
  const bool isOwn = notice.blamed == ranks[other];
  std::string text =
      who(other) + (isOwn ? " has ended with an error" : " has given up");
  if (notice.number > 0)
    text += (isOwn ? " after " : " in ") + describe(notice);
  if (notice.blamed >= 0 && !isOwn)
    text += " because of rank " + std::to_string(notice.blamed);
  return text + (isOwn ? "; see what it says" : "; see what these say");
}

/// All dead ranks; others are late or have given up because of them.
std::string Watch::dead(int &blamed) const {
  std::string text;
  for (int other = 0; other < size; ++other) {
    const mlc_notice &notice = others[other].notice;
    if (other == rank || !others[other].known || notice.state != MLC_RANK_DIED)
      continue;
    text += (text.empty() ? "" : ", ") + who(other) + " has died" +
            (notice.number ? ", and was last in " + describe(notice)
                           : std::string(" before any collective"));
    if (blamed < 0)
      blamed = ranks[other];
  }
  return text;
}

Status Watch::check(const std::vector<int> &awaited) {
  const Clock::time_point now = Clock::now();
  if (now - lastLook < interval)
    return Status::success();
  publish(MLC_RANK_INSIDE);
  lookAround(now);
  int blamed = -1;
  if (std::string text = dead(blamed); !text.empty())
    return fail(MLC_RESOURCES, text + "; see what has ended it", blamed);
  for (int other = 0; other < size; ++other) {
    const Seen &seen = others[other];
    const mlc_notice &notice = seen.notice;
    if (!seen.known || other == rank)
      continue;
    if (notice.state == MLC_RANK_FAILED ||
        (notice.state == MLC_RANK_LEFT && notice.blamed >= 0))
      return fail(codeOf(notice), givenUp(other), notice.blamed);
    if (notice.state == MLC_RANK_LEFT && notice.number < own.number)
      return fail(MLC_USAGE,
                  who(other) + " has ended after " + describe(notice) +
                      "; run the same collectives on all ranks",
                  ranks[other]);
    if (notice.number == own.number && std::strcmp(notice.name, own.name) != 0)
      return fail(MLC_USAGE,
                  who(other) + " is in another, " + printable(notice.name) +
                      "; give all ranks the same sizes and options",
                  ranks[other]);
  }
  return now - lastProgress < timeout ? Status::success() : late(awaited, now);
}

/// Why `other` is missing; empty if it is not known to be. A rank without
/// heartbeat for `silence` while it waited has stopped; one that waits in an
/// earlier collective waits for another rank.
std::string Watch::why(int other, const std::vector<int> &awaited,
                       Clock::time_point now, Clock::duration silence) const {
  const Seen &seen = others[other];
  const mlc_notice &notice = seen.notice;
  if (!seen.known) {
    for (int peer : awaited)
      if (peer == other)
        return "has not answered";
    return "";
  }
  if (notice.state == MLC_RANK_FAILED)
    return "";
  if (notice.state == MLC_RANK_INSIDE)
    return now - seen.since <= silence
               ? ""
               : "has stopped in " + (notice.number == own.number
                                          ? std::string("it")
                                          : describe(notice));
  if (notice.number >= own.number)
    return "";
  return notice.number ? "has not come, and was last in " + describe(notice)
                       : std::string("has not come to any collective");
}

/// All missing ranks in one text, and the first of them.
std::string Watch::missing(const std::vector<int> &awaited,
                           Clock::time_point now, Clock::duration silence,
                           int &blamed) const {
  std::string text = dead(blamed);
  if (!text.empty())
    return text;
  auto blame = [&](int other, const std::string &what) {
    text += (text.empty() ? "" : ", ") + who(other) + " " + what;
    if (blamed < 0)
      blamed = ranks[other];
  };
  for (int other = 0; other < size; ++other)
    if (other != rank)
      if (std::string what = why(other, awaited, now, silence); !what.empty())
        blame(other, what);
  // If all seem to run, name those that it waits for.
  if (text.empty())
    for (int peer : awaited)
      blame(peer, "has sent or taken nothing");
  return text.empty() ? "nothing came" : text;
}

/// Collects in all groups which ranks run and wait.
void Watch::listen() {
  const Clock::time_point begin = Clock::now();
  for (Watch *relative : family->watches)
    for (Seen &seen : relative->others)
      seen.since = begin;
  for (Clock::time_point now = begin; now - begin < lastWords;
       now = Clock::now()) {
    for (Watch *relative : family->watches) {
      if (relative->own.state == MLC_RANK_INSIDE)
        relative->publish(MLC_RANK_INSIDE);
      relative->lookAround(now);
    }
    std::this_thread::sleep_for(interval);
  }
}

/// Ranks inside a collective of this group without a heartbeat since.
std::string Watch::silent(Clock::duration silence, int &blamed) const {
  std::string text = dead(blamed);
  for (int other = 0; text.empty() && other < size; ++other) {
    const Seen &seen = others[other];
    if (other == rank || !seen.known || seen.notice.state != MLC_RANK_INSIDE ||
        Clock::now() - seen.since <= silence)
      continue;
    text += (text.empty() ? "" : ", ") + who(other) + " has stopped in " +
            describe(seen.notice);
    if (blamed < 0)
      blamed = ranks[other];
  }
  return text;
}

/// What other groups add to `said`: a rank awaited here may wait for another
/// rank there. Ranks that they blame take precedence.
std::string Watch::elsewhere(const std::string &said, int &blamed) const {
  std::string text;
  int found = -1;
  for (const Watch *relative : family->watches)
    if (relative != this)
      if (std::string more = relative->silent(lastWords * 3 / 4, found);
          !more.empty())
        text += "; " + more;
  if (found >= 0 && said.find(" has stopped") == std::string::npos &&
      said.find(" has died") == std::string::npos)
    blamed = found;
  return text;
}

Status Watch::late(const std::vector<int> &awaited, Clock::time_point now) {
  int blamed = -1;
  std::string text = missing(awaited, now, timeout / 2, blamed);
  if (family->watches.size() > 1) {
    listen();
    text += elsewhere(text, blamed);
  }
  return fail(MLC_RESOURCES,
              text + ", within " + inSeconds(timeout) +
                  "; see whether it runs, or raise the timeout",
              blamed);
}

Status Watch::lost(mlc_status code, const std::string &what,
                   const std::vector<int> &awaited) {
  // A launcher ends the others after one has died; this gives running ranks
  // time to show a heartbeat.
  listen();
  int blamed = -1;
  std::string text = missing(awaited, Clock::now(), lastWords * 3 / 4, blamed);
  text += elsewhere(text, blamed);
  return fail(code, what + "; " + text, blamed);
}

std::string Watch::hung() const {
  std::vector<mlc_notice> first(size);
  std::vector<bool> known(size);
  for (int other = 0; other < size; ++other)
    known[other] = other != rank && engine.look(comm, other, &first[other]);
  std::this_thread::sleep_for(lastWords);
  std::string silent, died;
  mlc_notice second;
  for (int other = 0; other < size; ++other) {
    if (!known[other] || first[other].state == MLC_RANK_FAILED ||
        !engine.look(comm, other, &second) || second.beat != first[other].beat)
      continue;
    std::string &list = second.state == MLC_RANK_DIED ? died : silent;
    list += (list.empty() ? "" : ", ") + std::to_string(ranks[other]);
  }
  if (!died.empty())
    silent = died;
  return who(rank) + ": " + describe(own) + ": the engine does not return" +
         (silent.empty() ? "" : "; nothing is heard of rank " + silent);
}

void Watch::farewell(int code) {
  // Keeps the blamed rank, or blames this one after an error outside of a
  // collective. Ranks that wait in a group see it there.
  for (Watch *relative : family->watches) {
    mlc_notice &told = relative->own;
    if (relative != this && told.state == MLC_RANK_FAILED)
      continue;
    if (told.code == MLC_OK)
      told.code = code;
    relative->publish(MLC_RANK_LEFT,
                      told.blamed < 0 ? ranks[rank] : told.blamed);
  }
  const Clock::time_point end = Clock::now() + farewellTime;
  for (;;) {
    const Clock::time_point now = Clock::now();
    lookAround(now);
    bool all = true;
    for (int other = 0; other < size; ++other)
      all &= other == rank || ranks[other] == own.blamed ||
             !others[other].known ||
             others[other].notice.state == MLC_RANK_LEFT ||
             others[other].notice.state == MLC_RANK_DIED;
    if (all || now >= end)
      return;
    std::this_thread::sleep_for(interval);
  }
}

} // namespace mlc::runtime::transport
