//===- RunArguments.cpp - The command line of mlc-run ---------------------===//

#include "runtime/Engines.h"
#include "runtime/OutputFiles.h"
#include "runtime/RunCommand.h"
#include "runtime/Version.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace mlc::runtime {

namespace {

const char *const usageOfOne =
    "usage: mlc-run MODEL.mlca [options]\n"
    "\n"
    "  --input NAME=FILE.npy   an input, or what a parameter holds instead;\n"
    "                          NAME=FILE.npz takes the array NAME, FILE.npz\n"
    "                          alone every array by its name\n"
    "  --output-dir DIR        write DIR/<index>.npy and DIR/outputs.json\n"
    "  --output FILE.npz       write all outputs into one file\n"
    "  --device NAME           cpu, cuda, cuda:N, emulator, emulator:N (cpu)\n"
    "  --threads N             threads to use (all cores)\n";
const char *const usageOfRanks =
    "  --groups N              groups of ranks, to which collectives are given "
    "in\n"
    "                          turn, so that several are under way at once "
    "(1)\n"
    "  --own-parts             a rank reads its part of each input and writes "
    "its\n"
    "                          part of each output, %r in paths being the "
    "rank;\n"
    "                          else each reads all, and rank 0 writes all\n"
    "  --timeout SECONDS       of waiting for a rank without progress (300)\n"
    "  --profile               print the time of every step\n"
    "  --flush-denormals       treat denormals as zero\n"
    "  --version, --help\n";

/// An option's help beside its name, in lines of less than 80 characters.
std::string besideName(const std::string &text) {
  constexpr size_t width = 52;
  const std::string indent = "\n" + std::string(26, ' ');
  std::string lines;
  for (size_t at = 0; at < text.size();) {
    const bool isLast = text.size() - at <= width;
    const size_t end = isLast ? text.size() : text.rfind(' ', at + width);
    lines += (at ? indent : "") + text.substr(at, end - at);
    at = end + 1;
  }
  return lines + "\n";
}

std::string usage() {
  return usageOfOne +
         ("  --engine NAME           " +
          besideName("how ranks exchange tensors: " + engines::uses() +
                     " (as the launcher says)")) +
         usageOfRanks;
}

/// `--flag value` or `--flag=value`; advances `i`. Returns 1 if it is this
/// flag, -1 if its value is missing.
int takeValue(int argc, char **argv, int &i, const char *flag,
              std::string &value) {
  size_t length = std::strlen(flag);
  if (std::strncmp(argv[i], flag, length) != 0)
    return 0;
  if (argv[i][length] == '=') {
    value = argv[i] + length + 1;
    return 1;
  }
  if (argv[i][length] != 0)
    return 0;
  if (++i >= argc)
    return -1;
  value = argv[i];
  return 1;
}

Status parseArguments(int argc, char **argv, RunOptions &options) {
  auto wrong = [](const std::string &what) {
    return Status::error(MLC_USAGE, what + "; see mlc-run --help");
  };
  for (int i = 1; i < argc; ++i) {
    std::string argument = argv[i], value, threads, timeout, groups;
    const std::pair<const char *, std::string *> flags[] = {
        {"--input", &value},
        {"--output-dir", &options.outputDir},
        {"--output", &options.outputNpz},
        {"--device", &options.device},
        {"--engine", &options.engine},
        {"--timeout", &timeout},
        {"--groups", &groups},
        {"--threads", &threads}};
    int taken = 0;
    for (auto [flag, to] : flags)
      if (taken == 0)
        taken = takeValue(argc, argv, i, flag, *to);
    if (taken < 0)
      return wrong(argument + " needs a value");
    if (taken > 0) {
      if (value.empty() && argument.compare(0, 7, "--input") == 0)
        return wrong(argument + " needs a value");
      if (!value.empty())
        options.inputs.push_back(value);
      char *end = nullptr;
      unsigned long n = std::strtoul(threads.c_str(), &end, 10);
      if (!threads.empty() && (*end || n == 0 || n > 1024))
        return wrong("--threads " + threads + ": expected 1 to 1024");
      if (!threads.empty())
        options.threads = n;
      if (!timeout.empty())
        options.timeout = std::strtod(timeout.c_str(), &end);
      if (!timeout.empty() &&
          (*end || !(options.timeout > 0 && options.timeout <= 1e6)))
        return wrong("--timeout " + timeout + ": expected seconds");
      n = std::strtoul(groups.c_str(), &end, 10);
      if (!groups.empty() && (*end || n == 0 || n > 64))
        return wrong("--groups " + groups + ": expected 1 to 64");
      if (!groups.empty())
        options.groups = n;
    } else if (argument == "--own-parts") {
      options.ownParts = true;
    } else if (argument == "--profile") {
      options.profile = true;
    } else if (argument == "--flush-denormals") {
      options.flushDenormals = true;
    } else if (argument.size() > 1 && argument[0] == '-') {
      return wrong("unknown option " + argument);
    } else if (options.artifact.empty()) {
      options.artifact = argument;
    } else {
      return wrong("more than one artifact: " + argument);
    }
  }
  return options.artifact.empty() ? wrong("no artifact given")
                                  : Status::success();
}

} // namespace

int runMain(int argc, char **argv, RankSource *ranks) {
  fillStandardStreams();
  for (int i = 1; i < argc; ++i) {
    if (!std::strcmp(argv[i], "--help") || !std::strcmp(argv[i], "-h")) {
      std::fputs(usage().c_str(), stdout);
      return tellStatus(flushStandardOutput());
    }
    if (!std::strcmp(argv[i], "--version")) {
      std::puts("mlc-run " MLC_VERSION);
      return tellStatus(flushStandardOutput());
    }
  }
  RunOptions options;
  Status status = parseArguments(argc, argv, options);
  return status.ok() ? runCommand(options, ranks) : tellStatus(status);
}

} // namespace mlc::runtime
