"""Messages below the tools do not speak of flags: a pass may run under Python or in another compiler. They name remedies by kind
(passes/Base/Remedy.h), or say in words what is to be changed."""

import re
import subprocess

FOLDERS = ("codegen", "dialects", "passes", "rewrites", "runtime", "verifier")
# Command lines of their own, and flags of other programs (linker, NVRTC, the host's compiler).
OWN = {"runtime/RunArguments.cpp", "runtime/RunCommand.cpp", "runtime/transport/RunEngines.cpp",
       "codegen/cpu/Object.cpp", "codegen/cuda/Nvrtc.cpp", "runtime/emulator/Module.cpp"}
FLAG = re.compile(r'"(?:[^"\\\n]|\\.)*?(?<![\w-])(--[a-z][\w-]*)(?:[^"\\\n]|\\.)*"')


def flags_in(text):
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("//")]
    return FLAG.findall("\n".join(lines))


def test_messages_name_no_flags(tools):
    files = subprocess.run(["git", "ls-files", *FOLDERS], cwd=tools.source, capture_output=True, text=True, check=True)
    sources = [name for name in files.stdout.splitlines() if name.endswith((".cpp", ".h")) and name not in OWN]
    assert len(sources) > 500
    assert {name: found for name in sources if (found := flags_in((tools.source / name).read_text()))} == {}


def test_what_is_looked_for_is_found():
    assert flags_in('emitError("is open; give --dim N");') == ["--dim"]
    assert flags_in('text + "=SIZE --dim " + name') == ["--dim"]
    assert flags_in('// "give --dim"\nf("a -- b", "a--b");') == []
