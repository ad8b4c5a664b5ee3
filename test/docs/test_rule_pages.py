"""`./dev rule-pages` on a folder of somebody's rules: what is proved, what is
refuted by which example, and what holds under a condition."""

import subprocess
import sys

RULES = """!x = tensor<?x?xf32, #mlc.dims<[n, k]>>
!y = tensor<?x?xf32, #mlc.dims<[m, k]>>
rule.def @right "relu of relu is relu" {
  func.func @before(%x: !x) -> !x {
    %0 = mlc.relu %x : (!x) -> !x
    %1 = mlc.relu %0 : (!x) -> !x
    return %1 : !x
  }
  func.func @after(%x: !x) -> !x {
    %0 = mlc.relu %x : (!x) -> !x
    return %0 : !x
  }
}
rule.def @wrong "neg of relu is relu of neg" {
  func.func @before(%x: !x) -> !x {
    %0 = mlc.relu %x : (!x) -> !x
    %1 = mlc.neg %0 : (!x) -> !x
    return %1 : !x
  }
  func.func @after(%x: !x) -> !x {
    %0 = mlc.neg %x : (!x) -> !x
    %1 = mlc.relu %0 : (!x) -> !x
    return %1 : !x
  }
}
rule.def @conditional "relu of the first rows" {
  rule.require m le n
  func.func @before(%x: !x) -> !y {
    %0 = mlc.slice %x {starts = #mlc.dims<[0, 0]>, sizes = #mlc.dims<[m, k]>, steps = #mlc.dims<[1, 1]>} : (!x) -> !y
    %1 = mlc.relu %0 : (!y) -> !y
    return %1 : !y
  }
  func.func @after(%x: !x) -> !y {
    %0 = mlc.relu %x : (!x) -> !x
    %1 = mlc.slice %0 {starts = #mlc.dims<[0, 0]>, sizes = #mlc.dims<[m, k]>, steps = #mlc.dims<[1, 1]>} : (!x) -> !y
    return %1 : !y
  }
}
"""


def pages(tools, *arguments):
    return subprocess.run([sys.executable, tools.source / "docs/rule_pages.py", "--build", tools.build,
                           *map(str, arguments)], capture_output=True, text=True)


def test_somebodys_rules(tools, tmp_path):
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules/own.mlir").write_text(RULES)
    done = pages(tools, "-o", tmp_path / "pages", tmp_path / "rules")
    assert done.returncode == 0 and done.stdout.startswith("3 rules, "), done.stderr
    assert sorted(p.name for p in (tmp_path / "pages").iterdir()) == ["README.md", "neg.md", "relu.md"]
    index = (tmp_path / "pages/README.md").read_text()
    assert "[right](relu.md#right): relu of relu is relu |  | reassociating |" in index
    assert "[wrong](neg.md#wrong): neg of relu is relu of neg |  | refuted |" in index
    assert "[conditional](relu.md#conditional): relu of the first rows | m <= n | bit-exact |" in index
    assert "- refuted: " in (tmp_path / "pages/neg.md").read_text()
    page = (tmp_path / "pages/relu.md").read_text()
    assert "- condition: m <= n\n- proved, bit-exact\n- given, " in page and page.count("```mermaid") == 2


def test_bad_input(tools, tmp_path):
    done = pages(tools, "-o", tmp_path / "pages", tmp_path)
    assert done.returncode == 3 and "no rules (.mlir) in" in done.stderr
    (tmp_path / "bad.mlir").write_text("rule.def")
    done = pages(tools, "-o", tmp_path / "pages", tmp_path)
    assert done.returncode == 3 and "not a file of rules" in done.stderr
    assert not (tmp_path / "pages").exists()
