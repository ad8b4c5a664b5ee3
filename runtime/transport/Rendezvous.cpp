//===- Rendezvous.cpp - Rendezvous at MASTER_ADDR -------------------------===//

#include "runtime/transport/Rendezvous.h"

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <numeric>
#include <random>
#include <sys/mman.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace mlc::runtime::transport {

static const char *variable(const char *name) {
  const char *text = std::getenv(name);
  return text ? text : "";
}

/// The port where ranks meet; torchrun's agent itself listens at MASTER_PORT.
static std::string meetingPort() {
  const std::string port = variable("MASTER_PORT");
  return std::string(variable("TORCHELASTIC_USE_AGENT_STORE")) == "True"
             ? std::to_string(std::strtol(port.c_str(), nullptr, 10) + 1)
             : port;
}

/// An error if the launcher started fewer processes on the only machine, so
/// that the missing ranks will never come.
static std::string checkLaunched(const std::string &address, int size) {
  const long here = std::strtol(variable("LOCAL_WORLD_SIZE"), nullptr, 10);
  if (here < 1 || here >= size ||
      (address != "127.0.0.1" && address != "localhost" && address != "::1"))
    return "";
  std::string missing = "rank " + std::to_string(here);
  if (here + 1 < size)
    missing += " to " + std::to_string(size - 1);
  return "WORLD_SIZE is " + std::to_string(size) + ", but " +
         std::to_string(here) + " processes have been started here " +
         "(LOCAL_WORLD_SIZE) and MASTER_ADDR is this machine alone: " +
         missing + " cannot come; start as many, or set WORLD_SIZE to " +
         std::to_string(here);
}

std::string Rendezvous::join(int ownRank, int ownSize,
                             Clock::time_point deadline) {
  rank = ownRank;
  size = ownSize;
  const std::string address = variable("MASTER_ADDR"), port = meetingPort();
  if (address.empty() || port.empty())
    return "MASTER_ADDR and MASTER_PORT are not set; start ranks by mlc launch";
  int number = 0;
  const char *end = port.data() + port.size();
  auto [last, error] = std::from_chars(port.data(), end, number);
  if (error != std::errc() || last != end || number < 1 || number > 65535)
    return std::string("MASTER_PORT is \"") + variable("MASTER_PORT") +
           "\", which is no port; give 1 to 65535";
  if (std::string error = checkLaunched(address, size); !error.empty())
    return error;
  const std::string where = address + ", port " + port + ": ";
  if (rank == 0) {
    server = std::make_unique<StoreServer>();
    if (std::string error = server->start(address, port); !error.empty())
      return where + error + "; give a free port of this machine";
  }
  if (std::string error = store.connect(address, port, deadline);
      !error.empty())
    return where + error + "; see whether rank 0 runs there";
  const std::string own = std::to_string(size);
  if (!store.set(rankPrefix + std::to_string(rank), own))
    return store.isConnected()
               ? "rank " + std::to_string(rank) +
                     " is there twice; give each process a RANK of its own"
               : whoEnded();
  std::string first;
  if (wait(rankPrefix + std::string("0"), first, "rank 0", deadline).empty() &&
      first != own)
    // Published, so that all tell it: a rank that sees this one go ends them.
    return giveUp("WORLD_SIZE is " + own + " on rank " + std::to_string(rank) +
                  " and " + first + " on rank 0; set the same on all ranks");
  std::vector<int> all(size);
  std::iota(all.begin(), all.end(), 0);
  std::vector<std::string> sizes;
  return collect("size", all, sizes, deadline);
}

//===----------------------------------------------------------------------===//
// Missing ranks
//===----------------------------------------------------------------------===//
//
// The store notes ranks whose connection has ended. The first rank that gives
// up notes the reason, so that all name the same rank. Rank 0, whose end would
// itself be a reason, stays until the others have read it.

static constexpr const char *whyOver = "over";
static constexpr auto lastWords = std::chrono::seconds(2);

Rendezvous::~Rendezvous() {
  if (hasGivenUp && server)
    server->waitForOthers(lastWords);
}

std::string Rendezvous::giveUp(const std::string &why) {
  hasGivenUp = true;
  std::string told;
  store.set(whyOver, why);
  return store.get(whyOver, told) ? told : why;
}

std::string Rendezvous::whoEnded() {
  std::string text;
  if (store.get(whyOver, text)) {
    hasGivenUp = true;
    return text;
  }
  if (store.get(goneRanks, text))
    return giveUp(text + " has ended; see what it says, or what has ended it");
  return store.isConnected()
             ? ""
             : "rank 0, which holds the ranks' notes, has gone or stopped";
}

std::string Rendezvous::wait(const std::string &name, std::string &value,
                             const std::string &whose,
                             Clock::time_point deadline) {
  while (!store.get(name, value)) {
    if (std::string error = whoEnded(); !error.empty())
      return error;
    if (Clock::now() >= deadline)
      return giveUp(whose +
                    " has not come; see whether all ranks have been started");
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return "";
}

std::string Rendezvous::collect(const std::string &prefix,
                                const std::vector<int> &ranks,
                                std::vector<std::string> &values,
                                Clock::time_point deadline) {
  values.assign(ranks.size(), "");
  auto nameOf = [&](size_t i) {
    return prefix + "/" + std::to_string(ranks[i]);
  };
  for (size_t i = 0; i < ranks.size(); ++i) {
    // After the deadline, collect all missing ranks.
    std::string missing = "rank " + std::to_string(ranks[i]);
    std::string ignored;
    if (Clock::now() >= deadline)
      for (size_t j = i + 1; j < ranks.size(); ++j)
        if (!store.get(nameOf(j), ignored))
          missing += ", " + std::to_string(ranks[j]);
    if (std::string error = wait(nameOf(i), values[i], missing, deadline);
        !error.empty())
      return error;
  }
  return "";
}

std::string Rendezvous::exchange(const std::string &prefix,
                                 const std::vector<int> &ranks,
                                 const std::string &value,
                                 std::vector<std::string> &values,
                                 Clock::time_point deadline) {
  store.set(prefix + "/" + std::to_string(rank), value);
  return collect(prefix, ranks, values, deadline);
}

std::string Rendezvous::split(const std::string &prefix,
                              const std::vector<int> &ranks, int color,
                              std::vector<int> &members,
                              Clock::time_point deadline) {
  std::vector<std::string> colors;
  const std::string own = std::to_string(color);
  if (std::string error =
          exchange(prefix + "/color", ranks, own, colors, deadline);
      !error.empty())
    return error;
  members.clear();
  for (size_t i = 0; i < ranks.size(); ++i)
    if (color >= 0 && colors[i] == own)
      members.push_back(static_cast<int>(i));
  return "";
}

SharedHeartbeats::~SharedHeartbeats() {
  if (memory)
    munmap(memory, bytes);
  if (fd >= 0)
    ::close(fd);
}

/// The lock of a rank's place, which is released however its process ends.
static struct flock lockOf(int rank) {
  struct flock lock{};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = rank;
  lock.l_len = 1;
  return lock;
}

bool SharedHeartbeats::hasEnded(int other) const {
  struct flock lock = lockOf(other);
  return isLocked[other] && fcntl(fd, F_OFD_GETLK, &lock) == 0 &&
         lock.l_type == F_UNLCK;
}

bool SharedHeartbeats::look(int other, mlc_notice &notice) const {
  if (cells.empty() || !cells[other])
    return false;
  auto read = [&] { return cells[other]->read(notice); };
  auto hasSaid = [&] {
    return notice.state == MLC_RANK_FAILED || notice.state == MLC_RANK_LEFT;
  };
  const bool isWhole = read();
  if ((isWhole && hasSaid()) || !hasEnded(other))
    return isWhole;
  // It may have published that just before it ended.
  if (!read())
    notice = {};
  if (!hasSaid())
    notice.state = MLC_RANK_DIED;
  return true;
}

/// Identifies this machine and its shared memory.
static std::string machine(int fd) {
  std::string id;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> id;
  struct stat status{};
  fstat(fd, &status);
  return id + "/" + std::to_string(status.st_dev);
}

std::string SharedHeartbeats::open(Rendezvous &rendezvous,
                                   const std::string &prefix,
                                   const std::vector<int> &ranks, int ownIndex,
                                   Rendezvous::Clock::time_point deadline) {
  own = ownIndex;
  std::string token =
      std::to_string(getpid()) + "-" + std::to_string(std::random_device()());
  if (own == 0)
    rendezvous.notes().set(prefix + "/token", token);
  if (std::string error =
          rendezvous.wait(prefix + "/token", token,
                          "rank " + std::to_string(ranks[0]), deadline);
      !error.empty())
    return error;
  const std::string name = "/mlc-" + token;
  bytes = sizeof(HeartbeatCell) * ranks.size();
  fd = shm_open(name.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  auto lack = [&](int number) {
    return rendezvous.giveUp(
        "rank " + std::to_string(ranks[own]) +
        " has no shared memory in /dev/shm: " + std::strerror(number) +
        "; the ranks of a machine need some there");
  };
  if (fd < 0)
    return lack(errno);
  // Not ftruncate: writing to unbacked memory would end the process.
  int problem = posix_fallocate(fd, 0, static_cast<off_t>(bytes));
  memory =
      problem ? MAP_FAILED
              : mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (!problem && memory == MAP_FAILED)
    problem = errno;
  if (memory == MAP_FAILED) {
    memory = nullptr;
    shm_unlink(name.c_str());
    return lack(problem);
  }
  struct flock lock = lockOf(own);
  const char *locks = fcntl(fd, F_OFD_SETLK, &lock) == 0 ? "+" : "-";
  const std::string here = machine(fd);
  std::vector<std::string> machines;
  std::string error = rendezvous.exchange(prefix + "/machine", ranks,
                                          locks + here, machines, deadline);
  auto *at = static_cast<HeartbeatCell *>(memory);
  for (size_t i = 0; error.empty() && i < ranks.size(); ++i) {
    cells.push_back(machines[i].substr(1) == here ? &at[i] : nullptr);
    isLocked.push_back(machines[i][0] == '+');
  }
  // All ranks have it open.
  shm_unlink(name.c_str());
  return error;
}

std::string MetEnd::join(const mlc_world &world,
                         Rendezvous::Clock::time_point deadline) {
  rank = world.rank;
  size = world.size;
  ranks.resize(size);
  std::iota(ranks.begin(), ranks.end(), 0);
  rendezvous = std::make_shared<Rendezvous>();
  std::string error = rendezvous->join(rank, size, deadline);
  return error.empty()
             ? heartbeats.open(*rendezvous, prefix, ranks, rank, deadline)
             : error;
}

std::string MetEnd::explain(const std::string &error) {
  for (int i = 0; i < 100; ++i) {
    mlc_notice notice;
    for (int other = 0; other < size; ++other)
      if (other != rank && heartbeats.look(other, notice) &&
          notice.state == MLC_RANK_DIED)
        return "rank " + std::to_string(ranks[other]) +
               " has died; see what has ended it";
    if (std::string known = rendezvous->whoEnded(); !known.empty())
      return known;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return error + "; see whether all ranks run";
}

void MetEnd::leave() {
  mlc_notice notice{};
  notice.state = MLC_RANK_LEFT;
  notice.blamed = rank;
  notice.code = MLC_RESOURCES;
  heartbeats.publish(notice);
}

std::string MetEnd::split(int color, Rendezvous::Clock::time_point deadline,
                          int *members, MetEnd &group) {
  const std::string place = prefix + "/" + std::to_string(splits++);
  std::vector<int> found;
  std::string error = rendezvous->split(place, ranks, color, found, deadline);
  if (!error.empty() || color < 0)
    return error;
  group.rendezvous = rendezvous;
  group.prefix = place + "." + std::to_string(color);
  group.size = static_cast<int>(found.size());
  for (int member : found) {
    group.rank += member < rank;
    group.ranks.push_back(ranks[member]);
    *members++ = member;
  }
  return group.heartbeats.open(*rendezvous, group.prefix, group.ranks,
                               group.rank, deadline);
}

} // namespace mlc::runtime::transport
