"""Data sets that are served by a web server on this machine."""

import hashlib
from dataclasses import replace

import pytest

from kernelcoding import datasets
from kernelcoding.datasets.home import WORKSHOP
from kernelcoding.datasets.registry import REGISTRY

QUIET = {"n_retries": 0, "delay": 0.0}
CUT = 20 * 2**14  # bytes; a transfer loses at most the 16 KiB in which it breaks off


def publish(monkeypatch, site, name, contents, known=()):
    """Serve ``contents``, in the order of the remotes of a set, and point the registry there."""
    info = REGISTRY[name]
    form = info.forms["images"]
    remotes = tuple(
        replace(
            remote,
            url=site.serve(remote.file, content),
            checksum=f"sha256:{hashlib.sha256(content).hexdigest()}" if known else None,
        )
        for remote, content in zip(form.remotes, contents, strict=True)
    )
    forms = {**info.forms, "images": replace(form, remotes=remotes)}
    monkeypatch.setitem(REGISTRY, name, replace(info, forms=forms))


def resize(monkeypatch, name, **changes):
    """Register another size of the first file of a set."""
    info = REGISTRY[name]
    form = info.forms["images"]
    remotes = (replace(form.remotes[0], **changes), *form.remotes[1:])
    forms = {**info.forms, "images": replace(form, remotes=remotes)}
    monkeypatch.setitem(REGISTRY, name, replace(info, forms=forms))


def check_whole(home, site=None):
    """The set is there, whole, and is not asked for again."""
    asked = len(site.requests) if site else 0
    bunch = datasets.fetch_fmd(home)
    assert len(bunch.data) == 7
    assert len(site.requests if site else ()) == asked
    assert not (home / WORKSHOP).exists()


def check_nothing(home):
    """Neither the set nor a piece of it is there."""
    assert not (home / "fmd").exists()
    assert not list(home.rglob("unpacked-*"))
    with pytest.raises(FileNotFoundError, match="download_if_missing is False"):
        datasets.fetch_fmd(home, download_if_missing=False)
