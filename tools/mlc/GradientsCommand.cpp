//===- GradientsCommand.cpp - mlc gradients -------------------------------===//

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "runtime/Npy.h"
#include "runtime/Text.h"
#include "runtime/train/Samples.h"
#include "tools/mlc/Command.h"
#include "tools/mlc/Evaluation.h"
#include "tools/mlc/Failure.h"
#include "tools/mlc/MemoryBudget.h"
#include "tools/mlc/Npz.h"
#include "tools/mlc/OutputFile.h"
#include "tools/mlc/Profile.h"
#include "tools/mlc/Session.h"
#include "tools/mlc/TrainingFlags.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include <cmath>

using namespace mlc::cli;
using mlc::Weight;
using mlc::runtime::printable;
namespace cl = llvm::cl;
namespace json = llvm::json;

namespace {

/// The loss, or the gradient of a weight.
struct Result {
  std::string name;
  std::vector<int64_t> dims;
  double norm = 0; // for the loss: its value
  /// |computed - reference| / |reference|, both Euclidean norms.
  std::optional<double> error;
};

class GradientsCommand : public Command {
public:
  GradientsCommand()
      : Command("gradients", "Compute a loss and its gradient of every weight"),
        model(sub, "<model.onnx>"), training(sub), budget(sub), inputs(sub),
        device(sub),
        threads("threads", cl::init(0), cl::value_desc("number"),
                cl::desc("Threads that run it (all cores)"), cl::sub(sub)),
        reference("reference",
                  cl::desc("Compute them by definition in double precision "
                           "too, and print how far off the compiled code is; "
                           "--output-npz gets the numbers in double"),
                  cl::sub(sub)),
        outputNpz("output-npz", cl::value_desc("file"),
                  cl::desc("Write the loss, as \"loss\", and the gradients by "
                           "the weights' names to this .npz"),
                  cl::sub(sub)),
        profile("profile",
                cl::desc("Print what each step of the program takes, the "
                         "longest first"),
                cl::sub(sub)),
        asJson("json", cl::desc("Print one JSON object"), cl::sub(sub)) {
    // Not taken here: --train names the weights.
    model.parameters.setHiddenFlag(cl::Hidden);
  }

  llvm::Error run() override;

private:
  llvm::Expected<std::vector<HostTensor>> makeInputs(const Model &built) const;
  llvm::Error write(llvm::ArrayRef<std::string> names,
                    llvm::ArrayRef<mlc_tensor> tensors) const;
  void print(llvm::ArrayRef<Result> results) const;
  void printJson(llvm::ArrayRef<Result> results, const mlc_memory &used) const;
  llvm::Error checkOutput() const;
  llvm::Error checkFinite(llvm::ArrayRef<Result> results) const;
  llvm::Error printProfile(const Model &built, Session &session) const;

  ModelOptions model;
  TrainingFlags training;
  MemoryBudget budget;
  InputOptions inputs;
  DeviceOption device;
  cl::opt<unsigned> threads;
  cl::opt<bool> reference;
  cl::opt<std::string> outputNpz;
  cl::opt<bool> profile, asJson;

  TrainingModel read;
};

double elementOf(const mlc_tensor &tensor, size_t i) {
  return tensor.type == MLC_F64 ? static_cast<const double *>(tensor.data)[i]
                                : static_cast<const float *>(tensor.data)[i];
}

size_t countOf(const mlc_tensor &tensor) {
  size_t count = 1;
  for (size_t i = 0; i < tensor.rank; ++i)
    count *= tensor.dims[i];
  return count;
}

double normOf(const mlc_tensor &tensor) {
  double sum = 0;
  for (size_t i = 0, n = countOf(tensor); i < n; ++i)
    sum += elementOf(tensor, i) * elementOf(tensor, i);
  return std::sqrt(sum);
}

/// 0 if both are 0.
double errorOf(const mlc_tensor &got, const mlc_tensor &want) {
  double sum = 0;
  for (size_t i = 0, n = countOf(got); i < n; ++i) {
    double difference = elementOf(got, i) - elementOf(want, i);
    sum += difference * difference;
  }
  return sum == 0 ? 0 : std::sqrt(sum) / normOf(want);
}

mlc_tensor viewOf(const HostTensor &tensor) {
  mlc_tensor view{};
  view.type = tensor.type;
  view.rank = tensor.dims.size();
  llvm::copy(tensor.dims, view.dims);
  view.data = tensor.data.get();
  view.bytes = tensor.bytes;
  return view;
}

} // namespace

/// Random labels are valid classes.
llvm::Expected<std::vector<HostTensor>>
GradientsCommand::makeInputs(const Model &built) const {
  auto sizes = parseDims(model.dims);
  if (!sizes)
    return sizes.takeError();
  auto feed = makeFeed(built, *sizes, inputs);
  const int64_t classes = read.training.classes;
  if (!feed || classes < 1)
    return feed;
  auto given = parseInputs(inputs.inputs);
  if (!given)
    return given.takeError();
  for (auto [port, tensor] : llvm::zip(built.inputs(), *feed)) {
    if (port.name != training.targetName())
      continue;
    if (llvm::any_of(*given, [&, name = port.name](const InputFile &file) {
          return file.name == name;
        })) {
      if (auto status =
              mlc::runtime::train::checkLabels(tensor, classes, port.name);
          !status.ok())
        return statusFailure(status);
      continue;
    }
    auto *labels = reinterpret_cast<int64_t *>(tensor.data.get());
    for (size_t i = 0; i < tensor.bytes / sizeof(int64_t); ++i)
      labels[i] %= classes;
  }
  return feed;
}

llvm::Error GradientsCommand::write(llvm::ArrayRef<std::string> names,
                                    llvm::ArrayRef<mlc_tensor> tensors) const {
  std::vector<mlc::runtime::NpzItem> items;
  for (auto [name, tensor] : llvm::zip(names, tensors))
    items.push_back(
        {name, static_cast<mlc::runtime::DType>(tensor.type),
         std::vector<int64_t>(tensor.dims, tensor.dims + tensor.rank),
         tensor.data, tensor.bytes});
  return writeNpz(outputNpz, items);
}

static std::string dimsText(llvm::ArrayRef<int64_t> dims) {
  std::string text;
  for (int64_t dim : dims)
    text += (text.empty() ? "" : ", ") + std::to_string(dim);
  return "[" + text + "]";
}

void GradientsCommand::print(llvm::ArrayRef<Result> results) const {
  size_t width = 6, dimsWidth = 4;
  for (const Result &result : results) {
    width = std::max(width, printable(result.name).size());
    dimsWidth = std::max(dimsWidth, dimsText(result.dims).size());
  }
  for (const Weight &weight : read.weights)
    width = std::max(width, printable(weight.name).size());
  auto cell = [](llvm::StringRef text, size_t width) {
    return llvm::left_justify(text, width + 2);
  };
  llvm::raw_ostream &os = llvm::outs();
  auto line = [&](const Result &result) {
    os << llvm::format("%.6e", result.norm);
    if (result.error)
      os << llvm::format("  %.1e", *result.error);
    os << '\n';
  };
  os << cell("loss", width) << cell("", dimsWidth);
  line(results.front());
  os << '\n'
     << cell("weight", width) << cell("dims", dimsWidth) << "|gradient|"
     << (reference ? "    error" : "") << '\n';
  for (const Result &result : results.drop_front()) {
    os << cell(printable(result.name), width)
       << cell(dimsText(result.dims), dimsWidth);
    line(result);
  }
  bool isFirst = true;
  for (const Weight &weight : read.weights) {
    if (weight.frozen.empty())
      continue;
    if (isFirst)
      os << "\nfrozen\n";
    isFirst = false;
    os << cell(printable(weight.name), width)
       << cell(dimsText(weight.dims), dimsWidth) << weight.frozen << '\n';
  }
  if (const auto &report = read.compilation->getMemoryReport())
    os << '\n' << describe(*report, llvm::cantFail(budget.bytes())) << '\n';
}

void GradientsCommand::printJson(llvm::ArrayRef<Result> results,
                                 const mlc_memory &used) const {
  auto number = [](double value) -> json::Value {
    // JSON has no infinity.
    return std::isfinite(value)
               ? json::Value(value)
               : json::Value(std::isnan(value) ? "nan" : "inf");
  };
  auto describe = [&](const Result &result, llvm::StringRef what) {
    json::Object object{{what, number(result.norm)}};
    if (result.error)
      object["error"] = number(*result.error);
    return object;
  };
  json::Object root = describe(results.front(), "loss");
  json::Array gradients, frozen;
  for (const Result &result : results.drop_front()) {
    json::Object object = describe(result, "norm");
    object["weight"] = json::fixUTF8(result.name);
    object["dims"] = json::Array(result.dims);
    gradients.push_back(std::move(object));
  }
  for (const Weight &weight : read.weights)
    if (!weight.frozen.empty())
      frozen.push_back(json::Object{{"weight", json::fixUTF8(weight.name)},
                                    {"why", weight.frozen}});
  root["gradients"] = std::move(gradients);
  root["frozen"] = std::move(frozen);
  root["arena_bytes"] = used.arena_bytes;
  if (const auto &report = read.compilation->getMemoryReport())
    root["memory"] = toJson(*report, llvm::cantFail(budget.bytes()));
  llvm::outs() << llvm::formatv("{0:2}", json::Value(std::move(root))) << '\n';
}

llvm::Error GradientsCommand::checkOutput() const {
  if (outputNpz.empty())
    return llvm::Error::success();
  std::vector<std::string> inputFiles = read.compilation->getInputFiles();
  auto given = parseInputs(inputs.inputs);
  if (!given)
    return given.takeError();
  for (const InputFile &file : *given)
    inputFiles.push_back(file.path);
  for (const Weight *weight : read.trained())
    if (weight->name == "loss")
      return fail(Exit::Usage, model.model +
                                   ": a weight is called 'loss', as the loss "
                                   "is in --output-npz; give it another name, "
                                   "or --freeze=loss");
  return refuseInputs({outputNpz.getValue()}, inputFiles);
}

llvm::Error GradientsCommand::printProfile(const Model &built,
                                           Session &session) const {
  constexpr unsigned runs = 5;
  auto peak = findPeak(built, "", device.device, threads);
  if (!peak)
    return peak.takeError();
  auto steps = measureSteps(built, session, runs, std::move(*peak));
  if (!steps)
    return steps.takeError();
  steps->print(asJson ? llvm::errs() : llvm::outs());
  return llvm::Error::success();
}

/// An error after everything is printed and written, so that scripts notice
/// values that are not finite.
llvm::Error
GradientsCommand::checkFinite(llvm::ArrayRef<Result> results) const {
  std::string names;
  for (const Result &result : results)
    if (!std::isfinite(result.norm))
      names += (names.empty() ? "" : ", ") +
               (&result == results.begin()
                    ? std::string("the loss")
                    : "the gradient of '" + printable(result.name) + "'");
  if (names.empty())
    return llvm::Error::success();
  return fail(Exit::Unknown,
              model.model + ": not finite: " + names +
                  (std::isfinite(results.front().norm)
                       ? "; the model is infinitely steep at these inputs"
                       : "; see whether the inputs are what the model takes"));
}

llvm::Error GradientsCommand::run() {
  if (llvm::Error error = training.compileTo.check(budget))
    return error;
  auto bytes = budget.bytes();
  if (!bytes)
    return bytes.takeError();
  auto trainingModel = readTrainingModel(model, training);
  if (!trainingModel)
    return trainingModel.takeError();
  read = std::move(*trainingModel);
  Compilation &compilation = *read.compilation;
  if (training.compileTo.isGiven())
    return training.compileTo.write(compilation, "");
  compilation.limitMemory(*bytes);
  if (llvm::Error error = checkOutput())
    return error;
  mlir::OwningOpRef<mlir::ModuleOp> definition;
  if (reference)
    definition = compilation.getModule().clone();
  auto built = compilation.build();
  if (!built)
    return built.takeError();
  auto feed = makeInputs(*built);
  if (!feed)
    return feed.takeError();
  std::vector<HostTensor> wide;
  if (reference) {
    auto values = evaluateInDouble(
        model.model, definition->lookupSymbol<mlir::func::FuncOp>("main"),
        *feed);
    if (!values)
      return values.takeError();
    wide = std::move(*values);
  }
  auto session = Session::create(*built, device.device, threads,
                                 profile ? MLC_SESSION_PROFILE : 0);
  if (!session)
    return session.takeError();
  if (llvm::Error error = session->bind(std::move(*feed)))
    return error;
  if (llvm::Error error = session->run())
    return error;

  std::vector<std::string> names{"loss"};
  for (const Weight *weight : read.trained())
    names.push_back(weight->name);
  std::vector<mlc_tensor> tensors;
  std::vector<Result> results;
  for (auto [i, name] : llvm::enumerate(names)) {
    auto got = session->output(i);
    if (!got)
      return got.takeError();
    Result result{name, {got->dims, got->dims + got->rank}, normOf(*got), {}};
    if (i == 0)
      result.norm = elementOf(*got, 0);
    tensors.push_back(*got);
    if (reference) {
      tensors.back() = viewOf(wide[i]);
      result.error = errorOf(*got, tensors.back());
    }
    results.push_back(std::move(result));
  }
  if (!outputNpz.empty())
    if (llvm::Error error = write(names, tensors))
      return error;
  auto memory = session->memory();
  if (!memory)
    return memory.takeError();
  asJson ? printJson(results, *memory) : print(results);
  if (profile)
    if (llvm::Error error = printProfile(*built, *session))
      return error;
  return checkFinite(results);
}

std::unique_ptr<Command> mlc::cli::makeGradientsCommand() {
  return std::make_unique<GradientsCommand>();
}
