"""Reference values in 32-digit arithmetic for compose_reference_test.go.

"cgf" rows are K(w) = log E_P[exp(wL)] of single releases at complex w, by
Gauss-Legendre quadrature of the densities or by summing over the outcomes.
"delta" rows are hockey sticks of compositions, by the integral

    delta(eps) = 1/pi Re int_0 exp(sum n K(c+iy) - (c+iy) eps) / ((c+iy)(c+1+iy)) dy

on a line c and with a rule (Gauss-Legendre over panels) that the Go code does not use.
Run: python3 compose.py > compose.json (needs mpmath)."""

import json
from mpmath import mp, mpf, mpc, cos, exp, log, sqrt, pi, re, linspace

mp.dps = 32


def phi(x):
    return exp(-x * x / 2) / sqrt(2 * pi)


def densities(law):
    """P and Q of a release with a density, and panels to integrate over."""
    kind, m, q = law["kind"], mpf(law["move"]), mpf(law["rate"])
    if kind == "gaussian":
        if law.get("replace"):
            h = m / 2
            P = lambda x: (1 - q) * phi(x) + q * phi(x - h)
            Q = lambda x: (1 - q) * phi(x) + q * phi(x + h)
        else:
            P, Q = (lambda x: (1 - q) * phi(x) + q * phi(x - m)), phi
        edges = [mpf(k) for k in range(-16 - int(11 * m), 17 + int(11 * m))]
    else:
        lap = lambda x: exp(-abs(x)) / 2
        P, Q = (lambda x: (1 - q) * lap(x) + q * lap(x - m)), lap
        edges = linspace(-60, 0, 13) + linspace(0, m, 25)[1:] + linspace(m, m + 60, 13)[1:]
    if law.get("add"):
        P, Q = Q, P
    return P, Q, edges


def atoms(law):
    """Losses and their probabilities under P."""
    kind = law["kind"]
    if kind == "response":
        e, k = mpf(law["eps"]), law["categories"]
        z = exp(e) + k - 1
        return [(e, exp(e) / z), (-e, 1 / z), (mpf(0), (k - 2) / z)]
    s, n = mpf(law["scale"]), int(law["move"])
    q = mpf(law.get("rate", 1))
    if kind == "discrete gaussian":
        w = lambda x: exp(-mpf(x) ** 2 / (2 * s * s))
        reach = int(14 * s) + 11 * n + 20
    else:
        w = lambda x: exp(-abs(mpf(x)) / s)
        reach = int(120 * s) + n + 40
    z = sum(w(x) for x in range(-reach, reach + 1))
    out = []
    for x in range(-reach, reach + 1):
        base, moved = w(x) / z, w(x - n) / z
        p, r = (1 - q) * base + q * moved, base
        if law.get("add"):
            p, r = r, p
        out.append((log(p / r), p))
    return out


def K(law):
    if law["kind"] in ("gaussian", "laplace"):
        if law["kind"] == "gaussian" and law["rate"] == 1:
            m = mpf(law["move"])
            return lambda w: m * m * w * (w + 1) / 2
        P, Q, edges = densities(law)
        nodes = []
        # Gauss-Legendre on each panel, nodes shared by every w
        xs = leg(24)
        for a, b in zip(edges, edges[1:]):
            for t, g in xs:
                x = (a + b) / 2 + t * (b - a) / 2
                p, r = P(x), Q(x)
                nodes.append((g * (b - a) / 2 * p, log(p / r)))
        return lambda w: log(sum(p * exp(w * l) for p, l in nodes))
    table = [(l, p) for l, p in atoms(law) if p > 0]
    return lambda w: log(sum(p * exp(w * l) for l, p in table))


_leg = {}


def leg(n):
    """Nodes and weights of Gauss and Legendre, by Newton's method."""
    if n not in _leg:
        _leg[n] = []
        for k in range(1, n + 1):
            x = cos(pi * (k - mpf(1) / 4) / (n + mpf(1) / 2))
            for _ in range(9):
                a, b = mpf(1), x
                for j in range(2, n + 1):
                    a, b = b, ((2 * j - 1) * x * b - (j - 1) * a) / j
                d = n * (x * b - a) / (x * x - 1)
                x -= b / d
            _leg[n].append((x, 2 / ((1 - x * x) * d * d)))
    return _leg[n]


def delta(parts, eps):
    ks = [(n, K(law)) for law, n in parts]
    size = lambda c: sum(n * k(c) for n, k in ks).real - c * eps - log(c)
    # Left of the saddle point: another line than the one that the Go code takes.
    c = mpf(0.7) * min((mpf(j) / 8 for j in range(1, 100)), key=size)
    f = lambda y: re(exp(sum(n * k(mpc(c, y)) for n, k in ks) - mpc(c, y) * eps) / (mpc(c, y) * mpc(c + 1, y)))
    total, a, panel = mpf(0), mpf(0), mpf(1) / 2
    while True:
        part = sum(g * f(a + panel / 2 + t * panel / 2) for t, g in leg(20)) * panel / 2
        total, a = total + part, a + panel
        if a > 4 and abs(part) < abs(total) * mpf(10) ** -22:
            return total / pi
        panel = mpf(1) if a > 4 else panel


G = lambda move, rate, **k: dict(kind="gaussian", move=move, rate=rate, **k)
L = lambda move, rate, **k: dict(kind="laplace", move=move, rate=rate, **k)
R = lambda eps, categories: dict(kind="response", eps=eps, categories=categories)
DL = lambda scale, move, rate=1, **k: dict(kind="discrete laplace", scale=scale, move=move, rate=rate, **k)
DG = lambda scale, move: dict(kind="discrete gaussian", scale=scale, move=move, rate=1)

singles = [
    G(0.9, 0.004), G(0.9, 0.004, add=True), G(0.5, 0.5), G(0.5, 0.5, add=True), G(2.5, 0.001), G(2.5, 0.001, add=True),
    G(0.8, 0.999), G(0.8, 0.999, add=True), G(0.02, 0.01), G(0.02, 0.01, add=True), G(1.5, 1e-7), G(1.5, 1e-7, add=True),
    G(2, 0.01, replace=True), G(1, 0.7, replace=True), G(1, 0.999, replace=True),
    L(0.5, 1), L(6, 1), L(1, 0.02), L(1, 0.02, add=True), L(3, 0.6), L(3, 0.6, add=True),
    R(0.7, 2), R(2, 10), R(30, 4), R(0.001, 3),
    DL(3, 5), DL(0.7, 1), DL(2, 3, 0.1), DL(2, 3, 0.1, add=True), DG(3, 2), DG(1, 1), DG(0.6, 1), DG(1.3, 4),
]
points = [(0.001, 0), (0.3, 0.2), (0.3, 3), (2, 0), (2, 1.7), (2, 11), (9, 0.4), (9, 6)]

compositions = [  # parts and epsilon
    ([(G(0.9, 0.02), 600)], 1.5), ([(G(0.9, 0.02, add=True), 600)], 1.5),
    ([(G(0.9, 0.02), 600)], 4), ([(G(0.9, 0.02, add=True), 600)], 3.2),
    ([(G(0.4, 0.3), 50), (G(1.2, 0.05), 30)], 2), ([(G(0.4, 0.3, add=True), 50), (G(1.2, 0.05, add=True), 30)], 2),
    ([(G(1, 0.1, replace=True), 200)], 2.5), ([(G(0.5, 0.01), 10000), (G(0.3, 1), 1)], 1),
    ([(L(0.5, 1), 3), (G(0.6, 1), 1)], 1.2), ([(L(1, 0.1), 5), (G(0.5, 1), 1)], 0.7),
    ([(L(1, 0.1, add=True), 5), (G(0.5, 1), 1)], 0.3), ([(R(0.4, 5), 8), (G(0.7, 1), 1)], 1),
    ([(DG(2, 1), 4), (DL(3, 2), 3), (G(0.5, 1), 1)], 1.5), ([(DL(2, 3, 0.1), 9), (G(0.5, 1), 1)], 0.8),
]


def short(x):
    return mp.nstr(x, 20)


def main():
    rows = []
    for law in singles:
        k = K(law)
        for c, y in points:
            v = k(mpc(c, y))
            rows.append(dict(law=law, c=c, y=y, re=short(v.real), im=short(v.imag)))
    deltas = []
    for parts, eps in compositions:
        deltas.append(dict(parts=[dict(law=l, count=n) for l, n in parts], eps=eps, delta=short(delta(parts, mpf(eps)))))
    lines = lambda rs: ",\n".join(json.dumps(r) for r in rs)
    print('{"cgf": [\n%s\n], "delta": [\n%s\n]}' % (lines(rows), lines(deltas)))


main()
