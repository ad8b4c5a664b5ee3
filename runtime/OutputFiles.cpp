//===- OutputFiles.cpp - Files that appear whole or not at all ------------===//

#include "runtime/OutputFiles.h"

#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <random>
#include <sys/stat.h>
#include <unistd.h>

namespace mlc::runtime {

namespace {

constexpr int watched[] = {SIGINT, SIGTERM, SIGHUP};

/// The object for the signal handler: set before any file exists and not moved
/// while visible.
std::atomic<OutputFiles *> active{nullptr};

/// The results are in place; an interrupt no longer undoes them.
std::atomic<bool> committed{false};

class SignalsBlocked {
public:
  SignalsBlocked() {
    sigset_t set;
    sigemptyset(&set);
    for (int signal : watched)
      sigaddset(&set, signal);
    pthread_sigmask(SIG_BLOCK, &set, &old);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &old, nullptr); }

private:
  sigset_t old;
};

/// Resolves `link` relative to the folder of `path`.
std::string besides(const std::string &path, const std::string &link) {
  size_t slash = path.rfind('/');
  if (link[0] == '/' || slash == std::string::npos)
    return link;
  return path.substr(0, slash + 1) + link;
}

/// The path at the end of a chain of links that leads to no file yet.
int endOfLinks(std::string path, std::string &end) {
  for (int steps = 0; steps < 40; ++steps) {
    struct stat info;
    if (lstat(path.c_str(), &info) != 0) {
      end = path;
      return errno == ENOENT ? 0 : errno;
    }
    char link[PATH_MAX];
    ssize_t size = readlink(path.c_str(), link, sizeof(link) - 1);
    if (size <= 0)
      return size < 0 ? errno : ENOENT;
    path = besides(path, std::string(link, size));
  }
  return ELOOP;
}

bool sameFile(const struct stat &a, const struct stat &b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

} // namespace

Status cannotWrite(int code, const std::string &path) {
  bool lack = isResourceError(code) || code == EIO || code == EPIPE;
  return Status::error(lack ? MLC_RESOURCES : MLC_USAGE,
                       path + ": cannot be written: " + std::strerror(code) +
                           (lack ? "; make room or give another place"
                                 : "; give another place"));
}

InterruptGuard::InterruptGuard() {
  committed = false;
  struct sigaction action = {};
  action.sa_handler = OutputFiles::onSignal;
  sigfillset(&action.sa_mask);
  for (size_t i = 0; i < std::size(watched); ++i)
    sigaction(watched[i], &action, &old[i]);
  action.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &action, &oldPipe);
}

InterruptGuard::~InterruptGuard() {
  for (size_t i = 0; i < std::size(watched); ++i)
    sigaction(watched[i], &old[i], nullptr);
  sigaction(SIGPIPE, &oldPipe, nullptr);
}

OutputFiles::OutputFiles(std::vector<std::string> paths,
                         std::string outputFolder)
    : folder(std::move(outputFolder)) {
  for (std::string &path : paths) {
    places.emplace_back();
    places.back().path = std::move(path);
  }
  active = this;
}

OutputFiles::~OutputFiles() {
  if (fd >= 0)
    ::close(fd);
  SignalsBlocked blocked;
  removeAll();
  active = nullptr;
}

/// Async-signal-safe.
void OutputFiles::removeAll() {
  for (const Place &place : places)
    if (!place.temporary.empty())
      unlink(place.temporary.c_str());
  for (size_t i = made.size(); i-- > 0;)
    rmdir(made[i].c_str());
}

void OutputFiles::abandon() {
  if (OutputFiles *files = active)
    files->removeAll();
}

void OutputFiles::onSignal(int) {
  if (committed)
    return;
  abandon();
  _exit(MLC_INTERRUPTED);
}

Status OutputFiles::resolve(Place &place) const {
  struct stat info, standard;
  if (stat(place.path.c_str(), &info) != 0) {
    int code = errno;
    if (code == ENOENT)
      code = endOfLinks(place.path, place.target);
    return code ? cannotWrite(code, place.path) : Status::success();
  }
  if (S_ISDIR(info.st_mode))
    return Status::error(MLC_USAGE,
                         place.path + ": is a folder; name a file in it");
  place.direct = !S_ISREG(info.st_mode);
  if (place.direct)
    return Status::success();
  // `/dev/stdout` and the file that the shell has sent it to are one: to
  // replace it would lose what is printed.
  for (int fd : {STDOUT_FILENO, STDERR_FILENO})
    if (fstat(fd, &standard) == 0 && sameFile(info, standard)) {
      place.direct = true;
      place.standard = fd;
      return Status::success();
    }
  char real[PATH_MAX];
  if (!realpath(place.path.c_str(), real) || access(real, W_OK) != 0)
    return cannotWrite(errno, place.path);
  place.target = real;
  place.exists = true;
  place.mode = info.st_mode & 0777;
  return Status::success();
}

Status OutputFiles::begin() {
  for (size_t slash = 0; !folder.empty() && slash != std::string::npos;) {
    slash = folder.find('/', slash + 1);
    std::string part = folder.substr(0, slash);
    SignalsBlocked blocked;
    if (mkdir(part.c_str(), 0777) == 0)
      made.push_back(part);
    else if (errno != EEXIST)
      return cannotWrite(errno, part);
  }
  struct stat info;
  if (!folder.empty() &&
      (stat(folder.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)))
    return cannotWrite(ENOTDIR, folder);
  for (Place &place : places)
    if (Status status = resolve(place); !status.ok())
      return status;
  return Status::success();
}

Status OutputFiles::openTemporary(Place &place) {
  std::random_device random;
  for (int attempt = 0; attempt < 16; ++attempt) {
    // Beside the target, so that it can be renamed. The random name keeps
    // others from placing a file or link there first.
    char name[32];
    std::snprintf(name, sizeof(name), ".%08x%08x.tmp", random(), random());
    std::string path = place.target + name;
    SignalsBlocked blocked;
    fd = ::open(path.c_str(),
                O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (fd < 0 && errno == EEXIST)
      continue;
    if (fd < 0)
      return cannotWrite(errno, place.path);
    place.temporary = std::move(path);
    if (place.exists)
      (void)!fchmod(fd, place.mode);
    return Status::success();
  }
  return cannotWrite(EEXIST, place.path);
}

Status OutputFiles::open(size_t index) {
  current = index;
  Place &place = places[index];
  if (!place.direct)
    return openTemporary(place);
  fd = place.standard >= 0
           ? fcntl(place.standard, F_DUPFD_CLOEXEC, 0)
           : ::open(place.path.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC);
  return fd < 0 ? cannotWrite(errno, place.path) : Status::success();
}

Status OutputFiles::write(const void *data, size_t size) {
  const char *p = static_cast<const char *>(data);
  while (size > 0) {
    ssize_t n = ::write(fd, p, size);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return cannotWrite(n < 0 ? errno : EIO, places[current].path);
    p += n;
    size -= n;
  }
  return Status::success();
}

Status OutputFiles::close() {
  // Some file systems report a full disk only here.
  int closed = std::exchange(fd, -1);
  return ::close(closed) == 0 ? Status::success()
                              : cannotWrite(errno, places[current].path);
}

Status OutputFiles::commit() {
  SignalsBlocked blocked;
  for (size_t i = 0; i < places.size(); ++i) {
    Place &place = places[i];
    if (place.temporary.empty() ||
        rename(place.temporary.c_str(), place.target.c_str()) == 0)
      continue;
    int code = errno;
    // The set failed, so remove the files renamed so far.
    for (size_t j = 0; j < i; ++j)
      if (!places[j].direct)
        unlink(places[j].target.c_str());
    return cannotWrite(code, place.path);
  }
  for (Place &place : places)
    place.temporary.clear();
  made.clear();
  committed = true;
  return Status::success();
}

Status refuseInputs(const std::vector<std::string> &outputs,
                    const std::vector<std::string> &inputs) {
  for (const std::string &output : outputs)
    for (const std::string &input : inputs) {
      struct stat to, from;
      if (stat(output.c_str(), &to) == 0 && stat(input.c_str(), &from) == 0 &&
          S_ISREG(to.st_mode) && sameFile(to, from))
        return Status::error(MLC_USAGE,
                             output + ": is the file that is read as " + input +
                                 "; give the output another name");
    }
  return Status::success();
}

Status flushStandardOutput() {
  int code = 0;
  if (std::fflush(stdout) != 0)
    code = errno;
  else if (std::ferror(stdout))
    code = EIO;
  if (code == 0 || code == EPIPE)
    return Status::success();
  return cannotWrite(code, "standard output");
}

void fillStandardStreams() {
  int fd = ::open("/dev/null", O_RDWR);
  while (fd >= 0 && fd <= STDERR_FILENO)
    fd = dup(fd);
  if (fd >= 0)
    ::close(fd);
}

} // namespace mlc::runtime
