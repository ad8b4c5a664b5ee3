# How lit runs the tests of this folder: every .mlir and .test file with RUN
# lines. Tools of this build, then LLVM's, are on the path; %python is a Python
# with the packages of requirements.txt, %models the scripts that build models.
import os
import platform

import lit.formats

config.name = "mlc"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["unit", "fuzz", "models", "coverage", "Inputs", "rules", "truths", "falsehoods", "gradients", "ranks", "Large"]
config.test_source_root = os.path.join(config.mlc_source, "test")
config.test_exec_root = os.path.join(config.mlc_build, "test")

# Other tools in place of the build's (./dev valgrind).
tools = lit_config.params.get("tools", os.path.join(config.mlc_build, "bin"))
config.environment["PATH"] = os.pathsep.join([tools, config.llvm_tools, os.environ["PATH"]])
for name in ("HOME", "CCACHE_DIR", "TMPDIR"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
config.environment["MLC_PYTHON"] = config.mlc_python

config.substitutions += [
    ("%python", config.mlc_python),
    ("%models", os.path.join(config.mlc_source, "test", "models")),
    ("%build", config.mlc_build),
    ("%source", config.mlc_source),
]

config.available_features.add(platform.machine())
with open("/proc/cpuinfo") as cpu:
    flags = set(next((line for line in cpu if line.startswith("flags")), "").split())
if {"avx2", "fma"} <= flags:
    config.available_features.add("x86-64-v3")
if {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"} <= flags:
    config.available_features.add("x86-64-v4")
if config.sanitize:
    config.available_features.add("sanitize")
# The long sweeps (./dev test --full).
if os.environ.get("MLC_TESTS") == "full":
    config.available_features.add("full")
