"""PyTorch's training with delayed weights, of the network of delayed.py.

    .torch/bin/python test/training/torch_delayed.py task.npz result.npz

A task has weights by name, x and target ([steps, micro-batches, samples, ...]), and as numbers stages, every (micro-batches
of an update), adam, rate and two_buffered. Each stage has an optimizer of torch.optim, and copies of its parameters.
"""

import sys

import numpy as np
import torch

import delayed


def forward(w, x):
    h = []
    for i in range(delayed.DEPTH):
        t = torch.tanh((h[-1] if i else x) @ w[f"w{i}"] + w[f"b{i}"])
        h.append(t + h[-1] if i else t)
    return (h[-1] + h[0]) @ w["v"]


def main(task, result):
    with np.load(task) as file:
        task = {name: file[name] for name in file}
    stages, every, rate = int(task["stages"]), int(task["every"]), float(task["rate"])
    names = list(delayed.weights())
    parameters = {name: torch.nn.Parameter(torch.from_numpy(task[name])) for name in names}
    owned = [[name for name in names if delayed.stage_of(name, stages) == stage] for stage in range(stages)]
    make = torch.optim.Adam if task["adam"] else lambda all, lr: torch.optim.SGD(all, lr=lr, momentum=0.9)
    optimizers = [make([parameters[name] for name in own], lr=rate) for own in owned]
    losses = []
    for xs, targets in zip(task["x"], task["target"]):
        versions = [[{name: parameters[name].detach().clone() for name in own}] for own in owned]
        for k, (x, target) in enumerate(zip(xs, targets)):
            read = {}
            for stage in range(stages):
                # Counted from 1, micro-batch k + 1 of PipeDream-2BW reads max(floor(k / every) - 1, 0). PipeDream's stage s
                # of p has ended k - (p - 1 - s) others.
                version = max(k // every - 1, 0) if task["two_buffered"] else max(k - (stages - 1 - stage), 0)
                read |= versions[stage][version]
            read = {name: value.clone().requires_grad_() for name, value in read.items()}
            loss = torch.nn.functional.mse_loss(forward(read, torch.from_numpy(x)), torch.from_numpy(target))
            losses.append(loss.item())
            gradients = torch.autograd.grad(loss, [read[name] for name in names])
            for name, gradient in zip(names, gradients):
                own = parameters[name]
                own.grad = gradient / every if own.grad is None else own.grad + gradient / every
            if (k + 1) % every == 0:
                for stage, optimizer in enumerate(optimizers):
                    optimizer.step()
                    optimizer.zero_grad()
                    versions[stage].append({name: parameters[name].detach().clone() for name in owned[stage]})
    np.savez(result, loss=np.reshape(losses, task["x"].shape[:2]).mean(1), **{name: value.detach().numpy() for name, value in parameters.items()})


main(*sys.argv[1:])
