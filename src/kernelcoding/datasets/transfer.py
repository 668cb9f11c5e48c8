"""Downloads that can be interrupted: a downloader for pooch that continues where it stopped."""

from __future__ import annotations

import json
import os
import re
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from .archives import ArchiveError

if TYPE_CHECKING:
    from requests import Response
    from tqdm import tqdm

_CHUNK = 1 << 14  # what a broken connection may lose
_TIMEOUT = 30.0  # seconds without a byte


@dataclass
class ResumingDownloader:
    """Downloader in the sense of pooch that keeps what has come in ``part``.

    A transfer that breaks is continued by a range request, in this call (``n_retries`` times
    without progress) or in a later one. The rest is asked for on condition that the file on the
    server is still the same one; else, or if the server knows no ranges, it starts anew. Nothing is
    kept of a file that has more than ``limit`` bytes, or that is sent in an encoding.
    """

    part: Path
    n_retries: int = 3
    delay: float = 1.0
    limit: int | None = None
    _size: int | None = field(default=None, init=False)  # of the whole file, once known

    def __call__(self, url: str, output_file: str, pooch: object) -> None:
        """Transfer ``url`` to ``output_file``, all of it or an exception."""
        import requests

        failures = 0
        while not self._complete():
            before = self._held()
            try:
                self._transfer(url)
            except ArchiveError:
                self.part.unlink(missing_ok=True)
                raise
            except requests.exceptions.RequestException as error:
                if error.response is not None and error.response.status_code < 500:
                    raise  # refused: asking again will not change that
                failures = 0 if self._held() > before else failures + 1
                if failures > self.n_retries:
                    raise
                time.sleep(self.delay)
        os.replace(self.part, output_file)
        self._notes.unlink(missing_ok=True)

    @property
    def _notes(self) -> Path:
        return self.part.with_name(self.part.name + ".json")

    def _held(self) -> int:
        return self.part.stat().st_size if self.part.exists() else 0

    def _complete(self) -> bool:
        return self._size is not None and self._held() == self._size

    def _transfer(self, url: str) -> None:
        import requests

        held, headers = self._held(), {"Accept-Encoding": "identity"}
        version = self._version_held(url)
        if held and version:
            headers |= {"Range": f"bytes={held}-", "If-Range": version}
        with requests.get(url, headers=headers, stream=True, timeout=_TIMEOUT) as response:
            start, size = _range_of(response)
            asked = "Range" in headers
            if asked and response.status_code == requests.codes.requested_range_not_satisfiable:
                self._settle(size)
                return
            response.raise_for_status()
            _check_answer(response, asked)
            self._check_size(url, size)
            if start not in (0, held):
                self.part.unlink()
                raise requests.exceptions.ContentDecodingError(f"{url} sent another range.")
            if start == 0:
                self._note_version(url, response)
            self._size = size
            self._write(url, response, start)
        if self._size is None:  # no length was announced: the end of the stream is the end
            self._size = self._held()
        if self._held() != self._size:
            message = f"{url} ended at {self._held()} of {self._size} bytes."
            raise requests.exceptions.ConnectionError(message)

    def _check_size(self, url: str, size: int | None) -> None:
        if size is None or self.limit is None or size <= self.limit:
            return
        raise ArchiveError(
            f"{url} sends {size:,} bytes or more, and the known file has less than "
            f"{self.limit:,}: refused. Nothing was kept."
        )

    def _write(self, url: str, response: Response, start: int) -> None:
        with (
            open(self.part, "r+b" if start else "wb") as file,
            _progress_bar(self.part.stem, start, self._size) as bar,
        ):
            file.seek(start)
            for chunk in response.iter_content(_CHUNK):
                # Whatever was announced: what comes is counted.
                self._check_size(url, file.tell() + len(chunk))
                file.write(chunk)
                bar.update(len(chunk))

    def _settle(self, size: int | None) -> None:
        """Nothing is left to send: either all of it is here, or what is here is another file."""
        self._size = size
        if not self._complete():
            self._size = None
            self.part.unlink(missing_ok=True)

    def _version_held(self, url: str) -> str | None:
        try:
            notes = json.loads(self._notes.read_text())
        except (OSError, ValueError):
            return None
        if not isinstance(notes, dict) or notes.get("url") != url:
            return None
        version = notes.get("version")
        return version if isinstance(version, str) else None

    def _note_version(self, url: str, response: Response) -> None:
        tag = response.headers.get("ETag", "")
        # A weak tag does not promise equal bytes, and If-Range does not accept it.
        version = tag if tag.startswith('"') else response.headers.get("Last-Modified")
        self._notes.write_text(json.dumps({"url": url, "version": version}))


def _check_answer(response: Response, asked: bool) -> None:
    """Refuse what was not asked for: a part of the file, or another form of it."""
    import requests

    if response.status_code == requests.codes.partial_content and not asked:
        raise requests.exceptions.ContentDecodingError(
            f"{response.url} sent a part of the file (206), the whole of which was asked for",
            response=response,
        )
    encoding = response.headers.get("Content-Encoding", "identity").strip().lower()
    if encoding not in ("", "identity"):
        # It would be decoded on the way, to many times the bytes that were announced.
        raise ArchiveError(
            f"{response.url} sends the file in the encoding {encoding[:40]!r}, and was asked for "
            "the file as it is: refused."
        )


def _range_of(response: Response) -> tuple[int, int | None]:
    """First byte that the response sends, and the size of the whole file if it is known."""
    told = re.fullmatch(
        r"bytes (?:([0-9]{1,18})-[0-9]+|\*)/([0-9]{1,18}|\*)",
        response.headers.get("Content-Range", ""),
    )
    if told:
        size = None if told[2] == "*" else int(told[2])
        return int(told[1] or 0), size
    length = response.headers.get("Content-Length", "")
    return 0, int(length) if re.fullmatch(r"[0-9]{1,18}", length) else None


def _progress_bar(name: str, start: int, size: int | None) -> tqdm:
    from tqdm import tqdm

    # disable=None: silent where the output is not a terminal
    return tqdm(
        desc=name, initial=start, total=size, unit="B", unit_scale=True, leave=False, disable=None
    )
