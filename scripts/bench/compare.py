"""Runs privrec and its peers in turns on this machine, and writes one table.

usage: compare.py PRIVREC [--threads N] [--seconds S] [--rounds R] [--groups A,B] [--only A,B] [--compile] [--json FILE] [--table FILE]

Environment: PEERS lists interpreters, as "torch-2.15=/path/python debian=/usr/bin/python3"; without it PYTHON is the
only one (default python3). RECBOLE and DP_PYTHON name interpreters with RecBole and dp_accounting; without them those
rows have no peer. PRIVREC_DATA holds the data sets; TCMALLOC and OPENBLAS_OPENMP are a library and a folder that tune
a peer, if there.

Every round asks each peer once, in every mode, with privrec before each: with the kernels of this processor, and with
those of AVX2 before a peer that is tied to AVX2. cases.py and peer.py say what the modes are. torch.compile takes minutes
to compile a network, so that it runs with --compile only. Of several ways to write
a network each runs once as installed; the fastest of them is what runs then. A number is the median over rounds of a run's median, or the least of all minima. Both are of
calls within a process, unless the row says that it is of whole processes. Ratios above 1: privrec is faster.
"""
import argparse, gzip, json, os, platform, re, resource, shutil, signal, statistics, subprocess, sys, tempfile, threading, time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, HERE)
import cases

MODES = {"installed": "as installed", "tuned": "tuned", "compile": "torch.compile", "avx2": "tuned, AVX2 only"}


def peak_of(command, env, limit):
    """Runs a command. Returns its output, seconds and largest memory in MB; raises Failed with its last line."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        begin = time.perf_counter()
        p = subprocess.Popen(command, env=env, stdout=out, stderr=err, cwd=HERE)
        stop = threading.Timer(limit, p.kill)
        stop.start()
        _, status, used = os.wait4(p.pid, 0)
        stop.cancel()
        seconds = time.perf_counter() - begin
        p.returncode = os.waitstatus_to_exitcode(status)
        for f in (out, err):
            f.seek(0)
        if p.returncode == -9 and seconds > limit:
            raise Failed(f"stopped after {limit} s")
        if p.returncode:
            lines = [line for line in err.read().splitlines() if line.strip()] or [f"exit {p.returncode}"]
            named = [line for line in lines if re.match(r"^[\w.]*(Error|Exception)\b", line)]
            raise Failed((named or lines)[-1].strip()[:200])
        return out.read(), seconds, used.ru_maxrss / 1024


class Failed(Exception):
    pass


class Peer:
    """An interpreter, with what it has."""

    def __init__(self, name, python):
        self.name, self.python, self.versions = name, python, {}
        probe = "import importlib.metadata as m, json\nout = {}\nfor n, d in (('torch', 'torch'), ('dp_accounting', 'dp-accounting'), ('opacus', 'opacus'), ('recbole', 'recbole'), ('numpy', 'numpy')):\n" \
                "    try:\n        __import__(n) if n in ('torch', 'numpy') else None\n        out[n] = m.version(d)\n    except Exception as e:\n" \
                "        try:\n            out[n] = __import__(n).__version__ if n in ('torch', 'numpy') else None\n        except Exception: pass\nprint(json.dumps({k: v for k, v in out.items() if v}))"
        try:
            self.versions = json.loads(subprocess.run([python, "-c", probe], check=True, capture_output=True, text=True).stdout.splitlines()[-1])
        except (OSError, subprocess.CalledProcessError, IndexError) as e:
            print(f"{name}: {python} does not run: {e}", file=sys.stderr)

    def has(self, module):
        return module in self.versions

    def missing(self):
        """Why there is no column of this peer; "": there is one."""
        if any(self.has(m) for m in ("torch", "dp_accounting", "recbole")):
            return ""
        return f"{self.name}: {self.python} has no PyTorch, so its column is left out (Debian: apt-get install python3-torch; PyPI: pip install torch)"

    def old(self):
        return int(self.versions.get("torch", "2").split(".")[0]) < 2

    def runs(self, v):
        return self.has(v.needs) and not (v.mode == "compile" and self.old())


class Context:
    """What cases need of this machine."""

    def __init__(self, tmp, python, recbole):
        self.tmp, self.python, self.made = tmp, python, {}
        data = os.environ.get("PRIVREC_DATA", "")
        find = lambda *names: next((p for n in names if os.path.exists(p := os.path.join(data, n))), None)
        self.files = {"gowalla": find("gowalla/train.txt.gz", "gowalla/train.txt"), "ml-1m": find("ml-1m/ml-1m.inter.gz", "ml-1m/ml-1m.inter")}
        self.recbole = ""
        movies = find("ml-100k/ml-100k.inter.gz", "ml-100k/ml-100k.inter")
        if recbole and movies:
            self.recbole = tmp
            os.makedirs(f"{tmp}/ml-100k")
            with (gzip.open(movies, "rb") if movies.endswith(".gz") else open(movies, "rb")) as f, open(f"{tmp}/ml-100k/ml-100k.inter", "wb") as g:
                shutil.copyfileobj(f, g)

    def graph(self, name):
        """The path of a graph, which prepare makes; None where its data is not there."""
        return f"{self.tmp}/{name}.tsv" if name == "power" or self.files.get(name) else None

    def prepare(self, args):
        """Makes the graphs that a case reads."""
        for name in ("power", "gowalla", "ml-1m"):
            if f"{self.tmp}/{name}.tsv" in args and name not in self.made:
                self.made[name] = True
                file = [self.files[name]] if name != "power" else []
                subprocess.run([self.python, "graph.py", f"{self.tmp}/{name}.tsv", "make", name, *file], check=True, cwd=HERE)

    def ours_recbole(self):
        return ["train", "lightgcn", "--quiet", "--workers", "{threads}", "--out", f"{self.tmp}/run-{{run}}", "--set", "data.name=ml-100k",
                "--set", "data.recipe=gerai-valid", "--set", "model.layers=2", "--set", "train.epochs=20", "--set", "train.batch=2048",
                "--set", "train.sampler=pass", "--set", "train.patience=0"]


def environment(mode, peer, threads):
    env = dict(os.environ, NT=str(threads), PEER_FORM="tuned" if mode == "avx2" else mode, PYTHONDONTWRITEBYTECODE="1")
    for name in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "ATEN_CPU_CAPABILITY", "LD_PRELOAD", "MKL_ENABLE_INSTRUCTIONS"):
        env.pop(name, None)  # they may tie a peer to another machine's kernels
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        env[name] = str(threads)
    if mode != "installed":
        tcmalloc = os.environ.get("TCMALLOC", "")
        if tcmalloc:
            env.update(LD_PRELOAD=tcmalloc, GLIBC_TUNABLES="glibc.malloc.hugetlb=1")
        else:  # a heap that keeps what it has, on huge pages
            env["GLIBC_TUNABLES"] = "glibc.malloc.hugetlb=1:glibc.malloc.mmap_max=0:glibc.malloc.trim_threshold=8589934592:glibc.malloc.top_pad=67108864"
        if mode == "avx2":
            env.update(ATEN_CPU_CAPABILITY="avx2", DNNL_MAX_CPU_ISA="AVX2", MKL_ENABLE_INSTRUCTIONS="AVX2", OPENBLAS_CORETYPE="Haswell")
        elif peer.old():  # 1.13 takes new processors for old ones, and has OpenBLAS
            if native() == "avx512":
                env.update(ATEN_CPU_CAPABILITY="avx512", OPENBLAS_CORETYPE="SkylakeX")
        if peer.old() and os.environ.get("OPENBLAS_OPENMP"):
            env["LD_LIBRARY_PATH"] = os.environ["OPENBLAS_OPENMP"]
    return env


class Row:
    """What was measured of one case: by column a list of (median, minimum, MB)."""

    def __init__(self, case):
        self.case, self.runs, self.notes, self.losses, self.shape = case, {}, {}, [], ""

    def add(self, column, result, peak):
        if "loss=" in result.get("shape", ""):
            self.losses.append(float(result["shape"].split("loss=")[1].split()[0]))
        self.runs.setdefault(column, []).append((result["median_s"], result["min_s"], max(peak, result.get("rss_mb", 0))))
        if result.get("graph_breaks"):
            self.notes[column] = f"{result['graph_breaks']} graph breaks"

    def check(self):
        if self.losses and max(self.losses) - min(self.losses) > 1e-4:
            raise SystemExit(f"{self.case.what}: the programs do not compute the same: losses from {min(self.losses)} to {max(self.losses)}")

    def column(self, name):
        runs = self.runs.get(name)
        if not runs:
            return None
        return {"median_s": statistics.median(r[0] for r in runs), "min_s": min(r[1] for r in runs), "mb": max(r[2] for r in runs), "runs": len(runs)}

    def fastest(self, peer, mode):
        """The way of writing it with the least median: (its name, its numbers)."""
        ways = [(way, self.column((peer, mode, way))) for p, m, way in [k for k in self.runs if isinstance(k, tuple)] if (p, m) == (peer, mode)]
        return min(ways, key=lambda w: w[1]["median_s"], default=None)


def parse(text, pick):
    r = json.loads(text)
    if isinstance(r, list):
        r = next((x for x in r if x["name"] == pick), r[0]) if pick else r[0]
    return r


def privrec(simd):
    """The column of our runs with kernels."""
    return "privrec" + ("-" + simd if simd else "")


class Runner:
    def __init__(self, a, context, peers):
        self.a, self.context, self.peers, self.count = a, context, peers, 0
        self.simds = ["", "avx2"] if native() == "avx512" else [""]

    def fill(self, args):
        self.count += 1
        return [x.replace("{seconds}", f"{self.a.seconds:g}").replace("{threads}", str(self.a.threads)).replace("{run}", str(self.count)) for x in args]

    def once(self, row, column, command, env):
        begin = time.perf_counter()
        if row.case.process:
            times, peak = [], 0.0
            while not times or (times[0] < 2 and time.perf_counter() - begin < self.a.seconds):
                _, t, p = peak_of(command, env, 1800)
                times.append(t)
                peak = max(peak, p)
            row.add(column, {"median_s": statistics.median(times), "min_s": min(times)}, peak)
            return
        out, _, peak = peak_of(command, env, 900)
        row.add(column, parse(out, row.case.pick), peak)

    def ours(self, row, simd):
        env = dict(os.environ, **({"PRIVREC_SIMD": simd} if simd else {}))
        self.once(row, privrec(simd), [self.a.privrec, *self.fill(row.case.ours)], env)

    def case(self, case):
        self.context.prepare(case.ours)
        row = Row(case)
        for round in range(self.a.rounds):
            for peer in self.peers:
                for v in case.variants:
                    column = (peer.name, v.mode, v.way)
                    best = row.fastest(peer.name, "installed")
                    if best and best[0] != v.way and (v.mode in ("tuned", "avx2") or v.mode == "installed" and round):
                        continue
                    if not peer.runs(v) or v.mode == "compile" and not self.a.compile or v.mode == "avx2" and len(self.simds) == 1 or round >= v.rounds or column in row.notes and column not in row.runs:
                        continue
                    self.ours(row, "avx2" if v.mode == "avx2" else "")
                    try:
                        self.once(row, column, [peer.python, *self.fill(v.args)], environment(v.mode, peer, self.a.threads))
                    except Failed as e:
                        row.notes[column] = f"does not run: {e}"
            for simd in self.simds:  # every round has both
                if len(row.runs.get(privrec(simd), [])) <= round:
                    self.ours(row, simd)
        row.check()
        return row


def native():
    return "avx512" if " avx512vl" in flags() else "avx2"


def flags():
    try:
        return next((line for line in open("/proc/cpuinfo") if line.startswith("flags")), "")
    except OSError:
        return ""


def processor():
    """Name, cores, caches and instruction set of this machine."""
    name, caches = platform.processor() or "unknown processor", {}
    try:
        name = next(line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name"))
        base = "/sys/devices/system/cpu/cpu0/cache"
        for d in sorted(os.listdir(base)):
            if d.startswith("index"):
                read = lambda f: open(f"{base}/{d}/{f}").read().strip()
                if read("type") != "Instruction":
                    caches["L" + read("level")] = read("size")
    except (OSError, StopIteration):
        pass
    return {"name": name, "cores": os.cpu_count(), "caches": caches, "kernels": native()}


def load():
    """Load of the last minute, and seconds of the processors so far: all, stolen by the host, those of other programs."""
    ticks = [int(x) / os.sysconf("SC_CLK_TCK") for x in open("/proc/stat").readline().split()[1:9]]
    own = sum(t for w in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN) for t in resource.getrusage(w)[:2])
    return os.getloadavg()[0], sum(ticks), ticks[7], sum(ticks) - ticks[3] - ticks[4] - ticks[7] - own


def taken(before, after):
    """What of the processors' time went to others, in percent: to the host, and to other programs here."""
    return {key: 100 * max(0, after[k] - before[k]) / max(0.01, after[1] - before[1]) for key, k in (("stolen", 2), ("others", 3))}


def number(x):
    """Three digits."""
    return f"{x:.3g}" if x < 100 else f"{x:.0f}"


def table(rows, peers, simds):
    """The table in Markdown: a part for each peer."""
    lines = []
    head = ["work", *(("privrec, ms", "with AVX2, ms") if len(simds) > 1 else ("privrec, ms",))]
    for peer in peers:
        about = ", ".join(f"{k} {v}" for k, v in sorted(peer.versions.items()))
        mine = [r for r in rows if any(isinstance(c, tuple) and c[0] == peer.name for c in [*r.runs, *r.notes])]
        if not mine:
            continue
        modes = [m for m in MODES if any(r.fastest(peer.name, m) or any(isinstance(c, tuple) and c[:2] == (peer.name, m) for c in r.notes) for r in mine)]
        lines += [f"## Against {peer.name} ({about})", "", "Times are medians, least times in brackets. Ratios are of medians, of minima in brackets.", ""]
        columns = head + [f"{MODES[m]}, ms" for m in modes] + [f"x {MODES[m]}" for m in modes] + ["goal", "MB, ours and theirs"]
        lines += ["| " + " | ".join(columns) + " |", "|" + " --- |" * len(columns)]
        notes = []
        for r in mine:
            ours = [r.column(privrec(s)) for s in simds]
            cells = [r.case.what] + [shown(c) for c in ours]
            ratios, most = [], 0.0
            for m in modes:
                best = r.fastest(peer.name, m)
                failed = [n for c, n in r.notes.items() if isinstance(c, tuple) and c[:2] == (peer.name, m) and c not in r.runs]
                if best is None:
                    cells.append("does not run" if failed else "-")
                    ratios.append("-")
                else:
                    way, c = best
                    cells.append(shown(c) + (f" {way}" if way else ""))
                    o = r.column(privrec("avx2" if m == "avx2" else ""))
                    ratios.append(f"{c['median_s'] / o['median_s']:.1f} ({c['min_s'] / o['min_s']:.1f})")
                    most = max(most, c["mb"])
            cells += ratios
            cells.append(" / ".join(f"{g:g}" for g in r.case.goals) or "-")
            cells.append(f"{max(o['mb'] for o in ours):.0f}, {most:.0f}" if most else f"{max(o['mb'] for o in ours):.0f}")
            lines.append("| " + " | ".join(cells) + " |")
            for c, n in r.notes.items():
                if isinstance(c, tuple) and c[0] == peer.name:
                    notes.append(f"- {r.case.what}, {MODES[c[1]]}{' ' + c[2] if c[2] else ''}: {n}")
        lines += ["", *notes, ""] if notes else [""]
    alone = [r for r in rows if not any(isinstance(c, tuple) for c in [*r.runs, *r.notes])]
    if alone:
        lines += ["## Without a peer here", "", "| " + " | ".join(head) + " | MB |", "|" + " --- |" * (len(head) + 1)]
        for r in alone:
            ours = [r.column(privrec(s)) for s in simds]
            lines.append("| " + " | ".join([r.case.what] + [shown(c) for c in ours] + [f"{max(o['mb'] for o in ours):.0f}"]) + " |")
        lines.append("")
    return "\n".join(lines)


def shown(c):
    return f"{number(1e3 * c['median_s'])} ({number(1e3 * c['min_s'])})"


def preface(m, peers):
    """What stands above the table."""
    gather = "; ".join(f"{g['shape']}: {g['gflops']:.0f} GB/s" for g in m.get("gather", []))
    lines = [f"# Speed on {m['processor']['name']}", "",
             f"- processor: {m['processor']['name']}, {m['processor']['cores']} cores, caches {', '.join(f'{k} {v}' for k, v in m['processor']['caches'].items())}, kernels {m['processor']['kernels']}"]
    if gather:
        lines.append(f"- gather of rows of 256 bytes at random, {m['threads']} threads: {gather}")
    lines += [f"- load of the last minute: {m['load_before']:.1f} before, {m['load_after']:.1f} after; {m['stolen']:.1f} % of the time stolen by the host, "
              f"{m['others']:.1f} % used by other programs",
              f"- {m['threads']} threads, {m['seconds']:g} s a run, {m['rounds']} rounds, {m['minutes']:.0f} minutes, {m['date']}; {m['program']}"]
    lines += [f"- {q.missing()}" for q in peers if q.missing()] + [""]
    return "\n".join(lines)


def products(m):
    """The table of the matrix products."""
    if not m.get("gemm"):
        return ""
    lines = ["## Matrix products", "", "| against | products | ratio of medians, geometric mean | of minima | least of minima |", "| --- | --- | --- | --- | --- |"]
    lines += [f"| {g['peer']} | {g['products']} | {g['ratio of medians']:.2f} | {g['ratio of minima']:.2f} | {g['least']:.2f} ({g['least of']}) |" for g in m["gemm"].values()]
    return "\n".join(lines) + "\n\n"


def report(a, machine, rows, peers, simds):
    text = preface(machine, peers) + "\n" + products(machine) + table(rows, peers, simds)
    out = {"machine": machine, "peers": {p.name: p.versions for p in peers}, "rows": []}
    for r in rows:
        columns = {c: r.column(c) for c in r.runs if isinstance(c, str)}
        for p in peers:
            for m in MODES:
                if best := r.fastest(p.name, m):
                    columns[f"{p.name} {m}"] = {**best[1], "way": best[0]}
        out["rows"].append({"key": r.case.key, "what": r.case.what, "goals": list(r.case.goals), "process": r.case.process, "columns": columns,
                            "notes": [f"{c[0]} {c[1]} {c[2]}: {n}" for c, n in r.notes.items()]})
    if a.json:
        with open(a.json, "w") as f:
            json.dump(out, f, indent=1)
    if a.table:
        with open(a.table, "w") as f:
            f.write(text)
    return text


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("privrec")
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--seconds", type=float, default=3)
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--groups", default="")
    p.add_argument("--only", default="", help="only cases with one of these in their key")
    p.add_argument("--json", default="")
    p.add_argument("--table", default="")
    p.add_argument("--gather", default="", help="file with the JSON of scripts/bench/gather")
    p.add_argument("--gemm", default="", help="folder with gemm.PEER.json of gemm.py")
    p.add_argument("--commit", default="", help="of the program, where it does not know it")
    p.add_argument("--compile", action="store_true", help="peers through torch.compile too")
    p.add_argument("--list", action="store_true", help="name the cases and stop")
    a = p.parse_args()
    named = [w.partition("=")[::2] for w in os.environ.get("PEERS", "").split()] or [("python", os.environ.get("PYTHON", "python3"))]
    named += [(n, os.environ[e]) for n, e in (("dp_accounting", "DP_PYTHON"), ("recbole", "RECBOLE")) if os.environ.get(e)]
    peers = [Peer(n, shutil.which(python) or python) for n, python in named]
    for q in peers:
        if q.name in ("recbole", "dp_accounting"):
            q.versions.pop("torch", None)  # its rows have a column of their own
        elif q.has("torch") and os.environ.get("DP_PYTHON"):
            q.versions.pop("dp_accounting", None)
        if q.missing():
            print(q.missing(), file=sys.stderr)
    tmp = tempfile.mkdtemp()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        maker = next((q.python for q in peers if q.has("numpy")), None)
        if maker is None:
            raise SystemExit("no interpreter of PEERS, PYTHON has numpy, which makes the graphs")
        context = Context(tmp, maker, any(q.has("recbole") for q in peers))
        known = cases.groups(context)
        wanted = [g for g in a.groups.split(",") if g not in ("", "none")] or ([] if a.groups else list(known))
        for g in wanted:
            if g not in known:
                raise SystemExit(f"no group {g} here, want some of {', '.join(known)}; recbole needs RECBOLE and $PRIVREC_DATA/ml-100k")
        todo = [c for g in wanted for c in known[g] if any(part in c.key for part in a.only.split(","))]
        if not todo and a.groups != "none":
            raise SystemExit(f"no case of {', '.join(wanted)} has {a.only!r} in its key: --list names them; data sets are looked for in PRIVREC_DATA")
        if a.list:
            print("\n".join(f"{c.key:28} {c.what}" for c in todo))
            return
        os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", f"{tmp}/inductor")
        runner = Runner(a, context, peers)
        before, begin = load(), time.time()
        program = json.loads(subprocess.run([a.privrec, "version", "--json"], check=True, capture_output=True, text=True).stdout)
        machine = {"processor": processor(), "threads": a.threads, "seconds": a.seconds, "rounds": a.rounds, "load_before": before[0],
                   "date": time.strftime("%Y-%m-%d", time.gmtime()), "build": program}
        if a.commit and not program.get("commit"):
            program["commit"] = a.commit
        machine["program"] = " ".join(str(program[k]) for k in ("version", "commit") if program.get(k))
        if a.gemm:
            machine["gemm"] = {f[5:-5]: json.load(open(os.path.join(a.gemm, f))) for f in sorted(os.listdir(a.gemm)) if f.startswith("gemm.") and f.endswith(".json")}
        if a.gather:
            machine["gather"] = json.load(open(a.gather))
        rows, text = [], ""
        machine.update(load_after=before[0], stolen=0, others=0, minutes=0)
        text = report(a, machine, rows, peers, runner.simds)
        for k, c in enumerate(todo):
            print(f"{time.strftime('%H:%M:%S')} {k + 1}/{len(todo)} {c.what}", file=sys.stderr, flush=True)
            rows.append(runner.case(c))
            after = load()
            machine.update(load_after=after[0], minutes=(time.time() - begin) / 60, **taken(before, after))
            text = report(a, machine, rows, peers, runner.simds)  # what is there is kept if the rest fails
        print(text)
    finally:
        shutil.rmtree(tmp)


if __name__ == "__main__":
    main()
