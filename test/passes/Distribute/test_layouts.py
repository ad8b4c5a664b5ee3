"""Layouts of Mesh-TensorFlow (Shazeer et al. 2018): each named dim over an axis of a 2 x 2 mesh, or over none, in all ways; one result."""

import concurrent.futures
import itertools
import os
import re

import pytest

SIZES = {"b": 4, "k": 2, "h": 6, "o": 2, "n": 2, "c": 4, "l": 6, "m": 4, "p": 2, "3": 3}

# Arguments and results of three operators by their named dims, what is between them, and the operators.
PRODUCTS = (("bk", "kh", "ho"), "bo", "bh", ("mlc.matmul %0, %1", "mlc.{}", "mlc.matmul %4, %2"))
SETTINGS = "{dilations = #mlc.dims<[1]>, groups = #mlc.int<1>, pads = #mlc.dims<[1, 1]>, strides = #mlc.dims<[1]>}"
CONVOLUTION = "mlc.conv %{}, %{} SETTINGS"
NETWORKS = {
    "relu": (*PRODUCTS, "relu %3"),
    "softmax": (*PRODUCTS, "softmax %3 {axis = 1 : i64}"),
    "convolutions": (("ncl", "mc3", "pm3"), "npl", "nml", (CONVOLUTION.format(0, 1), "mlc.{}", CONVOLUTION.format(4, 2)), "relu %3"),
}


def tensor(dims):
    return f"tensor<{''.join(f'{SIZES[dim]}x' for dim in dims)}f32>"


def layouts(arguments, result):
    """All that split no tensor twice over one axis. What is between the operators is only wanted, so its dims may meet."""
    dims = sorted(set("".join(arguments) + result) - {"3"})
    for axes in itertools.product(("", "x", "y"), repeat=len(dims)):
        layout = dict(zip(dims, axes), **{"3": ""})
        if all(len(used) == len(set(used)) for of in (*arguments, result) for used in [[layout[dim] for dim in of if layout[dim]]]):
            yield layout


def sharded(dims, layout):
    return f"{tensor(dims)} {{dist.sharding = #dist.sharding<[{', '.join(f'{chr(34)}{layout[dim]}{chr(34)}' for dim in dims)}]>}}"


def function(name, network, layout):
    arguments, result, between, operators, middle = network
    types = [*arguments, between, between, result]
    lines = []
    for i, text in enumerate(operators):
        text = text.format(middle).replace("SETTINGS", SETTINGS)
        reads = [tensor(types[int(n)]) for n in re.findall(r"%(\d)", text)]
        lines.append(f"  %{i + 3} = {text} : ({', '.join(reads)}) -> {tensor(types[i + 3])}")
    return "\n".join([f"func.func @{name}({', '.join(f'%{i}: {sharded(dims, layout)}' for i, dims in enumerate(arguments))}) -> "
                      f"({sharded(result, layout)}) {{", *lines, f"  return %5 : {tensor(result)}", "}"])


@pytest.mark.parametrize("name", NETWORKS)
def test_every_layout_gives_one_result(tools, tmp_path, name):
    network = NETWORKS[name]
    all_layouts = list(layouts(*network[:2]))

    def module(file, functions):
        (tmp_path / f"{file}.mlir").write_text(
            'module attributes {dist.mesh = [#dist.axis<"x", 2>, #dist.axis<"y", 2>]} {\n' + "\n".join(functions) + "\n}\n")

    def opt(file, made, *passes):
        done = tools.run("mlc-opt", tmp_path / f"{file}.mlir", *passes, "-o", tmp_path / f"{made}.mlir")
        assert done.returncode == 0, done.stderr
    module("whole", [function(f"f{i}", network, layout) for i, layout in enumerate(all_layouts)])
    opt("whole", "rank", "--mlc-partition")
    domain = "float64" if name == "softmax" else "rational"

    def numbers(text):
        return [float(n) for n in text.split(": ")[-1].split()] if domain == "float64" else text
    one = tools.run("mlc-eval", tmp_path / "whole.mlir", "--function=f0", f"--domain={domain}", "--seed=5", "--print")
    assert one.returncode == 0, one.stderr

    def prove(i):
        module(f"main{i}", [function("main", network, all_layouts[i])])
        opt(f"main{i}", f"stacked{i}", "--mlc-partition", "--mlc-stack-ranks")
        return tools.run("mlc-verify", tmp_path / f"main{i}.mlir", tmp_path / f"stacked{i}.mlir").stdout

    def check(i):
        many = tools.run("mlc-eval", tmp_path / "rank.mlir", f"--function=f{i}", "--ranks", f"--domain={domain}", "--seed=5", "--print")
        # All are executed, and every seventh is proved.
        return i, many.stdout, many.stderr, "proved" if i % 7 else prove(i)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for i, out, error, proof in pool.map(check, range(len(all_layouts))):
            assert not error and out, (all_layouts[i], error)
            if domain == "rational":
                assert out == one.stdout, all_layouts[i]
            else:
                assert numbers(out) == pytest.approx(numbers(one.stdout), rel=1e-13), all_layouts[i]
            assert proof.startswith("proved"), (all_layouts[i], proof)
    # In a circle of four named dims neighbours are on different axes: (1 + sqrt 2)^4 + (1 - sqrt 2)^4 + 1 ways.
    assert len(all_layouts) == (59 if name == "convolutions" else 35)
