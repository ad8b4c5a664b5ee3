//===- Meeting.cpp - Ranks find each other at MASTER_ADDR -----------------===//

#include "runtime/transport/Meeting.h"

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
#include <unistd.h>

namespace mlc::runtime::transport {

static const char *variable(const char *name) {
  const char *text = std::getenv(name);
  return text ? text : "";
}

/// Where ranks meet; torchrun's agent listens at MASTER_PORT itself.
static std::string meetingPort() {
  const std::string port = variable("MASTER_PORT");
  return std::string(variable("TORCHELASTIC_USE_AGENT_STORE")) == "True"
             ? std::to_string(std::strtol(port.c_str(), nullptr, 10) + 1)
             : port;
}

/// A launcher that has started fewer processes on the one machine where all
/// are: nobody else will come.
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

std::string Meeting::join(int ownRank, int ownSize,
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
  if (!store.set("size/" + std::to_string(rank), own))
    return "rank " + std::to_string(rank) +
           " is there twice; give each process a RANK of its own";
  std::string first;
  if (store.wait("size/0", first, deadline) && first != own)
    return "WORLD_SIZE is " + own + " here and " + first +
           " on rank 0; set the same on all ranks";
  std::vector<int> all(size);
  std::iota(all.begin(), all.end(), 0);
  std::vector<std::string> sizes;
  if (std::string error = collect("size", all, sizes, deadline); !error.empty())
    return error + "; see whether all ranks have been started";
  return "";
}

std::string Meeting::collect(const std::string &prefix,
                             const std::vector<int> &ranks,
                             std::vector<std::string> &values,
                             Clock::time_point deadline) {
  std::string missing;
  values.assign(ranks.size(), "");
  for (size_t i = 0; i < ranks.size(); ++i)
    if (!store.wait(prefix + "/" + std::to_string(ranks[i]), values[i],
                    deadline))
      missing += (missing.empty() ? "rank " : ", ") + std::to_string(ranks[i]);
  if (!store.isConnected())
    return "rank 0, which holds the ranks' notes, has gone";
  return missing.empty() ? "" : missing + " has not come";
}

std::string Meeting::exchange(const std::string &prefix,
                              const std::vector<int> &ranks,
                              const std::string &value,
                              std::vector<std::string> &values,
                              Clock::time_point deadline) {
  store.set(prefix + "/" + std::to_string(rank), value);
  return collect(prefix, ranks, values, deadline);
}

std::string Meeting::split(const std::string &prefix,
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

SharedBoard::~SharedBoard() {
  if (memory)
    munmap(memory, bytes);
}

/// This machine, and its shared memory.
static std::string machine(int fd) {
  std::string id;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> id;
  struct stat status{};
  fstat(fd, &status);
  return id + "/" + std::to_string(status.st_dev);
}

std::string SharedBoard::open(Meeting &meeting, const std::string &prefix,
                              const std::vector<int> &ranks, int ownIndex,
                              Meeting::Clock::time_point deadline) {
  own = ownIndex;
  std::string token =
      std::to_string(getpid()) + "-" + std::to_string(std::random_device()());
  if (own == 0)
    meeting.notes().set(prefix + "/token", token);
  if (!meeting.notes().wait(prefix + "/token", token, deadline))
    return "rank " + std::to_string(ranks[0]) + " has not come";
  const std::string name = "/mlc-" + token;
  bytes = sizeof(BoardCell) * ranks.size();
  int fd = shm_open(name.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  auto lack = [](int number) {
    return std::string("no shared memory in /dev/shm: ") +
           std::strerror(number) + "; the ranks of a machine need some there";
  };
  if (fd < 0)
    return lack(errno);
  // Not ftruncate: memory that is not there would end the process at a write.
  int problem = posix_fallocate(fd, 0, static_cast<off_t>(bytes));
  memory =
      problem ? MAP_FAILED
              : mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (!problem && memory == MAP_FAILED)
    problem = errno;
  const std::string here = machine(fd);
  ::close(fd);
  if (memory == MAP_FAILED) {
    memory = nullptr;
    shm_unlink(name.c_str());
    return lack(problem);
  }
  std::vector<std::string> machines;
  std::string error =
      meeting.exchange(prefix + "/machine", ranks, here, machines, deadline);
  auto *at = static_cast<BoardCell *>(memory);
  for (size_t i = 0; i < ranks.size(); ++i)
    cells.push_back(machines[i] == here ? &at[i] : nullptr);
  // All have it open.
  shm_unlink(name.c_str());
  return error;
}

std::string MetEnd::join(const mlc_world &world,
                         Meeting::Clock::time_point deadline) {
  rank = world.rank;
  size = world.size;
  ranks.resize(size);
  std::iota(ranks.begin(), ranks.end(), 0);
  meeting = std::make_shared<Meeting>();
  std::string error = meeting->join(rank, size, deadline);
  return error.empty() ? board.open(*meeting, prefix, ranks, rank, deadline)
                       : error;
}

std::string MetEnd::split(int color, Meeting::Clock::time_point deadline,
                          int *members, MetEnd &group) {
  const std::string place = prefix + "/" + std::to_string(splits++);
  std::vector<int> found;
  std::string error = meeting->split(place, ranks, color, found, deadline);
  if (!error.empty() || color < 0)
    return error;
  group.meeting = meeting;
  group.prefix = place + "." + std::to_string(color);
  group.size = static_cast<int>(found.size());
  for (int member : found) {
    group.rank += member < rank;
    group.ranks.push_back(ranks[member]);
    *members++ = member;
  }
  return group.board.open(*meeting, group.prefix, group.ranks, group.rank,
                          deadline);
}

} // namespace mlc::runtime::transport
