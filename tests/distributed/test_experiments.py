"""Cells of experiments on a cluster: the records of one process, whatever workers do."""

import os
import signal
import threading
import time

import pytest

from helpers.commands import failed
from helpers.experiments import entries, results, stable, toy
from kernelcoding.experiments.running.runner import run_experiment


def run(folder, scheduler=None, **changes):
    diary = folder / "diary"
    path = run_experiment(
        toy(diary, **changes), out=folder / "runs", progress=False, scheduler=scheduler
    )
    return results(path)


def without_diary(found):
    """What does not name the folder of the run."""
    return {
        key: {name: line[name] for name in ("value", "seed", "artifacts", "method", "split")}
        for key, line in stable(found).items()
    }


def test_records_are_those_of_one_process(client, tmp_path):
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir(), there.mkdir()
    address = client.scheduler.address
    assert without_diary(run(there, address)) == without_diary(run(here))
    asked = len(entries(there / "diary"))
    run(there, address)  # everything is in the file
    assert len(entries(there / "diary")) == asked


def test_a_lost_worker_costs_its_cells_in_flight_alone(client, tmp_path):
    hold, diary = tmp_path / "hold", tmp_path / "diary"
    hold.touch()
    (tmp_path / "one").mkdir()
    victim = next(iter(client.run(os.getpid).values()))

    def kill_while_cells_wait():
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and not diary.exists():
            time.sleep(0.05)
        time.sleep(0.5)
        os.kill(victim, signal.SIGKILL)
        hold.unlink()

    killer = threading.Thread(target=kill_while_cells_wait)
    killer.start()
    experiment = toy(diary, hold=str(hold))
    address = client.scheduler.address
    path = run_experiment(experiment, out=tmp_path / "runs", progress=False, scheduler=address)
    killer.join()
    assert victim not in client.run(os.getpid).values()
    assert without_diary(results(path)) == without_diary(run(tmp_path / "one"))
    assert len(path.read_text().splitlines()) == 1 + 6  # no record twice


def test_a_scheduler_that_is_not_there_is_told(tmp_path, monkeypatch):
    from kernelcoding.distributed import calls

    whole = calls.Client
    monkeypatch.setattr(calls, "Client", lambda address, **_: whole(address, timeout="0.2s"))
    said = failed(
        "reproduce", "digits", "--quick", "--out", tmp_path, "--scheduler", "tcp://127.0.0.1:9"
    )
    assert "No Dask scheduler answers at 'tcp://127.0.0.1:9'" in said
    assert "dask worker ADDRESS" in said
    with pytest.raises(OSError, match="No Dask scheduler"):
        run_experiment(toy(tmp_path / "diary"), out=tmp_path, progress=False, scheduler="nowhere:1")
