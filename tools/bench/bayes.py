"""What Bayesian optimization of a step's settings finds, beside all there are (docs/Planners.md).

    .venv/bin/python tools/bench/bayes.py [--seeds 5] [--networks chain,funnel,...] [--clusters NAME=RANKS,...]

For each network and cluster, `mlc plan --planner=bayes` simulates all plans, and then 25 of them for each seed. Printed are
how many there are, what plain data parallelism and the best of all take, and how much longer than that what each seed found
takes. Ends with 1 if that is more than 5 %.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "test/planner"), str(ROOT / "test/training"), str(ROOT / "test")]

CHAINS = {"chain": [1024] * 8, "funnel": [2048, 64, 64, 2048, 32, 32, 1024, 256, 16], "deep": [128] * 33}


def write_gpt(path):
    """Two layers, 256 wide; the batch is open."""
    import onnx
    import trained

    net = trained.Network(1)
    tokens, output, dims, flags, _ = trained.gpt(net, length=32, width=256, words=1000)
    model = net.model(tokens, output, ("n", *dims[1:]))
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "n"
    onnx.save(model, path)
    return flags


def write_network(name, path):
    """The flags of its loss."""
    from test_model_plans import write_model

    if name == "gpt":
        return write_gpt(path)
    write_model(path, sizes=CHAINS[name])
    return ["--loss=mse"]


def plan(build, *flags):
    done = subprocess.run([ROOT / build / "bin/mlc", "plan", *map(str, flags), "--planner=bayes", "--json"], capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--networks", default="chain,funnel,deep,gpt")
    parser.add_argument("--clusters", default="p3.16xlarge=16,flexflow-k80=8,a100-800g=6")
    parser.add_argument("--micro-batches", default="1,4")
    parser.add_argument("--samples", type=int, default=96)
    parser.add_argument("--build", default="build")
    args = parser.parse_args()
    failed = False
    print("network  cluster          plans    plain ms     best ms  longer by %, for each seed")
    with tempfile.TemporaryDirectory() as folder:
        for name in args.networks.split(","):
            model = f"{folder}/{name}.onnx"
            loss = write_network(name, model)
            for cluster in args.clusters.split(","):
                machine, ranks = cluster.split("=")
                flags = [model, *loss, f"--cluster=cluster:{machine}", f"--ranks={ranks}", f"--samples={args.samples}",
                         f"--micro-batches={args.micro_batches}"]
                every = plan(args.build, *flags, f"--budget={1 << 20}")
                best = every["best"]["seconds"]
                found = [100 * (plan(args.build, *flags, "--budget=25", f"--seed={seed}")["best"]["seconds"] / best - 1)
                         for seed in range(args.seeds)]
                failed |= max(found) > 5
                print(f"{name:7}  {machine:14} {every['there_are']:7} {1e3 * every['tried'][0]['seconds']:11.3f} {1e3 * best:11.3f}  "
                      + " ".join(f"{one:.1f}" for one in found), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
