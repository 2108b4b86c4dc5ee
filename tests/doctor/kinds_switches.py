"""Incidents of whole switches: profiles that differ from those of the others, and single ports. As kinds.py has them."""
from fabrics import Fabric, fault, incast, incast_at, messages, run_of

# As the built-in profile `default`, with one thing to change.
PROFILE = "{{ {dscp}classes: {{ 3: {{ {class3} }}, 5: {{ strict: true }}, 6: {{ strict: true }} }} }}"
CLASS3 = "lossless: true, alpha: 1/8, ecn: auto"


def other_profile(f, switch, dscp="", class3=CLASS3, usual=CLASS3):
    """Text: `switch` has a QoS profile of its own."""
    return (
        f.text.replace("MiB } }", f"MiB }}, odd: {{ buffer: {f.buffer}MiB, qos: odd }} }}")
        + f"qos:\n  default: {PROFILE.format(dscp='', class3=usual)}\n  odd: {PROFILE.format(dscp=dscp, class3=class3)}\n"
        + f"nodes: {{ {switch}: {{ profile: odd }} }}\n"
    )


def switch_map(r):
    """A switch that maps the DSCP of RDMA to another class, by its profile or by a fault."""
    f = Fabric(r)
    text, _ = messages(f, r)
    leaf = r.choice(f.ends).leaf
    other = r.choice([0, 1, 2])
    if r.random() < 0.5:
        return f.text + text + fault(leaf, f"dscp-map: {{ 26: {other} }}") + run_of(r), ("dscp-rewritten", [leaf])
    return other_profile(f, leaf, f"dscp: {{ 26: {other} }}, ") + text + run_of(r), ("dscp-rewritten", [leaf])


def switch_without_ecn(r):
    f = Fabric(r, at_least=10, far=False, shape=r.choice(["leaf-spine", "fat-tree", "rails"]))
    leaf = r.choice(f.ends).leaf
    text, to, _ = incast_at(f, r, leaf, 6)
    q = "lossless: true, xoff: 100KB"
    return other_profile(f, leaf, class3=q, usual=q + ", ecn: auto") + text + run_of(r), (("ecn-absent", "ecn-late"), [to.port])


def switch_without_pfc(r):
    """A switch whose ports to hosts have no PFC, in front of the senders."""
    f = Fabric(r, 4, shape="leaf-spine", at_least=9, rate=r.choice([100, 200, 400]))
    leaf = r.choice(f.ends).leaf
    to = r.choice([e for e in f.ends if e.leaf != leaf])
    senders = f.at(leaf)[:4]
    names = ", ".join(f"'{e.nic}'" for e in senders)
    others = ", ".join(f"'{e.nic}'" for e in f.ends if e.leaf != leaf and e is not to)
    traffic = f"traffic:\n  - {{ name: t, pattern: incast, from: [{names}, {others}], to: '{to.nic}', payload: 4096B }}\n"
    off = ", ".join(f"{e.port.split(':')[1]}: {{ pfc: off }}" for e in f.at(leaf))
    q = "qos: { default: { classes: { 3: { lossless: true, alpha: 1/8 } } } }\n"
    return f.text + q + f"nodes: {{ {leaf}: {{ ports: {{ {off} }} }} }}\n" + traffic + run_of(r, 2000, 3000), ("pfc-one-sided", [e.link for e in senders])


def switch_lossy(r):
    """A switch in which the class of RDMA is lossy, in front of the receiver."""
    f = Fabric(r, 4, at_least=10, shape=r.choice(["leaf-spine", "fat-tree", "rails"]))
    leaf = r.choice(f.ends).leaf
    text, to, _ = incast_at(f, r, leaf, 8)
    q = "lossless: true, alpha: 1/8"
    return other_profile(f, leaf, class3="lossless: false", usual=q) + text + run_of(r, 2000, 3000), (("lossy-class", "buffer-full"), [to.port])


def port_marks_early(r):
    """Thresholds of one port, or of all ports of one switch. Three senders share a port and ask for less than it has."""
    f = Fabric(r, at_least=8, shape=r.choice(["leaf-spine", "fat-tree", "rails"]), far=False)
    leaf = r.choice(f.ends).leaf
    text, to, _ = incast_at(f, r, leaf, 3)
    text = text.replace("transport: roce", f"transport: roce, qps: {r.choice([1, 4])}, rate: {0.3 * f.rate:.2f}Gbps")
    kmin = r.choice([1, 2, 4])
    what = f"ecn: {{ kmin: {kmin}KB, kmax: {2 * kmin}KB }}"
    if r.random() < 0.5:
        return f.text + text + fault(to.port, what) + run_of(r), ("ecn-early", [to.port])
    return f.text + text + fault(leaf, what) + run_of(r), ("ecn-early", [f"{leaf}:*"])


def port_headroom(r):
    """Too little headroom at the port of a sender."""
    f = Fabric(r, 4, at_least=8)
    text, _, senders = incast(f, r, "generator", r.randint(4, 6))
    e = r.choice(senders)
    q = "qos: { default: { classes: { 3: { lossless: true, alpha: 1/8, accept-loss: true } } } }\n"
    nodes = f"nodes: {{ {e.leaf}: {{ ports: {{ {e.port.split(':')[1]}: {{ classes: {{ 3: {{ headroom: {r.choice([1, 2, 4])}KB }} }} }} }} }} }}\n"
    return f.text + q + nodes + text + run_of(r, 2000, 3000), ("headroom-small", [e.port])


def headroom_of_far_links(r):
    """Headroom as for short cables, and kilometres between the switches."""
    f = Fabric(r, 32, shape="leaf-spine", at_least=9, rate=r.choice([100, 200, 400]))
    leaf = r.choice(f.ends).leaf
    to = r.choice(f.at(leaf))
    senders = [e for e in f.ends if e.leaf != leaf]
    names = ", ".join(f"'{e.nic}'" for e in senders)
    text = f.text.replace(" }\ndefaults", f", fabric-link: {{ rate: {f.rate}Gbps, cable: {r.choice([2, 5])}km }} }}\ndefaults")
    q = "qos: { default: { classes: { 3: { lossless: true, xoff: 100KB, headroom: 40KB, accept-loss: true } } } }\n"
    traffic = f"traffic:\n  - {{ name: t, pattern: incast, from: [{names}], to: '{to.nic}', payload: 4096B, flows: 4 }}\n"
    return text + q + traffic + run_of(r, 2000, 3000), (
        "headroom-small",
        [port for port, _ in f.uplinks(leaf)] + ["spine*"] + [e.port for e in senders],
    )


def hash_of_nothing(r):
    """A leaf that sends all flows by one of its equal paths."""
    f = Fabric(r, shape="leaf-spine", at_least=8, rate=r.choice([25, 50, 100]), far=False)
    leaf = r.choice(f.ends).leaf
    here, there = f.at(leaf), [e for e in f.ends if e.leaf != leaf]
    lines = ["traffic:"]
    for i, e in enumerate(here):
        lines.append(f"  - {{ name: t{i}, from: '{e.nic}', to: '{there[i % len(there)].nic}', transport: roce, qps: {r.choice([16, 32])} }}")
    text = f.text.replace("MiB } }", f"MiB }}, odd: {{ buffer: {f.buffer}MiB, ecmp: {{ fields: [] }} }} }}")
    return text + f"nodes: {{ {leaf}: {{ profile: odd }} }}\n" + "\n".join(lines) + "\n" + run_of(r), (("uneven-paths", "few-flows"), [leaf])


SWITCH_KINDS = {
    "switch-map": switch_map,
    "switch-no-ecn": switch_without_ecn,
    "switch-no-pfc": switch_without_pfc,
    "switch-lossy": switch_lossy,
    "port-ecn-low": port_marks_early,
    "port-headroom": port_headroom,
    "far-headroom": headroom_of_far_links,
    "one-path": hash_of_nothing,
}
