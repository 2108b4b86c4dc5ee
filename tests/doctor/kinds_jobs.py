"""Incidents under collectives and training jobs, whose NICs all send as much as the slowest one. As kinds.py has them."""
from fabrics import Fabric, fault, training, until_done


def by_rank(f):
    """NICs in the order of ranks, and their names as reports have them."""
    ends = sorted(f.ends, key=lambda e: (int(e.host[1:]), e.number))
    return [(e, e.nic if f.shape in ("rails", "rail-only") else e.host) for e in ends]


def all_reduce(r, extra="", sizes=(4, 8, 16)):
    algorithm = r.choice(["ring", "ring", "ring", "direct", "halving-doubling"])
    return f"collectives:\n  - {{ name: sum, collective: all-reduce, algorithm: {algorithm}, size: {r.choice(sizes)}MiB, repeats: 3{extra} }}\n"


def workload(f, r):
    """An all-reduce or a training job of all NICs, over RoCEv2 or UET."""
    extra = r.choice(["", "", ", transport: uet"])
    if r.random() < 0.5:
        return training(f, r, extra)
    text = all_reduce(r, extra)
    # A power of two of ranks.
    return text if len(f.ends) in (8, 16) else text.replace("halving-doubling", "ring")


def on_job(r, what, label, when="", far=True):
    f = Fabric(r, far=far, connected=True)
    e = r.choice(f.ends)
    text = workload(f, r)
    on, does = what(e, f)
    return f.text + text + fault(on, does, when) + until_done(r), label(e, f)


def slow_nic(r):
    """A NIC that sends at a part of its rate."""
    return on_job(r, lambda e, f: (e.nic, f"straggle: {r.choice(['1/3', '1/5', '1/10'])}"), lambda e, f: ("slow-sender", [e.host]))


def slot(r):
    f = Fabric(r, rate=r.choice([200, 400]), connected=True)
    e = r.choice(f.ends)
    slow = r.choice(["gen3x8", "gen3x8", "gen4x8", "gen3x16"]) if f.rate == 400 else "gen3x8"
    profiles = f"hosts: {{ default: {{}}, old: {{ pcie: {slow} }} }}\nnodes: {{ {e.host}: {{ profile: old }} }}\n"
    return f.text + profiles + workload(f, r) + until_done(r), ("pcie-limit", [e.host])


def slow_link(r):
    """Towards a NIC: its switch has more for it than it can send."""
    return on_job(r, lambda e, f: (f"{e.port} out", f"rate: {r.choice(['1/2', '1/4', '1/10'])}"), lambda e, f: ("slow-link", [e.link]))


def loss(r):
    chosen = []

    def place(e, f):
        on, way = r.choice([(f"{e.nic} out", e.up), (f"{e.port} out", e.down)])
        chosen.append(way)
        return on, f"loss: {r.choice(['0.5%', '1%', '2%'])}"

    return on_job(r, place, lambda e, f: ("one-way-loss", [chosen[0]]))


def frame_errors(r):
    return on_job(r, lambda e, f: (f"{e.nic} out", f"bit-errors: {r.choice(['1e-6', '3e-6'])}"), lambda e, f: ("frame-errors", [e.link]))


def storm(r):
    return on_job(
        r,
        lambda e, f: (e.nic, "pfc-storm: 3"),
        lambda e, f: ("pfc-storm", [e.host]),
        f"at: {r.randint(100, 200)}us, for: {r.randint(500, 1000)}us",
    )


def slow_rank(r):
    f = Fabric(r, connected=True)
    ranks = by_rank(f)
    n = r.randrange(len(ranks))
    factor = r.choice(["1.25", "1.5", "2", "3"])
    return f.text + training(f, r, f", stragglers: [{{ ranks: [{n}], factor: {factor} }}]") + until_done(r), ("straggler", [f"rank {n} ({ranks[n][1]})"])


JOB_KINDS = {
    "job-slow-nic": slow_nic,
    "job-pcie": slot,
    "job-slow-link": slow_link,
    "job-loss": loss,
    "job-frame-errors": frame_errors,
    "job-pfc-storm": storm,
    "job-straggler": slow_rank,
}
