"""Tests of threads, signals, forks and memory leaks."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import farfield as ff


def test_concurrent_sums_are_bitwise_equal(rng):
    x, q = rng.random((6_000, 3)), rng.normal(size=(4, 6_000))
    expected = [ff.coulomb(x, one) for one in q]
    with ThreadPoolExecutor(4) as pool:
        assert all(map(np.array_equal, pool.map(lambda one: ff.coulomb(x, one), q), expected))
        plan = ff.Plan("coulomb", x)
        assert all(map(np.array_equal, pool.map(plan, q), expected))


def test_the_gil_is_released_while_a_sum_runs(rng):
    x = rng.random((100_000, 3))
    counted, done = [0], threading.Event()

    def sum_up():
        ff.coulomb(x, 1.0, method="direct", targets=x[:20_000].copy())
        done.set()

    worker = threading.Thread(target=sum_up)
    worker.start()
    while not done.is_set():
        counted[0] += 1
        done.wait(0.001)
    worker.join()
    assert counted[0] > 5


def run_script(text, **options):
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(text)], capture_output=True, text=True, timeout=300, **options
    )


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_ctrl_c_interrupts_a_long_sum_and_python_continues():
    result = run_script(
        """
        import os, signal, threading, time
        import numpy as np, farfield as ff
        # Processes that a shell starts in the background ignore SIGINT.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        x = np.random.default_rng(1).random((400_000, 3))
        plan = ff.Plan("coulomb", x, method="direct")
        sent = []
        def send():
            sent.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)
        threading.Timer(0.3, send).start()
        try:
            plan(1.0)
            print("not interrupted")
        except KeyboardInterrupt:
            print("interrupted", time.monotonic() - sent[0])
        print(ff.coulomb(x[:2], 1.0).shape, flush=True)
        os._exit(0)  # without waiting for the sum in the background
        """
    )
    word, seconds = result.stdout.split()[:2]
    assert word == "interrupted" and "(2,)" in result.stdout, result
    # The interrupt takes less than a second on a quiet machine, the sum itself a minute.
    assert float(seconds) < 10.0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_process_sums_with_its_own_threads():
    result = run_script(
        """
        import os, sys, warnings
        warnings.simplefilter("ignore")
        import numpy as np, farfield as ff
        x = np.random.default_rng(1).random((60_000, 3))
        plan = ff.Plan("coulomb", x)
        expected = plan(1.0)
        child = os.fork()
        if child == 0:
            same = np.array_equal(ff.coulomb(x, 1.0), expected) and np.array_equal(plan(1.0), expected)
            same = same and np.array_equal(ff.coulomb(x, 1.0, threads=2), expected)
            try:
                ff.coulomb(x, 1.0, device="cuda")
                same = False
            except RuntimeError as error:
                same = same and "fork" in str(error)
            os._exit(0 if same else 1)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status))
        """
    )
    assert result.stdout.strip() == "0", result


def resident_kib():
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmRSS"))


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="needs /proc")
def test_plans_do_not_leak_memory(rng):
    """FARFIELD_PLANS sets the number of plans."""
    x, q = rng.random((300, 3)), rng.normal(size=300)
    count = int(os.environ.get("FARFIELD_PLANS", "2000"))

    def some(plans):
        for _ in range(plans):
            ff.Plan("gravity", x, softening=0.1, outputs=("potential", "acceleration"), threads=1)(q)

    some(count // 4)
    before = resident_kib()
    some(count)
    # A plan of 300 points takes about 100 KiB; a leak of a tenth of that per plan fails the test.
    assert resident_kib() - before < 10 * count
