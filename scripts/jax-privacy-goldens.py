"""Write sensitivities, errors and noise of correlated strategies as jax_privacy computes them.

    pip install jax_privacy==2.0.0 jax==0.10.2
    python scripts/jax-privacy-goldens.py > internal/privacy/correlated/testdata/jax_privacy.json

"stated" has numbers that its tests of version 2.0.0 state, with file and test; all else is what its functions return.
Errors and losses there are squares; here they are roots.
"""

import json
import math
from importlib.metadata import version

import jax
import numpy as np

jax.config.update("jax_enable_x64", True)

from jax_privacy.matrix_factorization import buffered_toeplitz, sensitivity, toeplitz  # noqa: E402

TESTS = "tests/matrix_factorization/"

STATED = [
    # file and test, column, steps, times, apart, squared sensitivity, squared mean error (0: not stated)
    *[[TESTS + "toeplitz_test.py test_sensitivity_squared_identity", [1], n, k, 1, min(n, k), 0]
      for n in (1, 2, 3, 5, 11) for k in (1, 4, 11)],
    *[[TESTS + "sensitivity_test.py FixedEpochSensitivityTest.test_identity", [1], 16, k, 16 // k, k, 0]
      for k in (1, 2, 4, 8, 16)],
    [TESTS + "sensitivity_test.py FixedEpochSensitivityTest.test_one_iter", [5], 1, 1, 1, 25, 0],
    [TESTS + "banded_test.py test_implicit_error", [1], 9, 1, 1, 1, 5],
]

LARGEST = [
    # sensitivity_test.py: values, times (0: any), apart, and the largest sum of values that are at least 0
    ["test_zero_separation_selects_all", [1.0, 0.5, 0.5, 0.5, 0.1], 0, 1, 2.6],
    ["test_no_separation", [1.0, 1.0, 0.0, 1.0, 0.0, 1.0], 0, 1, 4],
    ["test_multiple_solutions", [1.0, 1.0, 1.0, 1.0], 2, 2, 2],
    ["test_length_one", [2.0], 4, 3, 2],
    ["test_finds_single_participaton_optimal", [0.0, 0.0, 1.0, 0.0, 0.0], 1, 2, 1],
    ["test_optimal_has_fewer_than_max_participations", [0.0, 1.0, 0.0], 2, 2, 1],
]

COLUMNS = {
    "root": lambda n: [math.comb(2 * k, k) / 4**k for k in range(n)],
    "line": lambda n: [float(v) for v in np.linspace(1, 0.1, num=n)],
    "two": lambda n: [1.0, 0.5][:n],
    "flat": lambda n: [1.0] * n,
    "slow": lambda n: [1 / (1 + k) ** 0.3 for k in range(n)],
}

SIGNED = [
    # columns of toeplitz_test.py
    [1, 0.0, -0.2], [1, 0.7, 2.0], [1.0, 0.0, 0.0, -0.5, 0.0, 0.3], [5.0, -0.7, -2.0, -1.0, -0.3], [0.1, 0.5, 1.0],
]

BUFFERS = [
    # decays, weights: those of buffered_toeplitz_test.py whose weights are at least 0 and add up to at most 1
    [[0.99], [0.1]],
    [[0.9, 0.5, 0.001], [0.1, 0.2, 0.5]],
    [[0.001], [0.5]],
    [[1.0], [0.001]],
    [[1.0, 1 - 1e-9, 0.99, 0.1], [1e-6, 1e-5, 1e-3, 1e-2]],
    [[0.9, 0.9 - 1e-6], [0.1, 0.1]],
    [[1 - 1e-9, 0.8], [0.1, 0.1]],
    [[0.9999528892, 0.9857068667], [0.0122853238, 0.1878393665]],  # test_optimize_single_participation_golden
]


def number(x):
    return float(f"{float(x):.13g}")


def errors(coef, n):
    e = toeplitz.per_query_error(strategy_coef=jax.numpy.array(coef), n=n)
    return [number(math.sqrt(e.mean())), number(math.sqrt(e[-1]))]


def columns():
    for name, column in COLUMNS.items():
        for n in (1, 2, 7, 30, 365):
            c = column(n)
            for times, apart in ((1, 1), (2, 1), (3, 4), (52, 7), (n, 1)):
                s = toeplitz.minsep_sensitivity_squared(jax.numpy.array(c), apart, times, n)
                yield [c if len(c) < 3 else name, n, times, apart, number(math.sqrt(s))] + errors(c, n)


def signed():
    for c in SIGNED:
        for n in (len(c), 12):
            for times, apart in ((1, 1), (2, 3), (3, 2), (12, 1)):
                dense = toeplitz.materialize_lower_triangular(jax.numpy.array(c, dtype=float), n)
                bound = sensitivity.get_min_sep_sensitivity_upper_bound(dense, apart, times)
                yield [c, n, times, apart, number(bound)]


def buffers():
    for decays, weights in BUFFERS:
        for n in (1, 5, 40, 365):
            blt = buffered_toeplitz.BufferedToeplitz.build(buf_decay=decays, output_scale=weights)
            s = toeplitz.minsep_sensitivity_squared(blt.toeplitz_coefs(n), 7, 52, n)
            z = np.cos(np.arange(n))
            y = blt.inverse_as_streaming_matrix() @ jax.numpy.array(z)
            yield [decays, weights, n, number(math.sqrt(s))] + errors(blt.toeplitz_coefs(n), n) + [
                [number(v) for v in y[-3:]]]


def fitted():
    # With one buffer more than is of use its search ends in an error.
    for n, times, apart, most in ((64, 1, 1, 2), (365, 1, 1, 3), (365, 52, 7, 1), (365, 3, 30, 2)):
        for m in range(1, most + 1):
            blt = buffered_toeplitz.optimize(n=n, min_sep=apart, max_participations=times, error="mean",
                                             min_buffers=m, max_buffers=m)
            c = blt.toeplitz_coefs(n)
            s = toeplitz.minsep_sensitivity_squared(c, apart, times, n)
            yield [n, times, apart, m, number(math.sqrt(s) * errors(c, n)[0])]


def toeplitz_optimal():
    for n in (16, 64, 200):
        c = toeplitz.optimize_banded_toeplitz(n, n, max_optimizer_steps=2000)
        yield [n, number(math.sqrt(toeplitz.loss(strategy_coef=c, n=n)))]


def banded_optimal():
    # Its search is for a unit that takes part once. The best column of that is also the best one for units in steps
    # that are at least so many bands apart, but for columns that the last step cuts.
    for n in (64, 365, 1024):
        for bands in (4, 16, 64):
            c = toeplitz.optimize_banded_toeplitz(n, bands)
            for times, apart in ((1, 1), (4, max(bands, n // 4)), (n, bands)):
                s = toeplitz.minsep_sensitivity_squared(c, apart, times, n)
                yield [n, bands, times, apart, number(math.sqrt(s) * errors(c, n)[0])]


if __name__ == "__main__":
    print('{"jax_privacy": "%s", "jax": "%s"' % (version("jax_privacy"), version("jax")))
    for name, rows in (("stated", STATED), ("largest", LARGEST), ("columns", columns()), ("signed", signed()),
                       ("buffers", buffers()), ("fitted", fitted()), ("optimal", toeplitz_optimal()),
                       ("banded", banded_optimal())):
        print(',"%s": [' % name)
        print(",\n".join(json.dumps(row) for row in rows))
        print("]")
    print("}")
