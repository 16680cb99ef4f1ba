"""What scripts/bench compares: for each piece of work how privrec is asked, how each peer is, and which goal it has.

groups(context) returns {group: [Case]}. A Case has variants: a peer's program in one way to write or run it. `mode` is
`installed`, `tuned` or `compile` (peer.py says what these are), or `avx2`, tuned on a processor that had no AVX-512;
the fastest way of a mode counts. `needs` is a module
without which an interpreter is no peer of that variant.
"""
import dataclasses, os


@dataclasses.dataclass
class Variant:
    mode: str
    args: list                 # of the interpreter; {seconds} is put in
    way: str = ""              # how the network is written, where there are several
    needs: str = "torch"
    rounds: int = 99           # of them at most


@dataclasses.dataclass
class Case:
    key: str
    what: str
    ours: list                 # arguments of privrec; {seconds} is put in
    variants: list
    goals: tuple = ()          # least ratio to `installed`, to `tuned`
    process: bool = False      # a run is the whole process: its time is that of the process
    pick: str = ""             # the name of our result, where a command gives several


def bench(name, only):
    return ["bench", name, "--quiet", "--json", "--workers", "{threads}", "--time", "{seconds}s", "--only", only]


def torch(script, *args, ways=("",), compiled=None):
    """A program in every way to write it, as installed and tuned, and the first of them compiled."""
    out = []
    for mode in ("installed", "tuned", "avx2"):
        for way in ways:
            out.append(Variant(mode, [script, *args, *([way] if way else []), "{seconds}"], way))
    if compiled is not False:
        way = compiled or ways[0]
        out.append(Variant("compile", [script, *args, *([way] if way else []), "{seconds}"], way))
    return out


def groups(c):
    """c: what exists on this machine: c.graph(NAME) makes a graph and returns its path, None without data."""
    out = {}

    def step(group, key, what, ours, variants, **more):
        out.setdefault(group, []).append(Case(key, what, ours, variants, **more))

    for name, label in (("gowalla", "Gowalla"), ("power", "graph of Gowalla's size by power laws"), ("ml-1m", "ML-1M")):
        goal = name == "gowalla"
        for model, what, goals in (("lightgcn", "LightGCN step", (5, 5)), ("rdpgcf", "RDP-GCF step", (6, 5)), ("ngcf", "NGCF step", (5, 5)),
                                   ("bprmf", "BPRMF step", (10, 8)), ("product", "one product, graph and table", (3, 3))):
            if name != "gowalla" and model in ("ngcf", "bprmf"):
                continue  # the graph matters little
            path = c.graph(name)
            if path is None:
                continue
            ours = bench("lightgcn" if model == "product" else model, "product_1x" if model == "product" else "step_1x") + ["--graph", path]
            ways = ("csr",) if model == "bprmf" else ("csr", "coo")
            variants = torch("graph.py", path, model, ways=ways, compiled=False if model == "product" else None)
            step("graph", f"{model}-{name}", f"{what}, {label}", ours, variants, goals=goals if goal else ())
    for items, case, goals in ((2810, "dipsgnn_step", (6, 5)), (98226, "dipsgnn_step_large", (5, 5))):
        step("dipsgnn", f"dipsgnn-{items}", f"DIPSGNN step, {items:,} items", bench("dipsgnn", case), torch("dipsgnn.py", str(items)), goals=goals, pick=case)
    step("dasl", "dasl", "DASL step, 240,000 items", bench("dasl", "dasl_step"), torch("dasl.py", ways=("eager", "script"), compiled="eager"), goals=(6, 5))
    for model, what, goals in (("mean_gru", "mean and GRU", (3, 2.5)), ("attention_transformer", "transformer", ()), ("attention_point", "attention and point", ())):
        step("attack", "exposure-" + model.replace("_", "-"), f"exposure attack step, {what}", bench("exposure", model + "_step"), torch("attack.py", model), goals=goals)
    for model, what in (("gerai", "GERAI step"), ("gcn", "GERAI's network without noise")):
        for batch in ("64", "1024"):
            step("gerai", f"{model}-{batch}", f"{what}, batch {batch}", bench("gerai", f"{model}_step_{batch}"),
                 torch("gerai.py", model, batch, ways=("index", "segment", "sparse")), goals=(5, 5) if model == "gerai" else (), pick=f"{model}_step_{batch}")
    for loss, what in (("sampled", "one negative a place"), ("all", "softmax over all items")):
        step("sasrec", f"sasrec-{loss}", f"SASRec step, {what}", bench("sasrec", "sasrec_" + loss), torch("sasrec.py", loss), goals=(5, 5))
    for opt in ("adam", "sgd"):
        for form in ("private", "plain"):
            peers = [Variant(m, ["dpsgd.py", "plain", opt, "{seconds}"]) for m in ("installed", "tuned")] if form == "plain" else [
                Variant(m, ["dpsgd.py", "ghost", opt, "{seconds}"], "ghost clipping", "opacus") for m in ("installed", "tuned")]
            if (opt, form) == ("adam", "private"):
                peers.append(Variant("installed", ["dpsgd.py", "hooks", opt, "{seconds}"], "hooks", "opacus", rounds=1))
            step("dpsgd", f"dpsgd-{form}-{opt}", f"BPR by pairs, {opt}, {'DP-SGD against Opacus' if form == 'private' else 'without privacy'}",
                 bench("dpsgd", f"{form}_{opt}"), peers, pick=f"{form}_{opt}")
    step("dpsgd", "dpsgd-deferred-sgd", "BPR by pairs, sgd, DP-SGD with deferred noise", bench("dpsgd", "private_sgd_deferred"), [])
    # Accounting has one way to run: there is nothing to tune but PyTorch's normals.
    for ours, theirs, what in (("account_rdp_grid", "rdp_grid", "Rényi curve of a sampled Gaussian, 156 orders"),
                               ("account_rdp_calibrate", "rdp_calibrate", "sigma for epsilon 1 under Rényi DP, 14,062 steps"),
                               ("account_exact_234k_s1.1", "pld_234k_s1.1", "epsilon of 234,000 steps, exact"),
                               ("account_checked_234k_s1.1", "pld_234k_s1.1", "the same with its checks by bracket and bound"),
                               ("account_pld_2p19", "pld_234k_s1.1", "the same, certified bracket at 2^19 bins"),
                               ("account_analytic", "analytic", "sigma of one Gaussian release")):
        step("account", ours.replace("_", "-").replace(".", "-"), what, ["bench", "account", "--quiet", "--json", "--time", "{seconds}s", "--only", ours],
             [Variant("installed", ["account.py", "{seconds}", theirs], needs="dp_accounting")], pick=ours)
    step("normals", "normals", "2^20 float32 normals", bench("account", "noise_normals"),
         [Variant(m, ["account.py", "{seconds}", "normals"]) for m in ("installed", "tuned", "avx2")], goals=(8, 8))
    asked = ["account", "sampled-gaussian", "--sampling-rate", "0.004266666666666667", "--noise-multiplier", "1.1", "--steps", "14062", "--delta", "1e-5"]
    step("account", "account-pld-process", "account --accountant pld, the whole process", asked + ["--accountant", "pld"],
         [Variant("installed", ["account.py", "process"], needs="dp_accounting")], process=True)
    step("account", "version-process", "privrec version, the whole process", ["version"], [], process=True)
    if c.recbole:
        step("recbole", "recbole-lightgcn", "LightGCN on ML-100K, 20 epochs of batch 2048, the whole process against RecBole 1.2.1", c.ours_recbole(),
             [Variant(m, ["recbole_lightgcn.py", c.recbole], needs="recbole") for m in ("installed", "tuned")], process=True)
    return out
