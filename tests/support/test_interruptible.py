from __future__ import annotations

import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

from oddkernel.support.interruptible import interruptible


def test_results_and_errors_come_through() -> None:
    assert interruptible(lambda: 7) == 7
    with pytest.raises(np.linalg.LinAlgError, match="square"):
        interruptible(lambda: np.linalg.eigh(np.ones((2, 3))))


def test_outside_the_main_thread_it_is_a_plain_call() -> None:
    threads = []

    def work() -> None:
        threads.append(threading.current_thread())
        interruptible(lambda: threads.append(threading.current_thread()))

    worker = threading.Thread(target=work)
    worker.start()
    worker.join()
    assert threads == [worker, worker]


def interrupted(program: str) -> tuple[int, str, str]:
    """Status, output and errors of a program that gets a SIGINT as soon as it says that it has begun."""
    started = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert started.stdout is not None
    assert started.stdout.readline() == "begun\n"
    started.send_signal(signal.SIGINT)
    told, errors = started.communicate(timeout=120)
    return started.returncode, told, errors


NAP = """
import threading
from oddkernel.support.interruptible import interruptible

awake = threading.Event()

def nap():
    print("begun", flush=True)
    awake.wait()
    print("ended", flush=True)

try:
    interruptible(nap)
except KeyboardInterrupt:
    print("interrupted", flush=True)
    {then}
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")
def test_a_program_that_goes_on_after_ctrl_c_ends_after_the_computation() -> None:
    assert interrupted(NAP.format(then="awake.set()")) == (0, "interrupted\nended\n", "")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")
def test_a_program_that_ctrl_c_ends_does_not_wait() -> None:
    status, told, _ = interrupted(NAP.format(then="raise"))
    assert (status, told) == (-signal.SIGINT, "interrupted\n")


FIT = """
import numpy as np
from oddkernel import SKLR

eigh = np.linalg.eigh

def announced(matrix):
    print("begun", flush=True)
    while True:  # however late the signal comes
        eigh(matrix)

np.linalg.eigh = announced
model = SKLR("gaussian")
try:
    model.fit(np.random.default_rng(0).normal(size=(3000, 5)))
except KeyboardInterrupt:
    print("untouched" if vars(model) == vars(SKLR("gaussian")) else vars(model), flush=True)
    raise
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")
def test_ctrl_c_ends_a_fit_in_the_middle_of_its_eigendecomposition() -> None:
    status, told, errors = interrupted(FIT)
    assert (status, told) == (-signal.SIGINT, "untouched\n"), errors


TRANSLATED = """
import time
from oddkernel.support.interruptible import hearing_ctrl_c

with hearing_ctrl_c() as pressed:
    try:
        try:
            print("begun", flush=True)
            time.sleep(60)
        except KeyboardInterrupt:
            raise ImportError("multiarray failed to import") from None
    except ImportError:
        print("pressed", pressed.is_set(), flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")
@pytest.mark.slow
def test_ctrl_c_is_known_behind_an_error_of_another_kind() -> None:
    status, told, _ = interrupted(TRANSLATED)
    assert (status, told) == (0, "pressed True\n")
