"""mlc launch: what ranks are told, how they are ended, and that nothing is left running."""

import os
import signal
import subprocess
import sys
import time

import ranks

SHOW = "import os; print(*(os.environ[k] for k in ('RANK', 'WORLD_SIZE', 'LOCAL_RANK', 'LOCAL_WORLD_SIZE', 'MASTER_ADDR', 'MASTER_PORT')))"


def launch(tools, n, *command, flags=(), **options):
    return tools.mlc("launch", "-n", n, *flags, "--", *command, timeout=120, **options)


def test_ranks_are_told_who_they_are(tools):
    env = {k: v for k, v in os.environ.items() if not k.startswith("MASTER_")}
    done = launch(tools, 3, sys.executable, "-c", SHOW, flags=["--prefix"], env=env)
    assert done.returncode == 0, done.stderr
    lines = sorted(done.stdout.splitlines())
    port = lines[0].split()[-1]
    assert int(port) > 0
    assert lines == [f"[{r}] {r} 3 {r} 3 127.0.0.1 {port}" for r in range(3)]
    done = launch(tools, 1, sys.executable, "-c", SHOW, env={**env, "MASTER_ADDR": "there", "MASTER_PORT": "77"})
    assert done.stdout == "0 1 0 1 there 77\n"


def test_arguments_are_the_program_s(tools):
    done = launch(tools, 1, "echo", "--prefix", "-n", "5", "--", "--help")
    assert done.stdout == "--prefix -n 5 -- --help\n"
    assert tools.mlc("launch", "-n", 2, "echo", "--json").stdout == "--json\n--json\n"


def test_output_with_and_without_a_newline(tools):
    text = "x" * 200_000
    done = launch(tools, 2, sys.executable, "-c", f"import sys; sys.stderr.write('e'); print('{'x' * 10}' * 20000)", flags=["--prefix"])
    assert done.returncode == 0
    assert sorted(done.stderr.splitlines()) == ["[0] e", "[1] e"]
    for rank in range(2):
        mine = [line[4:] for line in done.stdout.splitlines() if line.startswith(f"[{rank}] ")]
        assert "".join(mine) == text


def test_standard_input_is_empty(tools):
    assert launch(tools, 2, "cat", input="to nobody").stdout == ""


def test_the_first_that_fails_ends_the_others(tools, tmp_path):
    # Rank 0 leaves a process behind, rank 2 is deaf to SIGTERM, rank 3 is stopped.
    script = f"""echo $$ >{tmp_path}/$RANK
case $RANK in
0) sleep 1000 & echo $! >{tmp_path}/child; wait ;;
1) while [ ! -s {tmp_path}/child -o ! -s {tmp_path}/2 -o ! -s {tmp_path}/3 ]; do sleep 0.1; done; sleep 0.5; exit 7 ;;
2) trap '' TERM; while :; do sleep 0.1; done ;;
3) kill -STOP $$ ;;
esac"""
    done = launch(tools, 4, "sh", "-c", script, flags=["--grace=1"])
    assert done.returncode == 7
    assert done.stderr == "mlc: error: rank 1 ended with exit code 7; the other ranks have been ended\n"
    assert ranks.alive([int((tmp_path / name).read_text()) for name in ("0", "1", "2", "3", "child")]) == []


def test_a_rank_that_a_signal_ends(tools):
    done = launch(tools, 2, "sh", "-c", "[ $RANK = 0 ] && kill -SEGV $$; sleep 1000")
    assert done.returncode == 128 + signal.SIGSEGV
    assert "rank 0 was ended by signal 11 (SIGSEGV); the other ranks have been ended" in done.stderr


def started(tools, folder, script):
    process = subprocess.Popen([tools.build / "bin/mlc", "launch", "-n", "2", "--", "sh", "-c", script],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    end = time.monotonic() + 60
    while not all((folder / f"{rank}").exists() and (folder / f"{rank}").read_text() for rank in range(2)):
        assert time.monotonic() < end
        time.sleep(0.05)
    return process, [int((folder / f"{rank}").read_text()) for rank in range(2)]


def test_signals_are_passed_on(tools, tmp_path):
    script = f"trap 'echo usr1' USR1; trap 'echo term; exit 0' TERM; echo $$ >{tmp_path}/$RANK; while :; do sleep 0.1; done"
    process, pids = started(tools, tmp_path, script)
    process.send_signal(signal.SIGUSR1)
    time.sleep(0.5)
    process.send_signal(signal.SIGTERM)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert sorted(output.split()) == ["term", "term", "usr1", "usr1"]
    assert errors.endswith("mlc: error: interrupted by signal 15; all ranks have ended\n")
    assert ranks.alive(pids) == []


def test_ranks_end_with_their_launcher(tools, tmp_path):
    process, pids = started(tools, tmp_path, f"echo $$ >{tmp_path}/$RANK; while :; do sleep 0.1; done")
    process.kill()
    process.wait()
    end = time.monotonic() + 60
    while ranks.alive(pids) and time.monotonic() < end:
        time.sleep(0.05)
    assert ranks.alive(pids) == []


def test_wrong_flags(tools):
    for arguments, text in ((["-n", "2"], "launch: no program; give one after the options"),
                            (["echo"], "launch: how many processes? give -n N, up to 4096"),
                            (["-n", "0", "echo"], "launch: -n=0 processes; give 1 to 4096"),
                            (["-n", "2", "--grace=-1", "echo"], "launch: --grace=-1 seconds"),
                            (["-n", "2", "no-such-program"], "no-such-program: cannot be started: No such file")):
        done = tools.mlc("launch", *arguments)
        assert done.returncode == 2 and text in done.stderr, done.stderr
