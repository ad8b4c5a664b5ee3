"""What tests import by name alone is found by name alone: one process runs all of them, with all these folders on its path."""

import collections
import re

FOLDERS = ["docs", "runtime/python", "tools/bench", "tools/experiments"]


def twice(root, folders):
    """Modules and packages whose names several of the folders have."""
    places = collections.defaultdict(list)
    for folder in folders:
        packages = [init.parent for init in folder.glob("*/__init__.py")]
        for file in sorted([*folder.glob("*.py"), *packages]):
            if file.name not in ("conftest.py", "__init__.py", "__main__.py"):
                places[file.stem].append(str(file.relative_to(root)))
    return [files for files in places.values() if len(files) > 1]


def test_no_two_modules_of_one_name(tools):
    # pytest puts the folder of each test file and of each conftest.py on the path.
    tests = {f.parent for pattern in ("test_*.py", "conftest.py") for f in (tools.source / "test").rglob(pattern)}
    assert twice(tools.source, sorted(tests | {tools.source / f for f in FOLDERS} | {tools.source / "test/fuzz/graphs"})) == []


def importers_of_conftest(folder):
    """Test files that import conftest, of which there are several: which one they get depends on what ran before."""
    return [f.name for f in sorted(folder.rglob("test_*.py")) if re.search(r"^\s*(import|from) conftest\b", f.read_text(), re.M)]


def test_no_test_imports_conftest(tools, tmp_path):
    assert importers_of_conftest(tools.source / "test") == []
    (tmp_path / "test_a.py").write_text("import os\nimport conftest\n")
    (tmp_path / "test_b.py").write_text("# import conftest\n")
    assert importers_of_conftest(tmp_path) == ["test_a.py"]


def test_this_check_can_fail(tmp_path):
    for place in ("a/faults.py", "b/faults.py", "a/conftest.py", "b/conftest.py", "a/pairs.py", "b/pairs/__init__.py"):
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_text("")
    assert twice(tmp_path, [tmp_path / "a", tmp_path / "b"]) == [["a/faults.py", "b/faults.py"], ["a/pairs.py", "b/pairs"]]
