//===- PlanFlag.cpp - --plan and --print-plan -----------------------------===//

#include "tools/mlc/PlanFlag.h"
#include "runtime/FileBytes.h"
#include "tools/mlc/Failure.h"

using namespace mlc::cli;
namespace cl = llvm::cl;
namespace runtime = mlc::runtime;

PlanFlag::PlanFlag(cl::SubCommand &sub, bool trains)
    : file("plan", cl::value_desc("file.json"),
           cl::desc("Take how the program is split over ranks from this file, "
                    "in the place of the flags that say so (docs/Plan.md)"),
           cl::sub(sub)),
      printsIt("print-plan",
               cl::desc("Print how the program is split over ranks, for "
                        "--plan, and do nothing else"),
               cl::sub(sub)),
      budget(sub), trains(trains) {}

llvm::Expected<mlc::runtime::Plan>
PlanFlag::read(llvm::ArrayRef<const cl::Option *> others) const {
  llvm::SmallVector<const cl::Option *> all(others);
  all.push_back(&budget.option());
  for (const cl::Option *other : all)
    if (other->getNumOccurrences())
      return fail(Exit::Usage, "--plan and --" + other->ArgStr +
                                   " exclude each other; say it in the plan");
  runtime::FileBytes bytes;
  runtime::Plan plan;
  auto status =
      runtime::FileBytes::read(file.c_str(), runtime::maxTextFile, bytes);
  if (status.ok())
    status = runtime::Plan::parse(bytes.text(), trains, plan);
  if (status.ok())
    return plan;
  if (runtime::Plan other;
      trains && runtime::Plan::parse(bytes.text(), false, other).ok() &&
      other.forward)
    status.message = "is of a model without training, which mlc compile takes; "
                     "give a mesh with the axis \"data\" to train";
  status.message = file + ": " + status.message;
  return statusFailure(status);
}
