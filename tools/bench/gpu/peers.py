"""What mlc is compared with: PyTorch, whose products are cuBLASLt's and whose
convolutions are cuDNN's (channels last, the best of its benchmark mode), eager in a
CUDA graph, and through torch.compile."""

import graph as graphs


def with_linear(graph):
    """Products that a bias follows are one call, which cuBLASLt does at once."""
    users, nodes = {}, []
    for item in graph["nodes"]:
        for name in item["inputs"]:
            users.setdefault(name, []).append(item)
    taken = set()
    for item in graph["nodes"]:
        if id(item) in taken:
            continue
        follower = users.get(item["outputs"][0], [])
        if item["op"] == "MatMul" and len(follower) == 1 and follower[0]["op"] == "Add":
            bias = follower[0]["inputs"][1]
            if len(graph["constants"].get(bias, {"dims": []})["dims"]) == 1:
                taken.add(id(follower[0]))
                item = graphs.node("Linear", [*item["inputs"], bias], follower[0]["outputs"][0])
        nodes.append(item)
    return {**graph, "nodes": nodes}


def last(tensor):
    import torch
    return tensor.contiguous(memory_format=torch.channels_last) if tensor.dim() == 4 else tensor


def is_of_windows(graph):
    return any(item["op"] in ("Conv", "MaxPool", "AveragePool", "GlobalAveragePool") for item in graph["nodes"])


def tensors_of(place, graph, inputs):
    """Values of inputs and constants in the graph's type, pictures with channels last."""
    dtype = place.types[graph["dtype"]]
    values = graphs.values_of(graph["constants"], graph["dtype"],
                              lambda period, dims: place.repeated(period, dims, dtype))
    values |= inputs
    if is_of_windows(graph):
        values = {name: last(value) if place.torch.is_tensor(value) else value for name, value in values.items()}
    return values


def written(graph, outputs):
    """The outputs in memory: a transpose of PyTorch's is only a view. Pictures stay as they are, channels last."""
    return outputs if is_of_windows(graph) else [output.contiguous() for output in outputs]


def calls(place, program, compiled=None):
    """A call for each instance of the kernel in the program, on the same data."""
    made = []
    for part, arrays in zip(program.parts, program.inputs):
        values = tensors_of(place, part, {name: program.in_order(array) for name, array in zip(part["inputs"], arrays)})
        if compiled:
            given = [value for value in values.values() if place.torch.is_tensor(value)]
            made.append(lambda given=given: compiled(*given))
        else:
            form = with_linear(part)
            made.append(lambda form=form, values=values: written(form, graphs.evaluate(form, values, place.ops)))
    return made


def compiled_kernel(place, graph):
    """A function of tensors in the order of `tensors_of`."""
    plain = graphs.values_of(graph["constants"], graph["dtype"], lambda period, dims: None)
    scalars = {name: value for name, value in plain.items() if value is not None}
    names = [name for name in graph["constants"] if name not in scalars]
    names += list(graph["inputs"])

    def call(*tensors):
        return written(graph, graphs.evaluate(graph, {**scalars, **dict(zip(names, tensors))}, place.ops))
    place.torch._dynamo.reset()
    return place.torch.compile(call, dynamic=False)


def recorded(place, launches):
    """(a CUDA graph of all launches, what must stay alive)"""
    torch = place.torch
    for _ in range(3):
        for launch in launches:
            launch()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        kept = [launch() for launch in launches]
    torch.cuda.synchronize()
    return graph, kept


def module_of(place, graph):
    """The graph as a torch.fx module, its weights as buffers."""
    torch = place.torch
    values = tensors_of(place, graph, {})

    class Whole(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.places = {}
            for index, (name, value) in enumerate(values.items()):
                if torch.is_tensor(value):
                    self.register_buffer(f"w{index}", value)
                    self.places[name] = f"w{index}"

        def forward(self, x):
            given = {name: getattr(self, self.places[name]) if name in self.places else value
                     for name, value in values.items()}
            given[next(iter(graph["inputs"]))] = x
            return graphs.evaluate(graph, given, place.ops)[0]

    return torch.fx.symbolic_trace(Whole()).eval()


def has_many_inputs(graph):
    return len(graph["inputs"]) > 1 or len(graph["nodes"]) > 1000


def network_name(graph):
    return "PyTorch in a CUDA graph" if has_many_inputs(graph) else "torch.compile(mode=\"reduce-overhead\")"


def network(place, graph, inputs):
    """A call of the whole network. Thousands of nodes would take torch.compile minutes: they are recorded as they are."""
    torch = place.torch
    if has_many_inputs(graph):
        values = tensors_of(place, graph, dict(zip(graph["inputs"], inputs)))
        made, kept = recorded(place, [lambda: graphs.evaluate(graph, values, place.ops)])

        def replay(kept=(values, kept)):
            made.replay()
        return replay
    torch._dynamo.reset()
    module = torch.compile(module_of(place, graph), mode="reduce-overhead", dynamic=False)
    x = last(inputs[0]) if is_of_windows(graph) else inputs[0]
    for _ in range(5):
        module(x)
    torch.cuda.synchronize()
    return lambda: module(x)
