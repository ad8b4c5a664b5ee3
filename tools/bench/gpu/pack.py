"""Compiles cases and networks into a folder."""

import concurrent.futures
import json
import lzma
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import cases
import graph as graphs
import networks
import onnx_files
from failure import Failure

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
VERSION = 1
# Launches of a kernel in one program: on the device, and on the emulator.
LAUNCHES, FEW = 10, 2


class Packer:
    def __init__(self, options):
        self.options, self.folder = options, options.folder
        self.build = (options.build or ROOT / "build").resolve()
        self.entries = []

    def compile(self, graph, name, flags):
        """Compiles a graph into NAME.mlca.xz; returns the launches of its program."""
        with tempfile.TemporaryDirectory() as scratch:
            model, artifact = pathlib.Path(scratch) / "case.onnx", pathlib.Path(scratch) / "case.mlca"
            model.write_bytes(onnx_files.model_of(graph).SerializeToString())
            command = [self.build / "bin/mlc", "compile", model, "-o", artifact, f"--target=cuda:{self.options.arch}", *flags]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                said = (done.stderr.strip().splitlines() or ["no message"])[-1]
                raise Failure(f"{name}: mlc compile has failed: {said}", done.returncode if done.returncode > 0 else 1)
            shown = subprocess.run([self.build / "bin/mlc", "inspect", "--json", artifact], capture_output=True, text=True,
                                   check=True)
            with lzma.open(self.folder / f"{name}.mlca.xz", "wb", preset=6) as file:
                file.write(artifact.read_bytes())
        found = json.loads(shown.stdout)
        return {"launches": sum(step["kind"] == "grid-launch" for step in found["steps"]),
                "skeletons": sorted({kernel["skeleton"] for kernel in found["manifest"].get("kernels", [])})}

    def kernel(self, case, is_small):
        """One size of a case; of the layouts that take the fewest launches the one with channels last, as PyTorch's is."""
        count = FEW if is_small else LAUNCHES
        flags = ["--no-rewrites", f"--precision={'ieee' if case.type == 'f32' else 'tf32'}"]
        made = case.graph(is_small)
        name = file_name(case.name) + ("-small" if is_small else "")
        whole = graphs.joined(graphs.instances(made, count))
        entry = {"graph": made, "instances": count, "layout": "nchw", "file": name, "flops": made["flops"],
                 "bytes": graphs.bytes_of(made), **self.compile(whole, name, flags)}
        if case.make is cases.conv:
            last = case.make(*(case.small if is_small else case.full), layout="nhwc")
            other = {**made, **last}
            whole = graphs.joined(graphs.instances(other, count))
            found = self.compile(whole, name + "-last", flags)
            if found["launches"] <= entry["launches"]:
                entry |= {"layout": "nhwc", "file": name + "-last", **found}
        return entry

    def sizes(self):
        return ["small"] if self.options.small else ["small", "full"]

    def kernel_entry(self, case):
        return {"kind": case.kind, "type": case.type, "tolerance": cases.TOLERANCES[case.type], "is_joined": case.is_joined,
                **{size: self.kernel(case, size == "small") for size in self.sizes()}}

    def network(self, net, is_small):
        made = net.graph(is_small)
        name = "net-" + file_name(net.name) + ("-small" if is_small else "")
        flags = [f"--precision={'ieee' if net.type == 'f32' else 'tf32'}"]
        entry = {"graph": made, "instances": 1, "layout": "nchw", "file": name, **self.compile(made, name, flags)}
        if not is_small:
            plain = self.compile(made, name + "-plain", [*flags, "--no-rewrites"])
            entry |= {"plain": name + "-plain", "plain_launches": plain["launches"]}
        return entry

    def network_entry(self, net):
        return {"kind": "networks", "type": net.type, "tolerance": networks.TOLERANCES[net.type],
                **{size: self.network(net, size == "small") for size in self.sizes()}}

    def add_all(self):
        """Compiles on all cores; entries are in the order of the cases."""
        wanted = self.options.only
        jobs = [(self.kernel_entry, "right", case) for case in cases.kernels() if wanted.search(case.name)]
        jobs += [(self.network_entry, "networks", net) for net in networks.networks() if wanted.search(net.name)]
        if not jobs:
            raise Failure(f"no case has '{wanted.pattern}' in its name")
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            made = [pool.submit(self.attempt, *job) for job in jobs]
            try:
                for entry in (future.result() for future in made):
                    self.entries.append(entry)
                    print(f"{len(self.entries):4} {entry['name']}" + ("  FAILED" if "failed" in entry else ""), flush=True)
            finally:
                pool.shutdown(cancel_futures=True)

    def attempt(self, make, phase, case):
        """A case that cannot be compiled is told of, and is a failure of every run."""
        entry = {"name": case.name, "phase": phase}
        try:
            return {**entry, **make(case)}
        except Failure as error:
            if error.code == 2:  # a wrong command line, such as an unknown architecture
                raise
            return {**entry, "failed": str(error)}

    def version(self):
        done = subprocess.run([self.build / "bin/mlc", "--version"], capture_output=True, text=True, check=True)
        return done.stdout.splitlines()[0].removeprefix("mlc ")

    def copy_program(self):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(HERE, self.folder / "gpu", dirs_exist_ok=True, ignore=ignored)
        shutil.copytree(ROOT / "runtime/python/mlc", self.folder / "mlc", dirs_exist_ok=True, ignore=ignored)
        for file in (self.build / "lib/libmlc_runtime.so", self.build / "bin/libmlc_emulator.so"):
            if not file.exists():
                raise Failure(f"there is no {file}; build mlc first, or name its build by --build")
            shutil.copy(file, self.folder / "mlc" / file.name)


def file_name(name):
    return re.sub(r"[^A-Za-z0-9.]+", "-", name.replace(">", " to "))


def prepare(folder):
    """An empty folder; one that was packed before loses what was packed."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            if not (folder / "gpu/__main__.py").exists():
                raise Failure(f"{folder} is not empty, and nothing was packed there; name another folder")
            for file in [*folder.glob("*.mlca.xz"), folder / "pack.json"]:
                file.unlink(missing_ok=True)
    except OSError as error:
        raise Failure(f"{folder}: {error.strerror}; cannot pack there", 9) from None


def main(options):
    packer = Packer(options)
    prepare(options.folder)
    try:
        packer.copy_program()
        packer.add_all()
        if options.compiler:
            import compiler
            compiler.pack(packer.build, options.folder)
        text = json.dumps({"version": VERSION, "mlc": packer.version(), "arch": options.arch, "small": options.small,
                           "entries": packer.entries})
        part = options.folder / "pack.json.part"
        part.write_text(text + "\n")
        os.replace(part, options.folder / "pack.json")
    except OSError as error:
        raise Failure(f"{options.folder}: {error.strerror or error}; the folder is not complete", 9) from None
    size = sum(file.stat().st_size for file in options.folder.rglob("*") if file.is_file())
    failed = [entry["name"] for entry in packer.entries if "failed" in entry]
    print(f"{options.folder}: {len(packer.entries)} cases, {size / 1e6:.1f} MB")
    for name in failed:
        print(f"  not compiled: {name}", file=sys.stderr)
    return 1 if failed else 0
