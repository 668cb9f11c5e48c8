"""Where the files of a data set are on disk and on the web, and the search for them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

DOWNLOADED = "downloaded"  # folder of a download beside files that were already there


@dataclass(frozen=True, slots=True)
class Layout:
    """One layout on disk: patterns that must all match something in one folder.

    The first pattern identifies the set: a folder that has it but lacks others is a broken copy,
    which is reported; a folder without it is no copy at all.
    """

    needs: tuple[str, ...]
    folders: tuple[str, ...] = ("",)  # below the folder of the set

    def lacks(self, folder: Path) -> list[str]:
        """Patterns without a match in ``folder``."""
        return [pattern for pattern in self.needs if not any(folder.glob(pattern))]


@dataclass(frozen=True, slots=True)
class Remote:
    """A file on the web.

    ``checksum`` is ``"algorithm:hexadecimal"``, or None where no checksum is known that two
    independent sources agree on or that was computed from the file itself. A transfer that is, or
    says it will be, larger than :attr:`limit` is refused.
    """

    url: str
    file: str
    checksum: str | None = None
    size: int | None = None  # bytes, approximate
    unpack: bool = True
    most: int | None = None  # bytes that it cannot have, where no size is known

    @property
    def limit(self) -> int | None:
        """Bytes at which it is another file; None where nothing is known."""
        return self.most if self.size is None else self.size + self.size // 20 + 2**20


@dataclass(frozen=True, slots=True)
class Form:
    """What a fetcher asks for: layouts that serve it, the files that make it, how to get them."""

    layouts: tuple[Layout, ...]
    expected: tuple[str, ...]  # layout for people, relative to the folder of the set
    remotes: tuple[Remote, ...] = ()
    hint: str = ""


@dataclass(frozen=True, slots=True)
class DatasetInfo:
    """One data set: names, home page and forms, the default form first."""

    name: str
    title: str
    page: str
    forms: Mapping[str, Form]
    aliases: tuple[str, ...] = ()

    def bases(self, home: Path) -> tuple[Path, ...]:
        """Folders in which the set is looked for: ``home`` may be the set's own folder."""
        named = [home / name for name in (self.name, *self.aliases)]
        return (*named, home / self.name / DOWNLOADED, home)


def locate(info: DatasetInfo, form: str, home: Path) -> Path | None:
    """Folder that holds a form of a set, or None.

    Raises
    ------
    FileNotFoundError
        If only a broken copy is there.
    """
    broken: list[tuple[Path, list[str]]] = []
    for layout, folder in _candidates(info.forms[form].layouts, info.bases(home)):
        lacking = layout.lacks(folder)
        if not lacking:
            return folder
        if layout.needs[0] not in lacking:
            broken.append((folder, lacking))
    if broken:
        folder, lacking = broken[0]
        raise FileNotFoundError(
            f"{info.title} in {folder} is incomplete: {', '.join(lacking)} is missing. Complete "
            f"the folder, or move it away.\n{instructions(info, form, home)}"
        )
    return None


def _candidates(
    layouts: tuple[Layout, ...], bases: tuple[Path, ...]
) -> Iterator[tuple[Layout, Path]]:
    for layout in layouts:
        for base in bases:
            for below in layout.folders:
                folder = base / below
                if folder.is_dir():
                    yield layout, folder


def instructions(info: DatasetInfo, form: str, home: Path) -> str:
    """How to get one form of a set by hand: the page, the layout, the place."""
    wanted = info.forms[form]
    lines = [f"To get {info.title} ({form}) by hand, see {info.page}"]
    lines += [f"  download: {remote.url}" for remote in wanted.remotes]
    lines += [f"  expected: {home / info.name / path}" for path in wanted.expected]
    if wanted.hint:
        lines.append(f"  {wanted.hint}")
    return "\n".join(lines)
