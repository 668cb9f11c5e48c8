"""Bytes of text files, plain or compressed or from standard input, and how they are encoded."""

from __future__ import annotations

import codecs
import gzip
import io
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

STANDARD_INPUT = "-"
BLOCK = 1 << 20  # bytes that are looked at in one go
MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
# Tried in turn where a text is not UTF-8: the second knows every byte.
OLDER = ("cp1252", "latin-1")


@dataclass(frozen=True, slots=True)
class TextSource:
    """A text that can be read from its start as often as needed."""

    name: str  # for messages
    open: Callable[[], IO[bytes]]

    def text(self, encoding: str) -> io.TextIOWrapper:
        """The characters, lines ending as they do."""
        return io.TextIOWrapper(self.open(), encoding=encoding, newline="")


def source_of(path: Path) -> TextSource:
    """The text of a file; ``-`` is standard input, ``.gz`` is decompressed.

    Parameters
    ----------
    path : Path
    """
    if str(path) == STANDARD_INPUT:
        content = sys.stdin.buffer.read()
        return TextSource("standard input", lambda: io.BytesIO(content))
    if path.suffix.lower() == ".gz":
        return TextSource(str(path), lambda: cast(IO[bytes], gzip.open(path)))
    return TextSource(str(path), lambda: path.open("rb"))


def encoding_of(source: TextSource, told: str | None) -> tuple[str, str]:
    """The encoding of a text, and a sentence where that was a guess.

    Parameters
    ----------
    source : TextSource
    told : str or None
        What a user says that it is.
    """
    if told is not None:
        try:
            name = codecs.lookup(told).name
        except LookupError:
            raise ValueError(
                f"There is no encoding {told!r}: write utf-8, cp1252 or latin-1."
            ) from None
        _refuse_zeros(source, name, " Say another --encoding, or leave it out.")
        return ("utf-8-sig" if name == "utf-8" else name), ""
    with source.open() as file:
        head = file.read(4)
    marked = next((name for mark, name in MARKS.items() if head.startswith(mark)), None)
    if marked is not None:
        _refuse_zeros(source, marked)
        return marked, ""
    if _reads_as(source, "utf-8"):
        return "utf-8", ""
    found = next(name for name in OLDER if _reads_as(source, name))
    return found, (
        f"{source.name}: the text is not UTF-8 and was read as {found}; if it is something else, "
        "say --encoding."
    )


def _refuse_zeros(source: TextSource, encoding: str, remedy: str = "") -> None:
    """Characters of zero are no text, and readers of tables lose what follows them."""
    with source.text(encoding) as file:
        while block := file.read(BLOCK):
            if "\0" in block:
                raise ValueError(
                    f"{source.name} is no text in {encoding}: it holds characters of zero.{remedy}"
                )


def _reads_as(source: TextSource, encoding: str) -> bool:
    decoder = codecs.getincrementaldecoder(encoding)()
    with source.open() as file:
        try:
            while block := file.read(BLOCK):
                if b"\0" in block:
                    raise ValueError(f"{source.name} is no text: it holds bytes of zero.")
                decoder.decode(block)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            return False
    return True
