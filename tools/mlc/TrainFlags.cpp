//===- TrainFlags.cpp - What mlc train is told of a training --------------===//

#include "tools/mlc/TrainFlags.h"
#include "tools/mlc/Failure.h"
#include "tools/mlc/OutputFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

using namespace mlc::cli;
namespace cl = llvm::cl;

TrainFlags::TrainFlags(cl::SubCommand &sub)
    : threads("threads", cl::init(0), cl::value_desc("number"),
              cl::desc("Threads that run it, on each rank (all cores, shared "
                       "among ranks that are threads)"),
              cl::sub(sub)),
      dataFile("data", cl::value_desc("file.npz"),
               cl::desc("Samples: an array by the name of each input, and of "
                        "the target, whose first dim is the sample"),
               cl::sub(sub)),
      batch("batch", cl::init(0), cl::value_desc("number"),
            cl::desc("Samples of a step, those of all ranks together, where "
                     "the model leaves that open"),
            cl::sub(sub)),
      accumulate("accumulate", cl::init(1), cl::value_desc("number"),
                 cl::desc("Batches of which a step takes the mean of the "
                          "gradients (1)"),
                 cl::sub(sub)),
      keepHalf("keep-half",
               cl::desc("Keep weights of 16 bits beside their float32 masters, "
                        "and sums of gradients in 16 bits"),
               cl::sub(sub)),
      steps("steps", cl::init(100), cl::value_desc("number"),
            cl::desc("Steps, those before --resume among them (100)"),
            cl::sub(sub)),
      seed("seed", cl::init(0), cl::value_desc("number"),
           cl::desc("Seed of the order of the samples (0)"), cl::sub(sub)),
      printEvery("log-every", cl::init(10), cl::value_desc("steps"),
                 cl::desc("Print the loss of every so many steps, and of the "
                          "last (10)"),
                 cl::sub(sub)),
      checkpoint("checkpoint", cl::value_desc("file.npz"),
                 cl::desc("Write weights and states there, from which --resume "
                          "goes on"),
                 cl::sub(sub)),
      checkpointEvery("checkpoint-every", cl::init(100),
                      cl::value_desc("steps"),
                      cl::desc("... after every so many steps, and at the end "
                               "(100)"),
                      cl::sub(sub)),
      resume("resume",
             cl::desc("Go on from the checkpoint if there is one; on as many "
                      "ranks, the result has the same bits as without the "
                      "interruption"),
             cl::sub(sub)),
      evaluationFile("evaluate", cl::value_desc("file.npz"),
                     cl::desc("Print the mean loss on these samples, which are "
                              "not trained on"),
                     cl::sub(sub)),
      evaluateEvery("evaluate-every", cl::init(100), cl::value_desc("steps"),
                    cl::desc("... after every so many steps, and at the end "
                             "(100)"),
                    cl::sub(sub)),
      artifact("artifact", cl::value_desc("file.mlca"),
               cl::desc("Compile the program that trains and write it there, "
                        "for mlc.Trainer and mlc_train.h, and train nothing"),
               cl::sub(sub)),
      exports("export",
              cl::desc("Write the model with the weights of --checkpoint to "
                       "-o, and train nothing"),
              cl::sub(sub)),
      output("o", cl::value_desc("file.onnx"),
             cl::desc("Write the model with the trained weights there"),
             cl::sub(sub)) {}

/// The flags of who trains nothing.
llvm::Error TrainFlags::checkWithoutTraining() const {
  if (exports && !artifact.empty())
    return fail(Exit::Usage, "--export and --artifact are two commands; give "
                             "one of them");
  for (const cl::Option *option :
       {static_cast<const cl::Option *>(&dataFile),
        static_cast<const cl::Option *>(&evaluationFile),
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
  if (checkpoint == "-")
    return fail(Exit::Usage, "--checkpoint is a file, not '-'");
  if (evaluateEvery.getNumOccurrences() && evaluationFile.empty())
    return fail(Exit::Usage, "--evaluate-every needs --evaluate=FILE.npz");
  if (resume && checkpoint.empty())
    return fail(Exit::Usage, "--resume needs --checkpoint=FILE.npz");
  struct Bound {
    const char *flag;
    int64_t value, low;
  } bounds[] = {{"--steps", steps, 1},
                {"--batch", batch, batch.getNumOccurrences() ? 1 : 0},
                {"--log-every", printEvery, 1},
                {"--accumulate", accumulate, 1},
                {"--evaluate-every", evaluateEvery, 1},
                {"--checkpoint-every", checkpointEvery, 1}};
  for (const Bound &bound : bounds)
    if (bound.value < bound.low)
      return fail(Exit::Usage, llvm::formatv("{0} must be at least {1}",
                                             bound.flag, bound.low));
  return llvm::Error::success();
}

llvm::Error TrainFlags::checkFiles(std::vector<std::string> inputs) const {
  std::vector<std::string> written;
  for (const std::string &file :
       {dataFile.getValue(), evaluationFile.getValue()})
    if (!file.empty())
      inputs.push_back(file);
  for (const std::string &file :
       {checkpoint.getValue(), output.getValue(), artifact.getValue()}) {
    if (file.empty() || file == "-")
      continue;
    llvm::StringRef folder = llvm::sys::path::parent_path(file);
    if (!folder.empty() && !llvm::sys::fs::is_directory(folder))
      return fail(Exit::Usage, file + ": there is no folder '" + folder + "'");
    if (llvm::sys::fs::is_directory(file))
      return fail(Exit::Usage, file + ": is a folder; give a file");
    written.push_back(file);
  }
  if (written.size() == 2 &&
      (written[0] == written[1] ||
       llvm::sys::fs::equivalent(written[0], written[1])))
    return fail(Exit::Usage, written[0] + ": is both the checkpoint and the "
                                          "model to write; give two files");
  return refuseInputs(written, inputs);
}
