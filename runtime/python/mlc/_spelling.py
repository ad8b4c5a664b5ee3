"""The tool's messages in words of Python: keyword arguments in the place of flags."""

import re
from collections.abc import Mapping

# Flags of the commands that the package runs, by the keyword arguments that they are. A test compares the two tables with --help.
KEYWORDS = {flag: flag.replace("-", "_") for flag in (
    "accumulate", "algorithm", "assume", "autocast", "batch", "batch-statistics", "best", "beta1", "beta2", "bucket-bytes", "checked",
    "checkpoint", "checkpoint-every", "class-axis", "clip-norm", "device", "epsilon", "evaluate", "evaluate-every",
    "first-bucket-bytes", "fp", "freeze", "fusion", "groups", "in-flight", "keep-half", "keep-results", "learning-rate", "log", "loss", "loss-of", "loss-scale",
    "memory-budget", "mesh", "momentum", "nesterov", "optimizer", "pipeline", "plan", "precision", "prefetch-limit", "ranks", "recompute", "replicas", "resume", "rules",
    "schedule", "search", "search-steps", "seed", "shard", "slices", "stage-ends", "stages", "steps", "target", "target-input", "threads", "time-limit", "timings",
    "tolerance", "train", "training-form", "update-every", "warmup", "weight-decay", "zero")}
KEYWORDS |= {"micro-batches": "accumulate", "dim": "dims", "input": "inputs", "parameter": "parameters", "no-rewrites": "rewrites=False"}
# Flags that no argument is: of what Python does itself, or of what is done on a command line alone.
OWN = {"artifact", "compile-to", "data", "emit", "engine", "explain", "export", "help", "help-list", "json", "layers", "log-every",
       "metric", "print-plan", "staleness", "timeout"}

_DICTS = ("assume", "dim", "mesh", "shard")
_LISTS = ("freeze", "keep-results", "parameter", "rules", "stage-ends", "train")
_COUNTS = ("replicas",)
_SWITCHES = ("checked", "keep-half", "nesterov", "recompute", "resume", "training-form")
# A command that the reader may enter keeps its flags; its sentence goes on after one of these.
_COMMAND = r"\bmlc(?:-\w+)? (?:[a-z]+ )?[^;,()]*"
_VALUE = r"(?:[ =](?=\S*=)|=)(\S*?)(?=[;:,)]*(?:\s|$))"
_FLAG = re.compile(rf"({_COMMAND})|(?<![\w-])--({'|'.join(sorted(KEYWORDS, key=len, reverse=True))})(?![\w-])(?:{_VALUE})?")


def _literal(value: str) -> str:
    """A number, or a word in capitals that stands for a value, or a text."""
    is_bare = re.fullmatch(r"[-+]?\d+(\.\d*)?([eE][-+]?\d+)?|(?!NAME$)[A-Z]{1,}(\.\w+)?", value) is not None
    return value if is_bare else repr(value)


def _dict(flag: str, text: str) -> str | None:
    """The dict of NAME=SIZE, AXIS=N,AXIS=N or NAME=AXIS,-; None where the text is no such thing."""
    pairs, ends = ([text], "") if flag != "mesh" else (text.removesuffix(",...").split(","), ", ..." * text.endswith(",..."))
    if any("=" not in pair for pair in pairs):
        return None
    # A name may contain "=".
    split = [pair.rpartition("=") for pair in pairs]
    return "{" + ", ".join(f"{name!r}: {_literal(value)}" for name, _, value in split) + ends + "}"


def _keyword(found: re.Match) -> str:
    command, flag, value = found.groups()
    if command is not None:
        return command
    word = KEYWORDS[flag]
    if value is None or "=" in word:
        return word + ("=True" if flag in _SWITCHES else "")
    if flag in _DICTS and (made := _dict(flag, value)) is not None:
        return f"{word}={made}"
    if flag in _COUNTS:
        return f"{word}=[{value.replace(',', ', ')}]"
    return f"{word}=[{_literal(value)}]" if flag in _LISTS else f"{word}={_literal(value)}"


def in_python(message: str, files: Mapping[str, str] = {}) -> str:
    """The message with arguments in the place of flags, and with what `files` says in the place of temporary files."""
    for path in sorted(files, key=len, reverse=True):
        message = message.replace(path, files[path])
    return _FLAG.sub(_keyword, message)
