"""PyTorch as a judge of tables; test_schedule.py starts it with the Python of `torch/` (requirements-torch.txt).

Reads a JSON list of questions from standard input, and prints the answers:

    {"schedule": "Interleaved1F1B", "ranks": 4, "micro_batches": 8, "chunks": 2}    -> the computations of PyTorch's own table
    {"csv": "0F0,...", "micro_batches": 8}              -> "" if it takes the table of computations, adds transfers to it,
                                                           and its simulation ends; else the error
    {"csv": "0F0,0SEND_F0,...", "transfers": true}      -> the same for a table that has its own transfers
"""

import contextlib
import io
import json
import os
import sys
import tempfile
from unittest import mock

from torch.distributed.pipelining._schedule_visualizer import get_schedule_ops
from torch.distributed.pipelining.schedules import _Action, _PipelineScheduleRuntime, _simulate_comms_compute
from torch.distributed.pipelining.stage import PipelineStage


def own_table(schedule, ranks, micro_batches, chunks):
    table = get_schedule_ops(schedule, ranks, micro_batches, chunks)
    return "".join(",".join(str(action) for action in rank if action is not None and action.is_compute_op) + "\n"
                   for rank in table)


def parts(action):
    return action.sub_actions or (action,)


def read(csv):
    return {rank: [_Action.from_str(cell) for cell in line.split(",")] for rank, line in enumerate(csv.splitlines())}


def ranks_of_stages(order):
    return {part.stage_index: rank for rank, actions in order.items() for action in actions for part in parts(action)}


def simulate(order):
    places = ranks_of_stages(order)
    _simulate_comms_compute(order, lambda stage: places[stage], len(places))


def load(csv, micro_batches):
    order = read(csv)
    places = ranks_of_stages(order)
    stage = mock.create_autospec(PipelineStage, instance=True)
    stage.group_rank, stage.group_size, stage.num_stages, stage.submod = 0, len(order), len(places), None
    runtime = _PipelineScheduleRuntime([stage] * (len(places) // len(order)), micro_batches)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "table.csv")
        with open(path, "w") as file:
            file.write(csv)
        runtime._load_csv(path)
    # Its simulation knows neither sums nor gathers.
    kept = {rank: [action for action in actions if "REDUCE" not in str(action) and "SHARD" not in str(action)]
            for rank, actions in runtime.pipeline_order_with_comms.items()}
    simulate(kept)


def answer(question):
    if "schedule" in question:
        return own_table(**question)
    try:
        with contextlib.redirect_stdout(io.StringIO()):  # It prints tables that do not end.
            simulate(read(question["csv"])) if "transfers" in question else load(**question)
        return ""
    except Exception as error:
        return f"{type(error).__name__}: {error}"


if __name__ == "__main__":
    json.dump([answer(question) for question in json.load(sys.stdin)], sys.stdout)
