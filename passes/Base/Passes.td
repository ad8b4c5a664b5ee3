//===- Passes.td - The passes and their options ------------*- tablegen -*-===//
//
// The passes that mlc-opt and the plugin know by name. Pipeline.cpp has their
// order in a compilation, and the reasons.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_PASSES_BASE_PASSES_TD
#define MLC_PASSES_BASE_PASSES_TD

include "mlir/Pass/PassBase.td"

/// A pass whose result depends on the target, with `more` options.
class TargetPass<string name, list<Option> more = []>
    : Pass<name, "::mlir::ModuleOp"> {
  list<Option> options = !listconcat([
    Option<"targetName", "target", "std::string", [{"cpu:x86-64-v3"}],
           "what code is made for: a target's name or its file">
  ], more);
}

def ApplyRulesPass : Pass<"mlc-apply-rules", "::mlir::ModuleOp"> {
  let summary = "apply proved rewrites where they pay on a target";
  let description = [{
    Searches every function, with the shipped rules and those of `rules`, for
    what is cheapest on the target. No rule is applied that has not been proved.
    What was applied is written to the module's `mlc.trail`.
  }];
  let options = [
    Option<"targetName", "target", "std::string", [{"cpu"}],
           "target whose costs decide">,
    Option<"engine", "search", "std::string", [{"egraph"}],
           "egraph, greedy, backtracking">,
    ListOption<"files", "rules", "std::string",
               "files of more rules, proved when they are read">];
  let dependentDialects = ["::mlc::MlcDialect", "::mlc::rule::RuleDialect",
                           "::mlir::func::FuncDialect"];
}

def ConstantFoldPass : Pass<"mlc-fold-constants", "::mlir::func::FuncOp"> {
  let summary = "compute what depends on constants alone";
  let description = [{
    Operators whose operands are all known are carried out by the reference
    evaluator, and arithmetic on shapes by the rules of integer expressions.
    What would take more memory than it saves stays.
  }];
  let dependentDialects = ["::mlc::MlcDialect"];
}

def DifferentiatePass : Pass<"mlc-differentiate", "::mlir::ModuleOp"> {
  let summary = "the gradient of a function, as a function";
  let description = [{
    Adds @NAME_gradient: of the arguments of @NAME and then the cotangents of
    its results of floats to the gradients of its arguments of floats, each in
    order. Gradients are matrix products and convolutions where these suffice,
    else `mlc.compute` with index maps solved for the loops
    (docs/Differentiation.md). An operator without a gradient is an error.
  }];
  let options = [Option<"name", "function", "std::string", [{"main"}],
                        "function that is differentiated">];
  let dependentDialects = ["::mlc::MlcDialect", "::mlir::func::FuncDialect"];
}

def BucketPass : Pass<"mlc-bucket", "::mlir::ModuleOp"> {
  let summary = "one transfer for the reductions of several gradients";
  let description = [{
    `dist.all_reduce` and `dist.reduce_scatter` of single gradients become ones of
    several, filled in the order in which the gradients are computed. `ddp`: a
    bucket is full when it has as many bytes as its limit or more, as PyTorch's
    DistributedDataParallel fills them once it has seen a step. `horovod`: it has
    no more bytes than its limit. Each stands directly behind the last gradient
    that it takes; what reads it comes behind what reads none. Reductions that
    larger ones depend on, and those that change no state, stay as they are.
  }];
  let options = [
    Option<"fusion", "fusion", "std::string", [{"ddp"}], "ddp, horovod">,
    Option<"bucketBytes", "bucket-bytes", "uint64_t", "0",
           "bytes of a bucket; 0: 25 MiB, with horovod 64 MiB">,
    Option<"firstBucketBytes", "first-bucket-bytes", "uint64_t", "0",
           "bytes of the first one; 0: 1 MiB, or bucket-bytes if that is given">];
  let dependentDialects = ["::mlc::dist::DistDialect"];
}

def DistributeTrainingPass : Pass<"mlc-distribute-training", "::mlir::ModuleOp"> {
  let summary = "shardings for training with the batch split over ranks";
  let description = [{
    Gives the entries of training (docs/Training.md) a mesh. Over its axis
    `data` inputs are split along the samples, states are whole or split as
    `zero` says: 1: what the optimizer keeps, 2: sums of gradients too, 3: weights
    too. Sums of gradients that are not split are each rank's own. Over other axes
    weights, with what belongs to them, and inputs are split by name.
  }];
  let options = [
    Option<"ranks", "ranks", "int64_t", "1", "how many">,
    Option<"zero", "zero", "unsigned", "0", "stage of ZeRO, 0 to 3">,
    ListOption<"mesh", "mesh", "std::string",
               "axes beside data, each AXIS=N in order">,
    Option<"outerAxes", "outer-axes", "unsigned", "0",
           "how many of these come before data">,
    ListOption<"shardings", "shard", "std::string",
               "NAME=AXIS:..., an axis for each dim, or -; * stands for any "
               "characters">,
    ListOption<"batchStages", "batch-stages", "std::string",
               "AXIS=STAGE:..., stages whose samples the axis splits too">,
    Option<"prefetchLimit", "prefetch-limit", "int64_t", "-1",
           "bytes of weights that are gathered before they are read, and of "
           "gradients that wait to be scattered; -1: nothing is said">,
    Option<"hasServer", "server", "bool", "false",
           "ranks are workers of a server, and return terms of the loss">];
  let dependentDialects = ["::mlc::dist::DistDialect"];
}

def CheckWorkersPass : Pass<"mlc-check-workers", "::mlir::ModuleOp"> {
  let summary = "workers of a server exchange nothing within a step";
  let description = [{
    An operator that exchanges something between ranks is an error.
  }];
}

def LocalStatisticsPass : Pass<"mlc-localize-statistics", "::mlir::ModuleOp"> {
  let summary = "batch statistics of groups of samples";
  let description = [{
    The means over a batch that batch normalization in training form takes in
    @main, a model as it is imported, become those of groups of samples, each for
    its own. What else reads one, as a running statistic does, has that of the
    first group.
  }];
  let options = [Option<"groups", "groups", "int64_t", "1", "how many">];
  let dependentDialects = ["::mlc::MlcDialect"];
}

def ShardPass : Pass<"mlc-shard", "::mlir::ModuleOp"> {
  let summary = "a mesh, and shardings by the names of tensors";
  let description = [{
    The module gets the mesh, and inputs, weights and outputs of @main the
    shardings that are given by their names (docs/Partitioning.md). Weights that
    are parameters and of which something is said become states, of which each
    rank has its part. Outputs of which nothing is said are whole.
  }];
  let options = [
    ListOption<"mesh", "mesh", "std::string", "axes, AXIS=N each">,
    ListOption<"shardings", "shard", "std::string",
               "NAME=AXIS:AXIS... each, - for a dim that is whole, as those "
               "behind the last; NAME* is all that begin so, and of several the "
               "last counts">];
  let dependentDialects = ["::mlc::dist::DistDialect"];
}

def PinPass : Pass<"mlc-pin", "::mlir::ModuleOp"> {
  let summary = "shardings of tensors inside a model, by the names of nodes";
  let description = [{
    Of each node of @main, a model as it is imported, that a sharding calls by
    its whole name, the last operator's result is wanted where the sharding says
    (`dist.pin`), and so will be its gradient. The partitioner keeps to it.
    Names of inputs, weights and outputs are theirs.
  }];
  let options = [
    ListOption<"mesh", "mesh", "std::string", "axes, AXIS=N each">,
    ListOption<"shardings", "shard", "std::string",
               "NODE=AXIS:AXIS... each, - for a dim that is whole">,
    Option<"leaves", "leaves", "std::string", "",
           "an axis of which nothing is said">];
  let dependentDialects = ["::mlc::dist::DistDialect"];
}

def UnreadParametersPass
    : Pass<"mlc-drop-unread-parameters", "::mlir::ModuleOp"> {
  let summary = "parameters that the loss does not depend on are constants";
  let description = [{
    Of @main, a model whose weights are arguments with `mlc.parameter`: those that
    the output which the loss is of does not depend on become constants, in all
    functions. Their names are written to the module's `mlc.unread`.
  }];
  let options = [Option<"output", "loss-of", "std::string", [{""}],
                        "output that the loss is of; the first">];
  let dependentDialects = ["::mlc::MlcDialect"];
}

/// A pass that adds a loss to @main, with `more` options.
class LossPass<string name, list<Option> more = []>
    : Pass<name, "::mlir::ModuleOp"> {
  list<Option> options = !listconcat([
    Option<"loss", "loss", "std::string", [{"output"}],
           "output, mse, cross-entropy">,
    Option<"output", "loss-of", "std::string", [{""}],
           "output that the loss is of; the first">,
    Option<"target", "target-input", "std::string", [{"target"}],
           "what the target is called among the inputs">,
    Option<"classAxis", "class-axis", "int64_t", "1",
           "axis of the classes, from the end where negative">,
    Option<"autocast", "autocast", "std::string", [{"none"}],
           "round what products read and give: none, f16, bf16">
  ], more);
}

def GradientsPass : LossPass<"mlc-add-gradients"> {
  let summary = "of a model, its loss and the gradients of its weights";
  let description = [{
    @main, a model whose weights are arguments with `mlc.parameter`, becomes what
    `mlc gradients` computes: of the inputs, the target and the weights the loss
    and the gradient of each weight. Arguments that samples are of have
    `mlc.sample`, labels `mlc.classes`.
  }];
  let dependentDialects = ["::mlc::MlcDialect", "::mlir::func::FuncDialect"];
}

def TrainingStepPass : LossPass<"mlc-add-training-step", [
    Option<"optimizer", "optimizer", "std::string", [{"sgd"}],
           "sgd, momentum, adam, adamw">,
    Option<"momentum", "momentum", "double", "0.9", "of momentum">,
    Option<"nesterov", "nesterov", "bool", "false", "of momentum: Nesterov's">,
    Option<"beta1", "beta1", "double", "0.9", "of adam and adamw">,
    Option<"beta2", "beta2", "double", "0.999", "of adam and adamw">,
    Option<"epsilon", "epsilon", "double", "1e-8", "of adam and adamw">,
    Option<"weightDecay", "weight-decay", "double", "0",
           "part of the gradient, or with adamw what a weight shrinks by">,
    Option<"clipNorm", "clip-norm", "double", "0",
           "most that the norm of all gradients is; 0: no limit">,
    Option<"scaleLoss", "scale-loss", "std::string", [{"no"}],
           "no, yes, or half: where a parameter or a factor is of float16; a "
           "step is told how many times larger the loss is, and does nothing "
           "where a gradient is not finite">,
    Option<"states", "states", "bool", "false",
           "weights and what the optimizer keeps are states of entries">,
    Option<"accumulate", "accumulate", "int64_t", "1",
           "of entries: batches of which a step takes the mean">,
    Option<"evaluates", "evaluate", "bool", "false",
           "of entries: one computes the loss alone">,
    Option<"countsRight", "count-right", "bool", "false",
           "of entries: the one of the loss alone counts right labels, too">,
    Option<"keepsHalf", "keep-half", "bool", "false",
           "of entries: weights of 16 bits are kept beside their masters">,
    Option<"isApart", "apart", "bool", "false",
           "of entries: one computes gradients, another applies them">,
    Option<"computesAlone", "compute-alone", "bool", "false",
           "of entries: gradients are applied elsewhere">,
    Option<"countsGradients", "count-gradients", "bool", "false",
           "of entries: the update is told how many gradients it averages">]> {
  let summary = "of a model, a step of its training";
  let description = [{
    @main, a model whose weights are arguments with `mlc.parameter`, becomes what
    a step of `mlc train` computes (docs/Training.md): of the inputs, the target
    and the optimizer's scalars the loss and the new weights. Arguments that
    samples are of have `mlc.sample`, labels `mlc.classes`, others `mlc.role`,
    what they are to training; `mlc.roles` of the module says that of states.
  }];
  let dependentDialects = ["::mlc::MlcDialect", "::mlir::func::FuncDialect"];
}

def AssignStagesPass : Pass<"mlc-assign-stages", "::mlir::ModuleOp"> {
  let summary = "assign the operators of a model to the stages of a pipeline";
  let description = [{
    Sets `dist.stage` on the operators of @main, in their order: with `ends`, a
    stage ends with each of these nodes, and one more with the model; otherwise
    there are `stages` stages, the heaviest of which is as light as possible.
  }];
  let options = [
    Option<"stages", "stages", "int64_t", "2", "how many stages">,
    ListOption<"ends", "ends", "std::string",
               "nodes that all stages but the last end with">];
}

def SplitTiedSumsPass : Pass<"mlc-split-tied-sums", "::mlir::ModuleOp"> {
  let summary = "a sum of gradients for each stage that reads a weight";
  let description = [{
    Where several stages add to the gradient of a weight, `accumulate` gets a sum
    for each of them, and `apply` adds these up (docs/Pipelines.md).
    mlc-cut-stages does so too; this pass does it before the step is partitioned,
    while the gradient is still a sum.
  }];
  let dependentDialects = ["::mlc::MlcDialect", "::mlir::func::FuncDialect"];
}

def SliceSequencePass : Pass<"mlc-slice-sequence", "::mlir::ModuleOp"> {
  let summary = "a model on slices of its sequences, one after the other";
  let description = [{
    Each operator of @main works on `slices` slices of the positions, which are
    the second dim of all inputs, in turn (docs/Pipelines.md). Operators with
    `dist.stage` S get stages S * slices + 0, 1, ... An operator has to have each
    position of its result from the same one of its operands, or be attention
    with a mask that hides later positions; keys and values of later slices are
    zeros then.
  }];
  let options = [Option<"slices", "slices", "int64_t", "2", "how many slices">];
  let dependentDialects = ["::mlc::MlcDialect", "::mlc::dist::DistDialect",
                           "::mlir::func::FuncDialect"];
}

def CutStagesPass : Pass<"mlc-cut-stages", "::mlir::ModuleOp"> {
  let summary = "cut a step of training into entries of its stages";
  let description = [{
    The entries `accumulate` and `apply` of a model whose operators have
    `dist.stage` become entries of each stage S (docs/Pipelines.md): `SF`, its
    forward pass; `SB`, its gradients, or with `split-backward` `SI` and `SW`,
    those of what the stage reads from others and those of its weights; `SSTEP`,
    the update of its weights, and `SNORM`, what other stages need to know of
    its gradients for that. With `recompute` an `SB` computes what it needs of
    the stage's forward pass again, each operator as late as possible, from what
    `SF` reads of other entries and from `keep-results`. A value that another entry reads is a result with
    `mlc.name` of the one and an argument with that name, of role `carried`, of
    the other. The update of a stage that keeps versions writes the state
    `next/NAME`, of role `next version`, instead of a weight that passes read.
  }];
  let options = [
    Option<"splitsBackward", "split-backward", "bool", "false",
           "make entries I and W instead of B">,
    Option<"updatesApart", "update-apart", "bool", "false",
           "refuse updates that need gradients of several stages">,
    ListOption<"versioned", "versioned", "int64_t",
               "stages that keep versions of their weights">,
    Option<"recomputes", "recompute", "bool", "false",
           "let a stage's gradients compute its forward pass again">,
    ListOption<"keptResults", "keep-results", "std::string",
               "then, names of nodes whose results gradients find all the "
               "same; * stands for any characters">];
  let dependentDialects = ["::mlc::MlcDialect", "::mlir::func::FuncDialect"];
}

def CutForwardPass : Pass<"mlc-cut-forward", "::mlir::ModuleOp"> {
  let summary = "cut a model without training into entries of its stages";
  let description = [{
    @main, whose operators have `dist.stage`, becomes an entry `SF` for each
    stage S. A value that another entry reads is a result with `mlc.name` of the
    one and an argument with that name, of role `carried`, of the other. What
    depends on constants alone is repeated where it is read. With
    `micro-batches` above 1 an open number of samples has to be the first dim of
    inputs and results, and no operator may mix samples. The module notes the
    model's inputs and outputs in `mlc.pipeline`.
  }];
  let options = [
    Option<"microBatches", "micro-batches", "int64_t", "1",
           "parts of a batch, which run by themselves">];
  let dependentDialects = ["::mlc::MlcDialect", "::mlc::dist::DistDialect",
                           "::mlir::func::FuncDialect"];
}

def JoinStagesPass : Pass<"mlc-join-stages", "::mlir::ModuleOp"> {
  let summary = "make one function of the entries of a step";
  let description = [{
    For proofs that a step in stages is the step: @joined carries out, for one
    batch, the entries that mlc-cut-stages makes, or `accumulate` and `apply`;
    or the entries of mlc-cut-forward, or `main`.
    It takes inputs and states and returns results and new states, each in the
    order of their names.
  }];
  let dependentDialects = ["::mlc::MlcDialect", "::mlir::func::FuncDialect"];
}

def PartitionPass : Pass<"mlc-partition", "::mlir::ModuleOp"> {
  let summary = "of functions with shardings, what each rank carries out";
  let description = [{
    The module has `dist.mesh`, arguments and results `dist.sharding`: an
    argument without is whole on all ranks, a result without is as it comes out.
    Types become those of the parts, exchanges become operators of the dist
    dialect (docs/Partitioning.md).

    Along one axis after the other, each operator in order is split along the
    factor that moves the fewest bytes: first of what depends on inputs, so that
    weights come to where the activations are, then of weights and states. A sum
    over a split dim is partial until somebody reads it who needs it whole, or a
    part of it. What all ranks could compute alike is made when it is needed, as
    a part where that is enough.
  }];
  let options = [
    Option<"algorithm", "algorithm", "std::string", [{""}],
           "of reductions and gathers: own, or one of runtime/transport/Algorithms.def">,
    Option<"reshardAfterForward", "reshard-after-forward", "bool", "false",
           "gather split states anew behind the loss, the first result that is no state">];
  let dependentDialects = ["::mlc::MlcDialect", "::mlc::dist::DistDialect",
                           "::mlir::func::FuncDialect"];
}

def StackRanksPass : Pass<"mlc-stack-ranks", "::mlir::ModuleOp"> {
  let summary = "of a rank's function, one over the tensors of all ranks";
  let description = [{
    @NAME is what each rank carries out, on its parts. It becomes what all ranks
    do together: arguments and results are the tensors that `dist.sharding` says
    are split, with the ranks' coordinates as leading dims in between, and
    collectives are there what they are defined to be. `mlc-verify` proves that
    equal to the function that was partitioned (docs/Partitioning.md). A result
    that is said to be the same on all ranks is that of the rank
    `rank.AXIS mod N`, for whatever `rank.AXIS`: ranks that differ refute it.
    Sizes that differ between ranks are an error.
  }];
  let options = [Option<"name", "function", "std::string", [{"main"}],
                        "function that each rank carries out">];
  let dependentDialects = ["::mlc::MlcDialect", "::mlir::func::FuncDialect"];
}

def LayoutPass : TargetPass<"mlc-assign-layout", [
    Option<"block", "block", "int64_t", "-1",
           "channels in a block; 0: none, -1: as the back end says">,
    Option<"channelsLast", "channels-last", "bool", "false",
           "[n, h, w, C], without blocks">]> {
  let summary = "store tensors as convolutions want them";
  let description = [{
    Convolutions work on channels in blocks, [n, C/b, h, w, b], or on channels
    that are last, as the target's back end says, and so does everything between
    them that can: `mlc.laid_out`. Where a plain tensor is needed, `mlc.unpack`
    makes it. Weights are packed, those that are no constants by each run.
    Elements in front of convolutions are taken to be finite.
  }];
  let dependentDialects = ["::mlc::MlcDialect"];
}

def LowerCollectivesPass : Pass<"mlc-lower-collectives", "::mlir::ModuleOp"> {
  let summary = "what ranks exchange lies together in memory";
  let description = [{
    Collectives on any dim become ones on dim 0, with transposes around them;
    several operands that are split alike become one; an all-to-all packs the
    blocks for the other ranks behind each other; a halo is two shifts of
    slices. What is among the ranks of an axis that has one is no exchange.
  }];
  let dependentDialects = ["::mlc::MlcDialect", "::mlc::dist::DistDialect"];
}

def LowerPass : Pass<"mlc-lower-to-linalg", "::mlir::ModuleOp"> {
  let summary = "every stage of every definition to linalg on tensors";
  let description = [{
    Reads operators' definitions and nothing else of them. Opaque operators
    stay.
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::func::FuncDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect",
    "::mlc::MlcDialect"];
}

def FusePass : TargetPass<"mlc-fuse"> {
  let summary = "linalg on tensors to kernels and the program that runs them";
  let description = [{
    Each public function becomes functions with `mlc.kernel` and an
    `exec.program` that launches them; equal kernels are one function. What one
    kernel may hold is for the back end of the target to say. Arguments and
    results with `mlc.state` become states, which all programs share.
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlc::exec::ExecDialect", "::mlir::func::FuncDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def TransformConstantsPass : TargetPass<"mlc-transform-constants"> {
  let summary = "faster algorithms for kernels that want a constant in another form";
  let description = [{
    Asks the back end of the target for each kernel. For CPUs: 3x3 convolutions
    by Winograd's algorithm where that is faster, with transformed filters, of
    which the kernel's body reads the originals (exec.inverse_transform). For
    GPUs of sm_90a: factors of float32 with neighbours along K. A kernel is left alone unless every launch passes it a constant of finite
    numbers.
  }];
  let dependentDialects = ["::mlc::exec::ExecDialect"];
}

def JoinSiblingsPass : TargetPass<"mlc-join-siblings"> {
  let summary = "one launch of launches that read the same tensor";
  let description = [{
    Launches that follow each other, of which none depends on another, become
    one, whose kernel has the bodies of all (`mlc.siblings`), where the back end
    says that this pays. For GPUs of sm_90a: products that share a factor, such
    as queries, keys and values.
  }];
  let dependentDialects = ["::mlc::exec::ExecDialect"];
}

def RematerializePass : TargetPass<"mlc-rematerialize", [
    Option<"budget", "budget", "uint64_t", "0",
           "most bytes of the arena; 0: no limit">]> {
  let summary = "run launches again instead of keeping what they made";
  let description = [{
    Adds launches to the `exec.program`, with memory of their own, until the
    arena that the runtime plans for it is within `budget`, at little cost in
    predicted time (docs/Rematerialization.md). All sizes must be fixed. An
    error where no such program is found says what it takes. Results are the
    same, bit by bit.
  }];
  let dependentDialects = ["::mlc::exec::ExecDialect"];
}

#endif // MLC_PASSES_BASE_PASSES_TD
