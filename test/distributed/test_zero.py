"""ZeRO's stages: the same training, in less memory, for what ZeRO's paper says is sent."""

import re

import numpy as np
import onnx
import pytest
from graphs import model

import trained
from networks import FULL, difference, train, write

RNG = np.random.default_rng(3)
STEPS = 5
# Of sizes that 2 and 4 divide.
WIDTHS = (32, 64, 48, 16)


def dense(folder, samples=48, kind=None):
    """A dense network without biases, whose weights are split evenly, of `kind` (float32); the number of its parameters."""
    nodes, weights, value = [], {}, "x"
    for i, (inputs, outputs) in enumerate(zip(WIDTHS, WIDTHS[1:])):
        weights[f"w{i}"] = (RNG.normal(size=(inputs, outputs)) / np.sqrt(inputs)).astype(np.float32)
        if kind:
            weights[f"w{i}"] = weights[f"w{i}"].astype(kind)
            nodes.append(("Cast", [f"w{i}"], [f"wide{i}"], {"to": onnx.TensorProto.FLOAT}))
        nodes.append(("MatMul", [value, f"wide{i}" if kind else f"w{i}"], [f"p{i}"], {}))
        value = f"h{i}"
        nodes.append(("Tanh", [f"p{i}"], [value], {}))
    nodes[-1] = ("Identity", [nodes[-1][1][0]], [value], {})
    onnx.save(model(nodes, [("x", ["N", WIDTHS[0]])], [(value, ["N", WIDTHS[-1]])], weights), folder / "dense.onnx")
    np.savez(folder / "dense.npz", x=RNG.normal(size=(samples, WIDTHS[0])).astype(np.float32),
             target=RNG.normal(size=(samples, WIDTHS[-1])).astype(np.float32))
    return ([folder / "dense.onnx", "--loss=mse", f"--data={folder / 'dense.npz'}", "--log-every=1",
             "--optimizer=adamw", "--learning-rate=0.003"], sum(w.size for w in weights.values()))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("accumulate", [1, 2])
@pytest.mark.parametrize("ranks", [2, 4])
def test_all_stages_have_the_bits_of_ddp(tools, tmp_path, ranks, accumulate):
    """Rings add element i of a tensor that is cut evenly in one order, whether all get the sum or each its part; so
    each gradient is a bucket of its own here."""
    arguments, _ = dense(tmp_path)
    arguments += ["--batch=8", f"--accumulate={accumulate}", f"--steps={STEPS}", f"--ranks={ranks}", "--algorithm=ring",
                  "--bucket-bytes=1"]
    ddp = train(tools, arguments, tmp_path / "ddp.npz")
    for stage in (1, 2, 3):
        zero = train(tools, arguments, tmp_path / f"{stage}.npz", f"--zero={stage}")
        # Of K batches, stages from 2 on sum over ranks first, the others over batches.
        if accumulate == 1 or stage == 1:
            assert zero.bits() == ddp.bits(), stage
            assert list(zero.losses) == list(ddp.losses)
        else:
            assert difference(zero, ddp) <= 1e-5


@pytest.mark.parametrize("ranks", [2, 3])
@pytest.mark.parametrize("optimizer", trained.OPTIMIZERS if FULL else ["adamw"])
def test_odd_sizes_have_the_bits_of_ddp(tools, tmp_path, ranks, optimizer):
    """What a rank has begins and ends elsewhere than what one computes at a time: each element is rounded alike. And
    sums are added in the order of the ranks, wherever parts of odd sizes begin."""
    flags = trained.OPTIMIZERS[optimizer][1]
    arguments = [*write(tmp_path, "mlp"), *flags, f"--batch={6 * ranks}", "--steps=4", f"--ranks={ranks}", "--algorithm=colocated"]
    ddp = train(tools, arguments, tmp_path / "ddp.npz")
    for stage in (1, 2, 3):
        zero = train(tools, arguments, tmp_path / f"{stage}.npz", f"--zero={stage}")
        assert zero.bits() == ddp.bits(), stage


@pytest.mark.parametrize("name", trained.NETWORKS if FULL else ["mlp", "lstm"])
def test_all_stages_train_all_networks(tools, tmp_path, name):
    """Weights whose dims three ranks divide unevenly, or that are smaller than three."""
    arguments = [*write(tmp_path, name, "float64"), *trained.OPTIMIZERS["momentum"][1], "--batch=6", f"--steps={STEPS}"]
    one = train(tools, arguments, tmp_path / "one.npz")
    for stage in (1, 2, 3):
        zero = train(tools, arguments, tmp_path / f"{stage}.npz", "--ranks=3", f"--zero={stage}")
        zero.losses = one.losses
        assert difference(zero, one) <= 1e-12, stage


@pytest.mark.sampled(2)
@pytest.mark.parametrize("ranks", [2, 4])
def test_bytes_of_states(tools, tmp_path, ranks):
    """Of float32 weights, sums of gradients and two moments, 16 bytes a parameter."""
    arguments, psi = dense(tmp_path)
    arguments += ["--batch=8", "--accumulate=2", "--steps=2", f"--ranks={ranks}", "--autocast=bf16"]
    for stage, want in enumerate([16, 8 + 8 / ranks, 4 + 12 / ranks, 16 / ranks]):
        run = train(tools, arguments, tmp_path / "c.npz", f"--zero={stage}")
        assert len(run.state_bytes) == ranks
        for found in run.state_bytes:
            assert found == pytest.approx(want * psi, rel=0.01), stage


@pytest.mark.sampled(2)
@pytest.mark.parametrize("ranks", [2, 4])
def test_bytes_of_states_of_mixed_precision(tools, tmp_path, ranks):
    """The formulas of ZeRO's paper, section 3: weights and gradients of 16 bits, masters and two moments of 32."""
    arguments, psi = dense(tmp_path, kind=np.float16)
    arguments += ["--batch=8", "--accumulate=2", "--steps=4", f"--ranks={ranks}", "--keep-half", "--loss-scale=256"]
    first = None
    for stage, want in enumerate([16, 4 + 12 / ranks, 2 + 14 / ranks, 16 / ranks]):
        run = train(tools, arguments, tmp_path / f"{stage}.npz", f"--zero={stage}")
        print(f"zero {stage}, {ranks} ranks: {run.state_bytes} bytes of states, {want:g} psi = {want * psi:.0f}")
        assert len(run.state_bytes) == ranks
        for found in run.state_bytes:
            assert found == pytest.approx(want * psi, rel=0.01), stage
        first = first or run
        # Ranks round what they have, and Adam takes steps as large for small gradients as for others.
        assert difference(run, first) <= 3e-2


@pytest.mark.sampled(3)
@pytest.mark.parametrize("batches", [1, 3])
@pytest.mark.parametrize("ranks", [2, 4])
def test_bytes_sent(tools, tmp_path, ranks, batches):
    """2, 2, 2 and 3 times (N - 1) / N of the parameters' bytes, as ZeRO's paper has it; but the weight of the first layer
    is gathered once, as nobody asks for the input's gradient. Of several batches, what is split is exchanged for each."""
    arguments, psi = dense(tmp_path)
    arguments += ["--batch=8", "--steps=4", f"--ranks={ranks}", "--algorithm=ring", f"--accumulate={batches}"]
    for stage, times in enumerate([2, 2, 1 + batches, 3 * batches]):
        run = train(tools, arguments, tmp_path / "c.npz", f"--zero={stage}")
        once = batches * WIDTHS[0] * WIDTHS[1] if stage == 3 else 0
        want = 4 * (times * psi - once) * (ranks - 1) / ranks
        print(f"zero {stage}, {ranks} ranks: sent {run.sent}, ({times} psi - {once}) (N - 1) / N = {want:.0f}")
        for found in run.sent:
            # The losses are summed, too.
            assert want <= found <= want * 1.01 + 64, (stage, found, want)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind", ["float16", "bfloat16"])
@pytest.mark.parametrize("accumulate", [1, 2])
@pytest.mark.parametrize("ranks", [2, 4])
def test_gradients_of_16_bits_are_sent_as_they_are(tools, tmp_path, ranks, accumulate, kind):
    """2 bytes a number: 2 psi 2 (N - 1) / N, of stage 3 a third gathering of weights; from stage 2 on gradients of each batch
    go, and weights of stage 3 come."""
    import ml_dtypes
    kinds = {"float16": np.float16, "bfloat16": ml_dtypes.bfloat16}
    arguments, psi = dense(tmp_path, kind=kinds[kind])
    arguments += ["--batch=8", f"--accumulate={accumulate}", "--steps=4", "--keep-half", "--loss-scale=256"]
    one = train(tools, arguments, tmp_path / "one.npz")
    for stage, times in enumerate([2, 2, 1 + accumulate, 3 * accumulate]):
        run = train(tools, arguments, tmp_path / "c.npz", f"--ranks={ranks}", "--algorithm=ring", f"--zero={stage}")
        once = accumulate * WIDTHS[0] * WIDTHS[1] if stage == 3 else 0
        want = 2 * (times * psi - once) * (ranks - 1) / ranks
        print(f"zero {stage}, {ranks} ranks, {kind}, off {difference(run, one):.2g}: sent {run.sent}, 2 ({times} psi - {once}) (N - 1) / N = {want:.0f}")
        for found in run.sent:
            assert want <= found <= want * 1.01 + 64 * accumulate, stage
        # A sum is rounded in each rank's step of the ring.
        assert difference(run, one) <= (3e-2 if kind == "float16" else 0.1), stage


def test_checkpoints_go_on_with_other_ranks(tools, tmp_path):
    """4, 2, 3 ranks and one, with stages of their own, and without interruption."""
    arguments = [*write(tmp_path, "mlp", "float64"), *trained.OPTIMIZERS["adamw"][1], "--batch=12"]
    whole = train(tools, arguments, tmp_path / "whole.npz", "--steps=12")
    resumed = None
    for steps, flags in [(3, ["--ranks=4", "--zero=3"]), (6, ["--ranks=2", "--zero=1"]), (9, ["--ranks=3", "--zero=2"]),
                         (12, [])]:
        resumed = train(tools, arguments, tmp_path / "c.npz", "--resume", f"--steps={steps}", *flags)
    assert len(resumed.losses) == 3
    np.testing.assert_allclose(resumed.losses, whole.losses[-3:], rtol=1e-8)
    whole.losses = resumed.losses
    assert difference(resumed, whole) <= 1e-10


@pytest.mark.parametrize("stage", [0, 3])
def test_interrupted_runs_have_the_same_bits(tools, tmp_path, stage):
    arguments = [*write(tmp_path, "mlp"), "--optimizer=adamw", "--batch=9", "--ranks=3", f"--zero={stage}"]
    whole = train(tools, arguments, tmp_path / "whole.npz", "--steps=8")
    train(tools, arguments, tmp_path / "c.npz", "--steps=3")
    resumed = train(tools, arguments, tmp_path / "c.npz", "--steps=8", "--resume")
    assert re.search(r"^resumed: after step 3$", resumed.text, re.M)
    assert resumed.bits() == whole.bits()


def test_the_written_model_has_all_weights(tools, tmp_path):
    arguments = [*write(tmp_path, "mlp"), "--batch=9", "--steps=3"]
    one = train(tools, arguments, tmp_path / "one.npz", "-o", tmp_path / "one.onnx")
    train(tools, arguments, tmp_path / "many.npz", "-o", tmp_path / "many.onnx", "--ranks=3", "--zero=3")
    for a, b in zip(onnx.load(tmp_path / "one.onnx").graph.initializer,
                    onnx.load(tmp_path / "many.onnx").graph.initializer):
        a, b = map(onnx.numpy_helper.to_array, (a, b))
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)
    assert one.states


def planned(run):
    return int(re.search(r"^memory: (\d+) bytes planned", run.text, re.M)[1])


def test_weights_and_gradients_are_whole_within_a_window(tools, tmp_path, monkeypatch):
    """gpt, 8 times as wide, so that weights are larger than what lies between them. Without a window all are there
    together, for the loss and for the gradients; with one, a layer's. Numbers keep their bits."""
    wide = trained.NETWORKS["gpt"]
    monkeypatch.setitem(trained.NETWORKS, "gpt", lambda net: wide(net, width=64))
    arguments = [*write(tmp_path, "gpt"), "--batch=8", "--steps=3", "--ranks=4", "--algorithm=ring", "--memory-budget=1GB",
                 "--bucket-bytes=16384"]
    ddp = train(tools, arguments, tmp_path / "ddp.npz")
    model = ddp.state_bytes[0]
    runs = {None: train(tools, arguments, tmp_path / "zero.npz", "--zero=3"),
            **{window: train(tools, arguments, tmp_path / "zero.npz", "--zero=3", f"--prefetch-limit={window}")
               for window in (65536, 32768, 0)}}
    peaks = {window: planned(run) for window, run in runs.items()}
    largest = 64 * 128 * 4
    print(f"gpt of {model} bytes on 4 ranks, bytes of intermediate memory: stage 0 {planned(ddp)}, stage 3 by window {peaks}")
    assert peaks[None] >= 2 * model and peaks[None] > planned(ddp)
    assert peaks[0] <= peaks[32768] <= peaks[65536] <= peaks[None]
    # Neither all weights nor all gradients are whole; what a window adds is what it says, and a weight.
    assert peaks[0] < model and peaks[0] < planned(ddp)
    for window in (32768, 65536):
        assert peaks[window] <= peaks[0] + window + largest
    for run in runs.values():
        assert run.bits() == runs[None].bits() and run.sent == runs[None].sent
        assert list(run.losses) == list(runs[None].losses)


def test_windows_that_are_none_are_refused(tools, tmp_path):
    arguments, _ = dense(tmp_path)
    for flags, message in [(["--zero=3", "--prefetch-limit=-1"], "--prefetch-limit counts bytes, from 0 on"),
                           (["--zero=1", "--gather-window=1"], "--prefetch-limit is of --zero=2 and 3"),  # its former name
                           (["--zero=1", "--prefetch-limit=1"], "--prefetch-limit is of --zero=2 and 3")]:
        done = tools.mlc("train", *arguments, "--batch=8", "--ranks=2", f"--checkpoint={tmp_path / 'c.npz'}", *flags)
        assert done.returncode == 2 and message in done.stderr, done.stderr
