"""Programs of several ranks through the Python package, in threads and in processes."""

import copy
import sys
import threading

import mlc
import numpy as np
import programs
import pytest
import ranks
from programs import module, sharding, size_of, type_of

# z is gathered from the state w, of which each rank has a part; y is the sum of x over ranks.
PART = size_of(7, 3)
TEXT = module(
    {"data": 3},
    {"x": (type_of([1, 4]), sharding("data", "")),
     "w": (type_of([PART]), 'mlc.state = "w"', sharding("data"),
           "mlc.initial = dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]> : tensor<7xf32>")},
    {"y": (type_of([1, 4]), sharding("data", "")), "z": (type_of([7]),),
     "v": (type_of([PART]), 'mlc.state = "w"', sharding("data"))},
    [f'%r = dist.all_reduce %x {{axis = #dist.axis<"data", 3>, reduction = "sum"}} : (tensor<1x4xf32>) -> tensor<1x4xf32>',
     f'%z = dist.all_gather %w {{axis = #dist.axis<"data", 3>, dims = array<i64: 0>, extents = #mlc.dims<[7]>, '
     f"units = #mlc.dims<[1]>}} : ({type_of([PART])}) -> tensor<7xf32>",
     f"%v = mlc.add %w, %w : ({type_of([PART])}, {type_of([PART])}) -> {type_of([PART])}",
     f"return %r, %z, %v : tensor<1x4xf32>, tensor<7xf32>, {type_of([PART])}"])
X = np.arange(12, dtype=np.float32).reshape(3, 4)
W = np.arange(1, 8, dtype=np.float32)


@pytest.fixture
def artifact(tools, tmp_path):
    return programs.compile(tools, tmp_path, TEXT)


def test_ranks_as_threads(artifact):
    model, results, failures = mlc.load(artifact), {}, []
    assert model.mesh == {"data": 3}
    assert model.states[0].dims == (7,) and model.inputs[0].dims == (1, 4)

    def work(own):
        try:
            session = model.session(threads=1, ranks=own)
            for _ in range(3):
                outputs = session.run({"x": model.part("x", X, own.rank)})
            results[own.rank] = {**outputs, "w": session.state("w")}
            own.finish()
        except mlc.Error as failure:
            failures.append(failure)
    threads = [threading.Thread(target=work, args=(own,)) for own in mlc.Ranks.threads(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    for rank in range(3):
        np.testing.assert_array_equal(results[rank]["y"], X.sum(0, keepdims=True))
        np.testing.assert_array_equal(results[rank]["z"], 4 * W)
        np.testing.assert_array_equal(results[rank]["w"], model.part("w", 8 * W, rank))


PROCESS = """
import sys
sys.path.insert(0, sys.argv[2])
import mlc, numpy as np
model, ranks = mlc.load(sys.argv[1]), mlc.Ranks(timeout=20)
x = np.arange(12, dtype=np.float32).reshape(3, 4)
outputs = model.session(threads=1, ranks=ranks).run({"x": model.part("x", x, ranks.rank)})
# One write: processes share a pipe.
sys.stdout.write(f'{ranks.rank} {ranks.count} {outputs["y"].tolist()} {outputs["z"].tolist()}\\n')
sys.stdout.flush()
ranks.finish()
"""


def test_ranks_as_processes(tools, artifact):
    ranks.over_gloo(tools, 3)  # or the test is skipped
    done = ranks.output([tools.build / "bin/mlc", "launch", "-n", "3", "--", sys.executable, "-c", PROCESS, artifact,
                         tools.source / "runtime/python"])
    assert done.returncode == 0, done.stderr
    line = f"3 {X.sum(0, keepdims=True).tolist()} {W.tolist()}"
    assert sorted(done.stdout.splitlines()) == [f"{rank} {line}" for rank in range(3)]


def test_misuse_is_told(artifact):
    model = mlc.load(artifact)
    with pytest.raises(mlc.UsageError, match="needs 3 ranks"):
        model.session()
    with pytest.raises(mlc.UsageError, match="needs 3 ranks.*there are 2"):
        model.session(ranks=mlc.Ranks.threads(2)[0])
    with pytest.raises(mlc.UsageError, match="expected mlc.Ranks, not int"):
        model.session(ranks=3)
    with pytest.raises(mlc.UsageError, match="1 to 256"):
        mlc.Ranks.threads(0)
    with pytest.raises(mlc.UsageError, match="number of seconds"):
        mlc.Ranks.threads(1, timeout=-1)
    with pytest.raises(mlc.DeviceError, match="engine nowhere: cannot be loaded"):
        mlc.Ranks("nowhere")
    with pytest.raises(TypeError, match="cannot be copied"):
        copy.copy(mlc.Ranks.threads(1)[0])
    with pytest.raises(mlc.UsageError, match="no input or state 'q'"):
        model.part("q", X, 0)
    with pytest.raises(mlc.UsageError, match="no rank 3"):
        model.part("x", X, 3)
    assert model.part("x", X, 2).tolist() == [[8, 9, 10, 11]]
