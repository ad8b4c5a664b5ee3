"""Whole models as GPU kernels on the emulator, beside ONNX Runtime: trained ones,
two sizes from one artifact, the networks of the experiments, float16 exports.
The emulator reports nothing on any of them."""

import sys

import catalog
import half
import numpy as np
import onnx
import onnxruntime
import pytest

# Relative to the output's largest magnitude. Products are of tf32.
TOLERANCE = 1e-2

TRAINED = [
    # name, options, shapes
    ("Magika", [], [[(1, 2048)], [(3, 2048)]]),
    ("NudeNet", [], [[(1, 3, 96, 96)], [(2, 3, 64, 96)]]),
    ("seeded squeezenet", [], [[(1, 3, 224, 224)]]),
    ("PP-OCRv6 rec", [], [[(1, 3, 48, 64)]]),
]
EXPERIMENTS = ["mobilenet-v2", "bert-base", "resnet50", "llama", "nasrnn"]


def check(tools, folder, path, feeds, options=(), tolerance=TOLERANCE):
    artifact = folder / "model.mlca"
    done = tools.mlc("compile", path, "-o", artifact, "--target=cuda:sm_80", *options)
    assert done.returncode == 0, done.stderr
    reference = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    for number, feed in enumerate(feeds):
        inputs = []
        for i, (name, array) in enumerate(feed.items()):
            np.save(folder / f"{number}-{i}.npy", array)
            inputs += ["--input", f"{name}={folder / f'{number}-{i}.npy'}"]
        out = folder / f"out{number}"
        done = tools.mlc("run", artifact, "--device=emulator", "--output-dir", out, *inputs)
        assert done.returncode == 0 and "emulator" not in done.stderr, done.stderr
        for i, want in enumerate(reference.run(None, feed)):
            got = np.load(out / f"{i}.npy")
            assert got.shape == want.shape and got.dtype == want.dtype
            error = np.abs(got.astype(np.float64) - want).max()
            assert error <= tolerance * np.abs(want.astype(np.float64)).max(), (i, error)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name, options, shapes", TRAINED, ids=[row[0] for row in TRAINED])
def test_trained_model(tools, tmp_path, name, options, shapes):
    model = next(catalog.models(tmp_path, [name]), None)
    if model is None:
        pytest.skip("not installed")
    check(tools, tmp_path, model.path, [catalog.feed(model, case, "random") for case in shapes], options)


def noise(path):
    rng = np.random.default_rng(0)
    types = {onnx.TensorProto.FLOAT: np.float32, onnx.TensorProto.FLOAT16: np.float16}
    return {i.name: rng.standard_normal([d.dim_value for d in i.type.tensor_type.shape.dim])
            .astype(types[i.type.tensor_type.elem_type])
            for i in catalog.fed_inputs(onnx.load(path))}


def experiment(tools, name, path):
    sys.path.insert(0, str(tools.source / "tools/experiments"))
    import models
    models.write(name, path, small=True)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", EXPERIMENTS)
def test_network_of_the_experiments(tools, tmp_path, name):
    path = tmp_path / "model.onnx"
    experiment(tools, name, path)
    check(tools, tmp_path, path, [noise(path)])


@pytest.mark.parametrize("name", ["bert-base", "llama"])
def test_float16_export(tools, tmp_path, name):
    single, path = tmp_path / "single.onnx", tmp_path / "half.onnx"
    experiment(tools, name, single)
    onnx.save(half.in_half(onnx.load(single)), path)
    check(tools, tmp_path, path, [noise(path)])


def test_ieee_products_are_those_of_float32(tools, tmp_path):
    path = tmp_path / "model.onnx"
    experiment(tools, "bert-base", path)
    check(tools, tmp_path, path, [noise(path)], ["--precision=ieee"], tolerance=1e-5)


def test_launches_of_a_layer_and_of_resnet50(tools, tmp_path):
    """Nothing only pads, broadcasts or casts."""
    bert, resnet = tmp_path / "bert.onnx", tmp_path / "resnet.onnx"
    experiment(tools, "bert-base", bert)
    experiment(tools, "resnet50", resnet)
    for path, most in ((bert, 12), (resnet, 60)):
        artifact = path.with_suffix(".mlca")
        done = tools.mlc("compile", path, "-o", artifact, "--target=cuda:sm_90a")
        assert done.returncode == 0, done.stderr
        text = tools.mlc("inspect", artifact).stdout
        launches = [line for line in text.splitlines() if line.startswith("  grid-launch")]
        if path == bert:
            # From one layer's norm to the next one's.
            ends = [i for i, line in enumerate(launches) if line.rstrip().endswith((".norm"))]
            assert len(ends) >= 2 and all(b - a <= most for a, b in zip(ends, ends[1:])), text
        else:
            assert 0 < len(launches) <= most, text
