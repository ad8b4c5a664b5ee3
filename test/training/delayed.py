"""Training with delayed weights in numpy: what asynchronous pipelines have to compute.

A network of layers h = tanh(h W + b) + h, the first without the sum, then y = (h + first) V, and the mean of (y - t)^2.
"""

import numpy as np

DEPTH, WIDTH, INPUTS, OUTPUTS = 4, 6, 5, 3


def weights(seed=1, dtype=np.float64):
    rng = np.random.default_rng(seed)
    made = {f"w{i}": rng.normal(0, 0.5, (INPUTS if i == 0 else WIDTH, WIDTH)) for i in range(DEPTH)}
    made |= {f"b{i}": rng.normal(0, 0.1, WIDTH) for i in range(DEPTH)}
    made["v"] = rng.normal(0, 0.5, (WIDTH, OUTPUTS))
    return {name: value.astype(dtype) for name, value in made.items()}


def nodes():
    """For graphs.model; layer i ends with the result h<i>."""
    made, last = [], "x"
    for i in range(DEPTH):
        made += [("MatMul", [last, f"w{i}"], [f"p{i}"], {}), ("Add", [f"p{i}", f"b{i}"], [f"a{i}"], {}),
                 ("Tanh", [f"a{i}"], [f"h{i}" if i == 0 else f"t{i}"], {})]
        if i:
            made.append(("Add", [f"t{i}", last], [f"h{i}"], {}))
        last = f"h{i}"
    return [*made, ("Add", [last, "h0"], ["s"], {}), ("MatMul", ["s", "v"], ["y"], {})]


def layers_of(stages):
    """The first layer of each stage; the last stage ends with y."""
    return [stage * DEPTH // stages for stage in range(stages)]


def stage_of(name, stages):
    if name == "v":
        return stages - 1
    return max(stage for stage, first in enumerate(layers_of(stages)) if first <= int(name[1:]))


def forward(w, x):
    h = []
    for i in range(DEPTH):
        t = np.tanh((h[-1] if i else x) @ w[f"w{i}"] + w[f"b{i}"])
        h.append(t + h[-1] if i else t)
    return h, (h[-1] + h[0]) @ w["v"]


def backward(w, x, h, y, target):
    """The gradients, with weights that may be others than those of `forward`, which gave h and y."""
    made = {}
    dy = 2 * (y - target) / y.size
    made["v"] = (h[-1] + h[0]).T @ dy
    ds = dy @ w["v"].T
    dh = ds
    for i in reversed(range(DEPTH)):
        if i == 0:
            dh = dh + ds
        t = h[i] - h[i - 1] if i else h[i]
        da = dh * (1 - t * t)
        made[f"w{i}"], made[f"b{i}"] = (h[i - 1] if i else x).T @ da, da.sum(0)
        dx = da @ w[f"w{i}"].T
        dh = dx + dh if i else dx
    return made


class Optimizer:
    """SGD with momentum, or Adam, as torch.optim has them."""

    def __init__(self, kind, rate):
        self.kind, self.rate, self.state, self.count = kind, rate, {}, {}

    def __call__(self, name, weight, gradient):
        m, v = self.state.get(name, (0, 0))
        self.count[name] = self.count.get(name, 0) + 1
        if self.kind == "momentum":
            m = 0.9 * m + gradient
            self.state[name] = m, v
            return weight - self.rate * m
        m, v = 0.9 * m + 0.1 * gradient, 0.999 * v + 0.001 * gradient ** 2
        self.state[name] = m, v
        t = self.count[name]
        return weight - self.rate * (m / (1 - 0.9 ** t)) / (np.sqrt(v / (1 - 0.999 ** t)) + 1e-8)


def pipedream(stages):
    """F reads the newest version: 1F1B has begun p - 1 - s micro-batches more on stage s than it has ended."""
    return lambda stage, k: max(0, k - (stages - 1 - stage))


def two_buffered(every):
    return lambda stage, k: max(k // every - 1, 0)


def run(w, steps, stages, optimizer, forward_version, backward_version=None, every=1):
    """The weights after steps of micro-batches (x, target), each begun with an empty pipeline, and the losses of steps.
    `forward_version(stage, k)` is the version of a stage's weights that F of micro-batch k of a step reads. `every` is how
    many gradients an update has, or says so for a stage."""
    backward_version = backward_version or forward_version
    every_of = every if callable(every) else lambda stage: every
    losses = []
    for batches in steps:
        versions, sums, losses = {name: [value] for name, value in w.items()}, {}, [*losses, []]

        def read(version, k):
            return {name: versions[name][version(stage_of(name, stages), k)] for name in w}

        for k, (x, target) in enumerate(batches):
            h, y = forward(read(forward_version, k), x)
            losses[-1].append(np.mean((y - target) ** 2))
            for name, gradient in backward(read(backward_version, k), x, h, y, target).items():
                sums.setdefault(name, []).append(gradient)
                if len(sums[name]) == every_of(stage_of(name, stages)) or k == len(batches) - 1:
                    own = sums.pop(name)
                    mean = sum(own[1:], own[0]) / len(own)
                    versions[name].append(optimizer(name, versions[name][-1], mean))
        w = {name: all[-1] for name, all in versions.items()}
    return w, [np.mean(own) for own in losses]
