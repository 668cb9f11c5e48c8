"""A campaign whose third case ends the process without a word."""

import os


class Crashing:
    name = "crashing"
    counts = "faults"
    share = 1.0

    def draw(self, rng):
        return {"number": int(rng.integers(0, 1000))}

    def label(self, case):
        return "number"

    def __init__(self):
        self.seen = 0

    def check(self, case):
        self.seen += 1
        if self.seen == 3:
            os._exit(7)
        return 1

    def smaller(self, case):
        return iter(())

    def close(self):
        pass
