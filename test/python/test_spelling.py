"""Messages of the tool in words of Python: every flag that a function has as an argument is named as that."""

import inspect
import re

import mlc
import numpy as np
import pytest
from mlc import _fit, _spelling, _trainer
from mlc._spelling import KEYWORDS, OWN, in_python
from test_trainer import MODEL, X


@pytest.mark.parametrize("command", ["compile", "optimize", "compare", "train"])
def test_every_flag_has_a_place(tools, command):
    flags = set(re.findall(r"^  --([a-z0-9-]+)", tools.mlc(command, "--help").stdout, re.M))
    assert len(flags) > 10 and flags <= KEYWORDS.keys() | OWN, flags - KEYWORDS.keys() - OWN


def test_every_keyword_is_an_argument():
    assert not KEYWORDS.keys() & OWN
    functions = (mlc.compile, mlc.optimize, mlc.compare, mlc.Trainer, _fit.fit, mlc.Ranks)
    known = {name for function in functions for name in inspect.signature(function).parameters} | set(_trainer._KNOWN)
    assert {word.partition("=")[0] for word in KEYWORDS.values()} <= known
    for group in (_spelling._DICTS, _spelling._LISTS, _spelling._SWITCHES):
        assert set(group) <= KEYWORDS.keys()


@pytest.mark.parametrize("text,python", [
    ("give --dim N=4, or --dim=NAME=N", "give dims={'N': 4}, or dims={'NAME': N}"),
    ("--shard=w=b, --mesh=a=2,c=3: 'b' is no axis", "shard={'w': 'b'}, mesh={'a': 2, 'c': 3}: 'b' is no axis"),
    ("give --mesh=AXIS=N,...", "give mesh={'AXIS': N, ...}"),
    ("--replicas=3,1 is of 4 ranks", "replicas=[3, 1] is of 4 ranks"),
    ("--momentum is of --optimizer=momentum", "momentum is of optimizer='momentum'"),
    ("--batch=8.5: expected a number; see --freeze=w", "batch=8.5: expected a number; see freeze=['w']"),
    ("give --keep-half (mlc calibrate M --timings=t.json writes one), --batch=NUMBER",
     "give keep_half=True (mlc calibrate M --timings=t.json writes one), batch=NUMBER"),
    ("a--b and --unknown stay, as --batch-no does", "a--b and --unknown stay, as --batch-no does"),
])
def test_words(text, python):
    assert in_python(text) == python


def test_temporary_files_are_what_they_hold():
    assert in_python("/tmp/a/plan.json: wrong", {"/tmp/a": "no", "/tmp/a/plan.json": "the plan"}) == "the plan: wrong"


WRONG = [dict(search="no"), dict(search_steps=0), dict(time_limit=-1), dict(time_limit=1e-9), dict(fp="no"), dict(precision="no"), dict(dims={"n": -1}),
         dict(assume={"q": 5}), dict(memory_budget=0), dict(shard={"x": "a"}), dict(algorithm="ring"), dict(mesh={"a": 0}), dict(target="no"),
         dict(mesh={"a": 2}, shard={"x": "b"}), dict(plan={"mesh": {"a": 2}}, algorithm="ring"), dict(plan={"zero": 1}), dict(plan={"shard": {"x": "a"}})]
WRONG_TRAINERS = [dict(zero=1), dict(algorithm="ring"), dict(algorithm="server"), dict(freeze=["*"]), dict(batch=None), dict(momentum=.5), dict(nesterov=True),
                  dict(beta1=2, optimizer="adam"), dict(clip_norm=0), dict(loss_scale="no"), dict(autocast="no"), dict(loss="no"), dict(optimizer="no"),
                  dict(plan={"mesh": {"data": 1}}, zero=1), dict(plan={"meshh": {}}), dict(dims={"n": 4}), dict(weight_decay=-1), dict(class_axis=7),
                  dict(plan={"mesh": {"data": 1}, "zero": 1}), dict(memory_budget="no"), dict(epsilon=-1, optimizer="adam"), dict(accumulate=2**21)]


@pytest.mark.parametrize("function,options", [(mlc.compile, one) for one in WRONG] +
                         [(mlc.Trainer, {"loss": "cross-entropy", "batch": 12, **one}) for one in WRONG_TRAINERS],
                         ids=lambda value: getattr(value, "__name__", str(value)))
def test_no_message_names_a_flag(function, options):
    with pytest.raises(mlc.Error) as raised:
        function(MODEL, **options)
    assert not re.search(r"(?<![\w-])--[a-z]|/tmp/mlc-", str(raised.value)), raised.value


def test_comparisons_too():
    with pytest.raises(mlc.UsageError, match=r"give their sizes with dims=\{'NAME': N\}"):
        mlc.compare(MODEL)


def test_nothing_is_advised_that_is_given():
    mine = mlc.Trainer(MODEL, loss="mse", batch=12, learning_rate=1e30, clip_norm=1.0)
    with pytest.raises(mlc.DifferenceError, match="lower learning_rate, and go on from a checkpoint or with a new trainer"):
        for _ in range(9):
            mine.step((X[:12], np.zeros((12, 4), np.float32)))
