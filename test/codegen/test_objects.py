"""Properties of the shared objects that kernels become."""

import subprocess

import pytest

from kernels import TARGETS, compile_kernels, tool
from test_loop_groups import argmax, reduction, relu_add


def many():
    """Ten kernels, some of them equal but for their names."""
    bodies = [relu_add([4, 33]), relu_add(["N"], ("N",)), argmax(3, 40),
              reduction([5, 9], (0,), "arith.addf", "0.0")]
    return "\n".join(text.replace("func.func @k(", f"func.func @k{i}(")
                     for i, text in enumerate(bodies * 3))


@pytest.mark.parametrize("target", TARGETS)
def test_same_bytes(target, tmp_path):
    seen = set()
    for i, threads in enumerate([1, 2, 2]):
        folder = tmp_path / f"run{i}"
        folder.mkdir()
        kernels = compile_kernels(many(), target, folder,
                                  f"--compile-threads={threads}")
        seen.add((folder / "k.so").read_bytes())
    assert len(seen) == 1
    # Equal kernels are compiled once.
    assert len({k.description["symbol"] for k in kernels.values()}) == 4
    assert len(kernels) == 12


@pytest.mark.parametrize("target", TARGETS)
def test_no_undefined_symbols(target, tmp_path):
    compile_kernels(many(), target, tmp_path)
    done = subprocess.run(
        ["nm", "-D", "--undefined-only", str(tmp_path / "k.so")],
        capture_output=True, text=True, check=True)
    assert done.stdout == ""


def test_targets_differ(tmp_path):
    if len(TARGETS) < 2:
        pytest.skip("this machine runs one level only")
    for target in TARGETS:
        folder = tmp_path / target[-1]
        folder.mkdir()
        compile_kernels(relu_add([4096]), target, folder, f"--dump={folder}")
        assembly = (folder / "kernels0.s").read_text()
        assert "%ymm" in assembly if target.endswith("v3") else "%zmm" in assembly


def test_unknown_target(tmp_path):
    source = tmp_path / "k.mlir"
    source.write_text(relu_add([4]))
    done = subprocess.run([tool("mlc-kernel"), str(source), "-o",
                           str(tmp_path / "k.so"), "--target=riscv"],
                          capture_output=True, text=True)
    assert done.returncode == 2
    assert "known targets: cpu, cpu:x86-64-v3, cpu:x86-64-v4" in done.stderr


def test_unknown_dims_are_named(tmp_path):
    source = tmp_path / "k.mlir"
    source.write_text(
        "func.func @k(%x: tensor<?xf32>) -> tensor<?xf32> "
        "attributes {mlc.kernel, mlc.symbols = []} "
        "{ return %x : tensor<?xf32> }")
    done = subprocess.run([tool("mlc-kernel"), str(source), "-o",
                           str(tmp_path / "k.so")],
                          capture_output=True, text=True)
    assert done.returncode == 7
    assert "mlc.dims does not state" in done.stderr
