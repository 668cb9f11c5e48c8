"""A small cluster of real worker processes, started once and used by all tests of this room."""

import contextlib
import importlib.util
import sys

import pytest

if importlib.util.find_spec("dask") is None or importlib.util.find_spec("distributed") is None:
    collect_ignore_glob = ["test_*.py"]

SETTINGS = {
    "distributed.scheduler.allowed-failures": 1,  # a block may end one worker, not two
    "distributed.comm.timeouts.connect": "30s",
    # So long after a worker was lost, the cluster gives its nanny up if the worker is not there:
    # not where another test has killed it again meanwhile.
    "distributed.deploy.lost-worker-timeout": "1h",
    # Idle processes watch themselves fifty times a second; while other tests run, once is enough.
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "10s",
    "distributed.worker.memory.monitor-interval": "1s",
    "distributed.worker.profile.enabled": False,
    # Workers are copies of a process that has imported everything: tests kill and start many.
    "distributed.worker.multiprocessing-method": "spawn"
    if sys.platform == "win32"
    else "forkserver",
}
PRELOADED = [
    "distributed",
    "dask.dataframe",
    "numba",
    "sklearn.linear_model",
    "kernelcoding.distributed",
]


@pytest.fixture(scope="session")
def cluster():
    """Two worker processes of one thread, each with a nanny that starts it again."""
    import dask

    import distributed

    with dask.config.set(SETTINGS):
        distributed.utils.get_mp_context().set_forkserver_preload(PRELOADED)
        cluster = distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        )
        yield cluster
        # On a busy machine it may not yet know the name of a worker that has come back.
        with contextlib.suppress(KeyError):
            cluster.close()


@pytest.fixture
def client(cluster):
    """A client of the cluster, whole; Dask computes there while the test runs."""
    from distributed import Client

    with Client(cluster) as client:
        client.wait_for_workers(2, timeout=60)
        yield client
