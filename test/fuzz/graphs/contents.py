"""Elements of inputs and initializers: ordinary, whole, special and extreme numbers."""

import numpy as np

import elements

STYLES = {"plain": 55, "whole": 12, "special": 18, "extreme": 15}


def _float_specials(name):
    tiny, least = elements.smallest_normal(name), elements.smallest_subnormal(name)
    return [np.nan, np.inf, -np.inf, 0.0, -0.0, least, -least, tiny / 2, tiny, 1.0, -1.0, 0.5, 1.5,
            2.5, -2.5]


def _floats(name, shape, rng, style):
    if style == "whole":
        values = rng.integers(-4, 5, shape).astype(float)
    elif style == "extreme":
        low = np.log2(elements.smallest_subnormal(name))
        high = {"float16": 16, "float64": 1024}.get(name, 128)
        values = np.exp2(rng.uniform(low, high - 0.01, shape)) * rng.choice([-1, 1], shape)
    else:
        values = rng.standard_normal(shape) * rng.choice([0.3, 1.0, 3.0])
    if style in ("special", "extreme"):
        which = rng.random(shape) < 0.12
        values = np.where(which, rng.choice(_float_specials(name), shape), values)
    with np.errstate(over="ignore"):
        return values.astype(elements.numpy_type(name))


def _integers(name, shape, rng, style):
    low, high = elements.integer_bounds(name)
    small = rng.integers(max(low, -9), 10, shape, dtype=np.int64).astype(name)
    if style not in ("special", "extreme"):
        return small
    wide = rng.integers(low, high, shape, dtype=name, endpoint=True)
    edges = np.array([low, low + 1, high, high - 1, 0, 1], dtype=name)
    kind = rng.random(shape)
    if style == "special":
        wide = small
    return np.where(kind < 0.2, rng.choice(edges, shape), wide).astype(name)


def array(name, shape, rng, style="plain", limits=None):
    """An array of element type `name`; `limits` are the least and the largest element allowed."""
    if limits is not None:
        low, high = limits
        if elements.is_float(name):
            return rng.uniform(low, high, shape).astype(elements.numpy_type(name))
        values = rng.integers(low, high, shape, dtype=np.int64, endpoint=True)
        return values.astype(name)
    if name == "bool":
        return rng.random(shape) < 0.5
    make = _floats if elements.is_float(name) else _integers
    return np.asarray(make(name, shape, rng, style))
