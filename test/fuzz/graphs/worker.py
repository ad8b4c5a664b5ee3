"""A process that checks graphs, so that a crash of the code under test ends only it."""

import multiprocessing
import os
import shutil
import signal
import tempfile
import time
import traceback

PATIENCE = 900  # seconds without a word from a worker


def summary(model):
    """(operator, element type) of every node, by its first typed input or output."""
    import onnx

    import elements
    inferred = onnx.shape_inference.infer_shapes(model).graph
    types = {v.name: elements.name_of(v.type.tensor_type.elem_type)
             for v in [*inferred.value_info, *inferred.input, *inferred.output]}
    types.update((t.name, elements.name_of(t.data_type)) for t in inferred.initializer)
    return [(node.op_type, next((types[n] for n in [*node.input, *node.output] if types.get(n)),
                                "?")) for node in model.graph.node]


def serve(connection, build, targets):
    """Answers ("seed", seed, preset, only) and ("model", bytes, feeds, modes)."""
    import onnx

    import making
    import modes
    from subject import Subject
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    folder = tempfile.mkdtemp(prefix="fuzz-graphs-")
    connection.send(("folder", folder))
    subject = Subject(build, folder, targets, lambda stage: connection.send(("stage", stage)))
    try:
        while True:
            request = connection.recv()
            started, children = time.process_time(), os.times()
            nodes = []
            try:
                if request[0] == "seed":
                    model, feeds = making.generate(request[1], request[3])
                    chosen = modes.of(request[2], request[1])
                    nodes = summary(model)
                else:
                    model, feeds, chosen = onnx.ModelProto.FromString(request[1]), *request[2:]
                outcome = subject.check(model, feeds, chosen)
            except Exception:
                connection.send(("broken", traceback.format_exc()))
                continue
            after = os.times()
            seconds = time.process_time() - started + (after.children_user + after.children_system -
                                                       children.children_user -
                                                       children.children_system)
            connection.send(("done", outcome, nodes, seconds))
    except (EOFError, BrokenPipeError):
        pass
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class Worker:
    """One such process, started again when it dies."""

    def __init__(self, build, targets):
        self.arguments = build, targets
        self.process = None

    def start(self):
        context = multiprocessing.get_context("spawn")
        self.connection, other = context.Pipe()
        self.process = context.Process(target=serve, args=(other, *self.arguments), daemon=True)
        self.process.start()
        other.close()
        self.stage, self.folder, self.heard = "starting", None, time.monotonic()

    def ask(self, *request):
        if self.process is None:
            self.start()
        self.stage, self.heard = "generating", time.monotonic()
        self.connection.send(request)

    def answer(self):
        """The answer once there is one: ("done", outcome, nodes, seconds), ("broken", text), or
        ("dead", kind, stage); else None."""
        try:
            while self.connection.poll():
                message = self.connection.recv()
                self.heard = time.monotonic()
                if message[0] == "folder":
                    self.folder = message[1]
                elif message[0] == "stage":
                    self.stage = message[1]
                else:
                    return message
        except (EOFError, ConnectionResetError):
            self.process.join()
            code = self.process.exitcode
            self.stop()
            return "dead", f"crash (signal {-code})" if code < 0 else f"exit {code}", self.stage
        if time.monotonic() - self.heard > PATIENCE:
            self.stop()
            return "dead", "hang", self.stage
        return None

    def wait(self):
        while (answer := self.answer()) is None:
            multiprocessing.connection.wait([self.connection], timeout=1)
        return answer

    def stop(self):
        if self.process:
            self.process.kill()
            self.process.join()
            self.connection.close()
            if self.folder:
                shutil.rmtree(self.folder, ignore_errors=True)
        self.process = None
