"""Writes reference.json: delta of small compositions in 40 digits, by mpmath.

delta(eps) of two releases is an integral of one release's delta over the first
release's outcome; of one release it is a difference of tails. Nothing here uses
losses on a mesh. Run as: python3 reference.py > reference.json
"""

import json

from mpmath import asinh, erfc, exp, expm1, inf, log, log1p, mp, mpf, quad, sinh, sqrt

mp.dps = 40


def tail(z):
    return erfc(z / sqrt(2)) / 2


def gauss(mu, eps):
    return tail(eps / mu - mu / 2) - exp(eps) * tail(eps / mu + mu / 2)


def hockey(mu, eps):
    """Of one Gaussian at any eps, negative too: 1 - e^eps + e^eps delta(-eps)."""
    if eps >= 0:
        return gauss(mu, eps)
    return 1 - exp(eps) + exp(eps) * gauss(mu, -eps)


def remove(q, mu, eps):
    """(1-q)Q + qP against Q."""
    floor = log1p(-q)
    if eps <= floor:
        return 1 - exp(eps)
    return q * hockey(mu, log1p(expm1(eps) / q))


def add(q, mu, eps):
    """Q against (1-q)Q + qP: exchanged."""
    return 1 - exp(eps) + exp(eps) * remove(q, mu, -eps)


def density(z, mean=0):
    return exp(-((z - mean) ** 2) / 2) / sqrt(2 * mp.pi)


def twice(q, mu, eps, direction):
    """Two releases of a Poisson-sampled Gaussian."""

    def part(z):
        p, r = (1 - q) * density(z) + q * density(z, mu), density(z)
        l = log(p / r)
        if direction == "remove":
            return p * remove(q, mu, eps - l)
        return r * add(q, mu, eps + l)

    return quad(part, [-14, -6, -3, -1, 0, mpf(1) / 2, 1, 2, 3, mu + 3, mu + 6, mu + 14])


def replaced(q, s, eps):
    """(1-q)N(0,s²)+qN(1,s²) against (1-q)N(0,s²)+qN(-1,s²), eps >= 0."""
    k = (1 - q) / q * exp(1 / (2 * s * s))
    z = s * s * (eps / 2 + asinh(k * sinh(eps / 2)))
    p = (1 - q) * tail(z / s) + q * tail((z - 1) / s)
    r = (1 - q) * tail(z / s) + q * tail((z + 1) / s)
    return p - exp(eps) * r


def discrete_gauss(sigma, d, n, eps):
    """n discrete Gaussians moved by d: the loss is linear in the sum of outcomes."""
    w = [exp(-mpf(k * k) / (2 * sigma * sigma)) for k in range(-60, 61)]
    total = sum(w)
    p = [mpf(1)]
    for _ in range(n):
        out = [mpf(0)] * (len(p) + len(w) - 1)
        for i, a in enumerate(p):
            for j, b in enumerate(w):
                out[i + j] += a * b / total
        p = out
    # outcome sum k under P is centred at n d: loss (2 k - n d) d / (2 sigma²)
    s = mpf(0)
    for i, a in enumerate(p):
        k = i - 60 * n + n * d
        loss = (2 * mpf(k) - n * d) * d / (2 * sigma * sigma)
        if loss > eps:
            s += a * (1 - exp(eps - loss))
    return s


def laplace(b, n, eps):
    """n <= 2 Laplace releases of sensitivity 1."""
    e = 1 / b

    def one(x):
        if x >= e:
            return mpf(0)
        if x <= -e:
            return 1 - exp(x)
        return 1 - exp((x - e) / 2)

    if n == 1:
        return one(eps)
    s = one(eps - e) / 2 + exp(-e) / 2 * one(eps + e)
    breaks = sorted({-e, e, *[x for x in (eps - e, eps + e) if -e < x < e]})
    return s + quad(lambda l: exp((l - e) / 2) / 4 * one(eps - l), breaks)


rows = []


def row(kind, value, **params):
    if kind == "sampled" and abs(value) < mpf("1e-33"):  # of differences of one: nothing
        value = mpf(0)
    rows.append({"kind": kind, **params, "delta": mp.nstr(value, 30)})


for mu in ("0.01", "0.3", "1", "5", "30", "400"):
    for t in ("-3", "0", "2", "8", "20"):
        eps = mpf(mu) ** 2 / 2 + mpf(t) * mpf(mu)
        if eps >= 0:
            eps = mpf(float(eps))
            row("gaussian", gauss(mpf(float(mu)), eps), mu=float(mu), eps=float(eps))
for q, sigma in (("0.01", "1"), ("0.3", "0.7"), ("1e-5", "0.5"), ("0.9", "3")):
    for eps in ("0", "0.01", "0.5", "2", "6"):
        for direction in ("remove", "add"):
            m = 1 / mpf(float(sigma))
            x = mpf(float(q))
            v = remove(x, m, mpf(float(eps))) if direction == "remove" else add(x, m, mpf(float(eps)))
            row("sampled", v, q=float(q), sigma=float(sigma), n=1, eps=float(eps), direction=direction)
            if eps != "6" and q != "1e-5":
                row("sampled", twice(x, m, mpf(float(eps)), direction), q=float(q), sigma=float(sigma), n=2, eps=float(eps), direction=direction)
for q, s in (("0.05", "1"), ("0.5", "2"), ("0.001", "0.4")):
    for eps in ("0", "0.05", "1", "4"):
        row("replaced", replaced(mpf(float(q)), mpf(float(s)), mpf(float(eps))), q=float(q), sigma=float(s), eps=float(eps))
for sigma, d, n in (("1", 1, 1), ("1.5", 2, 3), ("3", 1, 4)):
    for eps in ("0", "0.3", "1", "3"):
        row("discrete", discrete_gauss(mpf(float(sigma)), d, n, mpf(float(eps))), sigma=float(sigma), d=d, n=n, eps=float(eps))
for b in ("0.5", "2", "30"):
    for n in (1, 2):
        for f in ("0", "0.1", "0.5", "0.9", "0.99"):
            eps = mpf(float(f)) * n / mpf(float(b))
            eps = mpf(float(eps))
            row("laplace", laplace(mpf(float(b)), n, eps), sigma=float(b), n=n, eps=float(eps))

print("[\n" + ",\n".join(json.dumps(r) for r in rows) + "\n]")
