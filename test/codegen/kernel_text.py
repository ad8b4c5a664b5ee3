"""Kernels of linalg on tensors as text, and how near results are."""

import numpy as np


def dims_type(dims, element):
    return f"tensor<{''.join(str(d) + 'x' if isinstance(d, int) else '?x' for d in dims)}{element}>"


def argument(name, dims, element="f32"):
    text = f"%{name}: {dims_type(dims, element)}"
    if any(not isinstance(d, int) for d in dims):
        text += f" {{mlc.dims = #mlc.dims<[{', '.join(map(str, dims))}]>}}"
    return text


def kernel(inputs, outputs, body, symbols=(), maps=""):
    arguments = ", ".join([argument(*i) for i in inputs] +
                          [f"%{s}: index" for s in symbols])
    results = ", ".join(argument("r", *o).split(": ", 1)[1] for o in outputs)
    results = results.replace("> {", "> {")
    names = ", ".join(f'"{s}"' for s in symbols)
    return (f"{maps}\nfunc.func @k({arguments}) -> ({results})\n"
            f"attributes {{mlc.kernel, mlc.symbols = [{names}]}} {{\n{body}\n}}")


def generic(out, ins, outs, maps, iterators, body, out_type):
    """One linalg.generic; `ins` and `outs` are lists of (value, type)."""
    def fmt(xs):
        return ", ".join(x for x, _ in xs) + " : " + ", ".join(t for _, t in xs)
    return (f"%{out} = linalg.generic {{indexing_maps = [{', '.join(maps)}], "
            f"iterator_types = [{', '.join(chr(34) + i + chr(34) for i in iterators)}]}} "
            + (f"ins({fmt(ins)}) " if ins else "")
            + f"outs({fmt(outs)}) {{\n{body}\n}} -> {out_type}")


def m(loops, *exprs):
    names = ", ".join(f"d{i}" for i in range(loops))
    return f"affine_map<({names}) -> ({', '.join(exprs)})>"


def close(actual, expected, tolerance=1e-6):
    expected = np.asarray(expected)
    assert actual.shape == expected.shape
    if expected.size == 0:
        return
    scale = max(np.abs(expected[np.isfinite(expected)]).max(initial=0), 1e-30)
    np.testing.assert_allclose(actual, expected, rtol=0,
                               atol=tolerance * scale)
