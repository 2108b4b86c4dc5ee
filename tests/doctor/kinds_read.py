"""Incidents of which the doctor reads more than the report, or something else: a plan, a capture, in-band telemetry, probes.

A third value says what: {"plan": text of a fabric file}, {"capture": "h1:1"}, {"files": {name: octets}} that the fabric file names.
"""
import struct

from fabrics import Fabric, fault, messages, run_of

FAST_TIMEOUT = "hosts: { default: { roce: { ack-timeout: 5 } } }\n"


def explicit(f, moved=None, rates=None):
    """Nodes and links of a leaf-spine by hand, so that a plan can differ in one of them. `moved`: {host: leaf}; `rates`: {link: Gb/s}."""
    moved, rates = moved or {}, rates or {}
    lines = ["nodes:"] + [f"  {s}: {{ kind: switch }}" for s in f.switches] + [f"  {e.host}: {{ kind: host }}" for e in f.ends] + ["links:"]
    for e in f.ends:
        leaf = moved.get(e.host, e.leaf)
        port = e.port if leaf == e.leaf else f"{leaf}:{len(f.ends) + f.spines + 1}"
        lines.append(f"  - ['{port}', '{e.nic}', {{ rate: {rates.get(e.host, f.rate)}Gbps, cable: {f.cable}m }}]")
    for leaf in sorted({e.leaf for e in f.ends}):
        lines += [f"  - ['{a}', '{b}', {{ rate: {rates.get(a, f.rate)}Gbps, cable: {f.cable}m }}]" for a, b in f.uplinks(leaf)]
    return "\n".join(lines) + "\n"


def wrong_switch(r):
    f = Fabric(r, shape="leaf-spine", far=False)
    text, _ = messages(f, r)
    e = r.choice(f.ends)
    wrong = r.choice([leaf for leaf in sorted({x.leaf for x in f.ends}) if leaf != e.leaf])
    there = f"{wrong}:{len(f.ends) + f.spines + 1}"
    return explicit(f, moved={e.host: wrong}) + text + run_of(r), ("wrong-switch", [f"{there}-{e.nic}"]), {"plan": explicit(f)}


def slower_than_planned(r):
    """Both ends agree on less than the plan has: a host's link, or one between switches, or all of them."""
    f = Fabric(r, shape="leaf-spine", rate=r.choice([100, 200, 400]), far=False)
    text, _ = messages(f, r)
    e = r.choice(f.ends)
    leaf_port, spine_port = r.choice(f.uplinks(e.leaf))
    if r.random() < 0.5:
        rates, label = {e.host: f.rate // 2}, [e.link]
    else:
        rates, label = {leaf_port: f.rate // 2}, [f"{leaf_port}-{spine_port}"]
    return explicit(f, rates=rates) + text + run_of(r), ("slower-than-planned", label), {"plan": explicit(f)}


def detour(r):
    """A link between switches delays, on a fabric with little load. Only in-band telemetry has the times of hops."""
    f = Fabric(r, shape="leaf-spine")
    # So many QPs that some take each of the paths.
    text, _ = messages(f, r, "roce", 16, f", rate: {f.rate / 10:.1f}Gbps")
    leaf = r.choice(f.ends).leaf
    a, b = r.choice(f.uplinks(leaf))
    run = f"run: {{ duration: {r.randint(1000, 2500)}us, seed: {r.randint(1, 100000)}, int: {{ one-in: {r.choice([10, 20])} }} }}\n"
    return f.text + text + fault(f"{a} out", f"delay: {r.choice([20, 40, 100])}us") + run, ("hop-delay", [f"{a}-{b}"])


def sprayed(r):
    """A leaf that sprays, under NICs that go back to the first gap. In-band telemetry shows where packets part."""
    f = Fabric(r, shape="leaf-spine", far=False)
    leaves = sorted({e.leaf for e in f.ends})
    here, there = leaves[0], leaves[-1]
    text = f"traffic:\n  - {{ name: t, from: '{f.at(here)[0].nic}', to: '{f.at(there)[0].nic}', transport: roce }}\n"
    q = "qos: { default: { classes: { 3: { lossless: true, alpha: 1/8, ecn: auto, path: spray }, 6: { strict: true } } } }\n"
    run = f"run: {{ duration: {r.randint(1000, 2500)}us, seed: {r.randint(1, 100000)}, int: {{ one-in: {r.choice([10, 20])} }} }}\n"
    return f.text + q + text + run, ("reordering", [here])


def probes(r):
    """Nobody uses the fabric but its probes, and a NIC's link has a part of its rate. Polls may see it, too."""
    f = Fabric(r, shape="leaf-spine", far=False)
    e = r.choice(f.ends)
    text = f"probe: {{ every: 200ms }}\nrun: {{ duration: 450ms, seed: {r.randint(1, 100000)} }}\n"
    return f.text + text + fault(e.port, f"rate: {r.choice(['1/2', '1/4'])}"), (("slow-probes", "slow-link"), [e.link])


def frame(destination, ttl):
    """A UDP packet to this IPv4 address, as a capture file has it."""
    ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 228, 0, 0, ttl, 17, 0, bytes([10, 0, 0, 9]), bytes(destination))
    total = sum(struct.unpack(">10H", ip))
    total = (total & 0xFFFF) + (total >> 16)
    ip = ip[:10] + struct.pack(">H", ~total & 0xFFFF) + ip[12:]
    return bytes.fromhex("0200000000010200000000090800") + ip + struct.pack(">HHHH", 5000, 5001, 208, 0) + bytes(200)


def capture_of(frames, gap_us):
    out = struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
    for i, f in enumerate(frames):
        out += struct.pack("<IIII", 0, 100 + i * gap_us, len(f), len(f)) + f
    return out


def black_hole(r):
    """A host sends to a network that nobody has announced, or packets that have come a long way already."""
    f = Fabric(r, shape="leaf-spine")
    text, _ = messages(f, r)
    leaf = r.choice(f.ends).leaf
    if r.random() < 0.7:
        packet, where = frame([10, 77, 0, r.randint(1, 200)], 64), leaf
    else:
        there = r.choice([e for e in f.ends if e.leaf != leaf])
        packet, where = frame([int(n) for n in f.address(there).split(".")], 2), "spine*"
    extra = f"nodes: {{ stray: {{ kind: host, attach: {{ pcap: {{ in: stray.pcap }} }} }} }}\nlinks: [['{leaf}:40', 'stray:1', {{}}]]\n"
    return f.text + extra + text + run_of(r), ("black-hole", [where]), {"files": {"stray.pcap": capture_of([packet] * r.randint(20, 200), 4)}}


def pair(r, extra=""):
    """One flow between two leaves, and what it has at its ends."""
    f = Fabric(r, shape="leaf-spine", far=False)
    leaves = sorted({e.leaf for e in f.ends})
    a, b = r.choice(f.at(leaves[0])), r.choice(f.at(leaves[-1]))
    return f, a, b, f"traffic:\n  - {{ name: t, from: '{a.nic}', to: '{b.nic}', transport: roce{extra} }}\n"


def captured_loss(r):
    f, a, b, text = pair(r, ", message: 64KB")
    return f.text + FAST_TIMEOUT + text + fault(f"{a.nic} out", f"loss: {r.choice(['1%', '3%'])}") + run_of(r, 4000, 6000), ("rdma-loss", [f.address(b)]), {"capture": b.nic}


def captured_silence(r):
    """A filter of UDP port 4791 in front of the receiver, from the start or later on."""
    f, a, b, text = pair(r, ", message: 64KB")
    what = fault(f"{b.port} out", "match: { udp.dport: 4791 }, drop: true")
    return f.text + FAST_TIMEOUT + text + what + run_of(r, 4000, 6000), ("no-answer", [f.address(b)]), {"capture": a.nic}


def captured_mtu(r):
    f, a, b, text = pair(r, ", message: 256B, bytes: 5120B")
    text += f"  - {{ name: large, from: '{a.nic}', to: '{b.nic}', transport: roce, message: 64KB, start: 100us }}\n"
    what = fault(b.port, f"mtu: {r.choice([1500, 2200, 3000])}")
    return f.text + FAST_TIMEOUT + text + what + run_of(r, 4000, 6000), ("large-packets-lost", [f"{f.address(a)} -> {f.address(b)}"]), {"capture": a.nic}


def unanswered(r):
    f, a, b, _ = pair(r)
    text = f"traffic: [{{ name: t, operation: rping, from: '{a.nic}', to: '{b.nic}', transport: roce }}]\n"
    hosts = "hosts: { default: { roce: { services: [rping-server] } } }\n"
    what = fault(f"{b.port} out", "match: { udp.dport: 4791 }, drop: true")
    run = f"run: {{ duration: 20s, seed: {r.randint(1, 100000)} }}\n"
    return f.text + hosts + text + what + run, ("connect-unanswered", [f.address(b)]), {"capture": a.nic}


READ_KINDS = {
    "wrong-switch": wrong_switch,
    "slower-than-planned": slower_than_planned,
    "int-detour": detour,
    "int-spray": sprayed,
    "probes": probes,
    "black-hole": black_hole,
    "capture-loss": captured_loss,
    "capture-silence": captured_silence,
    "capture-mtu": captured_mtu,
    "connect-unanswered": unanswered,
}

# Rules that no kind covers, and why.
NOT_DRAWN = {
    "path-mtu-differs": "both QPs of built-in NICs have the path MTU of their traffic; tests/control/doctor/conversations_test.cc has packets",
    "roce-v1": "built-in NICs send RoCE v2 only; tests/control/doctor/conversations_test.cc has frames",
    "connect-refused": "a fabric file whose clients have no server is an error; tests/control/doctor/conversations_test.cc has packets",
    "guest-slow": "needs software behind a port of a live lab; tests/live",
    "emulator-late": "nothing is late under the virtual clock; tests/live",
}
