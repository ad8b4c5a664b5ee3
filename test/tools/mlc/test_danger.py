"""What a model or a command line may not do to the user's files and terminal."""

import json
import os
import pathlib
import re
import stat
import subprocess

import graphs
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

# An escape sequence, a second line that looks like mlc's, and a turned name.
EVIL = "a\x1b[31m\nmlc: error: no\r\x9b\u202e"
CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e]")


@pytest.fixture(scope="module")
def network(tmp_path_factory):
    return graphs.save(tmp_path_factory.mktemp("danger") / "network.onnx", graphs.scaled_relu(2))


@pytest.fixture(scope="module")
def artifact(tools, network):
    path = network.with_suffix(".mlca")
    assert tools.mlc("compile", network, "-o", path).returncode == 0
    return path


@pytest.fixture
def array(tmp_path):
    np.save(tmp_path / "x.npy", np.ones((2, 8), np.float32))
    return tmp_path / "x.npy"


def commands(tools, network, artifact, array):
    """Every command that writes a file, as a function of that file."""
    bin = tools.build / "bin"
    return {
        "compile": lambda out: [bin / "mlc", "compile", network, "-o", out],
        "optimize": lambda out: [bin / "mlc", "optimize", network, "-o", out],
        "run": lambda out: [bin / "mlc", "run", artifact, f"--input=x={array}", f"--output-npz={out}"],
        "mlc-run": lambda out: [bin / "mlc-run", artifact, f"--input=x={array}", f"--output={out}"],
        "timings": lambda out: [bin / "mlc", "compile", network, "--compile-to=import", "-o", out],
    }


WRITERS = ["compile", "optimize", "run", "mlc-run", "timings"]


def run(arguments, **options):
    return subprocess.run(list(map(str, arguments)), capture_output=True, timeout=120, **options)


@pytest.mark.parametrize("name", WRITERS)
def test_outputs_that_are_no_files(tools, network, artifact, array, tmp_path, name):
    command = commands(tools, network, artifact, array)[name]
    before = set(os.listdir("/dev"))
    assert run(command("/dev/null")).returncode == 0
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    assert run(command("/dev/full")).returncode == 9
    assert stat.S_ISCHR(os.stat("/dev/full").st_mode)
    assert not [entry for entry in set(os.listdir("/dev")) - before if "tmp" in entry]

    os.mkdir(tmp_path / "d")
    os.symlink("d/file", tmp_path / "link")
    for _ in range(2):  # made, then replaced
        assert run(command(tmp_path / "link")).returncode == 0
        assert (tmp_path / "link").is_symlink() and (tmp_path / "d/file").stat().st_size > 0
    whole = (tmp_path / "d/file").read_bytes()

    os.mkfifo(tmp_path / "fifo")
    reader = subprocess.Popen(["cat", tmp_path / "fifo"], stdout=subprocess.PIPE)
    assert run(command(tmp_path / "fifo")).returncode == 0
    got, _ = reader.communicate(timeout=60)
    assert len(got) == len(whole) and stat.S_ISFIFO(os.stat(tmp_path / "fifo").st_mode)

    done = run(command("/dev/stdout"))
    assert done.returncode == 0 and len(done.stdout) >= len(whole)
    with open(tmp_path / "d/out", "wb") as out:
        done = subprocess.run(list(map(str, command("/dev/stdout"))), stdout=out, timeout=120)
    assert done.returncode == 0 and (tmp_path / "d/out").stat().st_size >= len(whole)
    assert sorted(os.listdir(tmp_path / "d")) == ["file", "out"]


def test_a_reader_that_goes_is_an_error_of_that_file(tools, network, tmp_path):
    os.mkfifo(tmp_path / "fifo")
    reader = subprocess.Popen(["head", "-c1", tmp_path / "fifo"], stdout=subprocess.DEVNULL)
    made = graphs.model([("MatMul", ["x", "w"], ["y"], {})], [("x", [1, 512])], [("y", [1, 512])],
                        {"w": np.random.default_rng(0).standard_normal((512, 512)).astype(np.float32)})
    path = graphs.save(tmp_path / "large.onnx", made)
    done = tools.mlc("compile", path, "-o", tmp_path / "fifo")
    reader.wait()
    assert done.returncode == 9 and "Broken pipe" in done.stderr


def test_outputs_that_are_inputs(tools, network, artifact, array, tmp_path):
    model = tmp_path / "model.onnx"
    model.write_bytes(network.read_bytes())
    os.symlink(model, tmp_path / "link.svg")
    for command in ("compile", "optimize"):
        for flags in (["-o", model], ["-o", tmp_path / "out", f"--explain={tmp_path}/link.svg"]):
            done = tools.mlc(command, model, *flags)
            assert done.returncode == 2 and "is the file that is read" in done.stderr
    assert model.read_bytes() == network.read_bytes()
    saved = array.read_bytes()
    done = tools.mlc("run", artifact, f"--input=x={array}", f"--output-npz={array}")
    assert done.returncode == 2 and array.read_bytes() == saved


def with_data(folder):
    """A model whose weight lies in w.bin beside it."""
    folder.mkdir(exist_ok=True)
    weight = np.arange(4096, dtype=np.float32).reshape(64, 64)
    made = graphs.model([("MatMul", ["x", "w"], ["y"], {})], [("x", [1, 64])], [("y", [1, 64])], {"w": weight})
    onnx.save(made, folder / "model.onnx", save_as_external_data=True, location="w.bin", size_threshold=0)
    return folder / "model.onnx"


def test_external_data(tools, tmp_path):
    path = with_data(tmp_path / "a")
    data = tmp_path / "a/w.bin"
    whole = data.read_bytes()
    done = tools.mlc("compile", path, "-o", data)
    assert done.returncode == 2 and data.read_bytes() == whole
    assert tools.mlc("compile", path, "-o", tmp_path / "out").returncode == 0
    # Another name, in another folder, may be that of any file.
    os.link(data, tmp_path / "hard")
    done = tools.mlc("compile", path, "-o", tmp_path / "out")
    assert done.returncode == 3 and "hard link" in done.stderr
    os.unlink(tmp_path / "hard")
    data.write_bytes(whole[:-1])
    done = tools.mlc("compile", path, "-o", tmp_path / "out")
    assert done.returncode == 3 and "cut off" in done.stderr
    data.unlink()
    os.mkfifo(data)
    done = tools.mlc("compile", path, "-o", tmp_path / "out", timeout=60)
    assert done.returncode == 3 and "regular" in done.stderr
    data.unlink()
    # More than the machine's memory, in a file that takes no room.
    with open(data, "wb") as file:
        file.truncate(1 << 43)
    done = tools.mlc("compile", path, "-o", tmp_path / "out")
    assert done.returncode == 9 and "w.bin" in done.stderr


def test_data_that_is_cut_while_it_compiles(tools, tmp_path):
    """Read, not mapped: nothing that happens to the files later matters."""
    path = with_data(tmp_path / "a")
    os.mkfifo(tmp_path / "out")
    process = subprocess.Popen([tools.build / "bin/mlc", "compile", path, "-o", tmp_path / "out"],
                               stderr=subprocess.PIPE)
    # It waits for a reader when all is compiled and nothing is written.
    with open(tmp_path / "out", "rb") as out:
        os.truncate(tmp_path / "a/w.bin", 0)
        os.truncate(path, 0)
        got = out.read()
    assert process.wait(60) == 0, process.stderr.read()
    process.stderr.close()
    assert np.arange(4096, dtype=np.float32)[:64].tobytes() in got or len(got) > 4 * 4096


def evil_model(unsupported=False):
    dims = ["n" + EVIL, 4]
    nodes = [helper.make_node("Det" if unsupported else "Relu", ["x" + EVIL], ["y" + EVIL], name="node" + EVIL)]
    graph = helper.make_graph(nodes, "graph" + EVIL,
                              [helper.make_tensor_value_info("x" + EVIL, TensorProto.FLOAT, dims)],
                              [helper.make_tensor_value_info("y" + EVIL, TensorProto.FLOAT, dims)])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    made.metadata_props.add(key="key" + EVIL, value=EVIL)
    return made


def check_printed(done):
    for text in (done.stdout, done.stderr):
        shown = text.decode("utf-8")  # all of it is
        assert not CONTROL.search(shown), shown
        assert "\nmlc: error: no" not in shown, shown


def test_names_reach_the_terminal_escaped(tools, tmp_path):
    path, bad = tmp_path / "model.onnx", tmp_path / "bad.onnx"
    path.write_bytes(evil_model().SerializeToString())
    bad.write_bytes(evil_model(unsupported=True).SerializeToString())
    mlc, out = tools.build / "bin/mlc", tmp_path / "out.mlca"
    done = run([mlc, "compile", path, "-o", out, f"--explain={tmp_path}/out.svg"])
    assert done.returncode == 0, done.stderr
    check_printed(done)
    assert not CONTROL.search((tmp_path / "out.svg").read_text().replace("\n", ""))
    for arguments in (["inspect", out], ["inspect", "--json", out], ["check", path], ["check", bad],
                      ["check", "--json", bad], ["compile", bad, "-o", tmp_path / "no"],
                      ["compile", path, "--dim=q=3", "-o", tmp_path / "no"], ["run", out],
                      ["bench", out], ["optimize", path, "-o", tmp_path / "o.onnx", "--explain"],
                      ["run", out, "--input=" + "q\x1b[31m=x.npy"], ["inspect", "no\x1b[31m\n"]):
        done = run([mlc, *arguments])
        if "--json" in arguments:
            # JSON has its own escapes, and none for what is not below a space.
            assert json.loads(done.stdout) and not re.search(b"[\x00-\x09\x0b-\x1f]", done.stdout)
        else:
            check_printed(done)
    np.save(tmp_path / "x.npy", np.ones((2, 4), np.float32))
    done = run([tools.build / "bin/mlc-run", out, "--input", tmp_path / "x.npy", "--profile"])
    assert done.returncode == 0, done.stderr
    check_printed(done)
    done = run([tools.build / "bin/mlc-run", out])
    assert done.returncode == 2
    check_printed(done)


def test_bytes_that_are_no_text(tools, tmp_path):
    """Metadata are repaired; a name that identifies something is refused."""
    made = evil_model()
    made.metadata_props.add(key="KEY?", value="VALUE?")
    made.producer_name = "MAKER?"
    made.graph.node[0].name = "LABEL?"
    good = made.SerializeToString()
    path, out = tmp_path / "model.onnx", tmp_path / "out.mlca"
    for text in (b"KEY?", b"VALUE?", b"MAKER?", b"LABEL?"):
        good = good.replace(text, text[:-1] + b"\xff")
    path.write_bytes(good)
    done = run([tools.build / "bin/mlc", "compile", path, "-o", out])
    assert done.returncode == 0, done.stderr
    done = run([tools.build / "bin/mlc", "inspect", "--json", out])
    shown = json.loads(done.stdout)
    assert shown["manifest"]["metadata"]["KEY\ufffd"] == "VALUE\ufffd"
    done = run([tools.build / "bin/mlc", "optimize", path, "-o", tmp_path / "o.onnx"])
    assert done.returncode == 0, done.stderr
    onnx.load(tmp_path / "o.onnx")

    made = graphs.model([("Relu", ["INPUT?"], ["OUTPUT?"], {})], [("INPUT?", ["DIM?", 4])], [("OUTPUT?", ["DIM?", 4])])
    for text in (b"INPUT?", b"OUTPUT?", b"DIM?", b"Relu"):
        path.write_bytes(made.SerializeToString().replace(text, text[:-1] + b"\xff"))
        for arguments in (["compile", path, "-o", out], ["check", "--json", path]):
            done = run([tools.build / "bin/mlc", *arguments])
            assert done.returncode == 3 and b"\\xff" in done.stderr, done.stderr
            check_printed(done)


def test_inspecting_runs_nothing(tools, tmp_path):
    """Its sums would take minutes and gigabytes."""
    side = 1 << 14
    made = graphs.model([("MatMul", ["x", "x"], ["a"], {}), ("MatMul", ["a", "x"], ["y"], {})],
                        [("x", [side, side])], [("y", [side, side])])
    path, out = graphs.save(tmp_path / "model.onnx", made), tmp_path / "out.mlca"
    assert tools.mlc("compile", path, "-o", out).returncode == 0
    done = subprocess.Popen([tools.build / "bin/mlc", "inspect", "--json", out], stdout=subprocess.PIPE)
    shown = json.loads(done.stdout.read())
    done.stdout.close()
    _, status, usage = os.wait4(done.pid, 0)
    done.returncode = status
    assert status == 0 and usage.ru_utime < 20
    assert shown["arena_bytes"] >= shown["arena_lower_bound_bytes"] >= 4 * side * side


@pytest.mark.parametrize("target", ["cpu:x86-64-v3", "cpu:x86-64-v4"])
def test_inspecting_code_for_any_machine(tools, tmp_path, target):
    made = graphs.model([("Softmax", ["x"], ["a"], {}), ("Softmax", ["a"], ["y"], {"axis": 0})],
                        [("x", [4, 8])], [("y", [4, 8])])
    path, out = graphs.save(tmp_path / "model.onnx", made), tmp_path / "out.mlca"
    assert tools.mlc("compile", path, "-o", out, f"--target={target}").returncode == 0
    done = tools.mlc("inspect", out)
    assert done.returncode == 0 and "lower bound" in done.stdout and "open dims" not in done.stdout


def test_standard_output_that_takes_nothing(tools, network, artifact):
    for arguments in (["inspect", artifact], ["inspect", "--json", artifact], ["check", network],
                      ["optimize", network, "-o", "-"], ["compile", network, "--compile-to=import"]):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([tools.build / "bin/mlc", *map(str, arguments)], stdout=full,
                                  stderr=subprocess.PIPE, timeout=120)
        assert done.returncode == 9 and b"standard output" in done.stderr, (arguments, done)


@pytest.mark.parametrize("tool", ["mlc", "mlc-run", "mlc-verify", "mlc-rules", "mlc-eval",
                                  "mlc-translate", "mlc-opt"])
@pytest.mark.parametrize("option", ["--help", "--version"])
def test_help_that_nobody_can_read(tools, tool, option):
    with open("/dev/full", "wb") as full:
        done = subprocess.run([tools.build / "bin" / tool, option], stdout=full,
                              stderr=subprocess.PIPE, timeout=120)
    assert done.returncode == 9 and b"standard output" in done.stderr, done


def test_missing_folder_for_temporary_files(tools, network, tmp_path):
    done = tools.mlc("compile", network, "-o", tmp_path / "out.mlca",
                     env={**os.environ, "TMPDIR": str(tmp_path / "absent")})
    assert done.returncode == 2 and "TMPDIR" in done.stderr
    assert os.listdir(tmp_path) == []


def test_too_few_open_files(tools, network, artifact, array):
    """No answer but "done" or "resources", wherever the last one is taken."""
    codes = set()
    for limit in range(3, 12):
        for arguments in (["run", artifact, f"--input=x={array}"], ["compile", network, "-o", "/dev/null"]):
            done = run(["bash", "-c", f'ulimit -n {limit}; exec "$@"', "bash", tools.build / "bin/mlc", *arguments])
            if b"error while loading shared libraries" in done.stderr:
                continue
            assert done.returncode in (0, 9), (limit, arguments, done.stderr)
            codes.add(done.returncode)
            assert b"rebuild" not in done.stderr
    assert codes == {0, 9}
