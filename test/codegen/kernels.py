"""Compiles kernel files with mlc-kernel and runs them through ctypes."""

import ctypes
import json
import os
import pathlib
import re
import subprocess

import numpy as np

BUILD = pathlib.Path(
    os.environ.get("MLC_BUILD", pathlib.Path(__file__).parents[2] / "build"))


def tool(name):
    return str(BUILD / "bin" / name)


def host_has_avx512():
    try:
        return "avx512vl" in pathlib.Path("/proc/cpuinfo").read_text()
    except OSError:
        return False


TARGETS = ["cpu:x86-64-v3"] + (["cpu:x86-64-v4"] if host_has_avx512() else [])


def _evaluate(expression, symbols):
    expression = re.sub(r"\bfloordiv\b", "_floordiv", expression)
    scope = dict(symbols, _floordiv=lambda a, b: a // b,
                 mod=lambda a, b: a % b, min=min, max=max)
    return eval(expression, {"__builtins__": {}}, scope)


def _aligned(shape, dtype):
    """An array at a 64-byte boundary whose end is followed by a guard."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    raw = np.full(size + 192, 0xA5, np.uint8)
    start = -raw.ctypes.data % 64 + 64
    view = raw[start:start + size].view(dtype).reshape(shape)
    return view, raw, start, size


class Kernel:
    def __init__(self, library, description):
        self.description = description
        self.function = getattr(library, description["symbol"])
        self.function.argtypes = [ctypes.c_void_p, ctypes.c_void_p,
                                  ctypes.c_int64, ctypes.c_int64,
                                  ctypes.c_void_p]
        self.function.restype = None

    def __call__(self, inputs, outputs, symbols=None, split=1):
        """Runs on copies of `inputs`; `outputs` lists (shape, dtype). Where the
        kernel says that outputs may be inputs' memory, they are so too: one at a
        time, and as many as possible together."""
        results = self._run(inputs, outputs, symbols or {}, split, {})
        pairs = self.description["in_place"]
        together = {}
        for i, o in pairs:
            if o not in together and i not in together.values():
                together[o] = i
        for shared in [*({o: i} for i, o in pairs), together]:
            again = self._run(inputs, outputs, symbols or {}, split, shared)
            for one, other in zip(results, again):
                assert one.tobytes() == other.tobytes(), f"in place of {shared}"
        return results

    def _run(self, inputs, outputs, symbols, split, shared):
        """`shared` has the inputs by outputs that take their memory."""
        tasks = _evaluate(self.description["tasks"], symbols)
        scratch = _evaluate(self.description["scratch"], symbols)
        held = []
        for array in inputs:
            held.append(_aligned(array.shape, array.dtype))
            held[-1][0][...] = array
        for index, (shape, dtype) in enumerate(outputs):
            held.append(held[shared[index]] if index in shared else _aligned(shape, dtype))
            assert held[-1][0].shape == tuple(shape) and held[-1][0].dtype == dtype
        pointers = (ctypes.c_void_p * len(held))(
            *[h[1].ctypes.data + h[2] for h in held])
        values = (ctypes.c_int64 * max(len(symbols), 1))(*symbols.values())
        room, raw, start, size = _aligned((max(scratch, 1),), np.uint8)
        bounds = [tasks * i // split for i in range(split + 1)]
        for begin, end in zip(bounds, bounds[1:]):
            self.function(pointers, values, begin, end,
                          raw.ctypes.data + start)
        held.append((room, raw, start, size))
        for _, raw, start, size in held:
            assert (raw[:start] == 0xA5).all(), "wrote before a buffer"
            assert (raw[start + size:] == 0xA5).all(), "wrote past a buffer"
        return [h[0] for h in held[len(inputs):-1]]


def compile_kernels(text, target, folder, *flags):
    """{name: Kernel} of the kernels in the MLIR source `text`."""
    source, library = folder / "k.mlir", folder / "k.so"
    source.write_text(text)
    done = subprocess.run(
        [tool("mlc-kernel"), str(source), "-o", str(library),
         f"--target={target}", *flags], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    loaded = ctypes.CDLL(str(library))
    return {k["name"]: Kernel(loaded, k)
            for k in map(json.loads, done.stdout.splitlines())}
