"""Sequence models: a searched recurrent cell, BERT, a Llama-style block.

Each takes the width's divisor (1 is the named size) and the sequence length.
"""

import numpy as np


def nasrnn(g, divisor, steps):
    """The cell of Zoph and Le 2017 as TASO lays it out: eight sums of two
    products, of the input and of the state, joined by a fixed tree. One batch,
    512 units; the weights are the same at every step."""
    hidden = 512 // divisor

    def cell(x, state):
        gates = []
        for i in range(8):
            of_input = g.linear(x, f"input{i}", hidden, bias=False)
            of_state = g.linear(state, f"state{i}", hidden, bias=False)
            gates.append(g.add(of_input, of_state))
        relu, tanh = (lambda v: g.unary("Relu", v)), (lambda v: g.unary("Tanh", v))
        sigmoid = lambda v: g.unary("Sigmoid", v)  # noqa: E731
        a = g.add(relu(gates[0]), sigmoid(gates[3]))
        b = g.add(sigmoid(gates[1]), tanh(gates[2]))
        c = g.mul(sigmoid(gates[4]), tanh(gates[5]))
        d = g.mul(sigmoid(gates[6]), relu(gates[7]))
        e = g.add(sigmoid(b), tanh(c))
        left = g.mul(tanh(a), tanh(d))
        return tanh(g.mul(left, g.mul(tanh(e), tanh(left))))

    xs = [g.input(f"x{i}", [1, hidden]) for i in range(steps)]
    state = g.input("state", [1, hidden])
    for x in xs:
        state = cell(x, state)
    return state


# BERT


def layer_norm(g, x, name):
    width = g.dims[x][-1]
    return g.node("LayerNormalization",
                  [x, g.uniform(f"{name}.scale", [width], 0.8, 1.2), g.normal(f"{name}.bias", [width], 0.1)],
                  g.dims[x], name, axis=-1, epsilon=1e-12)


def heads_of(g, x, heads):
    """[s, h * d] as [h, s, d]."""
    sequence, width = g.dims[x]
    return g.transpose(g.reshape(x, [sequence, heads, width // heads]), [1, 0, 2])


def gelu(g, x):
    """x / 2 (1 + erf(x / sqrt 2)), from operators of its own as exporters write it."""
    inside = g.unary("Erf", g.binary("Div", x, g.constant("sqrt2", np.float32(np.sqrt(2)))))
    return g.scaled(g.mul(x, g.add(inside, g.constant("one", np.float32(1)))), 0.5)


def attend(g, q, k, v, mask=None):
    """softmax(q k' / sqrt d) v of [h, s, d], as [s, h * d]."""
    heads, sequence, depth = g.dims[q]
    scores = g.scaled(g.matmul(q, g.transpose(k, [0, 2, 1])), 1 / np.sqrt(depth))
    if mask:
        scores = g.add(scores, mask)
    shares = g.node("Softmax", [scores], g.dims[scores], axis=-1)
    return g.reshape(g.transpose(g.matmul(shares, v), [1, 0, 2]), [sequence, heads * depth])


def bert(g, layers, width, heads, sequence):
    """The encoder of Devlin et al. 2019 on one embedded sequence [s, width]:
    attention and a feed-forward net of four times the width, each with a
    residual and a layer norm behind it."""
    x = layer_norm(g, g.input("embedded", [sequence, width]), "embeddings.norm")
    for i in range(layers):
        name = f"layer{i}"
        q, k, v = (heads_of(g, g.linear(x, f"{name}.{p}", width), heads) for p in ("query", "key", "value"))
        y = g.linear(attend(g, q, k, v), f"{name}.output", width)
        x = layer_norm(g, g.add(x, y), f"{name}.attention_norm")
        y = gelu(g, g.linear(x, f"{name}.up", 4 * width))
        x = layer_norm(g, g.add(x, g.linear(y, f"{name}.down", width)), f"{name}.norm")
    return x


def bert_base(g, divisor, sequence):
    """12 layers of 768 with 12 heads."""
    return bert(g, 12 // divisor, 768 // divisor, 12, sequence)


def bert_large(g, divisor, sequence):
    """24 layers of 1024 with 16 heads."""
    return bert(g, 24 // divisor, 1024 // divisor, 16, sequence)


# Llama


def rms_norm(g, x, name):
    """x / sqrt(mean x^2 + eps) * w, from operators of its own."""
    width = g.dims[x][-1]
    mean = g.node("ReduceMean", [g.mul(x, x)], [*g.dims[x][:-1], 1], axes=[-1], keepdims=1)
    root = g.unary("Sqrt", g.add(mean, g.constant("rms_epsilon", np.float32(1e-5))))
    return g.mul(g.binary("Div", x, root), g.uniform(f"{name}.scale", [width], 0.8, 1.2))


def rotary(g, x, base=500000.0):
    """Rotates the pairs (i, i + d/2) of [h, s, d] by the position's angles."""
    _, sequence, depth = g.dims[x]
    half = depth // 2
    angles = np.outer(np.arange(sequence), base ** (-np.arange(half) / half))
    angles = np.concatenate([angles, angles], axis=-1)
    cos, sin = (g.constant(f, getattr(np, f)(angles).astype(np.float32)) for f in ("cos", "sin"))
    low, high = g.slice(x, 2, 0, half), g.slice(x, 2, half, depth)
    turned = g.concat([g.unary("Neg", high), low], 2)
    return g.add(g.mul(x, cos), g.mul(turned, sin))


def repeated(g, x, times):
    """Each of the heads [h, s, d] `times` times."""
    heads, sequence, depth = g.dims[x]
    x = g.reshape(x, [heads, 1, sequence, depth])
    wide = g.constant(f"repeat_{heads}_{times}", np.array([heads, times, sequence, depth], np.int64))
    x = g.node("Expand", [x, wide], [heads, times, sequence, depth])
    return g.reshape(x, [heads * times, sequence, depth])


def llama(g, divisor, sequence):
    """Two blocks in the style of Llama 3 (Dubey et al. 2024): RMS norms in
    front, rotary positions, 16 query heads that share 4 keys and values,
    SwiGLU; width 1024, 2816 inside."""
    width, inside, heads, shared = 1024 // divisor, 2816 // divisor, 16, 4
    mask = g.constant("causal", np.triu(np.full((sequence, sequence), -1e9, np.float32), 1))
    x = g.input("embedded", [sequence, width])
    for i in range(2):
        name = f"layer{i}"
        y = rms_norm(g, x, f"{name}.attention_norm")
        q = rotary(g, heads_of(g, g.linear(y, f"{name}.query", width, bias=False), heads))
        k, v = (heads_of(g, g.linear(y, f"{name}.{p}", width * shared // heads, bias=False), shared)
                for p in ("key", "value"))
        k, v = repeated(g, rotary(g, k), heads // shared), repeated(g, v, heads // shared)
        x = g.add(x, g.linear(attend(g, q, k, v, mask), f"{name}.output", width, bias=False))
        y = rms_norm(g, x, f"{name}.norm")
        gate = g.linear(y, f"{name}.gate", inside, bias=False)
        gate = g.mul(gate, g.unary("Sigmoid", gate))
        up = g.linear(y, f"{name}.up", inside, bias=False)
        x = g.add(x, g.linear(g.mul(gate, up), f"{name}.down", width, bias=False))
    return rms_norm(g, x, "norm")
