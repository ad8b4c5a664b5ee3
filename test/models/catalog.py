"""The models that mlc is measured and tested on, and what they are fed with.

`models()` yields a Model for every one that is installed here: trained models
of the packages rapidocr, magika and nudenet, the light models of the onnx
package with their constant fills and with He-scaled weights, and further ones
in a folder given by $MLC_MODELS (by default ../shared/models).
"""

import dataclasses
import functools
import importlib.util
import os
import pathlib

import numpy as np
import onnx
from onnx import numpy_helper

import half
import inputs
import seeded


@dataclasses.dataclass
class Model:
    """A model file and sizes of its inputs.

    cases holds a list of input shapes per set of sizes: two that differ in
    every open dim, or one where no dim is open. real makes an input as the
    model sees it in use: real(shape, seed). tolerance is relative to the
    output's largest magnitude.
    """

    name: str
    path: pathlib.Path
    cases: list
    real: object
    tolerance: float = 1e-4
    # Random inputs are noise added to real ones. A text detector finds nothing
    # in noise alone, and probabilities near 1e-7 are below the steps of 2^-23
    # in which ONNX Runtime's sigmoid computes.
    noise_on_real: bool = False


def package(name):
    """Folder of an installed package, or None; does not import it."""
    spec = importlib.util.find_spec(name)
    return pathlib.Path(spec.origin).parent if spec and spec.origin else None


def extra_folder():
    root = pathlib.Path(__file__).resolve().parents[2]
    return pathlib.Path(os.environ.get("MLC_MODELS", root.parent / "shared" / "models"))


TRAINED = [
    # name, package, path in it, shapes per case, real input
    ("PP-OCRv6 rec", "rapidocr", "models/PP-OCRv6_rec_small.onnx",
     [[(1, 3, 48, 320)], [(2, 3, 48, 96)]], inputs.text_line),
    ("PP-OCRv6 det", "rapidocr", "models/PP-OCRv6_det_small.onnx",
     [[(1, 3, 96, 160)], [(2, 3, 160, 224)]], inputs.text_page),
    ("PP-OCR v2 cls", "rapidocr", "models/ch_ppocr_mobile_v2.0_cls_mobile.onnx",
     [[(1, 3, 48, 192)], [(3, 3, 64, 160)]], inputs.text_line),
    ("Magika", "magika", "models/standard_v3_3/model.onnx",
     [[(1, 2048)], [(5, 2048)]], inputs.file_bytes),
    ("NudeNet 320n", "nudenet", "320n.onnx",
     [[(1, 3, 320, 320)], [(2, 3, 192, 256)]], inputs.picture),
]

EXTRA = [
    ("PP-OCR v2 cls (paddle)", "ppocr_v2_cls.onnx", [[(1, 3, 48, 192)], [(2, 3, 64, 160)]], inputs.text_line),
    ("PP-OCRv4 det", "ppocr_v4_det.onnx", [[(1, 3, 96, 160)], [(2, 3, 160, 224)]], inputs.text_page),
    ("PP-OCRv4 rec", "ppocr_v4_rec.onnx", [[(1, 3, 48, 320)], [(2, 3, 48, 96)]], inputs.text_line),
    ("openWakeWord melspectrogram", "oww_melspectrogram.onnx", [[(1, 16000)], [(2, 12640)]], inputs.sound),
    ("openWakeWord embedding", "oww_embedding_model.onnx", [[(1, 76, 32, 1)], [(4, 76, 32, 1)]], inputs.spectrogram),
    ("openWakeWord alexa", "oww_alexa_v0.1.onnx", [[(1, 16, 96)]], inputs.embedding),
]

LIGHT = ["resnet50", "densenet121", "inception_v1", "inception_v2", "shufflenet", "squeezenet",
         "vgg19", "zfnet512", "bvlc_alexnet"]


def light_path(name):
    return pathlib.Path(onnx.__file__).parent / "backend/test/data/light" / f"light_{name}.onnx"


def light_seeded(name, folder, seed=1):
    """The light model `name` with He-scaled weights, written into `folder`
    once; its outputs are the model's own and what its last softmax reads."""
    path = pathlib.Path(folder) / f"{name}-seeded-{seed}.onnx"
    if not path.exists():
        model = seeded.with_seeded_weights(onnx.load(light_path(name)), seed)
        part = path.with_suffix(".part")
        onnx.save(seeded.with_softmax_input(model), part)
        part.rename(path)
    return path


def light_half(name, folder):
    """light_seeded in float16. Its first weights are a sixteenth, which scales
    all that follows: ShuffleNet's sums would leave float16's range."""
    path = pathlib.Path(folder) / f"{name}-half.onnx"
    if not path.exists():
        model = onnx.load(light_seeded(name, folder))
        first = next(node for node in model.graph.node if node.op_type == "Conv").input[1]
        weight = next(i for i in model.graph.initializer if i.name == first)
        weight.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(weight) / np.float32(16), first))
        part = path.with_suffix(".part")
        onnx.save(half.in_half(model), part)
        part.rename(path)
    return path


def models(folder, names=()):
    """Every model that is here and whose name contains one of `names` (all if
    there are none). Built ones are written into `folder`."""

    def wanted(name):
        return not names or any(part.lower() in name.lower() for part in names)

    for name, owner, path, cases, real in TRAINED:
        root = package(owner)
        if wanted(name) and root and (root / path).exists():
            yield Model(name, root / path, cases, real, noise_on_real=real is inputs.text_page)
    for name in LIGHT:
        cases = [[(1, 3, 224, 224)]]
        if wanted(f"light {name}"):
            yield Model(f"light {name}", light_path(name), cases, inputs.picture)
        if wanted(f"seeded {name}"):
            yield Model(f"seeded {name}", light_seeded(name, folder), cases, inputs.picture)
    for name, file, cases, real in EXTRA:
        path = extra_folder() / file
        if wanted(name) and path.exists():
            yield Model(name, path, cases, real, noise_on_real=real is inputs.text_page)


def fed_inputs(model):
    """The inputs of an onnx model that have no initializer, in order."""
    given = {i.name for i in model.graph.initializer}
    return [i for i in model.graph.input if i.name not in given]


@functools.lru_cache(maxsize=1)
def _signature(path):
    model = onnx.load(path, load_external_data=False)
    return [
        (i.name, onnx.helper.tensor_dtype_to_np_dtype(i.type.tensor_type.elem_type))
        for i in fed_inputs(model)
    ]


def feed(model, case, kind, seed=0):
    """{name: array} for a Model: kind is "random" or "real"."""
    arrays = {}
    for (name, dtype), shape in zip(_signature(model.path), case):
        if kind == "real":
            value = model.real(shape, seed)
        elif model.noise_on_real:
            noise = np.random.default_rng(seed).standard_normal(shape)
            value = model.real(shape, seed) + 0.3 * noise
        elif np.issubdtype(dtype, np.floating):
            value = np.random.default_rng(seed).standard_normal(shape)
        else:
            value = np.random.default_rng(seed).integers(0, 257, shape)
        arrays[name] = np.ascontiguousarray(value, dtype=dtype)
    return arrays
