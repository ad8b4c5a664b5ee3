"""What an attack on the Python package found, and what belongs to it."""

import array
import copy
import os
import pickle
import threading

import mlc
import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

FLOAT = TensorProto.FLOAT
W = np.arange(6, dtype=np.float32).reshape(3, 2)
X = np.arange(6, dtype=np.float32).reshape(2, 3)


@pytest.fixture(scope="module")
def model():
    """y = x w, z = w: one of them is a parameter that is an output too."""
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["y"]), helper.make_node("Identity", ["w"], ["z"])], "g",
        [helper.make_tensor_value_info("x", FLOAT, ["n", 3])],
        [helper.make_tensor_value_info("y", FLOAT, ["n", 2]), helper.make_tensor_value_info("z", FLOAT, [3, 2])],
        [numpy_helper.from_array(W, "w")])
    return mlc.compile(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8),
                       parameters=["w"], target="cpu:x86-64-v3")


def test_views_can_only_be_read(model):
    session = model.session()
    views = session.run({"x": X}, copy=False)
    for view in views.values():
        with pytest.raises(ValueError, match="read-only"):
            view[:] = 0
    np.testing.assert_array_equal(model.session().parameter("w"), W)


def test_views_hold_the_dims(model):
    session = model.session(threads=1)
    view = session.run({"x": X}, copy=False)["y"]
    part = view[1:]
    del view
    session.run({"x": X + 1})  # the same dims: overwritten
    with pytest.raises(mlc.UsageError, match="copy or drop them"):
        session.run({"x": np.ones((500000, 3), np.float32)})
    np.testing.assert_array_equal(part, (X + 1)[1:] @ W)
    del part
    assert session.run({"x": np.ones((500000, 3), np.float32)})["y"].shape == (500000, 2)


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, pickle.dumps])
def test_handles_are_not_copied(model, duplicate):
    for one in (model, model.session(), model.session().run_async({"x": X})):
        with pytest.raises(TypeError, match="cannot be copied"):
            duplicate(one)
    model(X)


def test_what_is_saved_is_what_was_loaded(model, tmp_path, monkeypatch):
    model.save(tmp_path / "one.mlca")
    (tmp_path / "other.mlca").write_bytes(b"another file")
    bytes_then = (tmp_path / "one.mlca").read_bytes()
    monkeypatch.chdir(tmp_path)
    loaded = mlc.load("one.mlca")
    os.replace("other.mlca", "one.mlca")
    monkeypatch.chdir("/")
    loaded.save(tmp_path / "two.mlca")
    assert (tmp_path / "two.mlca").read_bytes() == bytes_then
    with pytest.raises(mlc.Error, match="cannot be written"):
        loaded.save(tmp_path / "no folder" / "x.mlca")


def test_a_run_that_nobody_holds(model):
    session = model.session(threads=1)
    session.run_async({"x": X})
    np.testing.assert_array_equal(session.run({"x": X})["y"], X @ W)


def test_a_run_that_is_done_gives_its_result_later(model):
    session = model.session(threads=1)
    run = session.run_async({"x": X})
    while not run.done():
        pass
    session.run({"x": X + 1})
    np.testing.assert_array_equal(run.result()["y"], X @ W)


def test_many_wait(model):
    run, results = model.session(threads=1).run_async({"x": X}), []
    threads = [threading.Thread(target=lambda: results.append(run.result()["y"])) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4 and all((y == X @ W).all() for y in results)


def test_a_result_after_an_interrupt(model, monkeypatch):
    session = model.session(threads=1)
    run = session.run_async({"x": X})
    real = session._outputs

    def interrupted(copy):
        monkeypatch.setattr(session, "_outputs", real)
        raise KeyboardInterrupt
    monkeypatch.setattr(session, "_outputs", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run.result()
    np.testing.assert_array_equal(run.result()["y"], X @ W)


@pytest.mark.parametrize("x,said", [
    ([np.ones(3, np.float32)], "type of its own"), ([[np.float64(0.1), 1, 2]], "type of its own"),
    ([[1e300, 2, 3]], "beyond float32"), ([[1, 2], [3]], "is no array"),
    (np.ma.masked_array(X, X > 2), "masked"), (X.astype(">f4"), "byte order"), (object(), "made of object"), (array.array("d", [1, 2, 3]), "float64"),
])
def test_inputs_that_are_refused(model, x, said):
    with pytest.raises(mlc.UsageError, match=said):
        model(x)


def test_bind_takes_what_it_can_read_again(model):
    session = model.session()
    for x in (np.asfortranarray(X), X.tolist()):
        with pytest.raises(mlc.UsageError, match="dense and row-major"):
            session.bind({"x": x})
    x = X.copy()
    session.bind({"x": x})
    x[:] = 1
    session.invoke()
    np.testing.assert_array_equal(session.outputs()["y"], x @ W)


@pytest.mark.parametrize("call", [
    lambda m: m.run(5), lambda m: m.session(threads="1"), lambda m: m.session(threads=1.5), lambda m: m.session(device=5),
    lambda m: m.session(device="cpu\0x"), lambda m: mlc.compile(None), lambda m: mlc.load(5), lambda m: mlc.load("a\0b"),
    lambda m: mlc.Session(None), lambda m: mlc.compile("m.onnx", parameters="w"),
    lambda m: mlc.compile("m.onnx", rules="no.mlir"), lambda m: mlc.compile("m.onnx", dims={"n": 1.5}),
    lambda m: mlc.compile("m.onnx", dims={"n": True}), lambda m: mlc.compare("m.onnx", tolerance=-1),
    lambda m: mlc.compile("m.onnx", dims=5), lambda m: mlc.compile("m.onnx", rules=[5]), lambda m: mlc.compile("m.onnx", target="a\0b"),
    lambda m: m.session(ranks=2), lambda m: m.run({"x": X}) and m.session().run({"x": X}, out=5),
    lambda m: m.session(profile=np.zeros(2)), lambda m: m.part("x", X, "0"), lambda m: m.entry(X), lambda m: mlc.Ranks(timeout="x"),
])
def test_every_error_is_one_of_mlc(model, call):
    with pytest.raises(mlc.UsageError):
        call(model)


def test_a_session_is_for_one_thread_at_a_time(model):
    session, started, go_on = model.session(threads=1), threading.Event(), threading.Event()

    def hold():
        with session._turn:
            started.set()
            go_on.wait()
    holder = threading.Thread(target=hold)
    holder.start()
    started.wait()
    calls = [lambda: session.run({"x": X}), lambda: session.run_async({"x": X}), lambda: session.outputs(),
             lambda: session.set_parameter("w", W), lambda: session.reset_states()]
    for call in calls:
        with pytest.raises(mlc.UsageError, match="another thread is using the session; make one for each"):
            call()
    go_on.set()
    holder.join()
    np.testing.assert_array_equal(session.run({"x": X})["y"], X @ W)


def test_threads_that_share_a_session(model):
    """Each result is that of the call's own input, or the call is refused."""
    session, outcomes = model.session(threads=2), []

    def work(rows):
        x = np.full((rows, 3), rows, np.float32)
        for _ in range(40):
            try:
                outcomes.append(np.array_equal(session.run({"x": x})["y"], x @ W))
            except mlc.UsageError as refused:
                outcomes.append("another thread" in str(refused))
    threads = [threading.Thread(target=work, args=(rows,)) for rows in (1, 50, 3000, 33)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(outcomes) == 160 and all(outcomes)


def test_a_forked_child_does_not_run_its_parents_model(model):
    model(X)
    child = os.fork()
    if child == 0:
        try:
            model(X)
        except mlc.UsageError as refused:
            works = (model.session().run({"x": X})["y"] == X @ W).all()
            os._exit(0 if "forked" in str(refused) and "model.session()" in str(refused) and works else 3)
        finally:
            os._exit(4)
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.parametrize("shape", [(2, 3), (1, 2), (4,), (2, 2, 1)])
def test_an_array_for_an_output_has_its_dims(model, shape):
    session = model.session()
    with pytest.raises(mlc.UsageError, match="output 'y'"):
        session.run({"x": X}, out={"y": np.empty(shape, np.float32)})
    np.testing.assert_array_equal(session.run({"x": X})["y"], X @ W)


def test_a_forked_child_neither_uses_nor_frees(model):
    session = model.session(threads=2)
    session.run({"x": X})
    child = os.fork()
    if child == 0:
        try:
            session.run({"x": X})
        except mlc.UsageError as refused:
            del session
            fresh = model.session(threads=2).run({"x": X})["y"]
            os._exit(0 if "process" in str(refused) and (fresh == X @ W).all() else 3)
        finally:
            os._exit(4)
    assert os.waitpid(child, 0)[1] == 0
    np.testing.assert_array_equal(session.run({"x": X})["y"], X @ W)
