"""Archives from strangers: what is unpacked, and what is refused before it does harm."""

import io
import os
import stat
import tarfile
import zipfile

import pytest

from helpers import trees
from kernelcoding.datasets import ArchiveError
from kernelcoding.datasets.archives import unpack


def contents(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.fixture
def inner(tmp_path):
    """A folder to unpack into, in a parent that must stay as it is."""
    folder = tmp_path / "outer" / "inner"
    folder.mkdir(parents=True)
    return folder


def zip_of(tmp_path, *members):
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members:
            archive.writestr(name, content)
    return path


def tar_of(tmp_path, *members):
    path = tmp_path / "a.tar"
    with tarfile.open(path, "w") as archive:
        for info, content in members:
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return path


def member(name, kind=tarfile.REGTYPE, link=""):
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, link
    return info


@pytest.mark.parametrize("pack", [
    trees.zipped, trees.tarred, lambda f: trees.tarred(f, "w:gz"), lambda f: trees.tarred(f, "w:xz")
])  # fmt: skip
def test_everything_comes_out_as_it_went_in(tmp_path, inner, pack):
    source = trees.fmd(tmp_path / "source")
    trees.write(source / "großer Name" / "a b.txt", os.urandom(3000))
    unpack(trees.write(tmp_path / "archive", pack(source)), inner)
    assert contents(inner) == contents(source)


OUTSIDE = ["../evil", "a/../../evil", "/evil", "a/../../../evil", "..\\evil", "C:\\evil", "\\evil"]


@pytest.mark.parametrize("name", OUTSIDE)
@pytest.mark.parametrize("kind", ["zip", "tar"])
def test_names_that_lead_outside_are_refused(tmp_path, inner, name, kind):
    if kind == "zip":
        archive = zip_of(tmp_path, ("good", b"1"), (name, b"2"))
    else:
        archive = tar_of(tmp_path, (member("good"), b"1"), (member(name), b"2"))
    before = {path for path in tmp_path.rglob("*") if inner not in path.parents}
    with pytest.raises(ArchiveError, match=r"not unpacked: .*evil.* (absolute|leads out)"):
        unpack(archive, inner)
    assert {path for path in tmp_path.rglob("*") if inner not in path.parents} == before
    assert not any("evil" in name for name in contents(inner))


@pytest.mark.parametrize(
    "kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE]
)
def test_links_and_devices_in_tar_are_refused(tmp_path, inner, kind):
    archive = tar_of(tmp_path, (member("door", kind, "/etc"), b""), (member("door/x"), b"2"))
    with pytest.raises(ArchiveError, match=r"'door' is a link or a device"):
        unpack(archive, inner)
    assert not any(inner.iterdir())


@pytest.mark.parametrize("kind", ["zip", "tar"])
@pytest.mark.parametrize("names", [("a", "a/b"), ("a/b", "a"), ("x" * 300,), ("y" * 300 + "/a",)])
def test_names_that_cannot_be_written_are_refused(tmp_path, inner, names, kind):
    if kind == "zip":
        archive = zip_of(tmp_path, *((name, b"1") for name in names))
    else:
        archive = tar_of(tmp_path, *((member(name), b"1") for name in names))
    with pytest.raises(ArchiveError, match=r"not unpacked: its member .* no file can have here"):
        unpack(archive, inner)


def test_a_name_with_a_null_is_refused(tmp_path, inner):
    info = member("a")
    info.pax_headers = {"path": "a\0b"}
    with pytest.raises(ArchiveError, match=r"member 'a\\x00b' has a name that no file can have"):
        unpack(tar_of(tmp_path, (info, b"1")), inner)


def test_a_member_without_a_name_is_refused(tmp_path, inner):
    info = zipfile.ZipInfo("x")
    info.filename = ""
    with pytest.raises(ArchiveError, match="member '' has no name"):
        unpack(zip_of(tmp_path, (info, b"1")), inner)


def test_a_zip_that_points_before_its_beginning_is_damaged(tmp_path, inner):
    content = zip_of(tmp_path, ("a", b"1"), ("b", b"2")).read_bytes()
    place = content.index(b"PK\x01\x02")
    shorter = content[40:place] + content[place:]  # what was cut off is still counted
    with pytest.raises(ArchiveError, match=r"is damaged \(.*\)\. .* download it again"):
        unpack(trees.write(tmp_path / "b.zip", shorter), inner)


def test_links_in_zip_are_refused(tmp_path, inner):
    info = zipfile.ZipInfo("door")
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    archive = zip_of(tmp_path, (info, "/etc"))
    with pytest.raises(ArchiveError, match=r"'door' is a link or a device"):
        unpack(archive, inner)


def test_encrypted_members_are_refused(tmp_path, inner):
    content = bytearray(zip_of(tmp_path, ("a", b"1")).read_bytes())
    content[content.index(b"PK\x01\x02") + 8] |= 1  # flag in the central directory
    with pytest.raises(ArchiveError, match="'a' is encrypted"):
        unpack(trees.write(tmp_path / "b.zip", bytes(content)), inner)


def test_bombs_are_stopped_by_what_comes_out(tmp_path, inner):
    path = tmp_path / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("zeros", bytes(20_000_000))
    with pytest.raises(ArchiveError, match="more than 50 times its size"):
        unpack(path, inner, free_bytes=1000)
    written = sum(len(content) for content in contents(inner).values())
    assert written <= 1000 + 50 * path.stat().st_size


def test_too_many_members_are_refused(tmp_path, inner):
    unpack(zip_of(tmp_path, *((f"{i}", b"") for i in range(3))), inner, max_members=3)
    with pytest.raises(ArchiveError, match="more than 3 files"):
        unpack(zip_of(tmp_path, *((f"{i}", b"") for i in range(4))), inner, max_members=3)


def test_members_get_no_rights_from_the_archive(tmp_path, inner):
    info = member("tool")
    info.mode = 0o4777
    unpack(tar_of(tmp_path, (info, b"#!")), inner)
    assert (inner / "tool").stat().st_mode & 0o7111 == 0


def test_damaged_archives(tmp_path, inner):
    source = trees.fmd(tmp_path / "source")
    trees.write(source / "noise", os.urandom(50_000))
    spoilt = bytearray(trees.zipped(source))
    spoilt[20_000:20_010] = b"0123456789"
    checksum = bytearray(trees.tarred(source, "w:gz"))
    checksum[-5] ^= 1
    middle = bytearray(trees.tarred(source, "w:gz"))
    middle[len(middle) // 2] ^= 1
    stream = bytearray(trees.tarred(source, "w:xz"))
    stream[20_000:20_010] = b"0123456789"
    broken = {
        "spoilt gz": bytes(checksum),
        "spoilt xz": bytes(stream),
        "spoilt gz in the middle": bytes(middle),
        "nonsense": b"<html>404</html>" * 100,
        "empty": b"",
        "half zip": trees.zipped(source)[:30_000],
        "half tar": trees.tarred(source)[:30_000],
        "half gz": trees.tarred(source, "w:gz")[:30_000],
        "spoilt zip": bytes(spoilt),
    }
    for name, content in broken.items():
        with pytest.raises(ArchiveError, match=r"is damaged .* download it again"):
            unpack(trees.write(tmp_path / name, content), inner)
