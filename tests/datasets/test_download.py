"""Downloads from a web server on this machine that breaks off and disappears."""

import os
import time
from multiprocessing.pool import ThreadPool
from pathlib import Path

import pytest
from numpy.testing import assert_array_equal

from helpers import trees
from helpers.downloads import CUT, QUIET, check_nothing, check_whole, publish
from helpers.website import Website
from kernelcoding import datasets
from kernelcoding.datasets import ArchiveError, download
from kernelcoding.datasets.home import MARKER, WORKSHOP

pytest.importorskip("pooch")
pytest.importorskip("tqdm")


# ---------------------------------------------------------------- what goes well


@pytest.mark.parametrize("known", [True, False])
def test_zip_is_downloaded_once(monkeypatch, site, home, materials, known):
    publish(monkeypatch, site, "fmd", [materials], known)
    bunch = datasets.fetch_fmd(home)
    assert_array_equal(bunch.target, [0, 0, 0, 1, 1, 1, 1])
    assert site.requests == [("FMD.zip", None, 200)]
    check_whole(home, site)


def test_indoor_archive_and_lists(monkeypatch, site, home, tmp_path):
    train, test = ["bar/a.jpg", "office/b.jpg"], ["bar/c d.jpg"]
    source = trees.scenes(tmp_path / "source", train, test)
    lists = [(source / name).read_bytes() for name in ("TrainImages.txt", "TestImages.txt")]
    for name in ("TrainImages.txt", "TestImages.txt"):
        (source / name).unlink()
    publish(monkeypatch, site, "mit_indoor", [trees.tarred(source), *lists])
    # lists that are already there stay, and the download goes beside them
    mine = trees.write(home / "mit_indoor" / "TrainImages.txt", "my own list")
    bunch = datasets.fetch_mit_indoor(home)
    assert_array_equal(bunch.files, train + test)
    assert mine.read_text() == "my own list"
    assert all(str(home / "mit_indoor" / "downloaded") in path for path in bunch.data)


def test_two_archives_of_voc_become_one_tree(monkeypatch, site, home, tmp_path):
    labels = {
        "train": {"000012": {"car": 1}},
        "val": {"000005": {"chair": 0}},
        "test": {"000001": {"dog": 1}},
    }
    for name, parts in (("first", ("train", "val")), ("second", ("test",))):
        folder = tmp_path / name / "VOCdevkit" / "VOC2007"
        trees.voc(folder, {part: labels[part] for part in parts})
    packed = [trees.tarred(tmp_path / name) for name in ("first", "second")]
    publish(monkeypatch, site, "voc2007", packed, known=True)
    bunch = datasets.fetch_voc2007(home)
    assert_array_equal(bunch.files, ["000012", "000005", "000001"])
    assert bunch.difficult.sum() == 1


def test_faces(monkeypatch, site, home, tmp_path, rng):
    faces = trees.cropped_yale(tmp_path / "source" / "CroppedYale", rng)
    publish(monkeypatch, site, "yaleb", [trees.zipped(tmp_path / "source")])
    bunch = datasets.fetch_yaleb(home)
    for file, image in zip(bunch.files, bunch.images, strict=True):
        assert_array_equal(image, faces[file])


def test_nothing_is_downloaded_unless_allowed(monkeypatch, site, home, materials):
    publish(monkeypatch, site, "fmd", [materials])
    check_nothing(home)
    assert site.requests == []
    assert not home.exists()


# ---------------------------------------------------------------- what breaks off


@pytest.mark.parametrize("version", ["tags", "dates"])
def test_broken_transfer_continues_in_the_same_call(monkeypatch, site, home, materials, version):
    publish(monkeypatch, site, "fmd", [materials], known=True)
    site.tags, site.dates = version == "tags", version == "dates"
    site.drops = [CUT, CUT, None]
    datasets.fetch_fmd(home, **QUIET)
    assert [asked for _, asked, _ in site.requests] == [None, f"bytes={CUT}-", f"bytes={2 * CUT}-"]
    assert [status for *_, status in site.requests] == [200, 206, 206]
    check_whole(home, site)


def test_broken_transfer_continues_in_the_next_call(monkeypatch, site, home, materials):
    publish(monkeypatch, site, "fmd", [materials])
    site.drops = [CUT + 9, 0]
    with pytest.raises(ConnectionError, match=r"(?s)What has come is kept: try again.*by hand"):
        datasets.fetch_fmd(home, **QUIET)
    check_nothing(home)
    datasets.fetch_fmd(home)
    assert site.requests[-1] == ("FMD.zip", f"bytes={CUT}-", 206)
    check_whole(home, site)


def test_interrupt_while_bytes_come(monkeypatch, site, home, materials):
    publish(monkeypatch, site, "fmd", [materials])

    class Bar:
        def __init__(self, **options):
            self.seen = 0

        __enter__ = lambda self: self  # noqa: E731
        __exit__ = lambda self, *error: None  # noqa: E731

        def update(self, n):
            self.seen += n
            if self.seen >= 500_000:
                raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("tqdm.tqdm", Bar)
        with pytest.raises(KeyboardInterrupt):
            datasets.fetch_fmd(home)
    check_nothing(home)
    datasets.fetch_fmd(home)
    assert site.requests[-1][2] == 206
    check_whole(home, site)


def test_file_that_changed_meanwhile_is_started_anew(monkeypatch, site, home, materials):
    publish(monkeypatch, site, "fmd", [os.urandom(len(materials))])
    site.drops = [CUT + 9, 0]
    with pytest.raises(ConnectionError):
        datasets.fetch_fmd(home, **QUIET)
    site.files["FMD.zip"] = materials
    datasets.fetch_fmd(home)
    assert site.requests[-1] == ("FMD.zip", f"bytes={CUT}-", 200)
    check_whole(home, site)


@pytest.mark.parametrize("lacking", ["ranges", "tags"])
def test_server_without_ranges_or_versions_starts_anew(monkeypatch, site, home, materials, lacking):
    publish(monkeypatch, site, "fmd", [materials])
    setattr(site, lacking, False)
    site.drops = [300_000, None]
    datasets.fetch_fmd(home, **QUIET)
    assert [status for *_, status in site.requests] == [200, 200]
    check_whole(home, site)


def test_transfer_that_was_complete_but_not_yet_named(monkeypatch, site, home, materials):
    publish(monkeypatch, site, "fmd", [materials], known=True)
    site.drops = [CUT + 9, 0]
    with pytest.raises(ConnectionError):
        datasets.fetch_fmd(home, **QUIET)
    part = home / WORKSHOP / "fmd" / "FMD.zip.part"
    part.write_bytes(materials)  # as if killed right after the last byte
    datasets.fetch_fmd(home)
    assert site.requests[-1] == ("FMD.zip", f"bytes={len(materials)}-", 416)
    check_whole(home, site)


def test_left_over_that_is_too_long_is_thrown_away(monkeypatch, site, home, materials):
    publish(monkeypatch, site, "fmd", [materials], known=True)
    site.drops = [CUT + 9, 0]
    with pytest.raises(ConnectionError):
        datasets.fetch_fmd(home, **QUIET)
    (home / WORKSHOP / "fmd" / "FMD.zip.part").write_bytes(materials + b"more")
    datasets.fetch_fmd(home)
    assert [status for *_, status in site.requests[-2:]] == [416, 200]
    check_whole(home, site)


def test_server_that_sends_another_range_is_not_believed(monkeypatch, site, home, materials):
    publish(monkeypatch, site, "fmd", [materials])
    site.skew = 1000
    site.drops = [CUT, None]
    datasets.fetch_fmd(home, n_retries=1, delay=0.0)
    assert [status for *_, status in site.requests] == [200, 206, 200]
    check_whole(home, site)


def test_busy_server_is_asked_again_and_a_missing_file_is_not(monkeypatch, site, home, materials):
    publish(monkeypatch, site, "fmd", [materials])
    site.busy = 2
    datasets.fetch_fmd(home, n_retries=2, delay=0.0)
    assert [status for *_, status in site.requests] == [503, 503, 200]
    datasets.clear_data_home(home)
    site.files.clear()
    with pytest.raises(ConnectionError, match=r"(?s)404.*To get Flickr.* by hand.*expected:"):
        datasets.fetch_fmd(home)
    assert [status for *_, status in site.requests][3:] == [404]
    check_nothing(home)


def test_no_server_at_all(monkeypatch, home, materials):
    with Website() as site:
        publish(monkeypatch, site, "fmd", [materials])
    with pytest.raises(ConnectionError, match="Could not download http"):
        datasets.fetch_fmd(home, **QUIET)
    check_nothing(home)


# ---------------------------------------------------------------- what else may happen


def test_interrupt_while_unpacking(monkeypatch, site, home, materials):
    publish(monkeypatch, site, "fmd", [materials])
    unpack = download.unpack

    def half(archive, folder):
        unpack(archive, folder)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(download, "unpack", half)
        with pytest.raises(KeyboardInterrupt):
            datasets.fetch_fmd(home)
    check_nothing(home)
    datasets.fetch_fmd(home)
    assert len(site.requests) == 1  # the archive was whole and is not transferred again
    check_whole(home, site)


def test_remains_of_a_killed_process_are_swept(monkeypatch, site, home, materials):
    publish(monkeypatch, site, "fmd", [materials])
    trees.write(home / WORKSHOP / "fmd" / "unpacked-x" / "fmd" / "image" / "wood" / "a.jpg")
    with pytest.raises(FileNotFoundError, match="not found"):
        datasets.fetch_fmd(home, download_if_missing=False)
    datasets.fetch_fmd(home)
    check_whole(home, site)


def test_something_in_the_way_is_left_alone(monkeypatch, site, home, materials):
    publish(monkeypatch, site, "fmd", [materials])
    mine = trees.write(home / "fmd" / "downloaded" / "notes.txt", "mine")
    with pytest.raises(ArchiveError, match=r"downloaded is in the way: move it away"):
        datasets.fetch_fmd(home)
    assert mine.read_text() == "mine"


def test_missing_package_is_named(monkeypatch, home):
    monkeypatch.setitem(__import__("sys").modules, "pooch", None)
    with pytest.raises(ImportError, match=r"needs pooch: pip install 'kernelcoding\[datasets\]'"):
        datasets.fetch_fmd(home)


def test_a_failed_download_leaves_no_lock(monkeypatch, site, home, materials):
    """Neither a file nor a folder of it, unless a part is kept to go on from."""
    publish(monkeypatch, site, "fmd", [materials], known=True)
    site.drops = [0]
    with pytest.raises(ConnectionError):
        datasets.fetch_fmd(home, **QUIET)
    assert not list(home.rglob("lock"))
    for part in home.rglob("*.part*"):
        part.unlink()
    publish(monkeypatch, site, "fmd", [b"no archive"])
    with pytest.raises(ArchiveError):
        datasets.fetch_fmd(home, **QUIET)
    assert not (home / WORKSHOP / "fmd").exists()


def test_a_lock_that_is_taken_away_still_excludes_others(tmp_path):
    """Whoever waits for a lock that its holder removes must wait for the new one, too."""
    inside, most = [], []

    def hold(_):
        with download._locked(tmp_path / "folder" / "set" / "lock"):
            inside.append(1)
            most.append(len(inside))
            time.sleep(0.002)
            inside.pop()

    with ThreadPool(8) as pool:
        pool.map(hold, range(40))
    assert len(most) == 40
    assert max(most) == 1
    assert not (tmp_path / "folder").exists()


def test_a_folder_that_goes_and_comes_back_is_no_obstacle(monkeypatch, tmp_path):
    """`mkdir` may fail because others removed the folder, who have made it again since."""
    make, failures = Path.mkdir, [FileExistsError("removed and made again")]
    (tmp_path / "file").touch()

    def mkdir(path, *args, **kwargs):
        make(path, *args, **kwargs)
        if failures:
            raise failures.pop()

    monkeypatch.setattr(Path, "mkdir", mkdir)
    with download._locked(tmp_path / "folder" / "lock"):
        assert not failures
    with pytest.raises(FileExistsError), download._locked(tmp_path / "file" / "lock"):
        pass


def test_two_at_once_share_one_download(monkeypatch, site, home, materials):
    publish(monkeypatch, site, "fmd", [materials])
    with ThreadPool(2) as pool:  # each opens the lock for itself, as processes do
        counts = pool.map(lambda home: len(datasets.fetch_fmd(home).data), [home, home])
    assert counts == [7, 7]
    assert len(site.requests) == 1
    check_whole(home, site)


def test_clear_removes_downloads_and_leaves_the_rest(monkeypatch, site, home, materials, tmp_path):
    publish(monkeypatch, site, "fmd", [materials])
    by_hand = trees.scenes(home / "scene15", ["bar/a.jpg"], ["bar/b.jpg"])
    datasets.fetch_fmd(home)
    assert (home / "fmd" / MARKER).exists()
    datasets.clear_data_home(home)
    assert not (home / "fmd").exists()
    assert not (home / WORKSHOP).exists()
    assert len(datasets.fetch_scene15(home).data) == 2
    assert by_hand.exists()
    other = tmp_path / "other"
    datasets.fetch_fmd(other)
    datasets.clear_data_home(other)
    assert not other.exists()
    datasets.clear_data_home(other)  # nothing to do, no complaint
