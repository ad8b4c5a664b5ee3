"""Where cases run: on a GPU, in PyTorch's memory; or on the host's, on the emulator
or under compute-sanitizer, by copies."""

import contextlib
import gc
import json
import lzma
import math

import numpy as np

from failure import Failure

VERSION = 1
POISON = 0xFF  # as every byte it is NaN in each type of floats


def read_pack(folder):
    """What `pack` wrote."""
    path = folder / "pack.json"
    try:
        packed = json.loads(path.read_text())
        version = packed["version"]
        packed["entries"], packed["mlc"], packed["small"]
    except FileNotFoundError:
        raise Failure(f"{folder} was not packed: there is no pack.json; make one by `pack {folder}`") from None
    except OSError as error:
        raise Failure(f"{path}: {error.strerror}", 3) from None
    except (ValueError, KeyError, TypeError) as error:
        raise Failure(f"{path} is damaged ({error}); pack again", 3) from None
    if version != VERSION:
        raise Failure(f"{path} is of version {version}, this program reads {VERSION}; pack again", 3)
    return packed


def read_artifact(folder, name):
    try:
        return lzma.decompress((folder / f"{name}.mlca.xz").read_bytes())
    except (OSError, lzma.LZMAError) as error:
        raise Failure(f"{name}.mlca.xz cannot be read ({error}); pack again", 3) from None


class Host:
    """NumPy's arrays. The device is the emulator or a GPU, to which runs copy."""

    has_times = False

    def __init__(self, device, folder):
        import mlc
        self.mlc, self.device, self.folder = mlc, device, folder
        self.torch = None
        try:
            if device.startswith("emulator"):
                import torch
                self.torch = torch
        except ImportError:
            pass
        if self.torch:
            import torch_ops as ops
        else:
            import numpy_ops as ops
        self.ops = ops

    def forget(self):
        """Before a case."""

    def is_lost(self):
        """Whether the device answers nothing any more in this process."""
        return False

    def exactly(self):
        """While a reference is computed."""
        return contextlib.nullcontext()

    def open(self, name):
        return self.mlc.Session(self.mlc.load(read_artifact(self.folder, name)), device=self.device)

    def empty(self, dims, dtype):
        if dtype == "bf16":
            import ml_dtypes
            return np.empty(dims, ml_dtypes.bfloat16)
        return np.empty(dims, {"f16": np.float16, "f32": np.float32}[dtype])

    def fill(self, array, seed):
        array[...] = np.random.default_rng(seed).standard_normal(array.shape).astype(array.dtype)

    def poison(self, array):
        array.view(np.uint8).fill(POISON)

    def repeated(self, period, dims):
        """A constant in double precision."""
        return self.double(np.resize(period, dims))

    def double(self, array):
        """For the operators of the reference."""
        wide = np.asarray(array, np.float64)
        return self.torch.from_numpy(np.ascontiguousarray(wide)) if self.torch else wide

    def permuted(self, value, order):
        return value.permute(order) if self.torch else value.transpose(order)

    def run(self, session, arrays, outputs):
        session.run(arrays, out=outputs)

    def difference(self, got, want):
        """(largest by the largest magnitude, by the norm, how many are no numbers)"""
        want = want.numpy() if self.torch else want
        off = np.abs(np.asarray(got, np.float64).reshape(want.shape) - want)
        bad = int(np.count_nonzero(~np.isfinite(off)))
        off = np.nan_to_num(off, nan=0, posinf=0)
        return off.max(initial=0) / (np.abs(want).max(initial=0) or 1), np.linalg.norm(off) / (np.linalg.norm(want) or 1), bad

    def describe(self):
        return {"device": self.device, "references": "PyTorch" if self.torch else "NumPy"}


class Gpu:
    """PyTorch's tensors on a GPU; all work is in one stream."""

    has_times = True

    def __init__(self, device, folder):
        import torch
        import torch_ops

        import mlc
        self.mlc, self.torch, self.device, self.folder, self.ops = mlc, torch, device, folder, torch_ops
        torch.cuda.set_device(device)
        torch.set_grad_enabled(False)
        self.stream = torch.cuda.Stream()
        torch.cuda.set_stream(self.stream)
        self.types = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32}

    def allow(self, kind):
        """What products of float32 may be computed with."""
        allowed = kind == "tf32"
        self.torch.backends.cuda.matmul.allow_tf32 = self.torch.backends.cudnn.allow_tf32 = allowed
        self.torch.backends.cudnn.benchmark = True

    def forget(self):
        """Gives back what PyTorch keeps of memory: mlc takes its own from the driver."""
        gc.collect()
        self.torch.cuda.empty_cache()

    def is_lost(self):
        try:
            self.torch.cuda.synchronize()
        except RuntimeError:
            return True
        return False

    def exactly(self):
        # The fastest algorithm in double precision is not worth a search.
        return self.torch.backends.cudnn.flags(enabled=True, benchmark=False, allow_tf32=False)

    def open(self, name):
        model = self.mlc.load(read_artifact(self.folder, name))
        return self.mlc.Session(model, device=self.device, stream=self.stream.cuda_stream)

    def empty(self, dims, dtype):
        return self.torch.empty(tuple(dims), dtype=self.types[dtype], device=self.device)

    def fill(self, array, seed):
        generator = self.torch.Generator(self.device).manual_seed(seed)
        array.normal_(generator=generator)

    def poison(self, array):
        array.view(self.torch.uint8).fill_(POISON)

    def repeated(self, period, dims, dtype=None):
        """A constant, made on the device."""
        count = math.prod(dims)
        made = self.torch.from_numpy(period).to(self.device, dtype)
        return made.repeat(-(-count // len(period)))[:count].view(tuple(dims))

    def double(self, array):
        return array.double()

    def permuted(self, value, order):
        return value.permute(order)

    def run(self, session, arrays, outputs):
        session.bind(arrays, out=outputs)
        session.enqueue()
        session.wait()

    def difference(self, got, want):
        off = (got.double().reshape(want.shape) - want).abs()
        bad = int((~off.isfinite()).sum())
        off = off.nan_to_num(nan=0, posinf=0)
        return (float(off.max() / want.abs().max().clamp_min(1e-300)), float(off.norm() / want.norm().clamp_min(1e-300)), bad)

    def describe(self):
        torch = self.torch
        shown = torch.cuda.get_device_properties(self.device)
        return {"device": self.device, "gpu": shown.name, "memory": shown.total_memory,
                "l2": getattr(shown, "L2_cache_size", 50 << 20), "torch": torch.__version__, "cuda": torch.version.cuda,
                "cudnn": torch.backends.cudnn.version()}


def place_of(device, folder):
    if device.startswith("emulator"):
        return Host(device, folder)
    try:
        import torch
    except ImportError:
        raise Failure(f"{device} needs PyTorch, for references and peers; install it, or use --device emulator", 8) from None
    if not torch.cuda.is_available():
        raise Failure(f"there is no device {device}: PyTorch sees no GPU here", 8)
    if torch.device(device).index >= torch.cuda.device_count():
        raise Failure(f"there is no device {device}; this machine has cuda:0 to cuda:{torch.cuda.device_count() - 1}", 8)
    return Gpu(device, folder)
