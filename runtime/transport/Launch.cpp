//===- Launch.cpp - Several processes of one program ----------------------===//

#include "runtime/transport/Launch.h"
#include "runtime/Text.h"

#include <arpa/inet.h>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace mlc::runtime::transport {

namespace {

using Clock = std::chrono::steady_clock;

const int passedOn[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
bool ends(int signal) { return signal != SIGUSR1 && signal != SIGUSR2; }

/// A pipe of a rank's output.
struct Stream {
  int from = -1, to = -1;
  std::string line;
};

struct Process {
  pid_t pid = -1; // -1: has ended, and been waited for
  Stream output, errors;
};

class Launcher {
public:
  explicit Launcher(const LaunchOptions &options)
      : options(options), processes(options.processes) {}
  ~Launcher();
  Status run(int &exitCode);

private:
  Status prepare();
  Status start(int rank);
  [[noreturn]] void become(int rank, int report);
  void takeSignals();
  void reap();
  void endAll();
  void kill(int signal);
  void forward(int rank, Stream &stream);
  void forwardAll(bool all);
  void wait();
  int running() const;

  const LaunchOptions &options;
  std::vector<Process> processes;
  std::vector<char *> arguments;
  sigset_t former{};
  int signals = -1;
  std::string port;
  bool ending = false, killed = false;
  Clock::time_point killTime;
  int interrupted = 0; // by this signal
  int failedRank = -1, failedStatus = 0;
};

/// A port that is free now; 0 if there is none.
int freePort() {
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0)
    return 0;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  auto *any = reinterpret_cast<sockaddr *>(&address);
  bool ok = bind(fd, any, size) == 0 && getsockname(fd, any, &size) == 0;
  close(fd);
  return ok ? ntohs(address.sin_port) : 0;
}

Status lack(const std::string &what, int code) {
  return Status::error(
      isResourceError(code) ? MLC_RESOURCES : MLC_DEVICE,
      what + ": " + std::strerror(code) +
          (isResourceError(code) ? "; start fewer processes" : ""));
}

std::string describe(int status) {
  if (WIFSIGNALED(status)) {
    const char *name = sigabbrev_np(WTERMSIG(status));
    return "was ended by signal " + std::to_string(WTERMSIG(status)) +
           (name ? " (SIG" + std::string(name) + ")" : "");
  }
  return "ended with exit code " + std::to_string(WEXITSTATUS(status));
}

int codeOf(int status) {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

} // namespace

Launcher::~Launcher() {
  // After a successful run() no process is left.
  kill(SIGKILL);
  for (Process &process : processes) {
    if (process.pid > 0)
      waitpid(process.pid, nullptr, 0);
    for (Stream *stream : {&process.output, &process.errors})
      if (stream->from >= 0)
        close(stream->from);
  }
  if (signals >= 0) {
    close(signals);
    sigprocmask(SIG_SETMASK, &former, nullptr);
  }
}

Status Launcher::prepare() {
  for (const std::string &argument : options.command)
    arguments.push_back(const_cast<char *>(argument.c_str()));
  arguments.push_back(nullptr);
  if (!std::getenv("MASTER_PORT")) {
    int number = freePort();
    if (!number)
      return lack("no free port for MASTER_PORT", errno);
    port = std::to_string(number);
  }
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  for (int signal : passedOn)
    sigaddset(&set, signal);
  sigprocmask(SIG_BLOCK, &set, &former);
  signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  if (signals < 0) {
    int code = errno;
    sigprocmask(SIG_SETMASK, &former, nullptr);
    return lack("signals cannot be read", code);
  }
  return Status::success();
}

/// Runs in the new process. Writes errno to `report` on an error.
void Launcher::become(int rank, int report) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const Process &own = processes[rank];
  int null = open("/dev/null", O_RDONLY);
  bool ok = null >= 0 && dup2(null, STDIN_FILENO) >= 0 &&
            (own.output.to < 0 || dup2(own.output.to, STDOUT_FILENO) >= 0) &&
            (own.errors.to < 0 || dup2(own.errors.to, STDERR_FILENO) >= 0);
  const std::string number = std::to_string(rank);
  const std::string size = std::to_string(options.processes);
  ok = ok && !setenv("RANK", number.c_str(), 1) &&
       !setenv("LOCAL_RANK", number.c_str(), 1) &&
       !setenv("WORLD_SIZE", size.c_str(), 1) &&
       !setenv("LOCAL_WORLD_SIZE", size.c_str(), 1) &&
       !setenv("MLC_LAUNCH", "1", 1) && !unsetenv("TORCHELASTIC_RUN_ID") &&
       !unsetenv("TORCHELASTIC_USE_AGENT_STORE") &&
       !setenv("MASTER_ADDR", "127.0.0.1", 0) &&
       (port.empty() || !setenv("MASTER_PORT", port.c_str(), 0));
  for (int signal :
       {SIGPIPE, SIGXFSZ, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2})
    ::signal(signal, SIG_DFL);
  sigprocmask(SIG_SETMASK, &former, nullptr);
  if (ok)
    execvp(arguments[0], arguments.data());
  int code = errno;
  (void)!write(report, &code, sizeof(code));
  _exit(127);
}

static bool openPipe(Stream &stream) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC))
    return false;
  stream.from = ends[0];
  stream.to = ends[1];
  fcntl(stream.from, F_SETFL, O_NONBLOCK);
  return true;
}

Status Launcher::start(int rank) {
  Process &process = processes[rank];
  const std::string who = "rank " + std::to_string(rank);
  if (options.prefix &&
      (!openPipe(process.output) || !openPipe(process.errors)))
    return lack("no pipe for " + who, errno);
  int report[2];
  if (pipe2(report, O_CLOEXEC))
    return lack("no pipe for " + who, errno);
  pid_t pid = fork();
  if (pid == 0)
    become(rank, report[1]);
  int code = errno;
  close(report[1]);
  for (Stream *stream : {&process.output, &process.errors})
    if (stream->to >= 0)
      close(stream->to);
  if (pid < 0) {
    close(report[0]);
    return lack(who + " cannot be started", code);
  }
  process.pid = pid;
  setpgid(pid, pid); // both processes call it, to avoid a race
  ssize_t size = 0;
  while ((size = read(report[0], &code, sizeof(code))) < 0 && errno == EINTR)
    ;
  close(report[0]);
  if (size != sizeof(code))
    return Status::success();
  return Status::error(MLC_USAGE,
                       printable(options.command[0]) +
                           ": cannot be started: " + std::strerror(code) +
                           "; give a program by its path or of PATH");
}

int Launcher::running() const {
  int count = 0;
  for (const Process &process : processes)
    count += process.pid > 0;
  return count;
}

void Launcher::kill(int signal) {
  for (const Process &process : processes)
    if (process.pid > 0)
      ::kill(-process.pid, signal);
}

void Launcher::endAll() {
  if (ending)
    return;
  ending = true;
  killTime = Clock::now() + std::chrono::seconds(options.graceSeconds);
  kill(SIGTERM);
  kill(SIGCONT); // so that a stopped process receives the signal
}

void Launcher::takeSignals() {
  signalfd_siginfo info;
  while (read(signals, &info, sizeof(info)) == sizeof(info)) {
    const int signal = static_cast<int>(info.ssi_signo);
    if (signal == SIGCHLD)
      continue;
    kill(signal);
    if (!ends(signal))
      continue;
    interrupted = signal;
    kill(SIGCONT);
    ending = true;
    killTime = Clock::now() + std::chrono::seconds(options.graceSeconds);
  }
}

void Launcher::reap() {
  for (size_t rank = 0; rank < processes.size(); ++rank) {
    Process &process = processes[rank];
    siginfo_t info{};
    if (process.pid <= 0 ||
        waitid(P_PID, process.pid, &info, WEXITED | WNOHANG | WNOWAIT) ||
        info.si_pid != process.pid)
      continue;
    // End the children that it left; the process id is not reused until
    // waitpid.
    ::kill(-process.pid, SIGKILL);
    int status = 0;
    waitpid(process.pid, &status, 0);
    process.pid = -1;
    // If several have ended, a killed one is the likely cause.
    bool isFirst =
        failedRank < 0 || (WIFSIGNALED(status) && !WIFSIGNALED(failedStatus));
    if (status && isFirst && !ending) {
      failedRank = static_cast<int>(rank);
      failedStatus = status;
    }
  }
  if (failedRank >= 0)
    endAll();
}

static void writeAll(int fd, const std::string &text) {
  for (size_t at = 0; at < text.size();) {
    ssize_t n = write(fd, text.data() + at, text.size() - at);
    if (n < 0 && errno != EINTR)
      return; // no reader
    at += n > 0 ? n : 0;
  }
}

/// Forwards received output in whole lines of bounded length.
void Launcher::forward(int rank, Stream &stream) {
  const int to =
      &stream == &processes[rank].output ? STDOUT_FILENO : STDERR_FILENO;
  const std::string prefix = "[" + std::to_string(rank) + "] ";
  constexpr size_t longest = 1 << 16;
  char buffer[1 << 14];
  ssize_t size;
  std::string text;
  while ((size = read(stream.from, buffer, sizeof(buffer))) > 0) {
    stream.line.append(buffer, size);
    size_t end;
    while ((end = stream.line.find('\n')) != std::string::npos ||
           stream.line.size() >= longest) {
      end = std::min(end, stream.line.size() - 1) + 1;
      text += prefix + stream.line.substr(0, end);
      if (text.back() != '\n')
        text += '\n';
      stream.line.erase(0, end);
    }
    if (text.size() >= longest) {
      writeAll(to, text);
      text.clear();
    }
  }
  if (size == 0) {
    if (!stream.line.empty())
      text += prefix + stream.line + "\n";
    close(stream.from);
    stream.from = -1;
  }
  writeAll(to, text);
}

/// Forwards the output of all processes; `all` includes incomplete lines.
void Launcher::forwardAll(bool all) {
  for (size_t rank = 0; rank < processes.size(); ++rank)
    for (Stream *stream : {&processes[rank].output, &processes[rank].errors})
      if (stream->from >= 0) {
        forward(static_cast<int>(rank), *stream);
        if (all && stream->from >= 0) { // held by one that left its group
          std::string rest = std::move(stream->line);
          if (!rest.empty())
            writeAll(stream == &processes[rank].output ? STDOUT_FILENO
                                                       : STDERR_FILENO,
                     "[" + std::to_string(rank) + "] " + rest + "\n");
        }
      }
}

void Launcher::wait() {
  std::vector<pollfd> polled{{signals, POLLIN, 0}};
  for (const Process &process : processes)
    for (const Stream *stream : {&process.output, &process.errors})
      if (stream->from >= 0)
        polled.push_back({stream->from, POLLIN, 0});
  int milliseconds = -1;
  if (ending && !killed) {
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        killTime - Clock::now());
    milliseconds = static_cast<int>(std::max<int64_t>(0, left.count() + 1));
  }
  poll(polled.data(), polled.size(), milliseconds);
}

Status Launcher::run(int &exitCode) {
  if (Status status = prepare(); !status.ok())
    return status;
  for (int rank = 0; rank < options.processes; ++rank)
    if (Status status = start(rank); !status.ok())
      return status;
  while (running()) {
    wait();
    takeSignals();
    forwardAll(false);
    reap();
    if (ending && !killed && Clock::now() >= killTime) {
      kill(SIGKILL);
      killed = true;
    }
  }
  forwardAll(true);
  exitCode = 0;
  if (interrupted) {
    exitCode = MLC_INTERRUPTED;
    return Status::error(MLC_INTERRUPTED, "interrupted by signal " +
                                              std::to_string(interrupted) +
                                              "; all ranks have ended");
  }
  if (failedRank < 0)
    return Status::success();
  exitCode = codeOf(failedStatus);
  return Status::error(MLC_DEVICE, "rank " + std::to_string(failedRank) + " " +
                                       describe(failedStatus) +
                                       "; the other ranks have been ended");
}

Status launch(const LaunchOptions &options, int &exitCode) {
  exitCode = MLC_USAGE;
  if (options.processes < 1 || options.processes > 4096)
    return Status::error(MLC_USAGE, std::to_string(options.processes) +
                                        " processes; start 1 to 4096");
  if (options.command.empty())
    return Status::error(MLC_USAGE, "no program; give one after the options");
  exitCode = 0;
  Launcher launcher(options);
  Status status = launcher.run(exitCode);
  if (!status.ok() && exitCode == 0)
    exitCode = status.code;
  return status;
}

} // namespace mlc::runtime::transport
