//===- PlanOriginFlags.cpp - What a plan is for, beside flags -------------===//

#include "tools/mlc/PlanOriginFlags.h"
#include "runtime/Text.h"
#include "tools/mlc/Failure.h"

using namespace mlc;
using namespace mlc::cli;

llvm::Expected<std::string> mlc::cli::chooseCluster(const std::string &given,
                                                    const runtime::Plan &plan) {
  const std::string &planned = plan.origin.cluster;
  if (!given.empty() && !planned.empty() && given != planned)
    return fail(
        Exit::BadFile,
        "the plan is for the \"cluster\": " + runtime::jsonString(planned) +
            ", and --cluster is " + given +
            "; leave --cluster out, or make a plan for that "
            "cluster");
  return !given.empty()     ? given
         : !planned.empty() ? planned
                            : std::string("cluster:this-machine");
}
