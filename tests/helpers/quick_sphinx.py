"""``python quick_sphinx.py ...`` is ``python -m sphinx ...`` in two thirds of the time.

numpydoc compiles its template for every docstring anew, and looking for garbage among millions of
nodes of documents that all stay costs as much again.
"""

import gc
import sys


def once(compile_really):
    """The code of a template, compiled once for the same text."""
    known = {}

    def compile_once(self, source, *settings, **options):
        if not isinstance(source, str):
            return compile_really(self, source, *settings, **options)
        key = type(self), source, settings, tuple(options.items())
        if key not in known:
            known[key] = compile_really(self, source, *settings, **options)
        return known[key]

    return compile_once


if __name__ == "__main__":
    import jinja2
    from sphinx.cmd.build import main

    gc.set_threshold(500_000, 50, 50)
    jinja2.Environment.compile = once(jinja2.Environment.compile)
    sys.exit(main(sys.argv[1:]))
