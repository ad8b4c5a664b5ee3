//===- TrainFlags.cpp - The flags of mlc train ----------------------------===//

#include "tools/mlc/TrainFlags.h"
#include "tools/mlc/Failure.h"
#include "tools/mlc/OutputFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

using namespace mlc::cli;
namespace cl = llvm::cl;
namespace train = mlc::runtime::train;

ReportFlags::ReportFlags(cl::SubCommand &sub)
    : printEvery("log-every", cl::init(10), cl::value_desc("steps"),
                 cl::desc("Steps between printed losses; that of the last step "
                          "is printed, too (10)"),
                 cl::sub(sub)),
      evaluationFile("evaluate", cl::value_desc("file.npz"),
                     cl::desc("Held-out samples, whose mean loss is printed"),
                     cl::sub(sub)),
      evaluateEvery(
          "evaluate-every", cl::init(100), cl::value_desc("steps"),
          cl::desc(
              "Steps between evaluations; there is one at the end, too (100)"),
          cl::sub(sub)),
      metric("metric", cl::init(train::Metric::None),
             cl::desc("Print this of the --evaluate samples, too, with "
                      "--loss=cross-entropy (none):"),
             cl::values(clEnumValN(train::Metric::Accuracy, "accuracy",
                                   "the share of labels whose class has the "
                                   "largest output"),
                        clEnumValN(train::Metric::Perplexity, "perplexity",
                                   "e to the power of the loss")),
             cl::sub(sub)),
      best("best", cl::value_desc("file.npz"),
           cl::desc("Write a checkpoint there whenever the held-out loss, or "
                    "with --metric=accuracy the accuracy, is better than ever "
                    "before"),
           cl::sub(sub)),
      log("log", cl::value_desc("file|tensorboard:folder"),
          cl::desc("Write a row for each step there, as .csv, .jsonl or "
                   "events of TensorBoard; --resume goes on with it"),
          cl::sub(sub)) {}

TrainFlags::TrainFlags(cl::SubCommand &sub)
    : ReportFlags(sub),
      threads("threads", cl::init(0), cl::value_desc("number"),
              cl::desc("Threads of each rank (all cores, divided among ranks "
                       "that are threads)"),
              cl::sub(sub)),
      dataFile("data", cl::value_desc("file.npz"),
               cl::desc("Samples: an array by the name of each input, and of "
                        "the target, whose first dim is the sample"),
               cl::sub(sub)),
      batch("batch", cl::init(0), cl::value_desc("number"),
            cl::desc("Samples in a batch, of all ranks together, where the "
                     "model leaves that open"),
            cl::sub(sub)),
      keepHalf("keep-half",
               cl::desc("Keep 16-bit weights beside their float32 masters, and "
                        "sum gradients in 16 bits"),
               cl::sub(sub)),
      steps("steps", cl::init(100), cl::value_desc("number"),
            cl::desc("Steps in all, with those before --resume (100)"),
            cl::sub(sub)),
      seed("seed", cl::init(0), cl::value_desc("number"),
           cl::desc("Seed that orders the samples (0)"), cl::sub(sub)),
      checkpoint("checkpoint", cl::value_desc("file.npz"),
                 cl::desc("Checkpoint of weights and optimizer states, from "
                          "which --resume continues"),
                 cl::sub(sub)),
      checkpointEvery(
          "checkpoint-every", cl::init(100), cl::value_desc("steps"),
          cl::desc(
              "Steps between checkpoints; there is one at the end, too (100)"),
          cl::sub(sub)),
      resume("resume",
             cl::desc("Continue from the checkpoint if there is one; on the "
                      "same number of ranks the result has the bits of a run "
                      "without interruption"),
             cl::sub(sub)),
      artifact("artifact", cl::value_desc("file.mlca"),
               cl::desc("Write the compiled training program, for mlc.Trainer "
                        "and mlc_train.h, and train nothing"),
               cl::sub(sub)),
      exports("export",
              cl::desc("Write the model with the weights of --checkpoint to "
                       "-o, and train nothing"),
              cl::sub(sub)),
      output("o", cl::value_desc("file.onnx"),
             cl::desc("The model with its trained weights"), cl::sub(sub)) {}

/// Checks the flags of a run without training.
llvm::Error TrainFlags::checkWithoutTraining() const {
  if (exports && !artifact.empty())
    return fail(Exit::Usage, "--export and --artifact are two commands; give "
                             "one of them");
  for (const cl::Option *option :
       {static_cast<const cl::Option *>(&dataFile),
        static_cast<const cl::Option *>(&evaluationFile),
        static_cast<const cl::Option *>(&metric),
        static_cast<const cl::Option *>(&best),
        static_cast<const cl::Option *>(&log),
        static_cast<const cl::Option *>(&resume)})
    if (option->getNumOccurrences())
      return fail(Exit::Usage, "--" + option->ArgStr +
                                   " is for training, and " +
                                   (exports ? "--export" : "--artifact") +
                                   " trains nothing");
  if (exports && (checkpoint.empty() || output.empty()))
    return fail(Exit::Usage, "--export needs --checkpoint=FILE.npz and -o "
                             "MODEL.onnx");
  if (!exports && (!checkpoint.empty() || !output.empty()))
    return fail(Exit::Usage, "--artifact trains nothing that -o or "
                             "--checkpoint could hold");
  return llvm::Error::success();
}

llvm::Error ReportFlags::checkReport() const {
  for (const cl::Option *option :
       {static_cast<const cl::Option *>(&evaluateEvery),
        static_cast<const cl::Option *>(&metric),
        static_cast<const cl::Option *>(&best)})
    if (option->getNumOccurrences() && evaluationFile.empty())
      return fail(Exit::Usage,
                  "--" + option->ArgStr + " needs --evaluate=FILE.npz");
  return logPlace().takeError();
}

llvm::Expected<std::optional<train::LogPlace>> ReportFlags::logPlace() const {
  std::optional<train::LogPlace> place;
  if (!log.getNumOccurrences())
    return place;
  place.emplace();
  if (auto status = train::LogPlace::parse(log, train::Spelling::Flags, *place);
      !status.ok())
    return statusFailure(status);
  return place;
}

llvm::Error TrainFlags::check() const {
  if (exports || !artifact.empty()) {
    if (llvm::Error error = checkWithoutTraining())
      return error;
  } else if (dataFile.empty()) {
    return fail(Exit::Usage, "no samples; give --data=FILE.npz");
  } else if (checkpoint.empty() && output.empty()) {
    return fail(Exit::Usage, "what is trained would be lost; give -o "
                             "MODEL.onnx, --checkpoint=FILE.npz or both");
  }
  for (const auto *file : {&checkpoint, &best})
    if (*file == "-")
      return fail(Exit::Usage, "--" + file->ArgStr + " is a file, not '-'");
  if (llvm::Error error = checkReport())
    return error;
  if (resume && checkpoint.empty())
    return fail(Exit::Usage, "--resume needs --checkpoint=FILE.npz");
  struct Bound {
    const char *flag;
    int64_t value, low;
  } bounds[] = {{"--steps", steps, 1},
                {"--batch", batch, batch.getNumOccurrences() ? 1 : 0},
                {"--log-every", printEvery, 1},
                {"--evaluate-every", evaluateEvery, 1},
                {"--checkpoint-every", checkpointEvery, 1}};
  for (const Bound &bound : bounds)
    if (bound.value < bound.low)
      return fail(Exit::Usage, llvm::formatv("{0} must be at least {1}",
                                             bound.flag, bound.low));
  return llvm::Error::success();
}

static llvm::Error checkPlace(const std::string &file) {
  llvm::StringRef folder = llvm::sys::path::parent_path(file);
  if (!folder.empty() && !llvm::sys::fs::is_directory(folder))
    return fail(Exit::Usage, file + ": there is no folder '" + folder + "'");
  return llvm::sys::fs::is_directory(file)
             ? fail(Exit::Usage, file + ": is a folder; give a file")
             : llvm::Error::success();
}

llvm::Error TrainFlags::checkFiles(std::vector<std::string> inputs) const {
  for (const std::string &file :
       {dataFile.getValue(), evaluationFile.getValue()})
    if (!file.empty())
      inputs.push_back(file);
  std::vector<NamedOutput> written;
  for (const auto &[file, what] : {NamedOutput(checkpoint, "the checkpoint"),
                                   NamedOutput(best, "the best one"),
                                   NamedOutput(output, "the model to write"),
                                   NamedOutput(artifact, "the artifact")}) {
    if (file.empty() || file == "-")
      continue;
    if (llvm::Error error = checkPlace(file))
      return error;
    written.emplace_back(file, what);
  }
  auto place = logPlace();
  if (!place)
    return place.takeError();
  if (*place) {
    if (auto status = (*place)->check(); !status.ok())
      return statusFailure(status);
    written.emplace_back((*place)->file, "the log");
  }
  if (llvm::Error error = refuseSame(written))
    return error;
  std::vector<std::string> files;
  files.reserve(written.size());
  for (const NamedOutput &one : written)
    files.push_back(one.first);
  return refuseInputs(files, inputs);
}
