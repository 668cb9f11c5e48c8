"""Downloads from a web server on this machine that sends what it should not."""

import zipfile

import pytest

from helpers import trees
from helpers.downloads import CUT, QUIET, check_nothing, check_whole, publish, resize
from kernelcoding import datasets
from kernelcoding.datasets import ArchiveError
from kernelcoding.datasets.home import WORKSHOP
from kernelcoding.datasets.registry import REGISTRY

pytest.importorskip("pooch")
pytest.importorskip("tqdm")


def test_wrong_checksum_installs_nothing(monkeypatch, site, home, materials):
    publish(monkeypatch, site, "fmd", [materials], known=True)
    site.files["FMD.zip"] = materials[:-1] + b"?"
    with pytest.raises(ArchiveError, match=r"(?s)is not the known file.*Nothing was installed"):
        datasets.fetch_fmd(home, **QUIET)
    check_nothing(home)
    site.files["FMD.zip"] = materials
    datasets.fetch_fmd(home)
    check_whole(home, site)


def test_corrupt_archive_installs_nothing_and_is_fetched_again(monkeypatch, site, home, materials):
    spoilt = bytearray(materials)
    spoilt[500_000:500_010] = b"0123456789"
    publish(monkeypatch, site, "fmd", [bytes(spoilt)])
    with pytest.raises(ArchiveError, match="is damaged"):
        datasets.fetch_fmd(home)
    check_nothing(home)
    site.files["FMD.zip"] = materials
    datasets.fetch_fmd(home)
    check_whole(home, site)


def test_archive_that_reaches_out_installs_nothing(monkeypatch, site, home, tmp_path):
    path = tmp_path / "evil.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("image/wood/a.jpg", "")
        archive.writestr("../../../../escaped", "")
    publish(monkeypatch, site, "fmd", [path.read_bytes()])
    with pytest.raises(ArchiveError, match="leads out of the folder"):
        datasets.fetch_fmd(home)
    check_nothing(home)
    assert not list(tmp_path.rglob("escaped"))


@pytest.mark.parametrize("only", ["image", "elsewhere"])
def test_archive_of_another_layout_installs_nothing(monkeypatch, site, home, tmp_path, only):
    trees.write(tmp_path / "source" / only / "wood" / "a.jpg")
    publish(monkeypatch, site, "fmd", [trees.zipped(tmp_path / "source")])
    with pytest.raises(ArchiveError, match="does not have the official layout: expected image/"):
        datasets.fetch_fmd(home)
    check_nothing(home)


def test_archive_of_another_layout_is_not_kept_for_ever(
    monkeypatch, site, home, materials, tmp_path
):
    trees.write(tmp_path / "other" / "elsewhere" / "a.jpg")
    publish(monkeypatch, site, "fmd", [trees.zipped(tmp_path / "other")])
    with pytest.raises(ArchiveError, match="without a known checksum are downloaded anew the next"):
        datasets.fetch_fmd(home)
    assert not list((home / WORKSHOP).rglob("*.zip*"))
    site.files["FMD.zip"] = materials
    datasets.fetch_fmd(home)
    check_whole(home, site)


@pytest.mark.parametrize("lengths", [True, False])
def test_files_larger_than_the_known_one_are_refused(monkeypatch, site, home, materials, lengths):
    publish(monkeypatch, site, "fmd", [materials])
    resize(monkeypatch, "fmd", size=len(materials))
    site.files["FMD.zip"] = materials + bytes(8_000_000)
    site.lengths = lengths
    sent = r"8,\d+,\d+" if lengths else r"[12],\d+,\d+"
    with pytest.raises(ArchiveError, match=rf"(?s)sends {sent} bytes or more, and .* less than"):
        datasets.fetch_fmd(home)
    assert len(site.requests) == 1
    check_nothing(home)
    assert not list((home / WORKSHOP).rglob("*.zip.part"))
    site.files["FMD.zip"] = materials
    datasets.fetch_fmd(home)
    check_whole(home, site)


def test_every_file_on_the_web_has_a_limit():
    remotes = [
        r for info in REGISTRY.values() for form in info.forms.values() for r in form.remotes
    ]
    assert len(remotes) >= 7
    for remote in remotes:
        assert remote.limit > (remote.size or 0)
        assert remote.limit < 1.1 * (remote.size or 2e8) + 2**20


def test_files_that_grow_on_the_way_are_refused(monkeypatch, site, home, materials):
    """They are decoded while they come: the length that was announced is another one."""
    publish(monkeypatch, site, "fmd", [materials])
    site.gzips = True
    with pytest.raises(ArchiveError, match=r"in the encoding 'gzip', and was asked for the file a"):
        datasets.fetch_fmd(home)
    assert len(site.requests) == 1
    check_nothing(home)
    assert not list((home / WORKSHOP).rglob("*.zip.part"))


@pytest.mark.parametrize("part", [(0, 1000), (500, 1000)])
def test_a_part_that_nobody_asked_for_is_refused(monkeypatch, site, home, materials, part):
    publish(monkeypatch, site, "fmd", [materials])
    site.parts = part
    with pytest.raises(ConnectionError, match=r"sent a part of the file \(206\), the whole of whi"):
        datasets.fetch_fmd(home, **QUIET)
    assert [status for *_, status in site.requests] == [206]
    check_nothing(home)


def test_a_range_that_nobody_asked_for_cannot_be_missing(monkeypatch, site, home, materials):
    publish(monkeypatch, site, "fmd", [materials])
    site.never = True
    with pytest.raises(ConnectionError, match="416"):
        datasets.fetch_fmd(home, **QUIET)
    assert [status for *_, status in site.requests] == [416]


def test_notes_about_a_part_may_be_damaged(monkeypatch, site, home, materials):
    publish(monkeypatch, site, "fmd", [materials])
    site.drops = [CUT + 9, 0]
    with pytest.raises(ConnectionError):
        datasets.fetch_fmd(home, **QUIET)
    (home / WORKSHOP / "fmd" / "FMD.zip.part.json").write_text("[1]")
    datasets.fetch_fmd(home, **QUIET)
    check_whole(home, site)
