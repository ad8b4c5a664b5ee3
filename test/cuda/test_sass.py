"""Contractions as machine code: what limits them on a GPU, without one."""

import json

import pytest

import sass


@pytest.mark.skipif(sass.NVDISASM is None, reason="nvdisasm, which shows machine code, is not installed (./dev setup)")
@pytest.mark.parametrize("arch", sass.ARCHS)
def test_contractions(tools, tmp_path, arch):
    """As test/cuda/sass.json has it, which `python test/cuda/sass.py --write` makes."""
    table = json.loads(sass.TABLE.read_text())
    found = sass.measure(tools, tmp_path, arch)
    assert {f"{name} {arch}" for name in found} == {row for row in table if row.endswith(f" {arch}")}
    for name, row in found.items():
        want = table[f"{name} {arch}"]
        for key in ("tile", "warps", "stages", "products", "stores"):
            assert row[key] == want[key], f"{name}: {key}"
        assert row["local"] == row["spills"] == 0, f"{name} uses local memory"
        assert row["others"] <= want["others"] * 1.05, f"{name}: instructions beside products"


def test_large_products_keep_tensor_cores_busy():
    """The bounds that the table itself keeps."""
    table = json.loads(sass.TABLE.read_text())
    assert len(table) == len(sass.ARCHS) * len({row.split()[0] for row in table})
    for row, found in table.items():
        name = row.split()[0]
        assert found["local"] == found["spills"] == 0, row
        if name in ("f16", "f16_gelu", "f16_residual", "f16_turned", "bf16", "int8", "f16_conv1"):
            assert found["others"] <= 1.5, row
        if name == "f16_open":  # blocks share tiles: their parts are words
            assert found["stores"] == [32, 128], row
        elif name != "f16_conv1_odd":
            assert found["stores"] == [128], row
