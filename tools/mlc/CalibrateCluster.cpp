//===- CalibrateCluster.cpp - Constants of a cluster from iterations ------===//

#include "runtime/FileBytes.h"
#include "simulator/cluster/ClusterFile.h"
#include "simulator/iteration/Fit.h"
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

static json::Object toJson(const Agreement &agreement) {
  json::Object object{{"rows", agreement.rows},
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

static void printAgreement(const char *name, const Agreement &agreement) {
  if (agreement.rows)
    llvm::outs() << fmt::format("  {:<14}{:>6}{:>12.1f} %{:>10.1f} %{:>8.3f}\n",
                                name, agreement.rows, 100 * agreement.meanError,
                                100 * agreement.largestError, agreement.tau);
}

static void printText(const FitResult &result, size_t rows) {
  llvm::outs() << fmt::format("fitted to {} of {} iterations\n",
                              result.fittedRows, rows);
  for (size_t i = 0; i < constantCount; ++i)
    llvm::outs() << fmt::format("  {:<24}{:>10.4g}  {}\n", constantRows[i].key,
                                result.cluster.training[i].value,
                                constantRows[i].meaning);
  llvm::outs() << (size_t(result.fittedRows) == rows ? "on all:" : "on others:")
               << fmt::format("  {:>10}{:>14}{:>12}{:>8}\n", "rows",
                              "mean error", "largest", "tau");
  printAgreement("one node", result.oneNode);
  printAgreement("several nodes", result.manyNodes);
  if (result.choices.groups)
    llvm::outs() << fmt::format(
        "the row predicted fastest is {:.1f} % slower than the fastest, at "
        "most {:.1f} %, in {} groups of one node\n",
        100 * result.choices.meanLoss, 100 * result.choices.largestLoss,
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
  const FitResult result =
      fit(*cluster, *rows, {request.holdout, request.seed});
  if (request.asJson)
    printJson(result);
  else
    printText(result, rows->size());
  if (request.output.empty())
    return llvm::Error::success();
  return writeOutput(request.output, [&](llvm::raw_ostream &os) {
    os << writeCluster(result.cluster);
    return llvm::Error::success();
  });
}
