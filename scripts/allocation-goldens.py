#!/usr/bin/env python3
"""Writes brackets of random allocation by PLD_accounting 2.0, for
internal/privacy/accountant/pld/testdata/allocation.csv.

    pip install PLD_accounting==2.0 && python3 scripts/allocation-goldens.py 500 allocation.csv

Settings are drawn from a fixed seed. A line is appended when its setting is done, so that a stopped run goes on where
it was. A setting that takes more than a minute is written with the error that says so.
"""

import csv
import os
import random
import signal
import sys

from PLD_accounting import gaussian_allocation_epsilon_range

LIMIT = 60  # seconds


def settings(count):
    draw = random.Random(20)
    for _ in range(count):
        sigma = round(0.5 * 10 ** draw.uniform(0, 1), 3)
        steps = round(2 * 10 ** draw.uniform(0, 3.3))
        selected = draw.choice([1, 1, 1, min(steps // 2, draw.randint(1, 8))]) or 1
        epochs = draw.choice([1, 1, 2, 5, 10, 30])
        delta = 10.0 ** -draw.randint(3, 8)
        yield sigma, steps, selected, epochs, delta


def late(*_):
    raise TimeoutError("more than a minute")


def main():
    count, path = int(sys.argv[1]), sys.argv[2]
    done = 0
    if os.path.exists(path):
        with open(path) as f:
            done = max(0, len(f.readlines()) - 1)
    signal.signal(signal.SIGALRM, late)
    with open(path, "a", newline="") as f:
        out = csv.writer(f, lineterminator="\n")
        if done == 0 and f.tell() == 0:
            out.writerow(["sigma", "steps", "times", "epochs", "delta", "lower", "upper", "error"])
        for i, (sigma, steps, selected, epochs, delta) in enumerate(settings(count)):
            if i < done:
                continue
            row = [sigma, steps, selected, epochs, delta]
            signal.alarm(LIMIT)
            try:
                upper, lower = gaussian_allocation_epsilon_range(
                    delta=delta, sigma=sigma, num_steps=steps, num_selected=selected, num_epochs=epochs)
                row += [repr(float(lower)), repr(float(upper)), ""]
            except Exception as e:  # what it refuses is part of the answer
                row += ["", "", str(e).splitlines()[0] if str(e) else type(e).__name__]
            signal.alarm(0)
            out.writerow(row)
            f.flush()


if __name__ == "__main__":
    main()
