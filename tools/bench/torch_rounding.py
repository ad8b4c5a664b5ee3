"""How far PyTorch's float32 is from itself when sums have another order: what to expect of training on ranks.

    .torch/bin/python tools/bench/torch_rounding.py [--networks gpt,resnet]

trains the networks of test/training as test/distributed/test_data_parallel.py does (batches of 12, SGD with
momentum, 50 steps), once with each batch as it is; once with the samples of each batch in another order; and, where a
batch takes part in nothing but the loss, with the gradients of 2, 3 and 4 parts added up, as
DistributedDataParallel does. All are the same mathematics. Printed is the largest difference of losses, and of
weights and momenta, measured as the test measures it.
"""

import argparse
import pathlib
import sys
import types

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
for place in ("test/training", "test/distributed"):
    sys.path.insert(0, str(ROOT / place))

import networks  # noqa: E402
import torch_gradients  # noqa: E402
import trained  # noqa: E402

BATCH, SAMPLES = 12, 48
# Those that take statistics of the batch.
WHOLE = ("resnet",)


def samples(inputs):
    """Those that networks.write makes."""
    made = {}
    for key, value in trained.samples(inputs).items():
        rng = np.random.default_rng(len(key))
        many = np.concatenate([value] * -(-SAMPLES // len(value)))[:SAMPLES]
        made[key] = (many + 0.1 * rng.standard_normal(many.shape)).astype(np.float32) if many.dtype == np.float32 else many
    return made


def counted(target):
    return target.numel() if target.is_floating_point() else int((target >= 0).sum())


def train(name, torch, ranks=1, other_order=False):
    model, inputs, flags = trained.build(name)
    weights = torch_gradients.weights_of(model, torch, torch.float32)
    learned = {key: value for key, value in weights.items() if value.requires_grad}
    optimizer = torch.optim.SGD(learned.values(), **trained.OPTIMIZERS["momentum"][0])
    data = {key: torch.tensor(value) for key, value in samples(inputs).items()}
    losses = []
    for step in range(trained.STEPS):
        places = trained.batch_of(trained.SEED, step, SAMPLES, BATCH)
        if other_order:
            places = np.random.default_rng(step).permutation(places)
        batch = {key: value[places] for key, value in data.items()}
        total = 0.0
        optimizer.zero_grad()
        for rank in range(ranks):
            part = {key: torch.tensor_split(value, ranks)[rank] for key, value in batch.items()}
            share = counted(part["target"]) / counted(batch["target"])
            if share > 0:
                output = torch_gradients.forward(model, {**weights, **part}, torch, torch.float32)
                loss = share * torch_gradients.loss_of(output, part["target"], flags, torch)
                loss.backward()
                total += float(loss.detach())
        optimizer.step()
        losses.append(total)
    states = {f"weight/{key}": value.detach().numpy() for key, value in learned.items()}
    for key, value in learned.items():
        if (momentum := optimizer.state[value].get("momentum_buffer")) is not None:
            states[f"momentum/{key}"] = momentum.numpy()
    return types.SimpleNamespace(losses=np.array(losses), states=states)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--networks", default=",".join(trained.NETWORKS), help="which (all)")
    arguments = parser.parse_args()
    import torch
    torch.set_num_threads(1)
    print(f"{'network':<12}{'order of samples':>20}" + "".join(f"{f'{ranks} parts':>20}" for ranks in (2, 3, 4)))
    for name in arguments.networks.split(","):
        one = train(name, torch)
        others = [train(name, torch, other_order=True)]
        if name not in WHOLE:
            others += [train(name, torch, ranks) for ranks in (2, 3, 4)]
        row = []
        for other in others:
            losses = np.max(np.abs(other.losses - one.losses) / one.losses)
            other.losses = one.losses
            row.append(f"{losses:.1g}, {networks.difference(other, one):.1g}")
        print(f"{name:<12}" + "".join(f"{text:>20}" for text in row), flush=True)


if __name__ == "__main__":
    main()
