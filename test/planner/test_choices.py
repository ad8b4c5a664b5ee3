"""Solvers of choices beside HiGHS (tools/bench/choices.py does so for large problems)."""

import pytest


def test_choices_cost_what_highs_finds(tools, monkeypatch):
    pytest.importorskip("highspy", reason="highspy is not installed (tools/bench/choices.py)")
    monkeypatch.syspath_prepend(tools.source / "tools/bench")
    import choices

    flags = ["--nodes=20", "--choices=5", "--rows=2", "--steps=1e8"]
    for seed in range(3):
        cost, bound, _ = choices.eliminate(flags, seed, tools.build)
        other, other_bound = choices.solve_by_highs(flags, seed, 60, tools.build)
        assert bound <= other * (1 + 1e-6) and other_bound <= cost * (1 + 1e-6)
        assert cost <= other * 1.005

