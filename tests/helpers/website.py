"""A web server on this machine that behaves well, badly, or worse."""

import email.utils
import gzip
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Website:
    """Serves ``files`` and records requests; failures are switched on by its attributes."""

    def __init__(self):
        self.files = {}
        self.requests = []  # (path, range asked for or None, status)
        self.ranges = True  # whether the server knows range requests
        self.tags = True  # whether it sends ETag
        self.dates = False  # whether it sends Last-Modified
        self.drops = []  # bytes after which the next responses break off; None is all of them
        self.busy = 0  # so many responses are 503
        self.skew = 0  # a range starts so many bytes too early
        self.lengths = True  # whether it says how much it will send
        self.gzips = False  # whether it compresses, asked or not
        self.parts = None  # a range (start, end) that it sends to those who ask for all
        self.never = False  # whether no range can be satisfied, not even all
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                site._answer(self)

            def log_message(self, *arguments):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *exception):
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def url(self, name):
        return f"http://127.0.0.1:{self._server.server_port}/{name}"

    def serve(self, name, content):
        self.files[name] = content
        return self.url(name)

    def _answer(self, handler):
        name, asked = handler.path.lstrip("/"), handler.headers.get("Range")
        status, headers, body = self._response(name, asked, handler.headers.get("If-Range"))
        self.requests.append((name, asked, status))
        handler.send_response(status)
        for field, value in headers.items():
            if field == "Content-Length" and not self.lengths:
                continue
            handler.send_header(field, value)
        handler.end_headers()
        cut = self.drops.pop(0) if self.drops else None
        handler.wfile.write(body if cut is None else body[:cut])

    def _response(self, name, asked, condition):
        if self.busy:
            self.busy -= 1
            return 503, {"Content-Length": "0"}, b""
        if name not in self.files:
            return 404, {"Content-Length": "0"}, b""
        content = self.files[name]
        if self.never:
            return 416, {"Content-Range": f"bytes */{len(content)}", "Content-Length": "0"}, b""
        if self.gzips:
            small = gzip.compress(content)
            return 200, {"Content-Encoding": "gzip", "Content-Length": str(len(small))}, small
        if self.parts and not asked:
            start, end = self.parts
            told = f"bytes {start}-{end - 1}/{len(content)}"
            piece = content[start:end]
            return 206, {"Content-Range": told, "Content-Length": str(len(piece))}, piece
        versions = {}
        if self.tags:
            versions["ETag"] = f'"{hash(content)}"'
        if self.dates:
            versions["Last-Modified"] = email.utils.formatdate(1e9 + len(content), usegmt=True)
        if asked and self.ranges and condition in (None, *versions.values()):
            start = int(asked.removeprefix("bytes=").removesuffix("-")) - self.skew
            if start >= len(content):
                return 416, {"Content-Range": f"bytes */{len(content)}"}, b""
            told = f"bytes {start}-{len(content) - 1}/{len(content)}"
            rest = content[start:]
            return 206, {**versions, "Content-Range": told, "Content-Length": str(len(rest))}, rest
        return 200, {**versions, "Content-Length": str(len(content))}, content
