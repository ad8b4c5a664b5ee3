"""codegen/cuda/kernels/mlc_hopper.cuh as NVRTC builds it for sm_90a: the kernel that the emulator's tests run, and each
function. The machine code has the instructions that the functions are for."""

import ctypes
import os
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest

from emulated import Graph

NVIDIA = "lib/python*/site-packages/nvidia/*"
NVDISASM = next(pathlib.Path(sys.prefix).glob(f"{NVIDIA}/bin/nvdisasm"), None)
NVRTC = os.environ.get("MLC_NVRTC") or next(pathlib.Path(sys.prefix).glob(f"{NVIDIA}/lib/libnvrtc.so.13"), None)
HEADERS = ("mlc_device.cuh", "mlc_hopper.cuh")
pytestmark = pytest.mark.skipif(not NVDISASM or not NVRTC, reason="nvdisasm or NVRTC is not installed (./dev setup)")


def compiled(tools, tmp_path, source):
    """What ptxas says, and the machine code as text."""
    nvrtc = ctypes.CDLL(str(NVRTC))
    folder = tools.source / "codegen/cuda/kernels"
    texts = (ctypes.c_char_p * 2)(*[(folder / name).read_bytes() for name in HEADERS])
    names = (ctypes.c_char_p * 2)(*[name.encode() for name in HEADERS])
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    text = '#include "mlc_device.cuh"\n' + source
    assert nvrtc.nvrtcCreateProgram(ctypes.byref(program), text.encode(), b"k.cu", 2, texts, names) == 0
    options = (ctypes.c_char_p * 3)(b"-arch=sm_90a", b"-std=c++17", b"--ptxas-options=-v")
    status = nvrtc.nvrtcCompileProgram(program, 3, options)
    nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetProgramLog(program, log)
    assert status == 0, log.value.decode()
    nvrtc.nvrtcGetCUBINSize(program, ctypes.byref(size))
    cubin = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetCUBIN(program, cubin)
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    (tmp_path / "k.cubin").write_bytes(cubin.raw)
    code = subprocess.run([NVDISASM, "-c", tmp_path / "k.cubin"], capture_output=True, text=True, check=True).stdout
    return log.value.decode(), code


@pytest.mark.parametrize("define, product", [("", "HGMMA.64x64x16.F32"), ("TF32", "HGMMA.64x64x8.F32.TF32"),
                                             ("PIXELS", "HGMMA.64x64x16.F32")])
def test_the_kernel_of_the_emulators_tests(tools, tmp_path, define, product):
    text = (tools.source / "test/unit/emulator/HopperGemm.inc").read_text()
    source = re.fullmatch(r'R"kernel\((.*)\)kernel"\s*', text, re.S)[1]
    log, code = compiled(tools, tmp_path, f"#define {define}\n{source}" if define else source)
    assert "0 bytes spill stores, 0 bytes spill loads" in log
    # No product is made to wait, and registers are handed over.
    assert "C7510" not in log and "C7508" not in log and "setmaxnreg" not in log, log
    for instruction in (product, "UTMALDG", "UTMASTG", "SYNCS.ARRIVE.TRANS64", "USETMAXREG"):
        assert instruction in code, instruction


def test_kernels_of_models(tools, tmp_path):
    """Those of the skeleton wgmma, however factors come: ptxas lets products run beside each other."""
    graph, rng = Graph(tools, tmp_path, target="cuda:sm_90a"), np.random.default_rng(1)

    def value(case, *dims):
        return case.input(np.zeros(0, np.float16), list(dims))
    case = graph.case("boxes", None)
    case.output(case.node("Gelu", case.node("MatMul", value(case, 1024, 1024), value(case, 1024, 1024))))
    case = graph.case("parts", None)
    case.output(case.node("MatMul", value(case, 128, 3072), value(case, 3072, 128)))
    case = graph.case("gathered", None)
    turned = [case.node("Transpose", value(case, *dims), perm=[0, 3, 1, 2]) for dims in ((32, 30, 30, 96), (96, 3, 3, 96))]
    case.output(case.node("Transpose", case.node("Conv", *turned), perm=[0, 2, 3, 1]))
    case = graph.case("joined", None)
    x = value(case, 128, 768)
    for _ in range(3):
        case.output(case.node("MatMul", x, rng.standard_normal((768, 768)).astype(np.float16)))
    graph.compile()
    texts = [text for text in graph.sources.values() if "Warpgroups<" in text]
    assert len(texts) == 4
    for text in texts:
        log, _ = compiled(tools, tmp_path, text)
        assert "0 bytes spill stores, 0 bytes spill loads" in log
        assert "C75" not in log and "setmaxnreg" not in log, log


# Each function with the instruction that it becomes.
CALLS = {
    "initBarrier(b, 1); fenceBarrierInit();": "SYNCS.EXCH.64",
    "arrive(b);": "SYNCS.ARRIVE.TRANS64",
    "arriveAndExpect(b, 64);": "SYNCS.ARRIVE.TRANS64",
    "waitForPhase(b, 3);": "SYNCS.PHASECHK.TRANS64.TRYWAIT",
    "endBarrier(b);": "SYNCS.CCTL.IV",
    "syncNamed(1, 128);": "BAR.SYNC",
    "arriveNamed(2, 256);": "BAR.ARV",
    "fenceAsyncProxy();": "FENCE.VIEW.ASYNC",
    "prefetchMap(&map);": "UTMACCTL",
    "waitForPriorLaunch(); launchNext();": "ACQBULK",
    "copyTensor(s, &map, b, 1); copyTensor(s, &map, b, 1, 2); copyTensor(s, &map, b, 1, 2, 3);": "UTMALDG.3D",
    "copyTensor(s, &map, b, 1, 2, 3, 4); copyTensor(s, &map, b, 1, 2, 3, 4, 5);": "UTMALDG.5D",
    "copyPixels(s, &map, b, 1, 2, 3, 1); copyPixels(s, &map, b, 1, 2, 3, 4, 1, 2);": "UTMALDG.4D.IM2COL",
    "copyPixels(s, &map, b, 1, 2, 3, 4, 5, 1, 2, 0);": "UTMALDG.5D.IM2COL",
    "copyBulk(s, out, 64, b);": "UBLKCP",
    "storeTensor(&map, s, 1); storeTensor(&map, s, 1, 2); storeTensor(&map, s, 1, 2, 3);": "UTMASTG.3D",
    "storeTensor(&map, s, 1, 2, 3, 4); storeTensor(&map, s, 1, 2, 3, 4, 5);": "UTMASTG.5D",
    "uint32_t w[4] = {1, 2, 3, 4}; storeMatrices(s + threadIdx.x % 32 * 16, w);": "STSM.16.M88.4",
    "storeBulk(out, s, 64); commitStores(); waitForStoreReads<1>(); waitForStores<0>();": "UBLKCP",
}


def kernel(text):
    return ('#include "mlc_hopper.cuh"\nMLC_KERNEL(k, 128, 1)(const __grid_constant__ TensorMap map, float *out) {\n'
            f"uint8_t *s = sharedMemory(); uint64_t *b = (uint64_t *)(s + 65536);\n{text}\n}}\n")


def test_functions_become_their_instructions(tools, tmp_path):
    _, code = compiled(tools, tmp_path, kernel("\n".join(CALLS)))
    for call, instruction in CALLS.items():
        assert instruction in code, call


@pytest.mark.parametrize("sizes", [(8, 32, 64), (96, 128), (192,), (256,)])
def test_products_of_all_sizes(tools, tmp_path, sizes):
    text, wanted = "", []
    for n in sizes:
        kinds = [("f16", "16.F32"), ("bf16", "16.F32.BF16"), ("tf32", "8.F32.TF32"), ("e4m3", "32.F32.E4M3.E4M3")]
        products = "".join(f"multiplyTiles<{kind}>(d, x, x, true); multiplyRows<{kind}>(d, r, x, true);" for kind, _ in kinds)
        products += "multiplyTiles<f16, true, true>(d, x, x, true); multiplyRows<bf16, true>(d, r, x, true);"
        pairs = [(a, c) for a in ("true", "false") for c in ("true", "false")]
        integers = "".join(f"multiplyTilesOfBytes<{a}, {c}>(i, x, x, true);" for a, c in pairs)
        for name, type_, calls in (("d", "float", products), ("i", "int", integers)):
            text += (f"{{ {type_} {name}[{n // 2}]; uint32_t r[4] = {{1, 2, 3, 4}}; auto x = describeTile<64>(s, 16, 512);\n"
                     f"for ({type_} &y : {name}) y = 0;\nfenceProducts(); {calls} commitProducts(); waitForProducts<0>();\n"
                     f"for (int j = 0; j < {n // 2}; ++j) out[j * 128 + threadIdx.x] = {name}[j]; }}\n")
        wanted += [f"GMMA.64x{n}x{kind}" for _, kind in kinds] + [f"IGMMA.64x{n}x32.{a}8.{c}8" for a in "SU" for c in "SU"]
    _, code = compiled(tools, tmp_path, kernel(text))
    for instruction in wanted:
        assert instruction in code, instruction
