"""Depthwise convolutions on the emulator against NumPy, with what follows from each output in the same kernel."""

import numpy as np

RNG = np.random.default_rng(1)


def normal(*shape, dtype=np.float32):
    return RNG.standard_normal(shape).astype(dtype)


def test_depthwise_convolutions(graph):
    """A thread for each output and what follows from it, not a block."""
    for name, shape, kernel, dtype, more in [
            ("plain", (2, 5, 9, 13), (5, 1, 3, 3), np.float32, dict(pads=[1, 1, 1, 1])),
            ("strided", (1, 7, 11, 9), (7, 1, 3, 3), np.float32, dict(pads=[1, 1, 1, 1], strides=[2, 2])),
            ("wide", (1, 3, 12, 20), (3, 1, 5, 7), np.float32, dict(dilations=[2, 1])),
            ("doubled", (2, 4, 8, 8), (8, 1, 3, 3), np.float32, dict(auto_pad="SAME_UPPER")),
            ("narrow", (2, 6, 10, 10), (6, 1, 3, 3), np.float16, dict(pads=[1, 1, 1, 1])),
            ("line", (2, 6, 40), (6, 1, 5), np.float32, dict(pads=[2, 2]))]:
        case = graph.case(name, "columns", 1e-5 if dtype == np.float32 else 5e-3, steps=1)
        y = case.node("Conv", case.input(normal(*shape, dtype=dtype)), case.input(normal(*kernel, dtype=dtype)), group=shape[1], **more)
        y = case.node("Mul", y, case.input(normal(kernel[0], *[1] * (len(shape) - 2), dtype=dtype)))
        case.output(case.node("Clip", y, dtype(0), dtype(6)))
    graph.check()
