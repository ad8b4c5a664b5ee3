//===- LearnCosts.cpp - Learns what operators take ------------------------===//

#include "tools/mlc/LearnCosts.h"
#include "dialects/Definition/OpInterfaces.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "rewrites/Cost/Cost.h"
#include "simulator/iteration/Fit.h"
#include "tools/mlc/BoostedTrees.h"
#include "tools/mlc/Build.h"
#include "tools/mlc/Failure.h"
#include "llvm/Support/Path.h"
#include <cmath>
#include <fmt/format.h>
#include <numeric>
#include <set>

using namespace mlc;
using namespace mlc::cli;
namespace json = llvm::json;

namespace {

/// An operator that was measured.
struct MeasuredOperator {
  std::string signature, name;
  CostFeatures features;
  double seconds = 0;
};

/// Reads operators by their signatures.
class SignatureReader {
public:
  SignatureReader(const Target &target) : cost(target.cost) {
    mlir::DialectRegistry registry;
    registerCompilerDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  llvm::Expected<MeasuredOperator> read(const std::string &signature,
                                        double seconds,
                                        llvm::ArrayRef<std::string> operators);

private:
  mlir::Operation *parse(llvm::StringRef signature, mlir::Block &block);

  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  const CostModel cost;
};

} // namespace

/// The operator of `NAME {ATTRIBUTES} : (TYPES) -> TYPES`, in the block, whose
/// arguments are its operands; null if there is no such operator.
mlir::Operation *SignatureReader::parse(llvm::StringRef signature,
                                        mlir::Block &block) {
  const auto [name, rest] = signature.split(' ');
  const auto [attributes, types] = rest.rsplit(" : (");
  auto known = mlir::RegisteredOperationName::lookup(name, &context);
  if (!known || !known->hasInterface<DefinitionOpInterface>())
    return nullptr;
  auto dictionary = llvm::dyn_cast_or_null<mlir::DictionaryAttr>(
      mlir::parseAttribute(attributes, &context));
  // Of one result it is a function's type without parentheses.
  auto function = llvm::dyn_cast_or_null<mlir::FunctionType>(
      mlir::parseType(("(" + types).str(), &context));
  if (!dictionary || !function)
    return nullptr;
  const mlir::Location loc = mlir::UnknownLoc::get(&context);
  mlir::OperationState state(loc, *known);
  for (mlir::Type type : function.getInputs())
    state.operands.push_back(block.addArgument(type, loc));
  state.addTypes(function.getResults());
  state.addAttributes(dictionary.getValue());
  mlir::Operation *op = mlir::Operation::create(state);
  block.push_back(op);
  return mlir::failed(mlir::verify(op)) ? nullptr : op;
}

llvm::Expected<MeasuredOperator>
SignatureReader::read(const std::string &signature, double seconds,
                      llvm::ArrayRef<std::string> operators) {
  mlir::Block block;
  std::string why;
  mlir::ScopedDiagnosticHandler handler(&context,
                                        [&](mlir::Diagnostic &diagnostic) {
                                          if (why.empty())
                                            why = ": " + diagnostic.str();
                                          return mlir::success();
                                        });
  mlir::Operation *op = parse(signature, block);
  if (!op)
    return llvm::createStringError(
        "mlc has no operator '" + llvm::StringRef(signature).take_front(200) +
        "'" + why + "; measure again (mlc calibrate MODEL --timings)");
  return MeasuredOperator{signature, op->getName().getStringRef().str(),
                          cost.featuresOf(op, operators), seconds};
}

/// Ranks from 0; equal values share the mean of theirs.
static std::vector<double> ranksOf(llvm::ArrayRef<double> values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  llvm::stable_sort(order,
                    [&](size_t a, size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (size_t first = 0, last = 0; first < order.size(); first = last) {
    while (last < order.size() && values[order[last]] == values[order[first]])
      ++last;
    for (size_t i = first; i < last; ++i)
      ranks[order[i]] = double(first + last - 1) / 2;
  }
  return ranks;
}

/// Pearson's correlation of the ranks.
static double spearman(llvm::ArrayRef<double> a, llvm::ArrayRef<double> b) {
  const std::vector<double> x = ranksOf(a), y = ranksOf(b);
  const double mean = double(x.size() - 1) / 2;
  double xx = 0, yy = 0, xy = 0;
  for (auto [one, other] : llvm::zip(x, y)) {
    xx += (one - mean) * (one - mean);
    yy += (other - mean) * (other - mean);
    xy += (one - mean) * (other - mean);
  }
  return xy / std::sqrt(xx * yy);
}

static RankAgreement agree(llvm::ArrayRef<double> predicted,
                           llvm::ArrayRef<double> measured) {
  RankAgreement found{spearman(predicted, measured),
                      simulator::kendallTau(predicted, measured), 0};
  for (auto [one, other] : llvm::zip(predicted, measured))
    found.error += std::abs(std::log(one / other)) / double(measured.size());
  return found;
}

static llvm::Expected<LearnedCosts>
learnFrom(llvm::ArrayRef<const MeasuredOperator *> rows,
          llvm::ArrayRef<std::string> operators) {
  std::vector<std::vector<float>> values;
  std::vector<float> labels;
  for (const MeasuredOperator *row : rows) {
    values.push_back(row->features.values);
    labels.push_back(
        float(std::log(row->seconds / row->features.analyticSeconds)));
  }
  auto trees = BoostedTrees::learn(values, labels);
  if (!trees)
    return trees.takeError();
  LearnedCosts learned;
  learned.operators = operators;
  learned.base = trees->base;
  learned.trees = std::move(trees->trees);
  return learned;
}

namespace {

/// What trees and the analytic model say of operators that were held out.
struct Predictions {
  std::vector<double> learned, analytic, measured;

  void add(const LearnedCosts &costs, const MeasuredOperator &one) {
    learned.push_back(costs.seconds(one.features));
    analytic.push_back(one.features.analyticSeconds);
    measured.push_back(one.seconds);
  }
  HeldOutFile judge(llvm::StringRef file) const {
    return {file.str(), measured.size(), agree(learned, measured),
            agree(analytic, measured)};
  }
};

} // namespace

/// Learns without each of the files in turn.
static llvm::Error
holdOut(llvm::ArrayRef<std::vector<MeasuredOperator>> measured,
        llvm::ArrayRef<std::string> files,
        llvm::ArrayRef<std::string> operators, CostLearning &result) {
  Predictions together;
  for (auto [file, own] : llvm::zip(files, measured)) {
    std::set<llvm::StringRef> hidden;
    for (const MeasuredOperator &one : own)
      hidden.insert(one.signature);
    std::vector<const MeasuredOperator *> rest;
    for (const std::vector<MeasuredOperator> &others : measured)
      for (const MeasuredOperator &one : others)
        if (!hidden.count(one.signature))
          rest.push_back(&one);
    if (rest.empty() || own.empty())
      continue;
    auto learned = learnFrom(rest, operators);
    if (!learned)
      return learned.takeError();
    Predictions predictions;
    for (const MeasuredOperator &one : own) {
      predictions.add(*learned, one);
      together.add(*learned, one);
    }
    result.heldOut.push_back(
        predictions.judge(llvm::sys::path::filename(file)));
  }
  if (!together.measured.empty())
    result.together = together.judge("all together");
  return llvm::Error::success();
}

llvm::Expected<CostLearning> cli::learnCosts(llvm::ArrayRef<std::string> files,
                                             const Target &target) {
  std::vector<TimingCache> caches;
  std::set<std::string> names;
  CostLearning result;
  result.cache.target = target.name;
  for (const std::string &file : files) {
    auto cache = readTimings(file, target);
    if (!cache)
      return cache.takeError();
    for (const auto &[signature, seconds] : cache->timings) {
      names.insert(llvm::StringRef(signature).split(' ').first.str());
      auto [it, isNew] = result.cache.timings.try_emplace(signature, seconds);
      it->second = std::min(it->second, seconds);
    }
    caches.push_back(std::move(*cache));
  }
  if (result.cache.timings.empty())
    return fail(Exit::BadFile, files.front() + ": has no operators; measure a "
                                               "model (mlc calibrate MODEL "
                                               "--timings)");
  const std::vector<std::string> operators(names.begin(), names.end());
  SignatureReader reader(target);
  std::vector<std::vector<MeasuredOperator>> measured;
  for (auto [file, cache] : llvm::zip(files, caches)) {
    measured.emplace_back();
    for (const auto &[signature, seconds] : cache.timings) {
      auto read = reader.read(signature, seconds, operators);
      if (!read)
        return withFile(file, Exit::BadFile, read.takeError());
      measured.back().push_back(std::move(*read));
    }
  }
  if (llvm::Error error = holdOut(measured, files, operators, result))
    return std::move(error);
  std::vector<const MeasuredOperator *> all;
  for (const std::vector<MeasuredOperator> &own : measured)
    for (const MeasuredOperator &one : own)
      all.push_back(&one);
  auto learned = learnFrom(all, operators);
  if (!learned)
    return learned.takeError();
  result.cache.learned = std::move(*learned);
  return result;
}

static json::Object agreementToJson(const RankAgreement &agreement) {
  json::Object object{{"mean_log_error", agreement.error}};
  if (std::isfinite(agreement.spearman))
    object["spearman"] = agreement.spearman;
  if (std::isfinite(agreement.kendall))
    object["kendall_tau"] = agreement.kendall;
  return object;
}

static json::Object heldOutToJson(const HeldOutFile &one) {
  return json::Object{{"file", one.file},
                      {"operators", int64_t(one.operators)},
                      {"learned", agreementToJson(one.learned)},
                      {"analytic", agreementToJson(one.analytic)}};
}

void cli::printLearning(const CostLearning &learning, bool asJson) {
  const size_t trees = learning.cache.learned->trees.size();
  if (asJson) {
    json::Array files;
    for (const HeldOutFile &one : learning.heldOut)
      files.push_back(heldOutToJson(one));
    json::Object object{{"operators", int64_t(learning.cache.timings.size())},
                        {"trees", int64_t(trees)},
                        {"held_out", std::move(files)}};
    if (learning.together.operators)
      object["together"] = heldOutToJson(learning.together);
    llvm::outs() << json::Value(std::move(object)) << '\n';
    return;
  }
  llvm::outs() << fmt::format("{} trees of {} different operators\n", trees,
                              learning.cache.timings.size());
  if (learning.heldOut.empty())
    return;
  llvm::outs() << fmt::format(
      "each file as learned from the others:\n"
      "  {:<24} {:>9}  {:>26}  {:>26}\n"
      "  {:<24} {:>9}  {:>8} {:>8} {:>8}  {:>8} {:>8} {:>8}\n",
      "", "", "learned", "analytic", "file", "operators", "Spearman", "Kendall",
      "log err", "Spearman", "Kendall", "log err");
  auto print = [](const HeldOutFile &one) {
    llvm::outs() << fmt::format("  {:<24} {:>9}", one.file, one.operators);
    for (const RankAgreement &own : {one.learned, one.analytic})
      llvm::outs() << fmt::format("  {:>8.3f} {:>8.3f} {:>8.3f}", own.spearman,
                                  own.kendall, own.error);
    llvm::outs() << '\n';
  };
  for (const HeldOutFile &one : learning.heldOut)
    print(one);
  print(learning.together);
}
