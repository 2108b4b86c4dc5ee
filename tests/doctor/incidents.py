#!/usr/bin/env python3
"""railyard doctor on incidents drawn at random: who is found, and who is blamed instead.

usage: tests/doctor/incidents.py [--seeds N] [--healthy N] [--pairs N] [--only KIND] [--keep DIR] [--railyard FILE]
  --seeds     incidents of each kind (default 3)
  --healthy   fabrics without an incident, of which none may raise an alarm (default 10)
  --pairs     two incidents at once (default 5)
  --keep      write the fabric files there, and the findings

Each incident is a fabric file: fabric, traffic, place and severity are drawn by its number. The doctor gets the counters of its
run. The first finding counts, with its element. Prints the confusion matrix. Exit code 1: fewer than 95 % of the incidents are
right, an alarm on a healthy fabric, or fewer than 80 % of what overlaps.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Fabric:
    """Leaves under spines, hosts at leaves: names as the preset gives them."""

    def __init__(self, r, buffer=None):
        self.leaves, self.spines, self.per_leaf = r.randint(2, 4), r.randint(2, 3), r.randint(3, 4)
        self.rate = r.choice([25, 100, 400])
        self.hosts = self.leaves * self.per_leaf
        # Ports of a leaf: hosts first, then spines.
        self.text = (
            f"topology: {{ preset: leaf-spine, leaves: {self.leaves}, spines: {self.spines}, hosts-per-leaf: {self.per_leaf} }}\n"
            f"defaults: {{ link: {{ rate: {self.rate}Gbps, cable: 5m }} }}\n"
            f"switches: {{ default: {{ buffer: {buffer or r.choice([16, 32])}MiB }} }}\n"
        )

    def leaf_of(self, h):
        return (h - 1) // self.per_leaf + 1

    def port_of(self, h):
        return (h - 1) % self.per_leaf + 1

    def host_link(self, h):
        return f"leaf{self.leaf_of(h)}:{self.port_of(h)}-h{h}:1"


def messages(f, r, to=None):
    """RoCEv2 between all hosts: everybody sends, so that every link carries something."""
    shift = r.randint(1, f.hosts - 1)
    lines = ["traffic:"]
    for h in range(1, f.hosts + 1):
        other = (h - 1 + shift) % f.hosts + 1
        lines.append(f"  - {{ name: t{h}, pattern: pairs, from: h{h}, to: h{other}, transport: roce, qps: 4 }}")
    return "\n".join(lines) + "\n", shift


def incast(f, r, transport="roce", size=None):
    """Several hosts of other leaves and of its own send to one."""
    to = r.randint(1, f.hosts)
    senders = r.sample([h for h in range(1, f.hosts + 1) if h != to], size or r.randint(3, min(6, f.hosts - 1)))
    extra = ", transport: roce" if transport == "roce" else ", payload: 4096B"
    return (
        "traffic:\n  - { name: t, pattern: incast, from: [" + ", ".join(f"h{h}" for h in senders) + f"], to: h{to}{extra} }}\n",
        to,
        senders,
    )


RUN = "run: {{ duration: {}us, seed: {} }}\n"


def run_of(r, least=1000, most=2500):
    return RUN.format(r.randint(least, most), r.randint(1, 1000))


# Each returns the text of the file without its name, and what should be found: (rule, elements that are right).
def frame_errors(r):
    f = Fabric(r)
    t, _ = messages(f, r)
    h = r.randint(1, f.hosts)
    out = r.choice(["out", "in"])
    on = f'"h{h}:1 out"' if out == "out" else f'"leaf{f.leaf_of(h)}:{f.port_of(h)} out"'
    return f.text + t + f"faults: [{{ on: {on}, bit-errors: {r.choice(['1e-6', '3e-6', '1e-5'])} }}]\n" + run_of(r), ("frame-errors", [f.host_link(h)])


def one_way_loss(r, kind="loss"):
    f = Fabric(r)
    t, _ = messages(f, r)
    h = r.randint(1, f.hosts)
    leaf = f"leaf{f.leaf_of(h)}:{f.port_of(h)}"
    a, b = r.choice([(f"h{h}:1", leaf), (leaf, f"h{h}:1")])
    what = f"loss: {r.choice(['0.5%', '2%', '10%'])}" if kind == "loss" else "loss: { good-to-bad: 0.2%, bad-to-good: 5%, in-bad: 60% }"
    return f.text + t + f'faults: [{{ on: "{a} out", {what} }}]\n' + run_of(r), ("one-way-loss", [f"{a} -> {b}"])


def mtu(r):
    f = Fabric(r)
    t, _ = messages(f, r)
    h = r.randint(1, f.hosts)
    return f.text + t + f"faults: [{{ on: h{h}, mtu: {r.choice([1500, 2200, 4000])} }}]\n" + run_of(r), ("mtu-mismatch", [f.host_link(h), f"leaf{f.leaf_of(h)}"])


def down(r, kind="down"):
    f = Fabric(r)
    t, _ = messages(f, r)
    h = r.randint(1, f.hosts)
    what = "down: true" if kind == "down" else "flap: { down: 50us, up: 100us }"
    return f.text + t + f"faults: [{{ on: h{h}, at: {r.randint(100, 400)}us, {what} }}]\n" + run_of(r), ("link-down", [f.host_link(h)])


def crash(r):
    f = Fabric(r)
    t, _ = messages(f, r)
    node = r.choice([f"leaf{r.randint(1, f.leaves)}", f"spine{r.randint(1, f.spines)}"])
    return f.text + t + f"faults: [{{ on: {node}, at: 300us, for: 300us, crash: true }}]\n" + run_of(r), ("switch-reset", [node])


def pfc_ignored(r):
    f = Fabric(r, 4)
    t, _, senders = incast(f, r, "generator")
    h = r.choice(senders)
    q = "qos: { default: { classes: { 3: { lossless: true, alpha: 1/8 } } } }\n"
    return f.text + q + t + f"faults: [{{ on: h{h}, ignore-pause: true }}]\n" + run_of(r, 2000, 3000), ("pfc-ignored", [f"h{h}"])


def pfc_lost(r):
    f = Fabric(r, 4)
    t, to, senders = incast(f, r, "generator")
    h = r.choice(senders)
    q = "qos: { default: { classes: { 3: { lossless: true, alpha: 1/8 } } } }\n"
    leaf = f"leaf{f.leaf_of(h)}:{f.port_of(h)}"
    return f.text + q + t + f'faults: [{{ on: "{leaf} out", lose-pause: true }}]\n' + run_of(r, 2000, 3000), ("pfc-lost", [f"{leaf} -> h{h}:1"])


def pfc_storm(r, kind="storm"):
    f = Fabric(r)
    t, shift = messages(f, r)
    h = r.randint(1, f.hosts)
    what = "pfc-storm: 3" if kind == "storm" else "stop-receiving: true"
    return f.text + t + f"faults: [{{ on: h{h}, at: 300us, for: {r.randint(200, 600)}us, {what} }}]\n" + run_of(r), ("pfc-storm", [f"h{h}"])


def slow_receiver(r):
    f = Fabric(r)
    t, shift = messages(f, r)
    h = r.randint(1, f.hosts)
    return f.text + t + f"faults: [{{ on: h{h}, receive: {f.rate // r.choice([3, 5])}Gbps }}]\n" + run_of(r, 1500, 3000), ("slow-receiver", [f"h{h}"])


def dscp(r):
    f = Fabric(r)
    t, _ = messages(f, r)
    h = r.randint(1, f.hosts)
    port = f"leaf{f.leaf_of(h)}:{f.port_of(h)}"
    return f.text + t + f"faults: [{{ on: {port}, dscp-map: {{ 26: {r.choice([0, 1, 5])} }} }}]\n" + run_of(r), ("dscp-rewritten", [port])


def payload(r):
    f = Fabric(r)
    t, shift = messages(f, r)
    h = r.randint(1, f.hosts)
    to = (h - 1 + shift) % f.hosts + 1
    return f.text + t + f'faults: [{{ on: "h{h}:1 out", corrupt: true, probability: 1% }}]\n' + run_of(r), ("payload-errors", [f"h{to}"])


def pfc_one_sided(r):
    f = Fabric(r, 4)
    t, to, senders = incast(f, r, "generator")
    h = r.choice(senders)
    q = "qos: { default: { classes: { 3: { lossless: true, alpha: 1/8 } } } }\n"
    n = f"nodes: {{ h{h}: {{ ports: {{ 1: {{ pfc: off }} }} }} }}\n"
    return f.text + q + n + t + run_of(r, 2000, 3000), ("pfc-one-sided", [f.host_link(h)])


def ecn_absent(r):
    f = Fabric(r)
    t, to, senders = incast(f, r, size=min(6, f.hosts - 1))
    q = "qos: { default: { classes: { 3: { lossless: true, xoff: 100KB, ecn: " + r.choice(["{ kmin: 8MB, kmax: 12MB, pmax: 10% }", "{ kmin: 20MB, kmax: 24MB, pmax: 10% }"]) + " } } } }\n"
    return f.text + q + t + run_of(r), ("ecn-absent", [f"leaf{f.leaf_of(to)}:{f.port_of(to)}"])


def no_cnp(r):
    f = Fabric(r)
    t, to, senders = incast(f, r, size=min(6, f.hosts - 1))
    return f.text + "hosts: { default: { roce: { congestion: none } } }\n" + t + run_of(r), ("ecn-not-echoed", [f"h{to}"])


def lossy_incast(r):
    f = Fabric(r, 4)
    t, to, senders = incast(f, r, "generator", size=min(6, f.hosts - 1))
    q = "qos: { default: { classes: { 3: { lossless: false } } } }\n"
    return f.text + q + t + run_of(r, 2000, 3000), ("buffer-full", [f"leaf{f.leaf_of(to)}:{f.port_of(to)}"])


def straggler(r):
    f = Fabric(r)
    n = r.randrange(f.hosts)
    job = (
        "collectives:\n  - { name: step, collective: all-reduce, size: 2MiB, repeats: 3, forward: 100us, backward: 200us, "
        f"stragglers: [{{ ranks: [{n}], factor: {r.choice(['1.3', '1.5', '2'])} }}] }}\n"
    )
    return f.text + job + "run: { seed: 3 }\n", ("straggler", [f"rank {n} (h{n + 1})"])


KINDS = {
    "frame-errors": frame_errors,
    "loss": one_way_loss,
    "burst-loss": lambda r: one_way_loss(r, "burst"),
    "mtu": mtu,
    "down": down,
    "flap": lambda r: down(r, "flap"),
    "crash": crash,
    "ignore-pause": pfc_ignored,
    "lose-pause": pfc_lost,
    "pfc-storm": pfc_storm,
    "stop-receiving": lambda r: pfc_storm(r, "stop"),
    "slow-receiver": slow_receiver,
    "dscp-map": dscp,
    "corrupt": payload,
    "pfc-one-sided": pfc_one_sided,
    "ecn-absent": ecn_absent,
    "no-cnp": no_cnp,
    "lossy-incast": lossy_incast,
    "straggler": straggler,
}


def healthy(r):
    f = Fabric(r)
    kind = r.choice(["messages", "incast", "all-reduce"])
    if kind == "messages":
        return f.text + messages(f, r)[0] + run_of(r), None
    if kind == "incast":
        return f.text + incast(f, r)[0] + run_of(r), None
    return f.text + "collectives: [{ name: a, collective: all-reduce, size: 4MiB, repeats: 2 }]\n", None


def both(r):
    """Two incidents at two hosts of one fabric."""
    f = Fabric(r)
    t, shift = messages(f, r)
    a, b = r.sample(range(1, f.hosts + 1), 2)
    choices = {
        "frame-errors": lambda h: (f'{{ on: "h{h}:1 out", bit-errors: 3e-6 }}', ("frame-errors", [f.host_link(h)])),
        "loss": lambda h: (f'{{ on: "h{h}:1 out", loss: 2% }}', ("one-way-loss", [f"h{h}:1 -> leaf{f.leaf_of(h)}:{f.port_of(h)}"])),
        "mtu": lambda h: (f"{{ on: h{h}, mtu: 1500 }}", ("mtu-mismatch", [f.host_link(h), f"leaf{f.leaf_of(h)}"])),
        "down": lambda h: (f"{{ on: h{h}, at: 200us, down: true }}", ("link-down", [f.host_link(h)])),
        "pfc-storm": lambda h: (f"{{ on: h{h}, at: 300us, for: 400us, pfc-storm: 3 }}", ("pfc-storm", [f"h{h}"])),
        "slow-receiver": lambda h: (f"{{ on: h{h}, receive: {f.rate // 4}Gbps }}", ("slow-receiver", [f"h{h}"])),
        "dscp-map": lambda h: (f"{{ on: leaf{f.leaf_of(h)}:{f.port_of(h)}, dscp-map: {{ 26: 0 }} }}", ("dscp-rewritten", [f"leaf{f.leaf_of(h)}:{f.port_of(h)}"])),
    }
    first, second = r.sample(sorted(choices), 2)
    fa, la = choices[first](a)
    fb, lb = choices[second](b)
    return f.text + t + f"faults: [{fa}, {fb}]\n" + run_of(r), [la, lb]


def findings(railyard, folder, name, text):
    path = folder / f"{name}.yaml"
    path.write_text(f"name: {name}\n" + text)
    done = subprocess.run([railyard, "doctor", str(path), "--json"], capture_output=True, text=True)
    if done.returncode != 0:
        return None, done.stderr.strip()
    found = json.loads(done.stdout)["findings"]
    (folder / f"{name}.json").write_text(done.stdout)
    return [(f["rule"], f["element"]) for f in found], ""


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--seeds", type=int, default=3)
    p.add_argument("--healthy", type=int, default=10)
    p.add_argument("--pairs", type=int, default=5)
    p.add_argument("--only", action="append")
    p.add_argument("--keep")
    p.add_argument("--railyard", default=str(ROOT / "build/release/bin/railyard"))
    o = p.parse_args()
    unknown = [k for k in o.only or [] if k not in KINDS]
    if unknown:
        sys.exit(f"--only: {unknown[0]} is no kind; expected one of {', '.join(KINDS)}")
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(o.keep or temporary)
        folder.mkdir(parents=True, exist_ok=True)
        jobs = []
        for kind in o.only or KINDS:
            for seed in range(1, o.seeds + 1):
                text, label = KINDS[kind](random.Random(f"{kind}/{seed}"))
                jobs.append((kind, f"{kind}-{seed}", text, label))
        for seed in range(1, o.healthy + 1):
            jobs.append(("healthy", f"healthy-{seed}", *healthy(random.Random(f"healthy/{seed}"))))
        for seed in range(1, o.pairs + 1):
            jobs.append(("both", f"both-{seed}", *both(random.Random(f"both/{seed}"))))
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            results = list(pool.map(lambda j: findings(o.railyard, folder, j[1], j[2]), jobs))
        matrix, right, total, wrong = {}, 0, 0, []
        alarms, parts_found, parts = 0, 0, 0
        for (kind, name, _, label), (found, error) in zip(jobs, results):
            if found is None:
                sys.exit(f"{name}: {error}")
            if kind == "healthy":
                if found:
                    alarms += 1
                    wrong.append(f"{name}: healthy, found {found}")
                continue
            if kind == "both":
                hit = sum(any(rule == f[0] and f[1] in elements for f in found) for rule, elements in label)
                parts += 2
                parts_found += hit
                if hit < 2:
                    wrong.append(f"{name}: expected {label}, found {found}")
                continue
            total += 1
            first = found[0] if found else ("nothing", "")
            ok = first[0] == label[0] and first[1] in label[1]
            right += ok
            column = first[0] + ("" if first[0] != label[0] or ok else " elsewhere")
            matrix.setdefault(kind, {}).setdefault(column, 0)
            matrix[kind][column] += 1
            if not ok:
                wrong.append(f"{name}: expected {label}, found {found}")
        for kind, row in matrix.items():
            print(f"{kind:<16}" + ", ".join(f"{n} {what}" for what, n in sorted(row.items(), key=lambda x: -x[1])))
        for line in wrong:
            print("  " + line)
        ok = True
        if total:
            print(f"right: {right} of {total} ({100 * right / total:.1f} %, bar 95 %)")
            ok &= right >= 0.95 * total
        print(f"alarms on healthy fabrics: {alarms} of {o.healthy} (bar 0)")
        ok &= alarms == 0
        if parts:
            print(f"of two at once: {parts_found} of {parts} found ({100 * parts_found / parts:.1f} %, bar 80 %)")
            ok &= parts_found >= 0.8 * parts
        sys.exit(0 if ok else 1)


if __name__ == "__main__":
    main()
