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
        for key in ("tile", "warps", "stages", "products", "copies", "stores"):
            assert row[key] == want[key], f"{name}: {key}"
        assert row["local"] == row["spills"] == 0, f"{name} uses local memory"
        assert row["others"] <= want["others"] * 1.05, f"{name}: instructions beside products"


def test_large_products_keep_tensor_cores_busy():
    """The bounds that the table itself keeps."""
    table = json.loads(sass.TABLE.read_text())
    assert len(table) == len(sass.ARCHS) * len({row.split()[0] for row in table})
    for row, found in table.items():
        name, arch = row.split()
        assert found["local"] == found["spills"] == 0, row
        if name in ("f16", "f16_gelu", "f16_residual", "f16_turned", "bf16", "bf16_turned", "int8", "f16_conv1") and arch == "sm_80":
            assert found["others"] <= 1.5, row
        if name != "f16_conv1_odd":
            assert found["stores"] == [128], row


# Whose factors come by tensor maps alone, by threads too, or lie across K in float32.
MAPPED = {"f16", "f16_gelu", "f16_residual", "f16_turned", "f16_open", "f16_pixels", "tf32_pixels", "bf16", "bf16_turned", "tf32_turned",
          "int8"}
GATHERED = {"f16_conv1", "f16_gathered"}


def test_warpgroups_multiply_on_hopper():
    table = {row.split()[0]: found for row, found in json.loads(sass.TABLE.read_text()).items() if row.endswith(" sm_90a")}
    for name, found in table.items():
        product = found["products"].split()[1]
        assert product == ("HMMA" if name not in MAPPED | GATHERED else "IGMMA" if name == "int8" else "HGMMA"), name
        assert ("UTMALDG" in found["copies"]) == (name in MAPPED | GATHERED), name
        assert ("LDGSTS" in found["copies"]) == (name not in MAPPED), name
        # What blocks that share a tile do is in the loop too, as are copies of threads.
        if name in MAPPED - {"f16_open"} | {"f16_gathered"}:
            assert found["others"] <= 25, name
