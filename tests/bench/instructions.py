#!/usr/bin/env python3
"""Instructions per packet-hop, held against tests/bench/instructions.json: a gate that noise cannot move.

usage: tests/bench/instructions.py [--update] [--railyard FILE]
  --update     write what is measured now; look at the difference before you commit it
  --railyard   default: build/release/bin/railyard, as clang-19 builds it

Each lab runs twice under callgrind, once longer. The difference between the runs, divided by the difference in packet-hops,
leaves out the start. Only functions of dataplane/ and transports/ count. An increase of more than 2 % fails and names the functions
that grew. A decrease of more than 2 % fails too: run --update, so that the file follows.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
KNOWN = ROOT / "tests/bench/instructions.json"
MOST = 0.02
SHOWN = 2  # instructions per hop: a function that costs less is noise to readers
# Functions of dataplane/ and transports/, whose classes are in no inner namespace but these.
OURS = re.compile(r"^([^(]*[ *&])?railyard::((wire|roce|uet)::)?[A-Z]")

LABS = {  # options, and durations of the two runs
    "permutation": (["tests/bench/permutation-128.yaml", "--set", "topology.leaves=2", "--set", "topology.spines=2"], "100us", "300us"),
    "incast": (["tests/bench/incast-128.yaml"], "50us", "150us"),
    "roce": (["tests/bench/roce-128.yaml", "--set", "topology.leaves=2", "--set", "topology.spines=2"], "100us", "300us"),
}


def run(railyard, options, duration, folder):
    out = folder / "callgrind.out"
    done = subprocess.run(
        ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", railyard, "run", *options, "--duration", duration, "--json"],
        cwd=ROOT, capture_output=True, text=True)
    if done.returncode not in (0, 5):
        sys.exit(f"instructions.py: railyard run {' '.join(options)}: {done.stderr.splitlines()[-1] if done.stderr else 'failed'}")
    hops = json.loads(done.stdout)["summary"]["packet_hops"]
    text = subprocess.run(["callgrind_annotate", "--threshold=100", "--auto=no", "--show-percs=no", str(out)], check=True,
                          capture_output=True, text=True).stdout
    functions = {}
    for line in text.splitlines():
        # "  1,234,567  file:function [object]"; a function has a line for each file that it was made of.
        m = re.match(r"\s*([\d,]+)\s+\S*?:(.+?)(?: \[\S+\])?$", line)
        name = m and re.sub(r"'\d+$", "", m[2])
        if name and OURS.search(name):
            functions[name] = functions.get(name, 0) + int(m[1].replace(",", ""))
    return hops, functions


def measure(railyard):
    found = {}
    for lab, (options, short, long) in LABS.items():
        with tempfile.TemporaryDirectory() as folder:
            one = run(railyard, options, short, pathlib.Path(folder))
            two = run(railyard, options, long, pathlib.Path(folder))
        hops = two[0] - one[0]
        per_hop = {f: (n - one[1].get(f, 0)) / hops for f, n in two[1].items()}
        found[lab] = {"per_hop": round(sum(per_hop.values()), 1),
                      "functions": {f: round(n, 1) for f, n in sorted(per_hop.items(), key=lambda x: -x[1]) if n >= SHOWN}}
    return found


def main():
    parser = argparse.ArgumentParser(add_help=True)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--railyard", default=str(ROOT / "build/release/bin/railyard"))
    options = parser.parse_args()
    found = measure(options.railyard)
    if options.update:
        KNOWN.write_text(json.dumps(found, indent=1) + "\n")
    known = json.loads(KNOWN.read_text())
    failed = False
    for lab, now in found.items():
        before = known[lab]
        change = now["per_hop"] / before["per_hop"] - 1
        print(f"{lab}: {now['per_hop']:.1f} instructions per packet-hop, known {before['per_hop']:.1f} ({change:+.2%})")
        if abs(change) <= MOST:
            continue
        failed = True
        if change < 0:
            print(f"  FAILED: {-change:.1%} fewer. Run tests/bench/instructions.py --update and commit the file.")
            continue
        print(f"  FAILED: more than {MOST:.0%} up. Functions that grew:")
        names = set(now["functions"]) | set(before["functions"])
        grown = sorted(((now["functions"].get(f, 0) - before["functions"].get(f, 0), f) for f in names), reverse=True)
        for n, f in [g for g in grown if g[0] > 0][:5]:
            print(f"    {n:+8.1f}  {f[:150]}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
