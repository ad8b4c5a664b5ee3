"""A mixture of experts as GShard has it (Lepikhin et al. 2021, algorithm 1), of plain operators, and the same in numpy."""

import numpy as np
import trained


def build(groups=4, tokens=6, width=8, experts=4, hidden=12, capacity=3, seed=5):
    """(network, inputs, output, its dims): `groups` of tokens, two experts for each token, `capacity` tokens of a group for each expert.

    Of the second expert a token is sent with a probability: `random` has numbers from 0 to 1. Tensors where ranks exchange have names:
    `words`, `gates`, `mixed` and `back` have groups first, `sent` and `experts` experts."""
    net = trained.Network(seed)
    x = net.rng.standard_normal((groups, tokens, width)).astype(np.float32)
    random = net.rng.random((groups, tokens, 1)).astype(np.float32)

    def named(name, kind, *inputs, **attributes):
        """A node and its result of this name."""
        net.op(kind, *inputs, **attributes)
        net.nodes[-1].name = net.nodes[-1].output[0] = name
        return name

    def number(name, value, dtype=np.float32):
        return net.numbers(name, np.asarray(value, dtype))
    last, one = number("last", [-1], np.int64), number("one", 1)
    # A layer before, so that gradients go through all.
    words = named("words", "MatMul", "x", net.weight("front", width, width))
    gates = named("gates", "Softmax", net.op("MatMul", words, net.weight("gate", width, experts)), axis=-1)
    numbers = number("numbers", np.arange(experts), np.int64)
    places = number("places", np.arange(capacity))

    def best(values):
        """A one for the largest of each row."""
        return net.op("Cast", net.op("Equal", numbers, net.op("ArgMax", values, axis=-1, keepdims=1)), to=1)

    def before(mask):
        """How many tokens of the group have the expert before this one."""
        return net.op("CumSum", mask, number("axis", 1, np.int64), exclusive=1)
    first = best(gates)
    second = best(net.op("Mul", gates, net.op("Sub", one, first)))
    weights = [net.op("ReduceSum", net.op("Mul", gates, mask), last, keepdims=1) for mask in (first, second)]
    total = net.op("Add", *weights)
    counts = net.op("ReduceSum", first, number("tokens", [1], np.int64), keepdims=1)
    parts = []
    for mask, weight, start in ((first, weights[0], None), (second, weights[1], counts)):
        share = net.op("Div", weight, total)
        place = before(mask) if start is None else net.op("Add", before(mask), start)
        fits = net.op("Cast", net.op("Less", place, number("capacity", capacity)), to=1)
        kept = net.op("Mul", mask, fits)
        if start is not None:
            doubled = net.op("Mul", share, number("two", 2))
            kept = net.op("Mul", kept, net.op("Cast", net.op("Less", "random", doubled), to=1))
        at = net.op("Cast", net.op("Equal", net.op("Unsqueeze", place, last), places), to=1)
        parts.append(net.op("Mul", net.op("Unsqueeze", net.op("Mul", kept, share), last), at))
    combine = net.op("Reshape", net.op("Add", *parts), number("rows", [groups, tokens, experts * capacity], np.int64))
    dispatch = net.op("Cast", net.op("Less", number("zero", 0), combine), to=1)
    # GSEC, GSM -> GECM -> EGCM, where groups are sent to experts, and back.
    mixed = net.op("MatMul", net.op("Transpose", dispatch, perm=[0, 2, 1]), words)
    mixed = named("mixed", "Reshape", mixed, number("apart", [groups, experts, capacity, width], np.int64))
    sent = named("sent", "Transpose", mixed, perm=[1, 0, 2, 3])
    h = net.op("Reshape", sent, number("together", [experts, groups * capacity, width], np.int64))
    h = net.op("Relu", net.op("MatMul", h, net.weight("in", experts, width, hidden)))
    h = net.op("MatMul", h, net.weight("out", experts, hidden, width))
    h = named("experts", "Reshape", h, number("again", [experts, groups, capacity, width], np.int64))
    back = named("back", "Transpose", h, perm=[1, 0, 2, 3])
    back = net.op("Reshape", back, number("joined", [groups, experts * capacity, width], np.int64))
    return net, {"x": x, "random": random}, net.op("MatMul", combine, back), (groups, tokens, width)


def by_the_algorithm(weights, x, random, capacity):
    """Token by token; the output and how many choices overflowed."""
    front, gate, into, out = (weights[name].astype(np.float64) for name in ("front", "gate", "in", "out"))
    y, lost = np.zeros(x.shape), 0
    for g, group in enumerate(x.astype(np.float64) @ front):
        exponentials = np.exp(group @ gate)
        gates = exponentials / exponentials.sum(-1, keepdims=True)
        counts = np.zeros(gates.shape[1], int)
        order = np.argsort(-gates, -1, kind="stable")
        for choice in (0, 1):
            for s, token in enumerate(group):
                expert = order[s, choice]
                share = gates[s, expert] / gates[s, order[s, :2]].sum()
                if counts[expert] >= capacity:
                    lost += 1
                elif choice == 0 or 2 * share > random[g, s, 0]:
                    y[g, s] += share * (np.maximum(token @ into[expert], 0) @ out[expert])
                counts[expert] += 1
    return y, lost
