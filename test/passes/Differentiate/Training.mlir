// RUN: mlc-opt %s --mlc-add-gradients="loss=mse target-input=t" | FileCheck %s --check-prefix=GRADIENTS
// RUN: mlc-opt %s --mlc-drop-unread-parameters --mlc-add-training-step="loss=cross-entropy optimizer=adamw states=true scale-loss=yes evaluate=true" | FileCheck %s --check-prefix=STEP
// RUN: mlc-opt %s --mlc-add-training-step="loss=mse optimizer=momentum states=true accumulate=2 scale-loss=half" | FileCheck %s --check-prefix=TWO
// RUN: mlc-opt %s --mlc-add-training-step="loss=mse optimizer=sgd states=true compute-alone=true apart=true" | FileCheck %s --check-prefix=ALONE
// RUN: mlc-opt %s --mlc-drop-unread-parameters --mlc-add-training-step="loss=cross-entropy states=true evaluate=true count-right=true" | FileCheck %s --check-prefix=RIGHT
// RUN: not mlc-opt %s --mlc-add-training-step="loss=mse states=true evaluate=true count-right=true" 2>&1 | FileCheck %s --check-prefix=CLASSES
// RUN: not mlc-opt %s --mlc-add-gradients=loss=l1 2>&1 | FileCheck %s --check-prefix=LOSS
// RUN: not mlc-opt %s --mlc-add-training-step="loss=mse optimizer=adagrad" 2>&1 | FileCheck %s --check-prefix=OPTIMIZER
// RUN: not mlc-opt %s --mlc-add-training-step="loss=mse scale-loss=maybe" 2>&1 | FileCheck %s --check-prefix=SCALE
// RUN: not mlc-opt %s --mlc-add-gradients="loss=mse loss-of=a" 2>&1 | FileCheck %s --check-prefix=OUTPUT
// LOSS: no loss 'l1'; there are output, mse, cross-entropy
// OPTIMIZER: no optimizer 'adagrad'; there are sgd, momentum, adam, adamw
// CLASSES: counts right labels of a cross-entropy loss alone
// SCALE: no scale-loss 'maybe'; there are no, yes, half
// OUTPUT: no output 'a' to take the loss of; it has 'y', 'z'

// GRADIENTS: func.func @main(
// GRADIENTS-SAME: {mlc.name = "x", mlc.sample}
// GRADIENTS-SAME: tensor<8x2xf32> {mlc.name = "t", mlc.sample}
// GRADIENTS-SAME: {mlc.name = "w", mlc.parameter
// GRADIENTS-SAME: -> (tensor<f32> {mlc.name = "loss"}, tensor<4x2xf32> {mlc.name = "w"}, tensor<3xf32> {mlc.name = "u"},

// What the loss does not read is no state; labels say how many classes there
// are. The running statistic is moved, whatever the loss reads.
// STEP: module attributes {mlc.roles = {"first moment/w" = ["moment", "w"], {{.*}}"weight/m" = ["statistic", "m"], "weight/w" = ["weight", "w"]}, mlc.unread = ["u"]}
// STEP: func.func @step(
// STEP-SAME: {mlc.name = "x", mlc.sample}
// STEP-SAME: tensor<8xi64> {mlc.classes = 2 : i64, mlc.name = "target", mlc.sample}
// STEP-SAME: tensor<f32> {mlc.name = "learning rate", mlc.role = "learning rate"}
// STEP-SAME: tensor<f32> {mlc.name = "loss scale", mlc.role = "loss scale"}
// STEP-SAME: mlc.state = "weight/w"}
// STEP-SAME: mlc.state = "weight/m"}
// STEP-SAME: mlc.state = "first moment/w"}
// STEP-NOT: "weight/u"
// STEP: func.func @evaluate(

// RIGHT: func.func @evaluate(
// RIGHT-SAME: -> (tensor<f32> {mlc.name = "loss"}, tensor<f32> {mlc.name = "right"})
// RIGHT: mlc.arg_max

// Nothing is of float16, so that nothing is scaled.
// TWO: func.func @accumulate(
// TWO-NOT: mlc.role = "loss scale"
// TWO-SAME: mlc.state = "gradient/w"
// TWO: func.func @apply(
// TWO-SAME: mlc.state = "momentum/w"

// It is applied elsewhere.
// ALONE: func.func @accumulate(
// ALONE-NOT: @apply
func.func @main(%x: tensor<8x4xf32> {mlc.name = "x"},
    %w: tensor<4x2xf32> {mlc.name = "w", mlc.parameter = dense<0.5> : tensor<4x2xf32>},
    %u: tensor<3xf32> {mlc.name = "u", mlc.parameter = dense<0.5> : tensor<3xf32>},
    %m: tensor<4xf32> {mlc.name = "m", mlc.parameter = dense<0.5> : tensor<4xf32>})
    -> (tensor<8x2xf32> {mlc.name = "y"}, tensor<3xf32> {mlc.name = "z"}, tensor<4xf32> {mlc.name = "m", mlc.updates = "m"}) {
  %y = mlc.matmul %x, %w : (tensor<8x4xf32>, tensor<4x2xf32>) -> tensor<8x2xf32>
  %z = mlc.relu %u : (tensor<3xf32>) -> tensor<3xf32>
  %n = mlc.neg %m : (tensor<4xf32>) -> tensor<4xf32>
  return %y, %z, %n : tensor<8x2xf32>, tensor<3xf32>, tensor<4xf32>
}
