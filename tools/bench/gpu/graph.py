"""Graphs as plain data, which a machine without onnx can read.

A graph is a dict: `dtype` of all floats ("f16", "bf16", "f32"), `opset`, `inputs`
{name: dims}, `constants` {name: what}, `nodes` (op, inputs, outputs, attributes),
and `outputs`. A constant has `dims` and is one of

    pattern [offset, scale]   numbers of a short period, so that files of them shrink
    fill NUMBER               the same number everywhere
    values [...], type        as they are
"""

import functools
import math

import numpy as np

# A prime, so that no dim of a weight is in step with it.
PERIOD = 4099
SIZES = {"f16": 2, "bf16": 2, "f32": 4}
BEYOND_CACHES = 120 << 20


@functools.cache
def pattern():
    """A period of numbers with mean 0 and variance 1, the same on every machine."""
    state, numbers = 1, []
    for _ in range(PERIOD):
        state = (state * 1664525 + 1013904223) % 2**32
        numbers.append(state / 2**32 * 2 - 1)
    made = np.array(numbers)
    return (made - made.mean()) / made.std()


def is_integers(constant):
    return constant.get("type") == "i64"


def period_of(constant, dtype):
    """What fills a constant of floats when it is repeated: numbers of `dtype`, in double precision."""
    if "pattern" in constant:
        offset, scale = constant["pattern"]
        return rounded(np.roll(pattern(), -offset) * scale, dtype)
    return rounded(np.array([constant["fill"]] if "fill" in constant else constant["values"], np.float64), dtype)


def patterned(dims, scale, offset=0):
    return {"dims": list(dims), "pattern": [offset % PERIOD, scale]}


def integers(values):
    return {"dims": [len(values)], "type": "i64", "values": list(values)}


def node(op, inputs, output, **attributes):
    return {"op": op, "inputs": list(inputs), "outputs": [output], "attributes": attributes}


def renamed(graph, index, weights):
    """The graph as number `index` of several in a model, with the weights of number `weights`."""
    def name(value):
        return f"{value}_{weights if value in graph['constants'] else index}"

    def shifted(constant):
        if "pattern" not in constant:
            return constant
        return {**constant, "pattern": [(constant["pattern"][0] + 509 * weights) % PERIOD, constant["pattern"][1]]}

    return {**graph, "inputs": {name(k): dims for k, dims in graph["inputs"].items()},
            "constants": {name(k): shifted(c) for k, c in graph["constants"].items()},
            "nodes": [{**n, "inputs": list(map(name, n["inputs"])), "outputs": list(map(name, n["outputs"]))}
                      for n in graph["nodes"]],
            "outputs": list(map(name, graph["outputs"]))}


def instances(graph, count):
    """`count` graphs, all to be in one model: each a launch of the same kernel on
    memory of its own. Weights repeat only after more than any L2 holds."""
    size = math.fsum(math.prod(constant["dims"]) * SIZES[graph["dtype"]] for constant in graph["constants"].values())
    kinds = max(1, min(count, math.ceil(BEYOND_CACHES / (size or 1))))
    return [renamed(graph, index, index % kinds) for index in range(count)]


def joined(graphs):
    """One graph of several instances."""
    whole = dict(graphs[0])
    for key in ("inputs", "constants"):
        whole[key] = {k: v for graph in graphs for k, v in graph[key].items()}
    for key in ("nodes", "outputs"):
        whole[key] = [item for graph in graphs for item in graph[key]]
    return whole


def bytes_of(graph):
    """The least traffic: inputs, weights, and outputs of the dims given in `dims`, each once."""
    shapes = [*graph["inputs"].values(), *(c["dims"] for c in graph["constants"].values() if not is_integers(c)),
              *graph["dims"].values()]
    return SIZES[graph["dtype"]] * sum(math.prod(dims) for dims in shapes)


def rounded(array, dtype):
    """Numbers of `dtype`, in double precision."""
    if dtype == "f16":
        with np.errstate(over="ignore"):  # what masks is infinite then
            return array.astype(np.float16).astype(np.float64)
    single = np.ascontiguousarray(array, np.float32)
    if dtype == "bf16":
        bits = single.view(np.uint32)
        single = (bits + 0x7FFF + (bits >> 16 & 1) & np.uint32(0xFFFF0000)).view(np.float32)
    return single.astype(np.float64)


def values_of(constants, dtype, repeat):
    """{name: value}: integers are lists, single numbers floats, and all others what
    `repeat` makes of a period and dims."""
    values = {}
    for name, constant in constants.items():
        if is_integers(constant):
            values[name] = constant["values"]
        elif not constant["dims"]:
            values[name] = float(period_of(constant, dtype)[0])
        else:
            values[name] = repeat(period_of(constant, dtype), constant["dims"])
    return values


def evaluate(graph, values, ops):
    """The outputs, for values of all inputs and constants, by the operators `ops`."""
    values = dict(values)
    for item in graph["nodes"]:
        results = ops.run(item["op"], [values[name] for name in item["inputs"]], item["attributes"])
        for name, result in zip(item["outputs"], results if isinstance(results, (list, tuple)) else [results]):
            values[name] = result
    return [values[name] for name in graph["outputs"]]
