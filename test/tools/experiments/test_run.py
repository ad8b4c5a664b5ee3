"""./dev experiments: figures and page of a small run."""

import json
import subprocess
import sys


def run(tools, *arguments):
    script = tools.source / "tools/experiments/run.py"
    return subprocess.run([sys.executable, script, "--build", tools.build, *map(str, arguments)],
                          capture_output=True, text=True, timeout=300)


def test_small_run(tools, tmp_path):
    figures, page = tmp_path / "figures.json", tmp_path / "page.md"
    done = run(tools, "--small", "--runs", 3, "--engines", "egraph", "greedy", "--targets", "cpu", "gpu:v100",
               "--json", figures, "--page", page, "nasrnn", "squeezenet")
    assert done.returncode == 0, done.stderr
    result = json.loads(figures.read_text())
    assert [row["model"] for row in result["rows"]] == ["nasrnn", "squeezenet"]
    for row in result["rows"]:
        for target in ("cpu", "gpu:v100"):
            for engine in ("egraph", "greedy"):
                report = row["searches"][target][engine]
                # The original stays a candidate.
                assert report["predicted_seconds_after"] <= report["predicted_seconds_before"] * (1 + 1e-9)
        assert row["replay"]["verdict"] == "replayed"
        for measured in row["measured"].values():
            assert measured["original_ms"] > 0 and measured["largest_error"] <= 1e-4
    text = page.read_text()
    assert "| NasRNN | " in text and "## Searches for gpu:v100" in text and "in the small size" in text
    again = tmp_path / "again.md"
    assert run(tools, "--from", figures, "--page", again).returncode == 0
    assert again.read_text() == text


def test_failures_are_told(tools, tmp_path):
    page = tmp_path / "page.md"
    done = run(tools, "--small", "--no-measure", "--engines", "egraph", "--targets", "gpu:abacus",
               "--page", page, "nasrnn")
    assert done.returncode == 0 and "gpu:abacus" in done.stderr
    assert "| NasRNN | – |" in page.read_text()
    assert run(tools, "lenet").returncode == 2
