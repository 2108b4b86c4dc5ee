#!/usr/bin/env python3
"""railyard doctor on the failures of real deployments, one by one: each symptom an operator may see, as a fabric file that causes it.

usage: tests/doctor/failure_table.py [--only TEXT] [--keep DIR] [--railyard FILE]
  --only   rows whose name contains TEXT
  --keep   write the fabric files, reports and captures there

The doctor gets a report or a capture, never the fabric file. Of each row the first finding counts, with its element. Prints a table.
Exit code 1: a row is not found. What only two programs of a real host can do (other path MTUs, RoCE v1, stale QPs) is tested with
packets in tests/control/doctor/conversations_test.cc.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]

LAB = """topology: { preset: leaf-spine, leaves: 2, spines: 2, hosts-per-leaf: 4 }
defaults: { link: { rate: 100Gbps, cable: 3m } }
switches: { default: { buffer: %sMiB } }
"""
# Everybody sends to the same host of the other leaf and is sent to, small messages and large ones.
ALL = """traffic:
  - { name: up, pattern: pairs, from: [h1, h2, h3, h4], to: [h5, h6, h7, h8], transport: roce, qps: 4 }
  - { name: down, pattern: pairs, from: [h5, h6, h7, h8], to: [h1, h2, h3, h4], transport: roce, qps: 4 }
"""
LIGHT = "traffic: [{ name: t, pattern: pairs, from: [h1, h2, h3, h4], to: [h5, h6, h7, h8], transport: roce, qps: 4, rate: 20Gbps }]\n"
PAIR = "traffic: [{ name: t, from: h1, to: h5, transport: roce%s }]\n"
INCAST = "traffic: [{ name: t, pattern: incast, from: [h1, h2, h3, h4, h5, h6], to: h8%s }]\n"
LOSSLESS = "qos: { default: { classes: { 3: { lossless: true, alpha: 1/8%s } } } }\n"
RUN = "run: { duration: %s, seed: 7 }\n"


def lab(traffic, faults="", more="", duration="2ms", buffer=32):
    return LAB % buffer + more + traffic + (f"faults: [{faults}]\n" if faults else "") + RUN % duration


def fault(on, what):
    return f'{{ on: "{on}", {what} }}'


# (what an operator would call it, fabric file, what the doctor reads, rules, elements). "report", or where to capture.
ROWS = [
    ("MTU of one hop too small", lab(ALL, fault("leaf1:5", "mtu: 3000")), "report", ["mtu-mismatch"], ["leaf1:5-spine1:1", "leaf1", "spine1"]),
    ("... seen in a capture at the sender",
     lab("traffic:\n  - { name: small, from: h1, to: h5, transport: roce, message: 256B, bytes: 5120B }\n"
         "  - { name: large, from: h1, to: h5, transport: roce, message: 64KB, start: 100us }\n", fault("leaf2:1", "mtu: 3000"),
         "hosts: { default: { roce: { ack-timeout: 5 } } }\n", "5ms"),
     "h1", ["large-packets-lost"], ["10.0.0.1 -> 10.0.1.1"]),
    ("PFC on another priority", lab(INCAST % ", transport: roce", "", "qos: { default: { classes: { 4: { lossless: true, alpha: 1/8 } } } }\n", buffer=4),
     "report", ["lossy-class"], ["leaf2:4"]),
    ("PFC on one side only",
     lab(INCAST % ", payload: 4096B", "", LOSSLESS % "" + "nodes: { h1: { ports: { 1: { pfc: off } } } }\n", buffer=4),
     "report", ["pfc-one-sided"], ["leaf1:1-h1:1"]),
    ("PFC frames ignored", lab(INCAST % ", payload: 4096B", fault("h1", "ignore-pause: true"), LOSSLESS % "", buffer=4), "report", ["pfc-ignored"], ["h1"]),
    ("wrong DSCP from an application", lab(INCAST % ", transport: roce, dscp: 0", buffer=4), "report", ["lossy-class"], ["leaf2:4"]),
    ("DSCP rewritten on the way", lab(ALL, fault("leaf1:1", "dscp-map: { 26: 0 }")), "report", ["dscp-rewritten"], ["leaf1:1"]),
    ("PCP trusted on untagged frames", lab(INCAST % ", transport: roce", "", "qos: { default: { trust: pcp } }\n", buffer=4), "report", ["lossy-class"], ["leaf2:4"]),
    ("data that is not ECT", lab(INCAST % ", transport: roce, ecn: false"), "report", ["ecn-absent"], ["leaf2:4"]),
    ("Kmin and Kmax too high",
     lab(INCAST % ", transport: roce", "", "qos: { default: { classes: { 3: { lossless: true, xoff: 100KB, ecn: { kmin: 8MB, kmax: 12MB, pmax: 10% } } } } }\n"),
     "report", ["ecn-absent", "ecn-late"], ["leaf2:4"]),
    ("Kmin and Kmax too low",
     lab("traffic: [{ name: t, pattern: incast, from: [h1, h2], to: h3, transport: roce, rate: 45Gbps }]\n", "",
         "qos: { default: { classes: { 3: { lossless: true, alpha: 1/8, ecn: { kmin: 1KB, kmax: 2KB, pmax: 100% } } } } }\n"),
     "report", ["ecn-early"], ["leaf1:3"]),
    ("CNPs lost", lab(INCAST % ", transport: roce", fault("leaf2:4 in", "match: { bth.opcode: 129 }, drop: true"), buffer=16), "report",
     ["no-congestion-control", "one-way-loss"], ["fabric", "h8:1 -> leaf2:4"]),
    ("incast beyond the headroom",
     lab(INCAST % ", payload: 4096B", "", LOSSLESS % ", headroom: 2KB, accept-loss: true", buffer=4), "report", ["headroom-small"], [f"leaf1:{n}" for n in range(1, 5)] + [f"leaf2:{n}" for n in (1, 2, 5, 6)]),
    ("bit errors", lab(ALL, fault("leaf1:5 out", "bit-errors: 1e-6")), "report", ["frame-errors"], ["leaf1:5-spine1:1"]),
    ("headers rewritten behind the ICRC", lab(ALL, fault("h1 out", "corrupt: true, probability: 2%")), "report", ["payload-errors"], ["h5"]),
    ("NAKs lost", lab(PAIR % "", fault("h1 out", "match: { nth: 400 }, drop: true") + ", " + fault("h5 out", "match: { bth.opcode: 17 }, loss: 20%"), duration="6ms"),
     "report", ["one-way-loss"], ["h5:1 -> leaf2:1", "h1:1 -> leaf1:1"]),
    ("the last packet of messages lost", lab(PAIR % ", message: 64KB", fault("h1 out", "match: { bth.opcode: 8 }, loss: 10%"), duration="6ms"),
     "report", ["one-way-loss"], ["h1:1 -> leaf1:1"]),
    ("READ responses lost", lab(PAIR % ", operation: read, message: 64KB", fault("h5 out", "loss: 1%"), duration="6ms"), "report",
     ["one-way-loss"], ["h5:1 -> leaf2:1"]),
    ("packets overtake each other", lab(PAIR % "", fault("h1 out", "probability: 1%, reorder: { behind: 4, within: 20us }")), "report",
     ["reordering"], ["leaf1:1-h1:1", "leaf2:1-h5:1"]),
    ("receiver without posted receives", lab(PAIR % ", operation: send, message: 64KB, outstanding: 8, receives: 1, repost-after: 50us"), "report",
     ["receiver-not-ready"], ["h5"]),
    ("slow receiver", lab(ALL, fault("h5", "receive: 30Gbps"), duration="3ms"), "report", ["slow-receiver"], ["h5"]),
    ("PFC storm of a host", lab(ALL, fault("h5", "at: 300us, for: 500us, pfc-storm: 3")), "report", ["pfc-storm"], ["h5"]),
    ("PFC deadlock", (ROOT / "topologies/scenarios/deadlock-ring.yaml").read_text(), "report", ["deadlock"], [f"s{n}:1" for n in range(1, 6)]),
    ("polarised ECMP", (ROOT / "topologies/scenarios/ecmp-polarisation.yaml").read_text(), "report", ["uneven-paths"], ["a1", "a2", "a3", "a4"]),
    ("a link that flaps", lab(ALL, fault("h1", "at: 200us, flap: { down: 50us, up: 100us }")), "report", ["link-flapping"], ["leaf1:1-h1:1"]),
    ("a black hole", lab(ALL, fault("leaf1:5", "at: 200us, down: true"), "routing: static\n", "30ms"), "report", ["failover-blocked"], ["leaf1", "spine1"]),
    ("a detour inside the fabric, seen by in-band telemetry",
     lab(LIGHT, fault("leaf1:5 out", "delay: 40us")).replace("seed: 7", "seed: 7, int: { one-in: 20 }"), "report", ["hop-delay"], ["leaf1:5-spine1:1"]),
    ("spraying under go-back-N, seen by in-band telemetry",
     lab(PAIR % ", qps: 1", "", "qos: { default: { classes: { 3: { path: spray } } } }\n").replace("seed: 7", "seed: 7, int: { one-in: 20 }"), "report", ["reordering"], ["leaf1"]),
    ("UDP port 4791 filtered",
     lab("traffic: [{ name: t, operation: rping, from: h1, to: h5, transport: roce }]\n", fault("leaf2:1 out", "match: { udp.dport: 4791 }, drop: true"),
         "hosts: { default: { roce: { services: [rping-server] } } }\n", "20s"),
     "h1", ["connect-unanswered"], ["10.0.1.1"]),
]


def options():
    p = argparse.ArgumentParser()
    p.add_argument("--only", default="")
    p.add_argument("--keep")
    p.add_argument("--railyard", default=str(ROOT / "build/release/bin/railyard"))
    return p.parse_args()


def railyard(o, *arguments):
    """What it prints; its standard error, if it is no report."""
    done = subprocess.run([o.railyard, *arguments], capture_output=True, text=True, timeout=300, cwd=ROOT)
    return done.stdout or done.stderr


def findings(o, where, name, text, what):
    """[(rule, element)], the surest first; a message if there is no report."""
    file = where / f"{name}.yaml"
    file.write_text(text if "name:" in text.split("\n")[0] or "\nname:" in text else f"name: {name}\n{text}")
    seen = where / f"{name}.json"
    if what == "report":
        seen.write_text(railyard(o, "run", str(file), "--json", "-q"))
    else:
        seen = where / f"{name}.pcapng"
        railyard(o, "run", str(file), "-q", "--capture", f"{what}:1={seen}")
    said = railyard(o, "doctor", str(seen), "--json")
    try:
        return [(f["rule"], f["element"]) for f in json.loads(said)["findings"]]
    except (ValueError, KeyError):
        return said.strip().splitlines()[:1]


def main():
    o = options()
    wrong = []
    rows = [row for row in ROWS if o.only in row[0]]
    with tempfile.TemporaryDirectory() as scratch:
        where = pathlib.Path(o.keep or scratch)
        where.mkdir(parents=True, exist_ok=True)
        for number, (title, text, what, rules, elements) in enumerate(rows):
            found = findings(o, where, f"row-{number}", text, what)
            first = found[0] if found else ("nothing", "")
            right = isinstance(first, tuple) and first[0] in rules and first[1] in elements
            said = " at ".join(first) if isinstance(first, tuple) else first
            print(f"{'ok   ' if right else 'WRONG'} {title:40} {said}", flush=True)
            if not right:
                wrong.append(f"{title}: expected {' or '.join(rules)} at {' or '.join(elements)}, found {found[:3] or 'nothing'}")
    print(f"\n{len(rows) - len(wrong)} of {len(rows)} failures are named, with the place")
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
