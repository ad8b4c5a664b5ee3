"""The process that runs cases: a request is a line of JSON, and so is its answer.

It is ended by its parent when a case hangs; whatever it wrote elsewhere is lost.
"""

import json
import os
import sys
import traceback

import places
from failure import Failure


def answer(state, request):
    do = request["do"]
    if do == "describe":
        return state["place"].describe()
    entry = state["entries"][request["case"]]
    if "failed" in entry:
        return {"status": "failed", "reason": entry["failed"]}
    state["place"].forget()
    if do == "right":
        import checks
        return checks.check(state["place"], entry, request["size"])
    import timing
    if do == "copy":
        return timing.copy(state["place"], request["rounds"])
    measure = timing.network if entry["phase"] == "networks" else timing.kernel
    return measure(state["place"], entry, request["rounds"], is_compiled=do == "compiled")


def main(options):
    # Libraries print as they like; answers have the real output to themselves.
    replies = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    sys.path.insert(0, str(options.folder))
    state = None
    for line in sys.stdin:
        request = json.loads(line)
        try:
            if state is None:
                packed = places.read_pack(options.folder)
                state = {"place": places.place_of(options.device, options.folder),
                         "entries": {entry["name"]: entry for entry in packed["entries"]} | {"": {}}}
            reply = answer(state, request)
        except Failure as error:
            reply = {"status": "failed", "reason": str(error), "code": error.code}
        except Exception as error:  # one case's failure is not the others'
            traceback.print_exc()
            reply = {"status": "failed", "reason": f"{type(error).__name__}: {error}"[:500],
                     "is_lost": state is not None and state["place"].is_lost()}
        replies.write(json.dumps(reply) + "\n")
    return 0
