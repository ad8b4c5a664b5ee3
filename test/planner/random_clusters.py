"""Plans of `mlc plan` on random clusters: odd sizes, slow links, little memory, devices that differ.

Every plan passes `mlc check-plan` and is not slower (by 0.1 %) than pipelines of equal stages and data parallelism, as they are
simulated; where there is none, the error says why. A few seeds are in CI; for many:

    .venv/bin/python test/planner/random_clusters.py [SEEDS]
"""

import json
import pathlib
import random
import subprocess
import sys
import tempfile

TARGETS = ["gpu:k80", "gpu:v100", "gpu:a100"]


def number(value):
    return {"value": value, "source": "test/planner/random_clusters.py"}


def write_cluster(path, choose):
    """Two or three levels; nodes of different devices are all of one size."""
    each, nodes = choose.choice([1, 2, 3, 4, 5]), choose.choice([1, 2, 3, 4])
    kinds = choose.sample(TARGETS, choose.choice([1, 1, 2, 3]))
    memory = 10 ** choose.uniform(6.3, 9)
    devices = {kind[4:]: {"target": kind, "flops_per_second": {"f32": number(1e13)}, "memory_bytes": number(memory * choose.choice([1, 1, 0.5])),
                          "memory_bytes_per_second": number(1e11)} for kind in kinds}
    levels = [{"name": "node", "medium": "pcie", "ranks": each, "latency_seconds": number(10 ** choose.uniform(-6, -4)),
               "bytes_per_second": number(10 ** choose.uniform(7, 11))}]
    if nodes > 1:
        levels.append({"name": "net", "medium": "network", "ranks": each * nodes, "latency_seconds": number(10 ** choose.uniform(-6, -3)),
                       "bytes_per_second": number(10 ** choose.uniform(6, 10)), "shared_bytes_per_second": number(10 ** choose.uniform(7, 10))})
    path.write_text(json.dumps({
        "name": "random", "description": "a random cluster", "devices": devices,
        "nodes": [{"count": 1, "ranks": each, "device": choose.choice(kinds)[4:]} for _ in range(nodes)],
        "levels": levels, "engine": {"rules": "ring", "overhead_seconds": number(1e-5)}}))
    return each * nodes


def check(mlc, folder, seed):
    """What came out: "planned", or the error; fails otherwise."""
    from test_model_plans import write_model

    choose = random.Random(seed)
    cluster, model, plan = folder / f"c{seed}.json", folder / f"m{seed}.onnx", folder / f"p{seed}.json"
    ranks = write_cluster(cluster, choose)
    ranks = choose.choice([ranks, max(1, ranks - 1)])
    write_model(model, sizes=[choose.choice([16, 64, 256, 768]) for _ in range(choose.randint(3, 9))])
    samples = choose.choice([1, 6, 8, 15, 48, 64])
    flags = [model, "--loss=mse", f"--optimizer={choose.choice(['sgd', 'adam'])}", f"--cluster={cluster}"]

    def run(*command):
        return subprocess.run([mlc, *map(str, command)], capture_output=True, text=True)

    made = run("plan", *flags, "--planner=pipelines", f"--ranks={ranks}", f"--samples={samples}", "-o", plan, "--json")
    if made.returncode:
        assert made.returncode in (2, 9) and made.stderr.startswith("mlc: error: ") and not plan.exists(), made.stderr
        assert "no plan fits" in made.stderr or "no schedule runs" in made.stderr, made.stderr
        return made.stderr.strip()
    best = json.loads(made.stdout)["plans"][0]
    checked = run("check-plan", plan, *flags[:-1], f"--batch={best['batch']}")
    assert checked.returncode == 0, (seed, checked.stderr)
    batches = {one["micro_batches"] for one in json.loads(made.stdout)["plans"]}
    for strategy in ([f"--stages={ranks}", "--pipeline=1f1b"], [f"--stages={ranks}", "--pipeline=gpipe"], []):
        for count in sorted(batches) if strategy else [1]:
            if not strategy and samples < ranks or strategy and ranks == 1:
                continue
            done = run("simulate", *flags, f"--ranks={ranks}", f"--micro-batches={count}", f"--batch={samples // count}", *strategy, "--json")
            if done.returncode == 0:
                # Equal stages may end inside a node, which plans do not.
                assert best["seconds"] <= json.loads(done.stdout)["seconds"] * 1.001, (seed, strategy, count)
    return "planned"


def main(seeds):
    mlc = pathlib.Path(__file__).parents[2] / "build/bin/mlc"
    with tempfile.TemporaryDirectory() as folder:
        planned = 0
        for seed in range(seeds):
            told = check(mlc, pathlib.Path(folder), seed)
            planned += told == "planned"
            if told != "planned":
                print(f"seed {seed}: {told}", flush=True)
        print(f"{planned} of {seeds} clusters have a plan; the others were told why not")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
