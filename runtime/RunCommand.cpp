//===- RunCommand.cpp - `mlc run` and `mlc-run` ---------------------------===//

#include "runtime/RunCommand.h"
#include "runtime/Cpu.h"
#include "runtime/Npy.h"
#include "runtime/OutputFiles.h"
#include "runtime/Parts.h"
#include "runtime/Profile.h"
#include "runtime/RunOutputs.h"
#include "runtime/RunPipeline.h"
#include "runtime/Session.h"
#include "runtime/Text.h"
#include "runtime/ThreadPool.h"
#include "runtime/Version.h"

#include <atomic>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>

namespace mlc::runtime {

namespace {

bool endsWith(const std::string &text, const char *end) {
  size_t length = std::strlen(end);
  return text.size() >= length &&
         text.compare(text.size() - length, length, end) == 0;
}

std::string dimsText(const std::vector<std::string> &dims) {
  std::string text = "[";
  for (const std::string &dim : dims)
    text += (text.size() > 1 ? ", " : "") + dim;
  return text + "]";
}

class Run {
public:
  Run(const RunOptions &options, std::shared_ptr<const Artifact> artifact,
      std::shared_ptr<Ranks> ranks)
      : options(options), artifact(std::move(artifact)),
        ranks(std::move(ranks)) {}
  Status operator()();

private:
  Status readInputs();
  Status readInput(const std::string &given);
  Status give(size_t index, NpyArray array, const std::string &from);
  Status runSession();
  Status bindInputs();
  Status collect();
  Status finish();
  /// Whether this rank writes outputs.
  bool isWriter() const {
    return !ranks || options.ownParts || ranks->rank() == 0;
  }
  std::string ownPath(std::string path) const;
  /// All files that this rank writes.
  std::vector<std::string> outputPaths() const {
    return isWriter() ? runOutputPaths(ownPath(options.outputDir),
                                       ownPath(options.outputNpz), numOutputs())
                      : std::vector<std::string>();
  }
  Status writeOutputs();
  void printProfile() const;

  const Program &program() const { return artifact->program(); }
  /// Ports that take arrays: the inputs, which are required, then the
  /// parameters, which have a default value.
  size_t numPorts() const {
    return numInputs() + (pipeline() ? 0 : program().parameters.size());
  }
  size_t numInputs() const {
    return pipeline() ? pipeline()->inputs.size() : program().inputs.size();
  }
  size_t numOutputs() const {
    return pipeline() ? pipeline()->outputs.size() : program().outputs.size();
  }
  /// Of the whole model, if the artifact has its stages.
  const std::optional<Pipeline> &pipeline() const {
    return artifact->pipeline();
  }
  const Port &portAt(size_t index) const {
    size_t count = program().inputs.size();
    return index < count ? program().inputs[index]
                         : program().parameters[index - count];
  }
  const std::string &nameAt(size_t index) const {
    return pipeline() ? pipeline()->inputs[index].name : portAt(index).name;
  }
  DType typeAt(size_t index) const {
    return pipeline() ? DType(pipeline()->inputs[index].type)
                      : program().buffers[portAt(index).buffer].type;
  }

  const RunOptions &options;
  std::shared_ptr<const Artifact> artifact;
  std::shared_ptr<Ranks> ranks;
  std::map<size_t, NpyArray> arrays; ///< by port
  std::vector<std::string> read;     ///< paths of the files that were read
  std::vector<NpzItem> outputs;
  std::vector<NpyArray> joined; ///< joined from all ranks
  /// Its destructor ends the ranks after a failure, so it runs after errors are
  /// reported.
  std::unique_ptr<Session> session;
  RunPipeline stages;
};

Status Run::operator()() {
  read.push_back(options.artifact);
  Status status = pipeline() ? Status::success()
                             : checkRanks(artifact->mesh(), ranks.get());
  if (!status.ok())
    status.message = options.artifact + ": " + status.message;
  if (status.ok())
    status = readInputs();
  if (status.ok())
    status = refuseInputs(outputPaths(), read);
  if (!status.ok())
    return status;
  status = pipeline() ? stages.run(options, artifact, ranks, arrays, outputs)
                      : runSession();
  if (!status.ok() && (pipeline() || session))
    status.message = options.artifact + ": " + status.message;
  return status.ok() ? finish() : status;
}

Status Run::runSession() {
  Device *device = nullptr;
  Status status =
      findDevice(options.device.empty() ? nullptr : options.device.c_str(),
                 ranks.get(), device);
  const LoadedProgram *loaded;
  if (status.ok())
    status = artifact->load(*device, loaded);
  if (status.ok() && options.threads > maxThreads)
    status = Status::error(MLC_USAGE, std::to_string(options.threads) +
                                          " threads are more than " +
                                          std::to_string(maxThreads));
  QueueOptions queueOptions;
  queueOptions.threads = options.threads ? options.threads : usableCores();
  queueOptions.flushDenormals = options.flushDenormals;
  std::unique_ptr<Queue> queue;
  if (status.ok())
    status = device->open(queueOptions, queue);
  if (!status.ok())
    return status;
  session = std::make_unique<Session>(
      artifact, 0,
      std::make_shared<SharedStates>(artifact, std::move(queue), ranks),
      options.profile ? MLC_SESSION_PROFILE : 0);
  status = bindInputs();
  // The first run has cold caches and fresh pages, so profile the second.
  for (int i = 0; status.ok() && i < (options.profile ? 2 : 1); ++i)
    status = session->run();
  return status.ok() ? collect() : status;
}

/// Writes the outputs, then waits for the other ranks.
Status Run::finish() {
  // A process, which may have many ranks, may have one OutputFiles at a time.
  static std::mutex one;
  std::unique_lock<std::mutex> lock(one);
  Status status;
  if (isWriter())
    status = writeOutputs();
  if (status.ok() && options.profile && isWriter())
    printProfile();
  lock.unlock();
  if (status.ok() && ranks)
    status = ranks->finish();
  return status.ok() ? flushStandardOutput() : status;
}

/// Replaces %r in the path by the rank.
std::string Run::ownPath(std::string path) const {
  for (size_t at; ranks && options.ownParts &&
                  (at = path.find("%r")) != std::string::npos;)
    path.replace(at, 2, std::to_string(ranks->rank()));
  return path;
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

Status Run::give(size_t index, NpyArray array, const std::string &from) {
  const DType type = typeAt(index);
  if (array.type != type)
    return Status::error(MLC_USAGE, from + ": input '" + nameAt(index) +
                                        "' has type " + name(array.type) +
                                        ", the model takes " + name(type) +
                                        "; convert it with .astype");
  if (ranks && !options.ownParts && !pipeline() && index < numInputs()) {
    Status status =
        cutPart(from, portAt(index), artifact->mesh(),
                coordinatesOf(artifact->mesh(), ranks->rank()), array);
    if (!status.ok())
      return status;
  }
  if (!arrays.emplace(index, std::move(array)).second)
    return Status::error(MLC_USAGE, from + ": input '" + nameAt(index) +
                                        "' is given twice");
  return Status::success();
}

Status Run::readInput(const std::string &given) {
  const std::string argument = ownPath(given);
  // Names may contain '=', so take the longest that fits.
  const size_t count = numPorts();
  size_t index = count, length = 0;
  for (size_t i = 0; i < count; ++i) {
    const std::string &name = nameAt(i);
    if (argument.size() > name.size() && argument[name.size()] == '=' &&
        argument.compare(0, name.size(), name) == 0 &&
        (index == count || name.size() > length)) {
      index = i;
      length = name.size();
    }
  }
  bool named = index != count;
  std::string path = named ? argument.substr(length + 1) : argument;
  if (!named && numInputs() == 1 && endsWith(path, ".npy") &&
      path.find('=') == std::string::npos)
    index = 0;
  read.push_back(path);
  NpyArray array;
  Status status;
  if (endsWith(path, ".npz")) {
    NpzFile file;
    status = file.open(path);
    if (!status.ok())
      return status;
    std::vector<std::string> names = file.names();
    if (named) {
      bool only = names.size() == 1;
      status = file.read(only ? names[0] : nameAt(index), array);
      return status.ok() ? give(index, std::move(array), path) : status;
    }
    for (size_t i = 0; status.ok() && i < count; ++i)
      for (const std::string &name : names)
        if (status.ok() && name == nameAt(i)) {
          NpyArray one;
          status = file.read(name, one);
          if (status.ok())
            status = give(i, std::move(one), path);
        }
    return status;
  }
  if (index == count) {
    size_t equals = argument.find('=');
    std::string names;
    for (size_t i = 0; i < count; ++i)
      names += (names.empty() ? "" : ", ") + ("'" + nameAt(i) + "'");
    return Status::error(
        MLC_USAGE, equals == std::string::npos
                       ? "--input " + argument + ": expected NAME=FILE.npy"
                       : "the model has no input '" +
                             argument.substr(0, equals) + "'; it has " +
                             (names.empty() ? "none" : names));
  }
  status = readNpy(path, array);
  return status.ok() ? give(index, std::move(array), path) : status;
}

Status Run::readInputs() {
  for (const std::string &argument : options.inputs) {
    Status status = readInput(argument);
    if (!status.ok())
      return status;
  }
  std::string missing;
  for (size_t i = 0; i < numInputs(); ++i) {
    if (arrays.count(i))
      continue;
    missing += (missing.empty() ? "" : ", ") + ("'" + nameAt(i) + "' ") +
               name(typeAt(i)) +
               dimsText(pipeline() ? artifact->pipelineInputText(i).texts
                                   : artifact->inputText(i).texts);
  }
  if (!missing.empty())
    return Status::error(MLC_USAGE,
                         options.artifact + ": missing input " + missing +
                             "; give each with --input NAME=FILE.npy");
  return Status::success();
}

Status Run::bindInputs() {
  const size_t inputs = numInputs();
  for (auto &[index, array] : arrays) {
    Status status =
        index < inputs
            ? session->bindInput(index, array.type, array.dims.size(),
                                 array.dims.data(), array.data.data())
            : session->setParameter(index - inputs, array.type,
                                    array.dims.size(), array.dims.data(),
                                    array.data.data());
    if (!status.ok())
      return status;
  }
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Outputs
//===----------------------------------------------------------------------===//

Status Run::collect() {
  const bool joins = ranks && !options.ownParts;
  joined.resize(joins ? program().outputs.size() : 0);
  for (size_t i = 0; i < program().outputs.size(); ++i) {
    mlc_tensor t;
    Status status = session->output(i, t);
    if (status.ok() && joins)
      status = joinParts(*ranks, artifact->mesh(), program().outputs[i], t,
                         joined[i]);
    if (!status.ok())
      return status;
    if (joins) {
      const NpyArray &whole = joined[i];
      outputs.push_back({program().outputs[i].name, whole.type, whole.dims,
                         whole.data.data(), whole.bytes});
      continue;
    }
    outputs.push_back({program().outputs[i].name,
                       DType(t.type),
                       {t.dims, t.dims + t.rank},
                       t.data,
                       t.bytes});
  }
  return Status::success();
}

Status Run::writeOutputs() {
  Status status = writeRunOutputs(ownPath(options.outputDir),
                                  ownPath(options.outputNpz), outputs);
  if (!status.ok())
    return status;
  for (const NpzItem &item : outputs) {
    std::vector<std::string> dims;
    for (int64_t dim : item.dims)
      dims.push_back(std::to_string(dim));
    std::printf("%s: %s%s\n", printable(item.name).c_str(), name(item.type),
                dimsText(dims).c_str());
  }
  return Status::success();
}

void Run::printProfile() const {
  std::vector<ProfiledStep> steps;
  for (size_t s = 0; s < program().steps.size(); ++s) {
    const Step &step = program().steps[s];
    ProfiledStep &found = steps.emplace_back();
    found.name = step.name;
    found.nodes = step.nodes;
    uint64_t ns = 0;
    if (session->stepNanoseconds(s, ns).ok())
      found.ns = double(ns);
    // A count that overflows stays unknown.
    (void)session->stepCost(s, found.cost);
  }
  finishProfile(steps, nullptr);
  std::fputs(profileTable(steps).c_str(), stdout);
  mlc_memory memory;
  if (session->memory(memory).ok())
    std::printf("arena %" PRIu64 " bytes, lower bound %" PRIu64
                ", scratch %" PRIu64 "\n",
                memory.arena_bytes, memory.lower_bound_bytes,
                memory.scratch_bytes);
}

/// Runs `fn`, which returns an exit code; lets no exception escape.
template <typename Fn> int runGuarded(Fn fn) {
  try {
    return fn();
  } catch (const std::bad_alloc &) {
    return tellStatus(Status::error(MLC_RESOURCES, "out of memory"));
  } catch (const std::system_error &e) {
    return tellStatus(Status::error(MLC_RESOURCES, e.what()));
  } catch (const std::exception &e) {
    return tellStatus(Status::error(MLC_INTERNAL, e.what()));
  }
}

} // namespace

int tellStatus(const Status &status) {
  if (!status.ok())
    // One string, since several ranks write to one terminal.
    std::fputs(("mlc: error: " + printable(status.message) + '\n').c_str(),
               stderr);
  return status.code;
}

/// An error if several ranks would write their shards to one path.
static Status checkOwnParts(const RunOptions &options) {
  for (const std::string &path : {options.outputDir, options.outputNpz})
    if (options.ownParts && !path.empty() &&
        path.find("%r") == std::string::npos)
      return Status::error(MLC_USAGE,
                           path + ": each rank writes its own parts there; "
                                  "put %r, the rank, into the path");
  return Status::success();
}

/// As many ranks as the artifact is for.
static uint64_t ranksOf(const Artifact &artifact) {
  return artifact.pipeline() ? static_cast<uint64_t>(artifact.pipeline()->ranks)
                             : countRanks(artifact.mesh());
}

/// Runs as one rank, or as all ranks of this process.
static int runAll(const RunOptions &options, RankSource *source) {
  std::shared_ptr<const Artifact> artifact;
  std::vector<std::shared_ptr<Ranks>> ranks;
  Status status = Artifact::open(options.artifact.c_str(), 0, artifact);
  if (status.ok() && source)
    status = source->open(options, ranksOf(*artifact), ranks);
  if (status.ok() && !ranks.empty() && ranks.front()->size() > 1)
    status = checkOwnParts(options);
  if (!status.ok() || ranks.empty())
    return tellStatus(status.ok() ? Run(options, artifact, nullptr)() : status);
  // The code of the first rank that fails; the others fail because of it.
  std::atomic<int> first{0};
  auto run = [&](size_t i) {
    int code = runGuarded([&] {
      // Report the error first, since destroying `one` may end the process.
      Run one(options, artifact, ranks[i]);
      Status status = one();
      std::string rank = "rank " + std::to_string(ranks[i]->rank()) + ": ";
      if (!status.ok() && status.message.find(rank) == std::string::npos)
        status.message = rank + status.message;
      return tellStatus(status);
    });
    int none = 0;
    first.compare_exchange_strong(none, code);
    // The error is reported; other ranks may wait for this one.
    if (code)
      ranks[i]->abort(code);
  };
  std::vector<std::thread> threads;
  for (size_t i = 1; i < ranks.size(); ++i)
    threads.emplace_back(run, i);
  run(0);
  for (std::thread &thread : threads)
    thread.join();
  return first;
}

int runCommand(const RunOptions &options, RankSource *source) {
  InterruptGuard guard;
  return runGuarded([&] { return runAll(options, source); });
}

} // namespace mlc::runtime
