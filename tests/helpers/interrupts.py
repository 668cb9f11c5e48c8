"""Scripts in a Python of their own that are sent signals while they work."""

import os
import signal
import subprocess
import sys
import textwrap
import time

PREPARE = """
import os, signal, sys, threading, time, warnings
import numpy as np
import kernelcoding as kc

rng = np.random.default_rng(0)
D, X = rng.normal(size=(400, 10)), rng.normal(size=(60_000, 10))
sent = []

def interrupted_after(seconds, call):
    '''What a call raised or returned when SIGINT came, and how many seconds later.'''
    def interrupt():
        seconds() if callable(seconds) else time.sleep(seconds)
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    sent.clear()
    thread = threading.Thread(target=interrupt)
    thread.start()
    try:
        while not sent:  # a fast machine may be done before
            answer = call()
        thread.join()
    except BaseException as error:
        # Without its frames: Python drops signals that arrive while old threads are collected.
        answer = error.with_traceback(None)
    late = time.perf_counter() - sent[-1]
    thread.join()
    return answer, late

def report(name, answer, late):
    kind = type(answer).__name__
    print(name, kind, getattr(answer, "status_", "-"), f"{late:.3f}", flush=True)
"""


def start(arguments, **options):
    """A Python process with this source; what it says is kept."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    return subprocess.Popen(
        [sys.executable, *arguments],
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # Whoever runs the tests in the background may have told them to ignore it.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        **options,
    )


def reports(script):
    """The reports of a script of interrupted calls: (name, outcome, status, seconds) each."""
    process = start(["-c", PREPARE + textwrap.dedent(script)])
    said, errors = process.communicate(timeout=240)
    assert process.returncode == 0, errors
    lines = [line.split() for line in said.splitlines()]
    return [(name, kind, status, float(late)) for name, kind, status, late in lines]


def ended_by_interrupt(process, seconds):
    """Exit code, error stream and seconds to the end after SIGINT, sent after some seconds."""
    time.sleep(seconds)
    assert process.poll() is None, process.communicate()
    process.send_signal(signal.SIGINT)
    sent = time.perf_counter()
    _, errors = process.communicate(timeout=60)
    return process.returncode, errors, time.perf_counter() - sent
