"""Incidents by kind. Each returns the text of a fabric file without its name, and what is right: (rules, elements); a third value
says what the doctor reads beside the report, or instead (kinds_read.py)."""
from fabrics import Fabric, fault, incast, messages, run_of
from kinds_jobs import JOB_KINDS
from kinds_read import READ_KINDS
from kinds_switches import SWITCH_KINDS

LOSSLESS = "qos: { default: { classes: { 3: { lossless: true, alpha: 1/8 } } } }\n"


def on_messages(r, what, label, when="", transport=None, least=1000, most=2500, shape=None):
    """A fault at a NIC's link while everybody sends. `what` and `label` get the end."""
    f = Fabric(r, shape=shape)
    text, pairs = messages(f, r, transport)
    e = r.choice(f.ends)
    on, does = what(e, f)
    return f.text + text + fault(on, does, when) + run_of(r, least, most), label(e, dict((a.nic, b) for a, b in pairs))


def direction(r, e):
    return r.choice([(f"{e.nic} out", e.up), (f"{e.port} out", e.down)])


def frame_errors(r):
    rate = r.choice(["5e-7", "1e-6", "3e-6", "1e-5", "3e-5"])
    return on_messages(r, lambda e, f: (direction(r, e)[0], f"bit-errors: {rate}"), lambda e, to: ("frame-errors", [e.link]))


def truncate(r):
    return on_messages(
        r,
        lambda e, f: (direction(r, e)[0], f"truncate: {r.choice([100, 300, 1000])}B, probability: {r.choice(['1%', '5%'])}"),
        lambda e, to: ("frame-errors", [e.link]),
        transport="roce",
    )


def one_way_loss(r, what):
    chosen = []

    def place(e, f):
        on, way = direction(r, e)
        chosen.append(way)
        return on, what

    return on_messages(r, place, lambda e, to: ("one-way-loss", [chosen[0]]))


def mtu(r):
    return on_messages(
        r, lambda e, f: (r.choice([e.nic, e.port]), f"mtu: {r.choice([1500, 2200, 3000, 4000])}"), lambda e, to: ("mtu-mismatch", [e.link, e.leaf])
    )


def down(r):
    return on_messages(r, lambda e, f: (e.nic, "down: true"), lambda e, to: ("link-down", [e.link]), f"at: {r.randint(50, 600)}us")


def flap(r):
    what = f"flap: {{ down: {r.randint(30, 100)}us, up: {r.randint(60, 150)}us }}"
    return on_messages(r, lambda e, f: (e.nic, what), lambda e, to: ("link-flapping", [e.link]), f"at: {r.randint(50, 400)}us")


def fabric_down(r):
    """A link between switches; routing is too slow to know within the run."""
    f = Fabric(r, shape="leaf-spine")
    text, _ = messages(f, r)
    leaf = r.randint(1, f.leaves)
    port = len(f.ends) // f.leaves + r.randint(1, f.spines)
    spine = port - len(f.ends) // f.leaves
    names = sorted([f"leaf{leaf}:{port}", f"spine{spine}:{leaf}"])
    return f.text + text + fault(f"leaf{leaf}:{port}", "down: true", f"at: {r.randint(100, 500)}us") + run_of(r), ("link-down", ["-".join(names)])


def crash(r):
    f = Fabric(r)
    text, _ = messages(f, r)
    node = r.choice(f.switches)
    return f.text + text + fault(node, "crash: true", f"at: {r.randint(100, 500)}us, for: {r.randint(100, 400)}us") + run_of(r), ("switch-reset", [node])


def failover(r):
    """Static routes, and a link between switches that is down for good."""
    f = Fabric(r, shape="leaf-spine", rate=25)
    text, _ = messages(f, r, "generator", 1, ", rate: 250Mbps, flows: 16")
    text = text.replace(", qps: 1", "")
    leaf, spine = r.randint(1, f.leaves), r.randint(1, f.spines)
    port = len(f.ends) // f.leaves + spine
    both = [f"leaf{leaf}", f"spine{spine}"]
    return (
        f.text + text + "routing: static\n" + fault(f"leaf{leaf}:{port}", "down: true", f"at: {r.randint(1, 4)}ms") + run_of(r, 25000, 40000),
        ("failover-blocked", both),
    )


def pfc(r, what, rule, element):
    """Something is wrong with PFC at a sender of an incast that fills the buffer."""
    f = Fabric(r, 4, at_least=8)
    text, _, senders = incast(f, r, "generator", r.randint(4, 6))
    e = r.choice(senders)
    on, does = what(e)
    return f.text + LOSSLESS + text + fault(on, does) + run_of(r, 2000, 3000), (rule, [element(e)])


def pfc_one_sided(r):
    f = Fabric(r, 4, at_least=8)
    text, _, senders = incast(f, r, "generator", r.randint(4, 6))
    e = r.choice(senders)
    nodes = f"nodes: {{ {e.host}: {{ ports: {{ {e.number}: {{ pfc: off }} }} }} }}\n"
    return f.text + LOSSLESS + nodes + text + run_of(r, 2000, 3000), ("pfc-one-sided", [e.link])


def headroom(r):
    f = Fabric(r, 4, at_least=8)
    text, to, senders = incast(f, r, "generator", r.randint(4, 6))
    q = "qos: { default: { classes: { 3: { lossless: true, alpha: 1/8, headroom: " + r.choice(["1KB", "2KB", "4KB"]) + ", accept-loss: true } } } }\n"
    # Where the senders come in, and on their way.
    on_the_way = ["spine*:*", "core*:*", "super*:*", "branch*:*", "s*:*"]
    return f.text + q + text + run_of(r, 2000, 3000), ("headroom-small", [e.port for e in senders] + [f"{to.leaf}:*", *on_the_way])


def host_pauses(r, what, rule):
    return on_messages(r, lambda e, f: (e.nic, what), lambda e, to: (rule, [e.host]), f"at: {r.randint(100, 400)}us, for: {r.randint(200, 600)}us")


def slow_receiver(r):
    return on_messages(
        r, lambda e, f: (e.nic, f"receive: {f.rate / r.choice([2, 3, 5]):.0f}Gbps"), lambda e, to: ("slow-receiver", [e.host]), least=1500, most=3000
    )


def dscp(r):
    return on_messages(
        r, lambda e, f: (e.port, f"dscp-map: {{ 26: {r.choice([0, 1, 2, 5])} }}"), lambda e, to: ("dscp-rewritten", [e.port])
    )


def corrupt(r):
    return on_messages(
        r,
        lambda e, f: (f"{e.nic} out", f"corrupt: true, probability: {r.choice(['0.5%', '1%', '5%'])}"),
        lambda e, to: ("payload-errors", [to[e.nic].host]),
        transport="roce",
    )


def ecn_absent(r):
    f = Fabric(r, at_least=8)
    text, to, _ = incast(f, r, size=6)
    high = r.choice(["{ kmin: 8MB, kmax: 12MB, pmax: 10% }", "{ kmin: 20MB, kmax: 24MB, pmax: 10% }"])
    q = f"qos: {{ default: {{ classes: {{ 3: {{ lossless: true, xoff: 100KB, ecn: {high} }} }} }} }}\n"
    return f.text + q + text + run_of(r), (("ecn-absent", "ecn-late"), [to.port])


def ecn_low(r):
    f = Fabric(r)
    text, _ = messages(f, r, "roce", extra=r.choice(["", ", message: 256KB"]))
    kmin = r.choice([1, 2, 4])
    q = f"qos: {{ default: {{ classes: {{ 3: {{ lossless: true, alpha: 1/8, ecn: {{ kmin: {kmin}KB, kmax: {2 * kmin}KB, pmax: 100% }} }} }} }} }}\n"
    return f.text + q + text + run_of(r), ("ecn-early", [f"{s}:*" for s in f.switches])


def no_cnp(r):
    f = Fabric(r, at_least=8)
    text, to, _ = incast(f, r, size=6)
    return f.text + "hosts: { default: { roce: { congestion: none } } }\n" + text + run_of(r), ("ecn-not-echoed", [to.host])


def deaf_sender(r):
    f = Fabric(r, at_least=8, shape=r.choice(["leaf-spine", "fat-tree"]))
    text, _, senders = incast(f, r, size=6)
    e = r.choice(senders)
    hosts = "hosts: { default: { roce: { congestion: dcqcn } }, deaf: { roce: { congestion: none } } }\n"
    return f.text + hosts + f"nodes: {{ {e.host}: {{ profile: deaf }} }}\n" + text + run_of(r), ("no-congestion-control", [e.host])


def mixed(r):
    f = Fabric(r, at_least=8)
    text, to, senders = incast(f, r, size=5)
    loud = senders[-1]
    names = ", ".join(f"'{e.nic}'" for e in senders[:-1])
    text = (
        f"traffic:\n  - {{ name: train, pattern: incast, from: [{names}], to: '{to.nic}', transport: roce }}\n"
        f"  - {{ name: backup, from: '{loud.nic}', to: '{to.nic}', dscp: 26, ecn: false, start: {r.randint(0, 300)}us }}\n"
    )
    return f.text + text + run_of(r, 2000, 4000), ("mixed-traffic", [to.port])


def misaligned(r):
    f = Fabric(r, 4, at_least=8)
    text, to, _ = incast(f, r, size=6)
    q = "qos: { default: { classes: { 4: { lossless: true, alpha: 1/8 } } } }\n"
    return f.text + q + text + run_of(r, 2000, 3000), ("lossy-class", [to.port])


def lossy_incast(r):
    f = Fabric(r, 4, at_least=8)
    text, to, _ = incast(f, r, "generator", size=6)
    q = "qos: { default: { classes: { 3: { lossless: false } } } }\n"
    return f.text + q + text + run_of(r, 2000, 3000), ("buffer-full", [to.port])


def slow_link(r):
    """A link at a part of its rate, towards a host that gets more than that."""
    share = r.choice(["1/2", "1/4", "1/10"])
    return on_messages(r, lambda e, f: (r.choice([e.port, f"{e.port} out"]), f"rate: {share}"), lambda e, to: ("slow-link", [e.link]), f"at: {r.randint(0, 300)}us")


def speed(r):
    f = Fabric(r, shape="fat-tree", rate=r.choice([100, 200, 400]))
    text, _ = messages(f, r)
    # The same fabric by hand is long: a host more, at a slower link.
    extra = f"nodes: {{ odd: {{ kind: host }} }}\nlinks: [['leaf1:9', 'odd:1', {{ rate: {f.rate // r.choice([2, 4])}Gbps }}]]\n"
    return f.text + extra + text + run_of(r), ("speed-mismatch", ["leaf1:9-odd:1"])


def pcie(r):
    f = Fabric(r, rate=r.choice([200, 400]), shape=r.choice(["leaf-spine", "fat-tree"]))
    text, pairs = messages(f, r)
    e = r.choice(f.ends)
    slot = r.choice(["gen3x8", "gen4x8", "gen3x16"]) if f.rate == 400 else "gen3x8"
    return f.text + f"hosts: {{ default: {{}}, old: {{ pcie: {slot} }} }}\nnodes: {{ {e.host}: {{ profile: old }} }}\n" + text + run_of(r), (
        "pcie-limit",
        [e.host],
    )


def slow_sender(r):
    # Where links between switches are shared by three, a NIC at a third of its rate is like the others.
    shape = r.choice(["leaf-spine", "leaf-spine", "fat-tree", "rails"])
    share = r.choice(["1/3", "1/5", "1/10"])
    return on_messages(r, lambda e, f: (e.nic, f"straggle: {share}"), lambda e, to: ("slow-sender", [e.host]), shape=shape)


def window(r):
    f = Fabric(r, rate=r.choice([200, 400]), shape=r.choice(["leaf-spine", "fat-tree"]))
    text, _ = messages(f, r, "uet")
    return f.text + f"hosts: {{ default: {{ uet: {{ window: {r.choice([4, 8])} }} }} }}\n" + text + run_of(r), ("window-small", ["uet"])


def duplicates(r):
    chosen = []

    def place(e, f):
        on, way = direction(r, e)
        chosen.append(way)
        return on, f"duplicate: true, probability: {r.choice(['1%', '5%', '20%'])}"

    return on_messages(r, place, lambda e, to: ("duplicated-frames", [chosen[0]]))


def reorder(r):
    """A QP for each flow: packets of other QPs may overtake."""
    f = Fabric(r)
    text, pairs = messages(f, r, "roce", 1)
    e = r.choice(f.ends)
    to = dict((a.nic, b) for a, b in pairs)[e.nic]
    share = r.choice(["0.5%", "2%"])
    what = f"probability: {share}, reorder: {{ behind: {r.randint(2, 8)}, within: 20us }}"
    return f.text + text + fault(f"{e.nic} out", what) + run_of(r), ("reordering", [e.link, to.link])


def delay(r):
    """On a fabric with little load, or with all that it can take."""
    f = Fabric(r)
    text, pairs = messages(f, r, "generator", 1, f", rate: {f.rate / 10:.1f}Gbps") if r.random() < 0.5 else messages(f, r, "roce")
    e = r.choice(f.ends)
    to = dict((a.nic, b) for a, b in pairs)
    # Of two that talk to each other alone nobody can say which of the links it is.
    right = [e.link] + ([to[e.nic].link] if to[to[e.nic].nic] is e else [])
    return f.text + text.replace("generator, qps: 1", "generator") + fault(e.nic, f"delay: {r.choice([20, 50, 100])}us") + run_of(r), ("extra-delay", right)


def skew(r):
    # Where two hosts talk to each other alone, their clocks differ, and nobody can say which is wrong.
    f = Fabric(r)
    text, pairs = messages(f, r)
    e = r.choice(f.ends)
    to = dict((a.nic, b) for a, b in pairs)
    right = [e.host] + ([to[e.nic].host] if to[to[e.nic].nic] is e else [])
    what = f"skew: {{ {r.choice(['ahead', 'behind'])}: {r.choice([30, 100, 500])}us }}"
    return f.text + text + fault(e.host, what) + run_of(r), ("clock-skew", right)


def ce_marks(r):
    """On a fabric whose queues are short."""
    f = Fabric(r)
    text, pairs = messages(f, r, "roce", 1, f", rate: {f.rate / 10:.1f}Gbps")
    e = r.choice(f.ends)
    to = dict((a.nic, b) for a, b in pairs)[e.nic]
    share = r.choice(["10%", "30%", "100%"])
    return f.text + text + fault(f"{e.nic} out", f"mark: true, probability: {share}") + run_of(r), ("marks-unexplained", [e.link, to.link])


def trim_lost(r):
    """Trimmed headers are in a class that gets hardly anything of the port."""
    f = Fabric(r, 4, at_least=8, shape=r.choice(["leaf-spine", "fat-tree", "rails"]))
    text, to, _ = incast(f, r, "uet", size=6)
    q = (
        f"qos: {{ default: {{ dscp: {{ 26: 1, 10: 2, 46: 5 }}, classes: {{ 1: {{ queue-limit: {r.choice([50, 100])}KB, weight: 1000, "
        f"trim: {{ dscp: 10, class: 2 }} }}, 2: {{ queue-limit: {r.choice([1, 2])}KB, weight: 1 }}, 5: {{ strict: true }} }} }} }}\n"
    )
    return f.text + q + text + run_of(r), ("trim-misclassified", [to.leaf])


def not_ready(r):
    f = Fabric(r)
    text, pairs = messages(f, r, "roce", 1, ", operation: send, message: 64KB, outstanding: 8, receives: 8")
    e, to = r.choice(pairs)
    lines = text.splitlines()
    at = next(i for i, line in enumerate(lines) if f"to: '{to.nic}'" in line)
    lines[at] = lines[at].replace("receives: 8", f"receives: 1, repost-after: {r.choice([20, 50, 200])}us")
    return f.text + "\n".join(lines) + "\n" + run_of(r), ("receiver-not-ready", [to.host])


def swapped(r):
    """Rails by hand: two NICs of one host are plugged into each other's leaves."""
    hosts, rails = r.randint(4, 8), r.randint(2, 4)
    bad = r.randint(1, hosts)
    a, b = r.sample(range(1, rails + 1), 2)
    lines = ["nodes:"] + [f"  h{h}: {{ kind: host, nics: {rails} }}" for h in range(1, hosts + 1)]
    lines += [f"  rail{n}: {{ kind: switch }}" for n in range(1, rails + 1)] + ["  top: { kind: switch }", "links:"]
    for h in range(1, hosts + 1):
        for n in range(1, rails + 1):
            rail = n if h != bad or n not in (a, b) else (b if n == a else a)
            lines.append(f"  - ['h{h}:{n}', 'rail{rail}:{h}', {{ rate: 100Gbps, cable: 5m }}]")
    lines += [f"  - ['rail{n}:{hosts + 1}', 'top:{n}', {{ rate: 400Gbps, cable: 10m }}]" for n in range(1, rails + 1)]
    lines += ["traffic:", f"  - {{ name: t, pattern: permutation, transport: roce }}"]
    return "\n".join(lines) + "\n" + run_of(r), ("cable-swapped", [f"h{bad}"])


def straggler(r):
    f = Fabric(r, connected=True)
    n = r.randrange(len(f.ends))
    ends = sorted(f.ends, key=lambda e: (int(e.host[1:]), e.number))
    name = f"rank {n} ({ends[n].host if f.shape != 'rails' else ends[n].nic})"
    job = (
        f"collectives:\n  - {{ name: step, collective: all-reduce, size: {r.choice([1, 2, 8])}MiB, repeats: 3, forward: 100us, backward: 200us, "
        f"stragglers: [{{ ranks: [{n}], factor: {r.choice(['1.25', '1.5', '2', '3'])} }}] }}\n"
    )
    return f.text + job + f"run: {{ seed: {r.randint(1, 1000)} }}\n", ("straggler", [name])


def ring(r):
    hosts = r.choice([24, 32, 48])
    size = r.choice(["64KiB", "128KiB", "256KiB"])
    return (
        f"topology: {{ preset: leaf-spine, leaves: 4, spines: 4, hosts-per-leaf: {hosts // 4} }}\n"
        f"collectives: [{{ name: sum, collective: all-reduce, algorithm: ring, size: {size}, repeats: 2 }}]\nrun: {{ seed: {r.randint(1, 1000)} }}\n",
        ("ring-latency", ["sum"]),
    )


def tensor(r):
    hosts, gpus = r.choice([(2, 2), (3, 2), (2, 3), (3, 4)])
    return (
        f"topology: {{ preset: rail-optimized, hosts: {hosts}, rails: 2, spines: 1, host-link: {{ rate: {r.choice([50, 100])}Gbps, cable: 3m }}, "
        "fabric-link: { rate: 200Gbps, cable: 30m } }\n"
        f"hosts: {{ default: {{ gpus: {gpus}, scale-up: {{ rate: 2400Gbps, latency: 500ns }} }} }}\n"
        f"jobs: [{{ name: across, model: gpt2-124m, parallelism: {{ tp: {hosts * gpus} }}, microbatches: 2, microbatch-size: 2, gpu: a100, ranks: 'h*' }}]\n"
        f"run: {{ seed: {r.randint(1, 1000)} }}\n",
        ("tensor-across-hosts", ["across"]),
    )


def bubbles(r):
    stages = r.choice([4, 6])
    return (
        f"topology: {{ preset: leaf-spine, leaves: 2, spines: 2, hosts-per-leaf: {stages // 2} }}\n"
        f"defaults: {{ link: {{ rate: {r.choice([100, 400])}Gbps, cable: 5m }} }}\n"
        f"jobs: [{{ name: pipe, model: gpt2-124m, parallelism: {{ pp: {stages} }}, microbatches: {r.choice([1, 2])}, gpu: a100, ranks: 'h*' }}]\n"
        f"run: {{ seed: {r.randint(1, 1000)} }}\n",
        ("pipeline-bubbles", ["pipe"]),
    )


def deadlock(r):
    """A ring of switches, and traffic that goes two switches further on."""
    n = r.choice([5, 7])
    rate = r.choice([25, 100, 400])
    link = f"{{ rate: {rate}Gbps, cable: 3m }}"
    lines = ["nodes:"] + [f"  s{i}: {{ kind: switch }}\n  h{i}: {{ kind: host }}" for i in range(1, n + 1)] + ["links:"]
    for i in range(1, n + 1):
        lines += [f"  - ['s{i}:1', 's{i % n + 1}:2', {link}]", f"  - ['h{i}:1', 's{i}:3', {link}]"]
    hosts = [f"h{i}" for i in range(1, n + 1)]
    hops = 2 if n == 5 else 3
    to = hosts[hops:] + hosts[:hops]
    return (
        "switches: { default: { buffer: 1MiB } }\n"
        "qos: { default: { classes: { 3: { lossless: true, alpha: 1/8, ecn: auto, accept-deadlock: true } } } }\n"
        + "\n".join(lines)
        + f"\ntraffic:\n  - {{ name: round, from: [{', '.join(hosts)}], to: [{', '.join(to)}], dscp: 26 }}\n"
        + f"run: {{ duration: {r.randint(2, 4)}ms, deadlock: 500us, seed: {r.randint(1, 1000)} }}\n",
        ("deadlock", [f"s{i}:1" for i in range(1, n + 1)]),
    )


def polarised(r):
    """The same hash seed in all tiers of a fat tree."""
    f = Fabric(r, shape="fat-tree")
    text, _ = messages(f, r, "roce", r.choice([16, 32]))
    fabric = f.text.replace("MiB }", f"MiB, ecmp: {{ seed: {r.randint(1, 1000)} }} }}")
    return fabric + text + run_of(r), (("uneven-paths", "few-flows"), ["spine*"])


KINDS = {
    "frame-errors": frame_errors,
    "truncate": truncate,
    "loss": lambda r: one_way_loss(r, f"loss: {r.choice(['0.5%', '1%', '2%', '10%', '50%'])}"),
    "burst-loss": lambda r: one_way_loss(r, "loss: { good-to-bad: 0.2%, bad-to-good: 5%, in-bad: 60% }"),
    "drop": lambda r: one_way_loss(r, f"drop: true, probability: {r.choice(['0.5%', '1%', '5%'])}"),
    "mtu": mtu,
    "down": down,
    "flap": flap,
    "fabric-down": fabric_down,
    "crash": crash,
    "failover": failover,
    "ignore-pause": lambda r: pfc(r, lambda e: (e.nic, "ignore-pause: true"), "pfc-ignored", lambda e: e.host),
    "lose-pause": lambda r: pfc(r, lambda e: (f"{e.port} out", "lose-pause: true"), "pfc-lost", lambda e: e.down),
    "pfc-one-sided": pfc_one_sided,
    "headroom": headroom,
    "pfc-storm": lambda r: host_pauses(r, "pfc-storm: 3", "pfc-storm"),
    "stop-receiving": lambda r: host_pauses(r, "stop-receiving: true", ("pfc-storm", "slow-receiver")),
    "slow-receiver": slow_receiver,
    "dscp-map": dscp,
    "corrupt": corrupt,
    "ecn-absent": ecn_absent,
    "ecn-low": ecn_low,
    "no-cnp": no_cnp,
    "deaf-sender": deaf_sender,
    "mixed": mixed,
    "misaligned": misaligned,
    "lossy-incast": lossy_incast,
    "slow-link": slow_link,
    "speed": speed,
    "pcie": pcie,
    "slow-sender": slow_sender,
    "window": window,
    "duplicate": duplicates,
    "reorder": reorder,
    "delay": delay,
    "skew": skew,
    "marks": ce_marks,
    "trim": trim_lost,
    "not-ready": not_ready,
    "swapped": swapped,
    "straggler": straggler,
    "ring": ring,
    "tensor": tensor,
    "bubbles": bubbles,
    "deadlock": deadlock,
    "polarised": polarised,
    **SWITCH_KINDS,
    **JOB_KINDS,
    **READ_KINDS,
}
