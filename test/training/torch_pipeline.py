"""Losses of the GPT of trained.py in a pipeline of torch.distributed.pipelining, over gloo.

    .torch/bin/python test/training/torch_pipeline.py --schedule=1F1B --ranks=2 --micro-batches=4 --ends=NODE,...

Prints the losses of 50 steps as JSON. Stages are cut after the given nodes, each of which has all that later stages
need; stage s is on rank s mod ranks. The embedding is tied: its copies on the first and the last stage
have the sum of both gradients.
"""

import argparse
import json
import os
import pathlib
import sys
import tempfile

import numpy as np
from onnx import numpy_helper

import torch_gradients
import trained

SCHEDULES = {"GPipe": "ScheduleGPipe", "1F1B": "Schedule1F1B", "Interleaved1F1B": "ScheduleInterleaved1F1B",
             "LoopedBFS": "ScheduleLoopedBFS", "InterleavedZeroBubble": "ScheduleInterleavedZeroBubble"}
TIED = "embedding"


def stages_of(model, ends):
    """Lists of nodes. What follows from constants alone belongs to all stages that read it."""
    constant = {tensor.name for tensor in model.graph.initializer}
    free, stages, rest = [], [[]], list(ends)
    for node in model.graph.node:
        if all(name in constant for name in node.input):
            constant.update(node.output)
            free.append(node)
            continue
        stages[-1].append(node)
        if rest and node.name == rest[0]:
            rest.pop(0)
            stages.append([])
    assert not rest and stages[-1], f"no node {rest}"
    return free, stages


def make_stage(model, free, nodes, given, torch):
    """A module of a stage's nodes with its own copies of weights; `given` is the name of its input."""
    weights = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    read = {name for node in [*free, *nodes] for name in node.input}

    class Stage(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.kept, self.fixed = torch.nn.ParameterDict(), {}
            needed = set()
            for node in [*reversed(nodes), *reversed(free)]:
                if node in nodes or needed & set(node.output):
                    needed |= set(node.input)
            for name in sorted(needed & weights.keys() & read):
                value = torch.tensor(weights[name])
                if value.is_floating_point() and value.dim() > 0:
                    self.kept[name.replace(".", "/")] = torch.nn.Parameter(value.double())
                else:
                    self.fixed[name] = value.double() if value.is_floating_point() else value
            self.nodes = [node for node in free if needed & set(node.output)] + nodes

        def forward(self, x):
            values = {name.replace("/", "."): value for name, value in self.kept.items()} | self.fixed | {given: x}
            for node in self.nodes:
                results = torch_gradients.run(node, [values[name] for name in node.input], torch)
                results = [results] if len(node.output) == 1 else results
                values.update(zip(node.output, results))
            return values[nodes[-1].output[0]]

    return Stage()


def run(rank, options, folder):
    import torch
    import torch.distributed as dist
    from torch.distributed import pipelining
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{folder}/store", rank=rank, world_size=options.ranks)
    model, inputs, flags = trained.build("gpt")
    free, nodes = stages_of(model, options.ends.split(","))
    own = range(rank, len(nodes), options.ranks)
    first = next(name for name in inputs if name != "target")
    names = [first, *(stage[-1].output[0] for stage in nodes)]
    modules = [make_stage(model, free, nodes[s], names[s], torch) for s in own]
    stages = [pipelining.PipelineStage(module, s, len(nodes), torch.device("cpu")) for s, module in zip(own, modules)]
    kind = getattr(pipelining, SCHEDULES[options.schedule])
    single = options.schedule in ("GPipe", "1F1B")
    schedule = kind(stages[0] if single else stages, n_microbatches=options.micro_batches,
                    loss_fn=lambda output, target: torch_gradients.loss_of(output, target, flags, torch))
    parameters = [p for module in modules for p in module.parameters()]
    stepper = torch.optim.SGD(parameters, lr=options.learning_rate, momentum=0.9)
    data = {k: torch.tensor(v.copy()) for k, v in trained.samples(inputs).items()}
    count, size, found = len(data["target"]), len(inputs["target"]), []
    tied = [module.kept[TIED] for module in modules if TIED in module.kept]
    for step in range(options.steps):
        batches = range(step * options.micro_batches, (step + 1) * options.micro_batches)
        places = np.concatenate([trained.batch_of(options.seed, batch, count, size) for batch in batches])
        stepper.zero_grad()
        losses = []
        more = {"target": data["target"][places], "losses": losses} if len(nodes) - 1 in own else {}
        schedule.step(*([data[first][places]] if 0 in own else []), **more)
        total = sum((p.grad for p in tied), torch.zeros(data_shape(model)).double())
        dist.all_reduce(total)
        for parameter in tied:
            parameter.grad.copy_(total)
        stepper.step()
        if losses:
            found.append(float(sum(loss.detach() for loss in losses)) / options.micro_batches)
    if found:
        print(json.dumps(found), flush=True)
    dist.destroy_process_group()


def data_shape(model):
    return next(tuple(tensor.dims) for tensor in model.graph.initializer if tensor.name == TIED)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--schedule", choices=SCHEDULES, required=True)
    parser.add_argument("--ranks", type=int, required=True)
    parser.add_argument("--micro-batches", type=int, required=True)
    parser.add_argument("--ends", required=True, help="nodes that stages end with")
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--learning-rate", type=float, default=0.05)
    parser.add_argument("--seed", type=int, default=3)
    options = parser.parse_args()
    import torch.multiprocessing
    os.environ["PYTHONPATH"] = os.pathsep.join([str(pathlib.Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    with tempfile.TemporaryDirectory() as folder:
        torch.multiprocessing.spawn(run, (options, folder), options.ranks)


if __name__ == "__main__":
    sys.exit(main())
