"""Packs the compiler, so that `mlc` runs on a machine with a GPU, Python and NVRTC
that has no LLVM and no network.

LLVM's and MLIR's libraries are nearly all of it; shrinking them takes minutes, so
what was made of them is kept in the cache folder. Libraries that they name but that
nothing calls while code for GPUs is made are stubs.
"""

import hashlib
import lzma
import os
import pathlib
import re
import shutil
import subprocess
import tarfile
import tempfile

from failure import Failure

# Every Linux has these; a copy of them would not fit the loader there.
SYSTEM = re.compile(r"^(linux-vdso|ld-linux|libc\.|libm\.|libdl\.|librt\.|libpthread\.|libstdc\+\+|libgcc_s)")
LARGE = re.compile(r"^lib(LLVM|MLIR)\.so")
# Not called: readers of other formats, a solver and an editor of lines.
STUBS = {r"^libxml2\.": "^xml", r"^libz3\.": "^Z3_", r"^libedit\.": "^(el_|history|tok_)"}
# Found beside the stubs' own needs, and not needed without them.
OF_STUBS = re.compile(r"^lib(icu|lzma|bsd|md|tinfo|gmp)")
FILTERS = [{"id": lzma.FILTER_X86}, {"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "dict_size": 1 << 27}]

UNPACK = """\
# source FOLDER/compiler/unpack: puts mlc on PATH. MLC_ROOT says where it is unpacked (/tmp/mlc).
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd); export MLC_ROOT=${MLC_ROOT:-/tmp/mlc}
expand() {
  python3 -c 'import lzma, shutil, sys
shutil.copyfileobj(lzma.open(sys.argv[1]), open(sys.argv[2], "wb"), 1 << 20)' "$1" "$MLC_ROOT/libs/$(basename "$1" .xz)"
}
if [ ! -e "$MLC_ROOT/done" ]; then
  mkdir -p "$MLC_ROOT/libs" && tar -xJf "$here/mlc.tar.xz" -C "$MLC_ROOT"
  for file in "$here"/lib*.xz; do expand "$file" & done
  wait && touch "$MLC_ROOT/done"
fi
export PATH=$MLC_ROOT/bin:$PATH LD_LIBRARY_PATH=$MLC_ROOT/libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export MLC_BUILD=$MLC_ROOT MLC_CACHE=$MLC_ROOT/cache
if [ -z "${MLC_NVRTC:-}" ]; then  # that of PyTorch
  MLC_NVRTC=$(python3 -c 'import glob, sysconfig
found = glob.glob(sysconfig.get_paths()["purelib"] + "/nvidia/**/libnvrtc.so.1*", recursive=True)
print(*sorted(file for file in found if "alt" not in file)[:1])')
  export MLC_NVRTC
fi
"""


def needed(program):
    """{soname: path} of all libraries that a program loads."""
    shown = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    found = dict(re.findall(r"^\s*(\S+) => (/\S+)", shown, re.M))
    return {name: pathlib.Path(path).resolve() for name, path in found.items() if not SYSTEM.match(name)}


def shrunk(library):
    """The library as .xz, from the cache if it was made before."""
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache")) / "mlc/gpu-pack"
    cache.mkdir(parents=True, exist_ok=True)
    data = library.read_bytes()
    kept = cache / f"{hashlib.sha256(data).hexdigest()[:32]}.xz"
    if not kept.exists():
        print(f"shrinking {library.name}, which takes minutes and is done once", flush=True)
        part = kept.with_suffix(".part")
        part.write_bytes(lzma.compress(data, filters=FILTERS))
        os.replace(part, kept)
    return kept


def make_stub(name, pattern, users, target):
    """A library called `name` with the functions that `users` take from it; a call of one ends the program."""
    versions = {}
    for user in users:
        shown = subprocess.run(["nm", "-D", "--undefined-only", "--with-symbol-versions", user], capture_output=True, text=True,
                               check=True).stdout
        for symbol in re.findall(r"^\s*[Uw] (\S+)", shown, re.M):
            if re.match(pattern, symbol):
                function, _, version = symbol.partition("@")
                versions.setdefault(version.lstrip("@"), set()).add(function)
    with tempfile.TemporaryDirectory() as scratch:
        source, script = pathlib.Path(scratch) / "stub.c", pathlib.Path(scratch) / "stub.map"
        source.write_text("\n".join(f"void {function}(void) {{ __builtin_trap(); }}"
                                    for functions in versions.values() for function in sorted(functions)) + "\nint mlcStub;\n")
        script.write_text("\n".join(f"{version} {{ global: {'; '.join(sorted(functions))}; }};"
                                    for version, functions in sorted(versions.items()) if version))
        flags = [f"-Wl,--version-script={script}"] if script.stat().st_size else []
        subprocess.run(["cc", "-shared", "-fPIC", f"-Wl,-soname,{name}", *flags, "-o", target, source], check=True)


def pack(build, folder):
    """FOLDER/compiler: `source FOLDER/compiler/unpack` there."""
    target = folder / "compiler"
    target.mkdir(exist_ok=True)
    programs = [build / "bin/mlc", build / "bin/mlc-run"]
    libraries = {name: path for program in programs for name, path in needed(program).items()}
    with tempfile.TemporaryDirectory() as scratch:
        root = pathlib.Path(scratch)
        for name in "bin", "lib", "libs":
            (root / name).mkdir()
        for file in [*programs, build / "bin/libmlc_emulator.so"]:
            shutil.copy(file, root / "bin" / file.name)
        for file in [build / "lib/libmlc_runtime.so", *(build / "lib").glob("libmlc_engine_*.so")]:
            shutil.copy(file, root / "lib" / file.name)
        subprocess.run(["strip", "-s", *(root / "bin").glob("mlc*")], check=True)
        for name, path in libraries.items():
            pattern = next((names for stub, names in STUBS.items() if re.match(stub, name)), None)
            if LARGE.match(name):
                shutil.copy(shrunk(path), target / f"{name}.xz")
            elif pattern:
                users = [*programs, *(path for other, path in libraries.items() if LARGE.match(other))]
                make_stub(name, pattern, users, root / "libs" / name)
            elif not OF_STUBS.match(name) and build not in path.parents:
                shutil.copy(path, root / "libs" / name)
        with tarfile.open(target / "mlc.tar.xz", "w:xz", preset=9) as archive:
            for part in "bin", "lib", "libs":
                archive.add(root / part, part)
    (target / "unpack").write_text(UNPACK)
    if not any(target.glob("lib*.xz")):
        raise Failure("mlc is not linked to LLVM's shared libraries, which alone can be packed")
