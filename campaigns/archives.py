"""Archives of strangers: nothing outside the folder, nothing but plain files, nothing endless."""

from __future__ import annotations

import io
import stat
import tarfile
import tempfile
import warnings
import zipfile
from collections.abc import Iterator
from pathlib import Path

from numpy.random import Generator

from kernelcoding.datasets import ArchiveError
from kernelcoding.datasets.archives import MAX_RATIO, unpack

from .base import Case, Failure
from .mutations import damaged_bytes

FREE_BYTES = 20_000
MAX_MEMBERS = 30
NAMES = (
    "a", "b/c", "b", "a/b", "../evil", "b/../../evil", "/evil", "..\\evil", "C:\\evil", "C:evil",
    "\\\\host\\evil", "./a", "a//b", "a/./b", ".", "..", "", "/", "a/", "con", "nul.txt", "a\x00b",
    "a\nb", "ü", "\udcff", "x" * 300, "/".join("x" * 100), "a:b", "a ", " ", "~", "$HOME", "-rf",
    "b/c/d", "\u202eevil",
)  # fmt: skip
KINDS = ("file", "file", "file", "folder", "symlink", "hardlink", "fifo", "device")
TAR_TYPES = {
    "file": tarfile.REGTYPE,
    "folder": tarfile.DIRTYPE,
    "symlink": tarfile.SYMTYPE,
    "hardlink": tarfile.LNKTYPE,
    "fifo": tarfile.FIFOTYPE,
    "device": tarfile.CHRTYPE,
}
ZIP_TYPES = {"symlink": stat.S_IFLNK, "fifo": stat.S_IFIFO, "device": stat.S_IFCHR}
LINKS = ("/etc", "..", "../evil", "a", "/")


class Archives:
    """Attack the unpacking of data sets."""

    name = "archives"
    counts = "faults"
    share = 0.7

    def draw(self, rng: Generator) -> Case:
        """Odd members, perhaps damaged bytes."""
        members = []
        tame = rng.random() < 0.3
        for _ in range(int(rng.choice([1, 2, 3, 4, 60], p=[0.3, 0.3, 0.2, 0.18, 0.02]))):
            kind = str(rng.choice(["file", "folder"] if tame else KINDS))
            size = int(rng.choice([0, 10, 3000, 3_000_000], p=[0.3, 0.5, 0.15, 0.05]))
            members.append(
                {
                    "name": str(NAMES[int(rng.integers(0, len(NAMES)))]),
                    "kind": kind,
                    "link": str(rng.choice(LINKS)),
                    "size": size if kind == "file" else 0,
                    "mode": int(rng.choice([0o644, 0o4777, 0])),
                }
            )
        form = str(rng.choice(["zip", "zip", "tar", "tar.gz", "tar.xz"]))
        case: Case = {"form": form, "members": members, "content": None}
        if rng.random() < 0.4:
            case["content"] = damaged_bytes(rng, packed(form, members))
        return case

    def label(self, case: Case) -> str:
        """Form of the archive."""
        return f"{case['form']}{' damaged' if case['content'] is not None else ''}"

    def check(self, case: Case) -> int:
        """Unpack in a folder within a folder, and look at both."""
        content = case["content"]
        if content is None:
            content = packed(case["form"], case["members"])
        with tempfile.TemporaryDirectory() as outer:
            archive, folder = Path(outer) / "archive", Path(outer) / "outer" / "folder"
            folder.mkdir(parents=True)
            archive.write_bytes(content)
            refused = False
            try:
                unpack(archive, folder, free_bytes=FREE_BYTES, max_members=MAX_MEMBERS)
            except ArchiveError as error:
                refused = True
                if archive.name not in str(error):
                    raise Failure(f"the message does not name the archive: {error}") from error
            outside = {path for path in Path(outer).rglob("*") if folder not in path.parents}
            if outside != {archive, folder, folder.parent}:
                raise Failure(f"something was written outside: {sorted(map(str, outside))}")
            _plain(folder, len(content))
            if not refused and case["form"] != "tar":  # the others have checksums
                _as_packed(folder)
        return 1

    def smaller(self, case: Case) -> Iterator[Case]:
        """Fewer members, no damage, smaller files, plain names."""
        if case["content"] is not None:
            yield {**case, "content": None}
            return
        members = case["members"]
        for index in range(len(members) if len(members) > 1 else 0):
            yield {**case, "members": members[:index] + members[index + 1 :]}
        for index, member in enumerate(members):
            for change in ({"size": 0}, {"name": "a"}, {"kind": "file"}, {"mode": 0o644}):
                changed = {**member, **change}
                if changed != member:
                    yield {**case, "members": [*members[:index], changed, *members[index + 1 :]]}

    def close(self) -> None:
        """Nothing was started."""


def _plain(folder: Path, packed_size: int) -> None:
    """Plain files and folders without rights, within the budget."""
    total = 0
    for path in folder.rglob("*"):
        status = path.lstat()
        if not (stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)):
            raise Failure(f"{path.name!r} is no plain file")
        if stat.S_ISREG(status.st_mode):
            total += status.st_size
            if status.st_mode & 0o7111:
                raise Failure(f"{path.name!r} has the rights {status.st_mode:o}")
    if total > FREE_BYTES + MAX_RATIO * packed_size:
        raise Failure(f"{packed_size} bytes were unpacked to {total}")


def _as_packed(folder: Path) -> None:
    """Members hold zeros: anything else is damage that nobody noticed."""
    for path in folder.rglob("*"):
        if path.is_file() and any(path.read_bytes()):
            raise Failure(f"{path.name!r} was unpacked with damaged content")


def packed(form: str, members: list[Case]) -> bytes:
    """An archive of these members, as a stranger would make it."""
    buffer = io.BytesIO()
    if form == "zip":
        _write_zip(buffer, members)
        return buffer.getvalue()
    mode = {"tar": "w", "tar.gz": "w:gz", "tar.xz": "w:xz"}[form]
    with tarfile.open(fileobj=buffer, mode=mode, format=tarfile.PAX_FORMAT) as file:
        for member in members:
            info = tarfile.TarInfo(member["name"])
            info.type, info.linkname = TAR_TYPES[member["kind"]], member["link"]
            info.size, info.mode = member["size"], member["mode"]
            file.addfile(info, io.BytesIO(bytes(member["size"])))
    return buffer.getvalue()


def _write_zip(buffer: io.BytesIO, members: list[Case]) -> None:
    with warnings.catch_warnings(), zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        warnings.simplefilter("ignore")  # names that occur twice
        for member in members:
            info = zipfile.ZipInfo("x")
            # Set afterwards: ZipInfo tidies names, a stranger does not.
            name = member["name"] + ("/" if member["kind"] == "folder" else "")
            info.filename = name.encode("utf-8", "replace").decode()
            kind = ZIP_TYPES.get(member["kind"], stat.S_IFREG)
            info.external_attr = (kind | member["mode"]) << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            file.writestr(info, bytes(member["size"]))
