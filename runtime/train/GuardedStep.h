//===- GuardedStep.h - A step that spares the weights -----------*- C++ -*-===//
//
// A caller that gives batches one by one may go on after a bad one, so such a
// batch must not cost it the weights.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_TRAIN_GUARDEDSTEP_H
#define MLC_RUNTIME_TRAIN_GUARDEDSTEP_H

#include "runtime/train/Trainer.h"

namespace mlc::runtime::train {

/// Runs the next step as Trainer::run and Trainer::check do. If the reason that
/// its loss or a state is not finite is in the batches, the step has not been
/// done: weights, optimizer states and the number of steps are those of before.
Status runGuarded(Trainer &trainer, BatchSource &source, double rate,
                  double &loss);

} // namespace mlc::runtime::train

#endif // MLC_RUNTIME_TRAIN_GUARDEDSTEP_H
