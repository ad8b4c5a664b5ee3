//===- CalibrateCluster.cpp - Constants of a cluster from iterations ------===//

#include "runtime/FileBytes.h"
#include "simulator/cluster/ClusterFile.h"
#include "simulator/iteration/Fit.h"
#include "simulator/iteration/GptIteration.h"
#include "tools/mlc/ClusterFiles.h"
#include "tools/mlc/Failure.h"
#include "tools/mlc/OutputFile.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include <cmath>
#include <fmt/format.h>

using namespace mlc;
using namespace mlc::cli;
using namespace mlc::simulator;
namespace json = llvm::json;

static llvm::Expected<std::vector<Iteration>>
readAll(llvm::ArrayRef<std::string> files, const Cluster &cluster) {
  std::vector<Iteration> all;
  for (const std::string &file : files) {
    runtime::FileBytes bytes;
    std::vector<Iteration> rows;
    auto status =
        runtime::FileBytes::read(file.c_str(), runtime::maxTextFile, bytes);
    if (status.ok())
      status = readIterations(bytes.text(), cluster, rows);
    if (!status.ok()) {
      status.message = file + ": " + status.message;
      return statusFailure(status);
    }
    all.insert(all.end(), rows.begin(), rows.end());
  }
  return all;
}

/// Tiny rates make sums overflow, and nothing can be fitted to infinity.
static llvm::Error checkPredictions(const std::string &name,
                                    const Cluster &cluster,
                                    llvm::ArrayRef<Iteration> rows) {
  for (const Iteration &row : rows)
    if (!std::isfinite(predict(cluster, row).total()))
      return fail(Exit::BadFile,
                  name + ": an iteration on " + llvm::Twine(row.gpus) +
                      " gpus would never end on it; give larger rates");
  return llvm::Error::success();
}

static json::Object toJson(const Agreement &agreement) {
  json::Object object{{"rows", agreement.rows},
                      {"held_out", agreement.heldOut},
                      {"mean_error", agreement.meanError},
                      {"largest_error", agreement.largestError}};
  if (std::isfinite(agreement.tau))
    object["kendall_tau"] = agreement.tau;
  return object;
}

static void printJson(const FitResult &result) {
  json::Object constants;
  for (size_t i = 0; i < constantCount; ++i)
    constants[constantRows[i].key] = result.cluster.training[i].value;
  llvm::outs() << llvm::formatv(
      "{0:2}\n",
      json::Value(json::Object{
          {"fitted_rows", result.fittedRows},
          {"constants", std::move(constants)},
          {"one_node", toJson(result.oneNode)},
          {"several_nodes", toJson(result.manyNodes)},
          {"choice",
           json::Object{{"groups", result.choices.groups},
                        {"mean_loss", result.choices.meanLoss},
                        {"largest_loss", result.choices.largestLoss}}}}));
}

/// "12.3 %", and "1.23e+09 %" of what is absurd.
static std::string percent(double share) {
  const double value = 100 * share;
  return value < 1e5 ? fmt::format("{:.1f} %", value)
                     : fmt::format("{:.3g} %", value);
}

static void printAgreement(const char *name, const Agreement &agreement) {
  if (agreement.rows)
    llvm::outs() << fmt::format(
        "  {:<14} {:>5} {:>13} {:>11} {:>7}\n", name, agreement.rows,
        percent(agreement.meanError), percent(agreement.largestError),
        std::isfinite(agreement.tau) ? fmt::format("{:.3f}", agreement.tau)
                                     : "-");
}

/// Says where errors are of rows that were fitted although some were to be held
/// out.
static void printSeen(const char *name, const Agreement &agreement,
                      double holdout) {
  if (agreement.rows && !agreement.heldOut && holdout > 0)
    llvm::outs() << fmt::format(
        "{}: too few rows to hold {:g} of them out; the errors are on rows "
        "that were fitted\n",
        name, holdout);
}

static void printText(const FitResult &result, size_t rows, double holdout) {
  llvm::outs() << fmt::format("fitted to {} of {} iterations\n",
                              result.fittedRows, rows);
  for (size_t i = 0; i < constantCount; ++i)
    llvm::outs() << fmt::format("  {:<24} {:>9.4g}  {}\n", constantRows[i].key,
                                result.cluster.training[i].value,
                                constantRows[i].meaning);
  llvm::outs() << (size_t(result.fittedRows) == rows ? "on all:" : "on others:")
               << fmt::format("  {:>10}{:>14}{:>12}{:>8}\n", "rows",
                              "mean error", "largest", "tau");
  printAgreement("one node", result.oneNode);
  printAgreement("several nodes", result.manyNodes);
  printSeen("one node", result.oneNode, holdout);
  printSeen("several nodes", result.manyNodes, holdout);
  if (result.choices.groups)
    llvm::outs() << fmt::format(
        "the row predicted fastest is {} slower than the fastest, at most {}, "
        "in {} groups of one node\n",
        percent(result.choices.meanLoss), percent(result.choices.largestLoss),
        result.choices.groups);
}

llvm::Error cli::fitCluster(const FitRequest &request) {
  if (!(request.holdout >= 0 && request.holdout < 1))
    return fail(Exit::Usage, "--holdout: expected a share from 0 to below 1");
  auto cluster = openCluster(request.cluster);
  if (!cluster)
    return cluster.takeError();
  if (!request.output.empty())
    if (llvm::Error error = refuseInputs({request.output}, request.iterations))
      return error;
  auto rows = readAll(request.iterations, *cluster);
  if (!rows)
    return rows.takeError();
  if (llvm::Error error = checkPredictions(request.cluster, *cluster, *rows))
    return error;
  const FitResult result =
      fit(*cluster, *rows, {request.holdout, request.seed});
  if (request.asJson)
    printJson(result);
  else
    printText(result, rows->size(), request.holdout);
  if (request.output.empty())
    return llvm::Error::success();
  return writeOutput(request.output, [&](llvm::raw_ostream &os) {
    os << writeCluster(result.cluster);
    return llvm::Error::success();
  });
}
