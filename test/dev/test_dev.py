"""./dev: what it says of tests that there are not. (It builds for those that there are.)"""

import pathlib
import re
import shutil
import subprocess

ROOT = pathlib.Path(__file__).parents[2]


def refused(*arguments, root=ROOT):
    done = subprocess.run([root / "dev", *arguments], capture_output=True, text=True, cwd=root)
    assert done.returncode != 0 and not done.stdout
    return done.stderr


def test_a_suite_that_there_is_not():
    assert "there are unit, lit and python" in refused("test", "nothing")


def test_a_test_that_there_is_not():
    assert "no such file" in refused("test", "test/absent.py")


def test_a_file_that_is_no_test():
    assert "'README.md' is no test" in refused("test", "README.md")


def test_lint_wants_a_folder_without_batches(tmp_path):
    shutil.copy(ROOT / "dev", tmp_path)
    (tmp_path / "build").mkdir()
    (tmp_path / "build/CMakeCache.txt").write_text("MLC_UNITY:BOOL=ON\n")
    assert "first run: cmake -DMLC_UNITY=OFF build" in refused("lint", "a.cpp", root=tmp_path)


def test_the_demo_builds_what_it_loads(tools):
    targets = re.search(r"^demo\) unity=ON build (.*?) &&", (ROOT / "dev").read_text(), re.M)[1].split()
    made = subprocess.run(["ninja", "-C", tools.build, "-t", "query", *targets], capture_output=True, text=True).stdout
    for file in ("bin/mlc", "lib/libmlc_runtime.so"):
        assert f"    {file}\n" in made
