#!/usr/bin/env python3
"""railyard doctor on incidents drawn at random: who is found, and who is blamed instead.

usage: tests/doctor/incidents.py [--seeds N] [--first-seed N] [--healthy N] [--pairs N] [--only KIND] [--fabrics WHICH] [--keep DIR] [--railyard FILE]
  --seeds       incidents of each kind (default 3)
  --first-seed  number of the first one (default 1); also of healthy fabrics and pairs
  --healthy     fabrics without an incident, of which none may raise an alarm (default 10)
  --pairs       two incidents at once (default 5)
  --fabrics     usual: leaf-spines, fat trees, rails, pods (default); others: tori, dragonflies, trees, meshes, rails without spines, faster
                links between switches, 800 Gb/s
  --keep        write the fabric files, the reports and the findings there

Each incident is a fabric file: fabric, traffic, place and severity are drawn by its number (kinds*.py, fabrics.py). The doctor gets
the report of its run; of some kinds a plan with it, or a capture instead. The first finding counts, with its element. Prints the
confusion matrix, and the rules that no kind covers. Exit code 1: fewer than 95 % of the incidents are right, an alarm on a healthy
fabric, or fewer than 80 % of what overlaps.
"""
import argparse
import concurrent.futures
import fnmatch
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

import fabrics
from healthy import both, healthy
from kinds import KINDS
from kinds_read import NOT_DRAWN

ROOT = pathlib.Path(__file__).resolve().parents[2]


def options():
    p = argparse.ArgumentParser()
    p.add_argument("--seeds", type=int, default=3)
    p.add_argument("--first-seed", type=int, default=1)
    p.add_argument("--healthy", type=int, default=10)
    p.add_argument("--pairs", type=int, default=5)
    p.add_argument("--only", action="append")
    p.add_argument("--fabrics", choices=["usual", "others"], default="usual")
    p.add_argument("--keep")
    p.add_argument("--railyard", default=str(ROOT / "build/release/bin/railyard"))
    o = p.parse_args()
    unknown = [k for k in o.only or [] if k not in KINDS]
    if unknown:
        sys.exit(f"--only: {unknown[0]} is no kind; expected one of {', '.join(KINDS)}")
    return o


def incidents(o):
    """(kind, name, text of the file, label, what the doctor reads)"""
    def seeds(n):
        return range(o.first_seed, o.first_seed + n)

    def drawn(kind, draw, seed):
        text, label, *reads = draw(random.Random(f"{kind}/{seed}"))
        return kind, f"{kind}-{seed}", text, label, reads[0] if reads else {}

    for kind in o.only or KINDS:
        yield from (drawn(kind, KINDS[kind], seed) for seed in seeds(o.seeds))
    yield from (drawn("healthy", healthy, seed) for seed in seeds(o.healthy))
    yield from (drawn("both", both, seed) for seed in seeds(o.pairs))


def findings(railyard, folder, name, text, reads):
    """[(rule, element)], or None and why."""
    for file, octets in reads.get("files", {}).items():
        (folder / f"{name}.{file}").write_bytes(octets)
        text = text.replace(file, f"{name}.{file}")
    path = folder / f"{name}.yaml"
    path.write_text(f"name: {name}\n" + text)
    report = folder / f"{name}.report.json"
    capture = folder / f"{name}.pcapng"
    run = [railyard, "run", str(path), "--json", "--quiet"]
    if "capture" in reads:
        run += ["--capture", f"{reads['capture']}={capture}"]
    with report.open("w") as out:
        done = subprocess.run(run, stdout=out, stderr=subprocess.PIPE, text=True)
    if report.stat().st_size == 0:
        return None, done.stderr.strip()
    doctor = [railyard, "doctor", str(capture if "capture" in reads else report), "--json"]
    if "plan" in reads:
        plan = folder / f"{name}.plan.yaml"
        plan.write_text(f"name: {name}\n" + reads["plan"])
        doctor += ["--plan", str(plan)]
    done = subprocess.run(doctor, capture_output=True, text=True)
    if done.returncode != 0:
        return None, done.stderr.strip()
    (folder / f"{name}.json").write_text(done.stdout)
    return [(f["rule"], f["element"]) for f in json.loads(done.stdout)["findings"]], ""


def rules_of(label):
    return (label[0],) if isinstance(label[0], str) else label[0]


def not_covered(railyard, jobs):
    """Rules that are right for none of these incidents. None: the list of rules is not there."""
    listed = subprocess.run([railyard, "doctor", "--rules"], capture_output=True, text=True).stdout.splitlines()
    rules = [line.split()[0] for line in listed[1:] if line.strip()]
    covered = {rule for kind, _, _, label, _ in jobs if kind not in ("healthy", "both") for rule in rules_of(label)}
    return [rule for rule in rules if rule not in covered]


def fits(label, finding):
    return finding[0] in rules_of(label) and any(fnmatch.fnmatchcase(finding[1], e) for e in label[1])


class Score:
    def __init__(self):
        self.matrix, self.wrong = {}, []
        self.right = self.total = self.alarms = self.found = self.parts = 0

    def add(self, kind, name, label, found):
        if kind == "healthy":
            self.alarms += bool(found)
            if found:
                self.wrong.append(f"{name}: healthy, found {found}")
        elif kind == "both":
            hit = sum(any(fits(part, f) for f in found) for part in label)
            self.parts += 2
            self.found += hit
            if hit < 2:
                self.wrong.append(f"{name}: expected {label}, found {found}")
        else:
            self.add_incident(kind, name, label, found)

    def add_incident(self, kind, name, label, found):
        first = found[0] if found else ("nothing", "")
        ok = fits(label, first)
        self.total += 1
        self.right += ok
        column = first[0] + (" elsewhere" if first[0] in rules_of(label) and not ok else "")
        row = self.matrix.setdefault(kind, {})
        row[column] = row.get(column, 0) + 1
        if not ok:
            self.wrong.append(f"{name}: expected {label}, found {found}")

    def print(self, healthy):
        for kind, row in self.matrix.items():
            print(f"{kind:<20}" + ", ".join(f"{n} {what}" for what, n in sorted(row.items(), key=lambda x: -x[1])))
        for line in self.wrong:
            print("  " + line)
        if self.total:
            print(f"right: {self.right} of {self.total} ({100 * self.right / self.total:.1f} %, bar 95 %)")
        print(f"alarms on healthy fabrics: {self.alarms} of {healthy} (bar 0)")
        if self.parts:
            print(f"of two at once: {self.found} of {self.parts} found ({100 * self.found / self.parts:.1f} %, bar 80 %)")

    def passes(self):
        return self.right >= 0.95 * self.total and self.alarms == 0 and self.found >= 0.8 * self.parts


def main():
    o = options()
    if o.fabrics == "others":
        fabrics.SHAPES, fabrics.RATES = fabrics.OTHERS, fabrics.FAST
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(o.keep or temporary)
        folder.mkdir(parents=True, exist_ok=True)
        jobs = list(incidents(o))
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            results = list(pool.map(lambda j: findings(o.railyard, folder, *j[1:3], j[4]), jobs))
    score = Score()
    for (kind, name, _, label, _), (found, error) in zip(jobs, results):
        if found is None:
            sys.exit(f"{name}: {error}")
        score.add(kind, name, label, found)
    score.print(o.healthy)
    if not o.only:
        for rule in not_covered(o.railyard, jobs):
            print(f"no kind for {rule}: {NOT_DRAWN.get(rule, 'nobody has written one')}")
    sys.exit(0 if score.passes() else 1)


if __name__ == "__main__":
    main()
