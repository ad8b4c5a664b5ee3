"""Random numbers: published vectors, equal bits whoever computes them, and what statistics ask of them."""

import subprocess

import mlc
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

# Random123's vectors of threefry2x32 with 20 rounds: counter, key, result.
VECTORS = [((0, 0), (0, 0), (0x6B200159, 0x99BA4EFE)),
           ((0xFFFFFFFF, 0xFFFFFFFF), (0xFFFFFFFF, 0xFFFFFFFF), (0x1CB996FC, 0xBB002BE7)),
           ((0x243F6A88, 0x85A308D3), (0x13198A2E, 0x03707344), (0xC4923A9C, 0x483DF7A0))]
GOLDEN = 0x9E3779B97F4A7C15
TARGETS = [("cpu", "cpu"), ("cpu:x86-64-v3", "cpu"), ("cuda:sm_80", "emulator")]


def threefry(key, counter):
    """Of arrays of uint64."""
    def rotated(x, by):
        return (x << np.uint32(by)) | (x >> np.uint32(32 - by))
    key, counter = np.broadcast_arrays(np.uint64(key), np.uint64(counter))
    keys = [key.astype(np.uint32), (key >> np.uint64(32)).astype(np.uint32)]
    keys.append(np.uint32(0x1BD11BDA) ^ keys[0] ^ keys[1])
    x, y = counter.astype(np.uint32) + keys[0], (counter >> np.uint64(32)).astype(np.uint32) + keys[1]
    for i in range(20):
        x = x + y
        y = rotated(y, (13, 15, 26, 6, 17, 29, 16, 24)[i % 8]) ^ x
        if i % 4 == 3:
            turn = i // 4 + 1
            x, y = x + keys[turn % 3], y + keys[(turn + 1) % 3] + np.uint32(turn)
    return y.astype(np.uint64) << np.uint64(32) | x


def uniform(seed, step, count, digits=24):
    with np.errstate(over="ignore"):
        key = np.uint64(seed) + np.uint64(step) * np.uint64(GOLDEN)
    bits = threefry(key, np.arange(count, dtype=np.uint64))
    return (bits >> np.uint64(64 - digits)).astype(np.float64) * 2.0**-digits


@pytest.fixture
def results(tools, tmp_path):
    """What a graph gives: by its definitions, or compiled for a target."""
    def evaluate(text, arrays):
        (tmp_path / "f.mlir").write_text(text)
        inputs = []
        for name, array in arrays.items():
            np.save(tmp_path / f"{name}.npy", array)
            inputs += ["--input", tmp_path / f"{name}.npy"]
        done = subprocess.run([tools.build / "bin/mlc-eval", tmp_path / "f.mlir", "--output-dir",
                               tmp_path / "out", *inputs], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return np.load(tmp_path / "out/0.npy")

    def compiled(text, arrays, target="cpu", device="cpu", threads=1):
        (tmp_path / "f.mlir").write_text(text)
        for tool, *arguments in [("mlc-opt", "f.mlir", "--mlc-lower-to-linalg", f"--mlc-fuse=target={target}", "-o", "k.mlir"),
                                 ("mlc-translate", "k.mlir", f"--target={target}", "-o", "f.mlca")]:
            done = subprocess.run([tools.build / "bin" / tool, *arguments], cwd=tmp_path, capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
        session = mlc.Session(mlc.load(tmp_path / "f.mlca"), threads=threads, device=device)
        return next(iter(session.run(arrays).values()))
    return evaluate, compiled


@pytest.mark.parametrize("target,device", TARGETS)
def test_published_vectors(target, device, results):
    def words(column):
        return np.uint64([low | high << 32 for low, high in column])
    counters, keys, want = (words(column) for column in zip(*VECTORS))
    np.testing.assert_array_equal(threefry(keys, counters), want)
    keys, counters = np.tile(keys, 11), np.tile(counters, 11)
    type = f"tensor<{len(keys)}xui64>"
    text = f"""func.func @main(%k: {type} {{mlc.name = "k"}}, %c: {type} {{mlc.name = "c"}}) -> {type} {{
      %0 = mlc.compute %k, %c {{definition = "(k, c) Y[i] = threefry(k[i], c[i])", dims = #mlc.dims<[{len(keys)}]>,
        integers = #mlc.dims<[]>, reals = [], type = ui64}} : ({type}, {type}) -> {type}
      return %0 : {type}\n}}"""
    evaluate, compiled = results
    np.testing.assert_array_equal(evaluate(text, {"k": keys, "c": counters}), np.tile(want, 11))
    np.testing.assert_array_equal(compiled(text, {"k": keys, "c": counters}, target, device), np.tile(want, 11))


def drawn(dims, seed, type):
    shape = "x".join(map(str, [*dims, type]))
    return f"""func.func @main(%s: tensor<ui64> {{mlc.name = "s"}}) -> tensor<{shape}> {{
      %0 = mlc.random_uniform %s {{dims = #mlc.dims<{list(dims)}>, seed = {seed} : i64, type = {type}}} : (tensor<ui64>) -> tensor<{shape}>
      return %0 : tensor<{shape}>\n}}"""


@pytest.mark.parametrize("type,digits", [("f32", 24), ("f64", 53), ("f16", 11)])
def test_equal_bits_whoever_computes_them(type, digits, results):
    """Also those that a float of few digits would round up to 1."""
    evaluate, compiled = results
    dims, seed, step = (37, 5, 41), -3, 2**40 + 1
    text, arrays = drawn(dims, seed, type), {"s": np.asarray(np.uint64(step))}
    want = uniform(seed % 2**64, step, 37 * 5 * 41, digits).reshape(dims)
    got = evaluate(text, arrays)
    np.testing.assert_array_equal(got.astype(np.float64), want)
    assert 0 <= got.min() and got.max() < 1
    for threads in (1, 2):
        np.testing.assert_array_equal(compiled(text, arrays, threads=threads), got)
    np.testing.assert_array_equal(compiled(text, arrays, "cuda:sm_80", "emulator"), got)


def test_statistics(results):
    _, compiled = results
    count = 1 << 20
    text = drawn((1024, 1024), 5, "f32")
    first, second = (compiled(text, {"s": np.asarray(np.uint64(step))}, threads=2).astype(np.float64) for step in (0, 1))
    other = compiled(drawn((1024, 1024), 6, "f32"), {"s": np.asarray(np.uint64(0))}).astype(np.float64)
    deviation = 5 / np.sqrt(count)  # five of a mean's
    for numbers in (first, second, other):
        assert abs(numbers.mean() - 1 / 2) < deviation * np.sqrt(1 / 12)
        assert abs(numbers.var() - 1 / 12) < deviation * np.sqrt(1 / 180)
        counts = np.histogram(numbers, 256, (0, 1))[0]
        assert abs(((counts - count / 256) ** 2).sum() / (count / 256) - 255) < 5 * np.sqrt(2 * 255)
        for axis in (0, 1):
            assert len(np.unique(numbers, axis=axis)) == 1024
    centred = [numbers - 1 / 2 for numbers in (first, second, other)]
    pairs = [(centred[0], centred[1]), (centred[0], centred[2]), (centred[0][:, 1:], centred[0][:, :-1]),
             (centred[0][1:], centred[0][:-1])]
    for a, b in pairs:
        assert abs((a * b).mean() * 12) < deviation


# ---------------------------------------------------------------------------
# ONNX
# ---------------------------------------------------------------------------


@pytest.fixture
def run(tools, tmp_path):
    def compile_and_run(nodes, x, outputs, *flags, constants=None, target="cpu", device="cpu", threads=2):
        held = [numpy_helper.from_array(np.asarray(v), k) for k, v in (constants or {}).items()]
        inputs = [helper.make_tensor_value_info("x", helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)]
        graph = helper.make_graph(nodes, "g", inputs, [helper.make_empty_tensor_value_info(n) for n in outputs], held)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
        onnx.save(model, tmp_path / "m.onnx")
        done = tools.mlc("compile", tmp_path / "m.onnx", "-o", tmp_path / "m.mlca", "--target", target)
        assert done.returncode == 0, done.stderr
        session = mlc.Session(mlc.load(tmp_path / "m.mlca"), threads=threads, device=device)
        return list(session.run({"x": x}).values())
    return compile_and_run


def dropout(outputs, name="drop", **more):
    return helper.make_node("Dropout", ["x", "ratio", "mode"], outputs, name, **more)


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("target,device", TARGETS[::2])
def test_dropout_drops(kind, target, device, run):
    x = np.random.default_rng(1).normal(size=(128, 96)).astype(kind)
    x[0, :5] = np.inf, -np.inf, np.nan, 0, -0.0
    constants = {"ratio": np.float32(0.3), "mode": True}
    y, mask = run([dropout(["y", "m"], seed=9)], x, ["y", "m"], constants=constants, target=target, device=device)
    assert y.dtype == kind and mask.dtype == bool
    np.testing.assert_array_equal(mask, uniform(9, 0, x.size).reshape(x.shape) >= np.float32(0.3))
    assert abs(mask.mean() - 0.7) < 5 * np.sqrt(0.21 / x.size)
    want = np.where(mask, x.astype(np.float64) / (1 - np.float64(np.float32(0.3))), 0)
    np.testing.assert_allclose(y, want, rtol={np.float16: 1e-3, np.float32: 3e-7, np.float64: 1e-14}[kind])


def test_dropout_without_seeds(run):
    """Each has one of its own, the same in every compilation; equal seeds drop the same."""
    x, constants = np.ones((64, 64), np.float32), {"ratio": np.float32(0.5), "mode": True}
    nodes = [dropout(["a"]), dropout(["b"]), dropout(["c"], seed=4), dropout(["d"], seed=4)]
    first, again = (run(nodes, x, ["a", "b", "c", "d"], constants=constants, threads=t) for t in (1, 2))
    for one, other in zip(first, again):
        np.testing.assert_array_equal(one, other)
    a, b, c, d = first
    assert 0.4 < (a == b).mean() < 0.6 and 0.4 < (a == c).mean() < 0.6
    np.testing.assert_array_equal(c, d)


@pytest.mark.parametrize("ratio", [0.0, 1.0])
def test_dropout_of_nothing_and_of_all(ratio, run):
    x = np.random.default_rng(2).normal(size=(9, 7)).astype(np.float32)
    (y,) = run([dropout(["y"])], x, ["y"], constants={"ratio": np.float32(ratio), "mode": True})
    np.testing.assert_array_equal(y, x if ratio == 0 else 0 * x)


def test_generators(run):
    x = np.zeros((200, 300), np.float32)
    nodes = [helper.make_node("RandomUniformLike", ["x"], ["u"], low=-2.0, high=6.0, seed=1.5),
             helper.make_node("RandomUniform", [], ["v"], shape=[300, 200], dtype=TensorProto.DOUBLE),
             helper.make_node("RandomNormalLike", ["x"], ["n"], mean=3.0, scale=0.5),
             helper.make_node("RandomNormal", [], ["h"], shape=[200, 300], dtype=TensorProto.FLOAT16)]
    u, v, n, h = (array.astype(np.float64) for array in run(nodes, x, ["u", "v", "n", "h"]))
    deviation = 5 / np.sqrt(x.size)
    assert -2 <= u.min() and u.max() <= 6 and abs(u.mean() - 2) < deviation * 8 / np.sqrt(12)
    assert v.shape == (300, 200) and 0 <= v.min() and v.max() < 1 and abs(v.mean() - 0.5) < deviation
    assert abs(n.mean() - 3) < deviation * 0.5 and abs(n.std() - 0.5) < deviation * 0.5
    assert abs(h.mean()) < deviation and abs(h.std() - 1) < deviation
    z = (n - 3) / 0.5
    assert abs((z**4).mean() - 3) < 5 * np.sqrt(96 / x.size) and abs((z**3).mean()) < 5 * np.sqrt(15 / x.size)


def test_what_is_drawn_is_no_constant(tools):
    """Who runs a graph again and again gives it another step each time."""
    text = drawn((3, 4), 5, "f32").replace("%s: tensor<ui64> {mlc.name = \"s\"}", "")
    text = text.replace("{\n", "{\n %s = mlc.constant dense<0> : tensor<ui64>\n", 1)
    done = subprocess.run([tools.build / "bin/mlc-opt", "--mlc-fold-constants"], input=text, capture_output=True, text=True)
    assert done.returncode == 0 and "mlc.random_uniform" in done.stdout, done.stderr
