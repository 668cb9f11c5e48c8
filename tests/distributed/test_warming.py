"""Warming up a cluster: one process per host, and what it says where that fails."""

import os

import pytest

from kernelcoding.distributed import warming


def test_each_host_compiles_once(client, monkeypatch):
    monkeypatch.setattr(warming, "_compile_here", os.getpid)
    told = warming.warm_up(client)
    (pid,) = told.values()
    assert list(told) == ["127.0.0.1"]
    assert int(pid) in client.run(os.getpid).values()


def test_compiling_runs_in_a_process_of_its_own(monkeypatch):
    monkeypatch.setattr(warming, "COMMAND", "this")
    assert warming.warm_up()["localhost"] > 0
    monkeypatch.setattr(warming, "COMMAND", "no_such_module")
    with pytest.raises(RuntimeError, match=r"not be compiled.*No module named no_such_module"):
        warming.warm_up()


def test_a_cluster_without_workers_is_told():
    class Nobody:
        def scheduler_info(self, n_workers):
            return {"workers": {}}

    with pytest.raises(ValueError, match=r"no workers yet: client\.wait_for_workers"):
        warming.warm_up(Nobody())
