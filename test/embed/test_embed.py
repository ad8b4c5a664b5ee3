"""docs/Embed.md, followed: its files are written, its commands run, and what
they print is what the page says. And what the page does not say: the plugin
does what mlc-opt does, has no prover in it, and refuses what needs one."""

import json
import os
import re
import shutil
import subprocess
import sys

import pytest

PAGE = "docs/Embed.md"
MODEL = """
func.func @main(%x: tensor<1x64x32x32xf32> {mlc.name = "x"}) -> (tensor<1x64x32x32xf32> {mlc.name = "y"}) {
  %w = mlc.constant dense<0.5> : tensor<64x64x3x3xf32>
  %a = mlc.conv %x, %w {strides = #mlc.dims<[1, 1]>, pads = #mlc.dims<[1, 1, 1, 1]>, dilations = #mlc.dims<[1, 1]>,
      groups = #mlc.int<1>} : (tensor<1x64x32x32xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x32x32xf32>
  %b = mlc.relu %a : (tensor<1x64x32x32xf32>) -> tensor<1x64x32x32xf32>
  %c = mlc.relu %b : (tensor<1x64x32x32xf32>) -> tensor<1x64x32x32xf32>
  return %c : tensor<1x64x32x32xf32>
}
"""
PIPELINE = ("builtin.module(mlc-apply-rules{target=cpu:x86-64-v3},func.func(mlc-fold-constants),mlc-assign-layout,"
            "func.func(mlc-fold-constants),mlc-lower-to-linalg,mlc-fuse,mlc-transform-constants)")


def parts(page):
    """(heading, files, commands, printed) of each section with commands."""
    found = []
    for section in page.split("\n## ")[1:]:
        heading = section.splitlines()[0]
        files = dict(re.findall(r"^`([\w./-]+)`:\n\n```\w+\n(.*?)^```", section, re.M | re.S))
        for commands, after in re.findall(r"^```sh\n(.*?)^```\n\n(prints [^\n]*)", section, re.M | re.S):
            found.append((heading, files, commands, re.findall(r"`([^`]+)`", after)))
    return found


@pytest.fixture(scope="module")
def installed(tools, tmp_path_factory):
    """The package and the plugin, where `cmake --install` puts them."""
    prefix = tmp_path_factory.mktemp("mlc")
    for component in ("Development", "Tools", "Runtime"):
        done = subprocess.run(["cmake", "--install", tools.build, "--prefix", prefix, "--component", component],
                              capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    return prefix


def test_the_page(tools, installed, tmp_path):
    path = f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}"  # python3 has onnx
    compiler = shutil.which("cc") or "clang-22"  # which ./dev setup installs
    sections = parts((tools.source / PAGE).read_text())
    assert [heading for heading, *_ in sections] == [
        "Artifacts from C", "A stock mlir-opt", "A project of one's own", "A step of training, on ranks",
        "A proof at the end of a test"]
    for heading, files, commands, printed in sections:
        for name, text in files.items():
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_text(text)
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", commands], cwd=tmp_path, capture_output=True,
                              text=True, env={**os.environ, "MLC": str(installed), "PATH": path, "CC": compiler}, timeout=900)
        log = tmp_path / "build.log"
        assert done.returncode == 0, (heading, done.stderr, log.read_text() if log.exists() else "")
        assert done.stdout.split() == printed, (heading, done.stdout)


@pytest.fixture(scope="module")
def plugin(tools):
    library = tools.build / "lib/libMLCPlugin.so"

    def run(text, pipeline):
        return subprocess.run(
            ["mlir-opt-22", f"--load-pass-plugin={library}", f"--load-dialect-plugin={library}",
             f"--pass-pipeline={pipeline}", "-"], input=text, capture_output=True, text=True, timeout=300)
    run.library = library
    return run


def test_the_plugin_does_what_mlc_opt_does(tools, plugin):
    done = plugin(MODEL, PIPELINE)
    ours = tools.run("mlc-opt", f"--pass-pipeline={PIPELINE}", "-", input=MODEL)
    assert done.returncode == 0 and ours.returncode == 0, done.stderr + ours.stderr
    assert "exec.program" in done.stdout and 'exec.inverse_transform "winograd"' in done.stdout
    assert done.stdout == ours.stdout


def test_the_plugin_has_all_passes(tools, plugin):
    listed = subprocess.run(["mlir-opt-22", f"--load-pass-plugin={plugin.library}", "--help"],
                            capture_output=True, text=True).stdout
    named = set(re.findall(r"^## `--(mlc-[\w-]+)`", (tools.source / "docs/Passes.md").read_text(), re.M))
    assert named and named <= set(re.findall(r"--(mlc-[\w-]+)", listed))


def test_the_plugin_has_no_prover(plugin, tmp_path):
    needed = subprocess.run(["readelf", "-d", plugin.library], capture_output=True, text=True).stdout
    libraries = re.findall(r"NEEDED.*\[(.*?)\]", needed)
    assert any(name.startswith("libMLIR.so") for name in libraries)
    assert not [name for name in libraries if "z3" in name], libraries
    rules = tmp_path / "own.mlir"
    rules.write_text("module {}\n")
    done = plugin(MODEL, "builtin.module(mlc-apply-rules{target=cpu:x86-64-v3 rules=" + str(rules) + "})")
    assert done.returncode == 1 and "here is no prover; apply them with mlc-opt or mlc" in done.stderr


def test_passes_can_be_mixed_with_upstreams(tools, plugin):
    pipeline = "builtin.module(canonicalize,cse,mlc-lower-to-linalg,canonicalize)"
    ours = tools.run("mlc-opt", f"--pass-pipeline={pipeline}", "-", input=MODEL)
    assert ours.returncode == 0 and "linalg." in ours.stdout, ours.stderr
    assert plugin(MODEL, pipeline).stdout == ours.stdout


def request(method, parameters, number=None):
    message = {"jsonrpc": "2.0", "method": method, "params": parameters}
    if number is not None:
        message["id"] = number
    text = json.dumps(message)
    return f"Content-Length: {len(text)}\r\n\r\n{text}"


def test_language_server(tools):
    """An operator with a wrong result type is marked where it stands."""
    wrong = ("func.func @f(%x: tensor<2xf32>) -> tensor<3xf32> {\n"
             "  %0 = mlc.relu %x : (tensor<2xf32>) -> tensor<3xf32>\n  return %0 : tensor<3xf32>\n}\n")
    document = {"uri": "file:///a.mlir", "languageId": "mlir", "version": 1, "text": wrong}
    sent = (request("initialize", {"processId": None, "rootUri": None, "capabilities": {}}, 0) +
            request("textDocument/didOpen", {"textDocument": document}) + request("shutdown", None, 1) +
            request("exit", None))
    done = tools.run("mlc-lsp-server", input=sent, timeout=60)
    answers = [json.loads(text) for text in re.findall(r"Content-Length: \d+\s+(\{.*?\})(?=Content-Length|\s*$)",
                                                       done.stdout, re.S)]
    marks = [mark for answer in answers if answer.get("method") == "textDocument/publishDiagnostics"
             for mark in answer["params"]["diagnostics"]]
    assert len(marks) == 1 and marks[0]["range"]["start"]["line"] == 1, done.stdout + done.stderr
    assert "result #0 must be" in marks[0]["message"]
