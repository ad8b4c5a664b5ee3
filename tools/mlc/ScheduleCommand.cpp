//===- ScheduleCommand.cpp - mlc schedule ---------------------------------===//
//
// Makes or reads the table of a pipeline's schedule, adds what follows from it,
// and prints it. No model is needed.
//
//===----------------------------------------------------------------------===//

#include "runtime/FileBytes.h"
#include "runtime/schedule/Generate.h"
#include "runtime/schedule/Transfers.h"
#include "tools/mlc/Command.h"
#include "tools/mlc/Failure.h"
#include "tools/mlc/OutputFile.h"
#include "tools/mlc/SchedulePictures.h"
#include "tools/mlc/SliceFlags.h"
#include "tools/mlc/StageFlags.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <fmt/format.h>

using namespace mlc::cli;
using namespace mlc::runtime::schedule;
using mlc::runtime::FileBytes;
using mlc::runtime::Status;
namespace cl = llvm::cl;

namespace {

/// "<data-parallel|gpipe|...>", for the line of usage.
std::string namesForUsage() {
  std::string names;
  for (const ScheduleRow &row : allSchedules())
    names.append(names.empty() ? "<" : "|").append(row.name);
  return names + ">";
}

class ScheduleCommand : public Command {
public:
  ScheduleCommand()
      : Command("schedule", "Print what each rank of a pipeline does, as a "
                            "table of actions (docs/Schedules.md)"),
        nameHelp(namesForUsage()),
        name(cl::Positional, cl::desc(nameHelp), cl::sub(sub)),
        list("list", cl::desc("Print the schedules with their papers"),
             cl::sub(sub)),
        file("table", cl::value_desc("file.csv"),
             cl::desc("Read the table instead, in PyTorch's notation"),
             cl::sub(sub)),
        stages("stages", cl::init(0), cl::value_desc("number"),
               cl::desc("Stages of the model, on all ranks together"),
               cl::sub(sub)),
        ranks("ranks", cl::init(0), cl::value_desc("number"),
              cl::desc("Ranks (stages divided by chunks)"), cl::sub(sub)),
        chunks("chunks", cl::init(0), cl::value_desc("number"),
               cl::desc("Stages of a rank, where a schedule takes several (2; "
                        "of zero-bubble 1)"),
               cl::sub(sub)),
        microBatches("micro-batches", cl::init(0), cl::value_desc("number"),
                     cl::desc("Micro-batches of the table"), cl::sub(sub)),
        slices("slices", cl::init(0), cl::value_desc("number"),
               cl::desc("Slices of each micro-batch, for terapipe (1)"),
               cl::sub(sub)),
        updateEvery("update-every", cl::init(0), cl::value_desc("number"),
                    cl::desc("Gradients before an update, for ampnet (1) and "
                             "pipedream-2bw (as many as ranks)"),
                    cl::sub(sub)),
        inFlight("in-flight", cl::init(0), cl::value_desc("number"),
                 cl::desc("Micro-batches under way at once, for ampnet (as "
                          "many as stages)"),
                 cl::sub(sub)),
        replicas("replicas", cl::CommaSeparated, cl::value_desc("number,..."),
                 cl::desc("Ranks of each stage, which share its micro-batches "
                          "in turn, for gpipe, 1f1b, pipedream and "
                          "pipedream-2bw (1 each)"),
                 cl::sub(sub)),
        inference("inference",
                  cl::desc("Leave the forward passes of a synchronous schedule "
                           "alone"),
                  cl::sub(sub)),
        unshard("unshard", cl::init(0), cl::value_desc("number"),
                cl::desc("Add UNSHARD and RESHARD, so that a rank has the "
                         "weights of so many stages at once"),
                cl::sub(sub)),
        transfers("transfers",
                  cl::desc("Add sends and receives, and sums of gradients of "
                           "stages that several ranks have"),
                  cl::sub(sub)),
        reads("reads", cl::CommaSeparated, cl::value_desc("from:to"),
              cl::desc("With --transfers: stage TO reads stage FROM too, not "
                       "only the one before it"),
              cl::sub(sub)),
        updates("updates",
                cl::desc("Add a STEP of each stage at the end, if the schedule "
                         "has none"),
                cl::sub(sub)),
        csv("csv",
            cl::desc("Print the table as CSV, a line for each rank, instead of "
                     "a grid of times"),
            cl::sub(sub)),
        output("o", cl::init("-"), cl::value_desc("file"),
               cl::desc("Write the table to this file, as CSV"), cl::sub(sub)),
        slicing(sub), pictures(sub) {}

  llvm::Error run() override;

private:
  llvm::Error checkFlags();
  llvm::Error checkFiles();
  llvm::Error makeTable();
  llvm::Error readTable();
  llvm::Error complete();
  llvm::Error print();
  llvm::Error readReads(std::vector<Reading> &result);

  std::string nameHelp;
  cl::opt<std::string> name;
  cl::opt<bool> list;
  cl::opt<std::string> file;
  cl::opt<int64_t> stages, ranks, chunks, microBatches, slices, updateEvery,
      inFlight;
  cl::list<std::string> replicas;
  cl::opt<bool> inference;
  cl::opt<int> unshard;
  cl::opt<bool> transfers;
  cl::list<std::string> reads;
  cl::opt<bool> updates, csv;
  cl::opt<std::string> output;
  SliceFlags slicing;
  SchedulePictures pictures;

  Table table;
  CheckOptions promises;
  std::vector<Reading> allReads;
};

llvm::Error wrong(const llvm::Twine &what) {
  return fail(mlc::Exit::Usage, "schedule: " + what);
}

void printList(llvm::raw_ostream &os) {
  for (const ScheduleRow &row : allSchedules())
    os << fmt::format("{:<17} {}\n", row.name, row.summary);
}

} // namespace

llvm::Error ScheduleCommand::checkFlags() {
  if (name.empty() && file.empty())
    return wrong("no schedule; give one of " + scheduleNames() +
                 ", or --table=FILE.csv");
  if (!name.empty() && !file.empty())
    return wrong("a name and --table; give one of them");
  for (const cl::opt<int64_t> *size : {&stages, &ranks, &chunks, &microBatches,
                                       &slices, &updateEvery, &inFlight}) {
    if (!size->getNumOccurrences())
      continue;
    if (!file.empty())
      return wrong("--" + size->ArgStr +
                   " is of a schedule that is made, and --table is one "
                   "already; leave it out");
    if (*size < 1)
      return wrong("--" + size->ArgStr + "=" + llvm::Twine(size->getValue()) +
                   " counts from 1");
  }
  if (!replicas.empty() && !file.empty())
    return wrong("--replicas is of a schedule that is made, and --table is one "
                 "already; leave it out");
  if (unshard.getNumOccurrences() && unshard < 1)
    return wrong("--unshard=" + llvm::Twine(unshard) + " counts from 1");
  if (inference && updates)
    return wrong("--updates are of training, and --inference has none; give "
                 "one of them");
  if (!reads.empty() && !transfers)
    return wrong("--reads is of --transfers; give both");
  return llvm::Error::success();
}

llvm::Error ScheduleCommand::readTable() {
  FileBytes bytes;
  Status status =
      FileBytes::read(file.c_str(), mlc::runtime::maxTextFile, bytes);
  if (status.ok())
    status = Table::parse(bytes.text(), table);
  return status.ok() ? llvm::Error::success()
                     : fail(static_cast<Exit>(status.code),
                            file + ": " + status.message);
}

llvm::Error ScheduleCommand::makeTable() {
  ScheduleOptions options{name,         stages, ranks,       chunks,
                          microBatches, slices, updateEvery, inFlight};
  auto shared = readReplicas(replicas);
  if (!shared)
    return shared.takeError();
  options.replicas = std::move(*shared);
  if (slicing.isGiven()) {
    // Each rank has a stage. What is missing is refused below.
    if (llvm::Error error = slicing.find(std::max<int64_t>({stages, ranks, 1}),
                                         std::max<int64_t>(microBatches, 1)))
      return error;
    options.slices = slicing.count();
    pictures.setSliceTime(
        [this](int64_t slice) { return slicing.timeOf(slice); });
  }
  Status status = generate(options, table);
  if (status.ok())
    promises = promisesOf(options, table);
  return status.ok() ? llvm::Error::success() : wrong(status.message);
}

llvm::Error ScheduleCommand::readReads(std::vector<Reading> &result) {
  const int32_t count = table.countStages();
  for (llvm::StringRef text : reads) {
    auto [from, to] = text.split(':');
    Reading one{};
    if (from.getAsInteger(10, one.from) || to.getAsInteger(10, one.to))
      return wrong("--reads=" + text + ": expected FROM:TO, as 0:2");
    if (one.from < 0 || one.to >= count || one.from >= one.to)
      return wrong("--reads=" + text + ": a stage reads an earlier one of " +
                   llvm::Twine(count));
    if (one.from + 1 == one.to)
      return wrong("--reads=" + text +
                   ": every stage reads the one before it; leave it out");
    for (const Reading &other : result)
      if (other.from == one.from && other.to == one.to)
        return wrong("--reads=" + text + " is given twice");
    result.push_back(one);
  }
  return llvm::Error::success();
}

/// Adds what flags ask for.
llvm::Error ScheduleCommand::complete() {
  // What is wrong with a table is wrong with the file that it comes from.
  auto failure = [&](const Status &status) {
    return status.ok() ? llvm::Error::success()
                       : fail(static_cast<Exit>(status.code),
                              (file.empty() ? "schedule" : file.getValue()) +
                                  ": " + status.message);
  };
  if (inference) {
    promises.isTraining = false;
    if (llvm::Error error = failure(keepForward(table)))
      return error;
  }
  if (unshard)
    if (llvm::Error error = failure(addShards(table, unshard)))
      return error;
  if (transfers) {
    allReads = readPrevious(table.countStages());
    if (llvm::Error error = readReads(allReads))
      return error;
    if (llvm::Error error = failure(addTransfers(table, allReads)))
      return error;
  }
  if (updates)
    addUpdates(table);
  return llvm::Error::success();
}

/// Each output is a file of its own.
llvm::Error ScheduleCommand::checkFiles() {
  std::vector<NamedOutput> written = pictures.files();
  written.emplace_back(output, "the table (-o)");
  if (llvm::Error error = refuseSame(written))
    return error;
  std::vector<std::string> files;
  for (const NamedOutput &one : written)
    files.push_back(one.first);
  return refuseInputs(files, {file});
}

llvm::Error ScheduleCommand::run() {
  if (list) {
    printList(llvm::outs());
    return llvm::Error::success();
  }
  if (llvm::Error error = checkFlags())
    return error;
  if (llvm::Error error = slicing.check(name, slices != 0))
    return error;
  if (llvm::Error error = pictures.checkFlags())
    return error;
  if (llvm::Error error = checkFiles())
    return error;
  if (llvm::Error error = file.empty() ? makeTable() : readTable())
    return error;
  if (llvm::Error error = complete())
    return error;
  return print();
}

/// The table, checked, and its pictures.
llvm::Error ScheduleCommand::print() {
  const std::string source = file.empty() ? "schedule" : file.getValue();
  promises.reads = allReads;
  if (llvm::Error error = pictures.checkTable(table, promises, source))
    return error;
  const std::string title = file.empty() ? name : file;
  const bool hasGrid = !csv && output == "-";
  std::vector<Output> outputs = pictures.outputs(table, title);
  if (hasGrid || !outputs.empty())
    if (llvm::Error error = pictures.simulate(table, allReads, source))
      return error;
  if (slicing.isGiven() && (hasGrid || output != "-"))
    llvm::outs() << slicing.text();
  auto write = [&](llvm::raw_ostream &os) {
    os << (hasGrid ? pictures.grid(table, title) : table.text());
    return llvm::Error::success();
  };
  if (output != "-")
    outputs.push_back({output, write});
  if (llvm::Error error = writeOutputs(outputs))
    return error;
  return output == "-" ? writeOutput("-", write) : llvm::Error::success();
}

std::unique_ptr<Command> mlc::cli::makeScheduleCommand() {
  return std::make_unique<ScheduleCommand>();
}
