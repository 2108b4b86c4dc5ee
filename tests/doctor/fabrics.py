"""Fabrics drawn at random, and traffic on them, as text of a fabric file."""

RATES = [25, 50, 100, 200, 400]
FAST = [100, 200, 400, 800]
USUAL = ["leaf-spine", "leaf-spine", "leaf-spine", "fat-tree", "rails", "rails", "pods"]
# Fabrics that the rules were not written with.
OTHERS = ["torus", "dragonfly", "dragonfly-plus", "tree", "full-mesh", "rail-only", "two-speeds"]
SHAPES = USUAL


class End:
    """A NIC, and the switch port in front of it."""

    def __init__(self, host, nic, leaf, port):
        self.host, self.number, self.leaf = host, nic, leaf
        self.nic = f"{host}:{nic}"
        self.port = f"{leaf}:{port}"
        self.link = f"{self.port}-{self.nic}"
        self.up = f"{self.nic} -> {self.port}"
        self.down = f"{self.port} -> {self.nic}"


class Fabric:
    """Switches and hosts by the names that presets give them. `at_least`: NICs. `far`: links between switches may be kilometres long.
    `connected`: all NICs reach each other."""

    def __init__(self, r, buffer=None, at_least=6, shape=None, rate=None, far=True, connected=False):
        self.rate = rate or r.choice(RATES)
        self.cable = r.choice([2, 5, 10, 20])
        self.shape = shape or r.choice([s for s in SHAPES if not connected or s != "rail-only"])
        topology = getattr(self, "_" + self.shape.replace("-", "_"))(r, at_least)
        self.switches = sorted({e.leaf for e in self.ends}) + [f"spine{i + 1}" for i in range(self.spines)]
        self.buffer = buffer * (4 if self.shape in OTHERS else 1) if buffer else self._room(r)
        if far and buffer is None and self.spines > 0 and self.shape in USUAL and r.random() < 0.15:
            # Headroom for it is taken from the buffer.
            self.buffer = 128
            which = "super-link" if self.shape == "pods" and r.random() < 0.5 else "fabric-link"
            topology += f", {which}: {{ rate: {self.rate}Gbps, cable: {r.choice([300, 1000, 2000])}m }}"
        self.text = (
            f"topology: {{ {topology} }}\n"
            f"defaults: {{ link: {{ rate: {self.rate}Gbps, cable: {self.cable}m }} }}\n"
            f"switches: {{ default: {{ buffer: {self.buffer}MiB }} }}\n"
        )

    def _room(self, r):
        """A buffer, MiB, in which thresholds of ECN are below those of PFC: more at 400 Gb/s, and with classes against deadlocks."""
        least = (64 if self.rate > 200 and self.shape in OTHERS else 16) * (2 if self.shape in ("torus", "dragonfly") or self.rate > 400 else 1)
        return max(least, r.choice([16, 32, 64]))

    def _leaf_spine(self, r, at_least):
        self.leaves, self.spines, per_leaf = r.randint(2, 4), r.randint(2, 4), r.randint(2, 5)
        while self.leaves * per_leaf < at_least:
            per_leaf += 1
        self.ends = [End(f"h{h + 1}", 1, f"leaf{h // per_leaf + 1}", h % per_leaf + 1) for h in range(self.leaves * per_leaf)]
        return f"preset: leaf-spine, leaves: {self.leaves}, spines: {self.spines}, hosts-per-leaf: {per_leaf}"

    def _fat_tree(self, r, at_least):
        self.leaves, self.spines = 8, 8
        self.ends = [End(f"h{h + 1}", 1, f"leaf{h // 2 + 1}", h % 2 + 1) for h in range(16)]
        return "preset: fat-tree, k: 4"

    def _rails(self, r, at_least):
        rails, hosts = r.randint(2, 3), max(r.randint(4, 6), (at_least + 1) // 2)
        self.leaves, self.spines = rails, r.randint(2, 3)
        self.ends = [End(f"h{h + 1}", n + 1, f"leaf-r{n + 1}", h + 1) for n in range(rails) for h in range(hosts)]
        return f"preset: rail-optimized, hosts: {hosts}, rails: {rails}, spines: {self.spines}"

    def _pods(self, r, at_least):
        per_leaf, spines = max(2, -(-at_least // 4)), r.randint(1, 2)
        self.leaves, self.spines = 4, 2 * spines
        self.ends = [End(f"h{h + 1}", 1, f"leaf{h // per_leaf + 1}", h % per_leaf + 1) for h in range(4 * per_leaf)]
        return (
            f"preset: multi-pod, pods: 2, leaves-per-pod: 2, hosts-per-leaf: {per_leaf}, spines-per-pod: {spines}, super-spines: {r.randint(1, 2)}"
        )

    def _switches(self, switches, per_switch, name="s"):
        self.leaves, self.spines = switches, 0
        self.ends = [End(f"h{h + 1}", 1, f"{name}{h // per_switch + 1}", h % per_switch + 1) for h in range(switches * per_switch)]

    def _torus(self, r, at_least):
        x, y = r.choice([(3, 3), (4, 2), (4, 3)])
        per_switch = max(r.randint(1, 2), -(-at_least // (x * y)))
        self._switches(x * y, per_switch)
        return f"preset: torus, size: [{x}, {y}], hosts-per-switch: {per_switch}"

    def _dragonfly(self, r, at_least):
        groups = r.choice([2, 3, 5])
        self._switches(4 * groups, 2)
        return f"preset: dragonfly, p: 2, groups: {groups}"

    def _dragonfly_plus(self, r, at_least):
        groups = r.choice([2, 3])
        self._switches(2 * groups, 2, "leaf")
        self.spines = 2 * groups
        return f"preset: dragonfly-plus, leaves-per-group: 2, hosts-per-leaf: 2, groups: {groups}"

    def _tree(self, r, at_least):
        per_leaf = max(2, -(-at_least // 4))
        self._switches(4, per_leaf, "leaf")
        return f"preset: tree, levels: 3, hosts-per-leaf: {per_leaf}"

    def _full_mesh(self, r, at_least):
        switches = r.randint(3, 5)
        per_switch = max(2, -(-at_least // switches))
        self._switches(switches, per_switch)
        return f"preset: full-mesh, switches: {switches}, hosts-per-switch: {per_switch}"

    def _rail_only(self, r, at_least):
        text = self._rails(r, at_least)
        spines, self.spines = self.spines, 0
        return text.replace(f"spines: {spines}", "spines: 0")

    def _two_speeds(self, r, at_least):
        """Links between switches are twice as fast."""
        return self._leaf_spine(r, at_least) + f", fabric-link: {{ rate: {2 * self.rate}Gbps, cable: 30m }}"

    def groups(self):
        """NICs that reach each other: all of them, or those of a rail."""
        if self.shape not in ("rails", "rail-only"):
            return [self.ends]
        return [[e for e in self.ends if e.leaf == leaf] for leaf in sorted({e.leaf for e in self.ends})]

    def at(self, leaf):
        return [e for e in self.ends if e.leaf == leaf]

    def uplinks(self, leaf):
        """Of a leaf-spine: [(its port, the spine's port)]."""
        first, number = len(self.at(leaf)) + 1, int(leaf.removeprefix("leaf"))
        return [(f"{leaf}:{first + s}", f"spine{s + 1}:{number}") for s in range(self.spines)]

    def address(self, end):
        """IPv4, of presets without rails."""
        leaves = sorted({e.leaf for e in self.ends}, key=lambda name: int(name.removeprefix("leaf")))
        return f"10.0.{leaves.index(end.leaf)}.{self.at(end.leaf).index(end) + 1}"


def messages(f, r, transport=None, qps=None, extra=""):
    """Everybody sends to somebody, so that every NIC sends and receives. Returns text and [(from, to)]."""
    transport = transport or r.choice(["roce", "roce", "roce", "uet"])
    qps = qps or (r.choice([1, 2, 4, 8]) if transport == "roce" else 1)
    lines, pairs = ["traffic:"], []
    for ends in f.groups():
        shift = r.randint(1, len(ends) - 1)
        for i, e in enumerate(ends):
            to = ends[(i + shift) % len(ends)]
            pairs.append((e, to))
            lines.append(
                f"  - {{ name: t{len(pairs)}, pattern: pairs, from: '{e.nic}', to: '{to.nic}', transport: {transport}, qps: {qps}{extra} }}"
            )
    return "\n".join(lines) + "\n" + monitoring(r), pairs


def monitoring(r):
    """Now and then small frames of all hosts in a class of their own, as every fabric has them."""
    if r.random() < 0.8:
        return ""
    return f"  - {{ name: scrapes, pattern: permutation, dscp: 0, ecn: false, rate: {r.choice([10, 50])}Mbps, payload: {r.choice([64, 256])}B }}\n"


def incast(f, r, transport="roce", size=None, extra=""):
    """Several NICs send to one. Returns text, the receiver, the senders."""
    ends = r.choice(f.groups())
    to = r.choice(ends)
    others = [e for e in ends if e is not to]
    senders = r.sample(others, min(len(others), size or r.randint(3, 6)))
    return incast_of(senders, to, transport, extra), to, senders


def incast_of(senders, to, transport="roce", extra=""):
    names = ", ".join(f"'{e.nic}'" for e in senders)
    kind = ", payload: 4096B" if transport == "generator" else f", transport: {transport}"
    return f"traffic:\n  - {{ name: t, pattern: incast, from: [{names}], to: '{to.nic}'{kind}{extra} }}\n"


def incast_at(f, r, leaf, size):
    """RoCEv2 towards a NIC at `leaf`, from NICs at other switches first. Returns text, the receiver, the senders."""
    to = r.choice(f.at(leaf))
    group = next(g for g in f.groups() if to in g)
    others = [e for e in group if e is not to]
    r.shuffle(others)
    others.sort(key=lambda e: e.leaf == leaf)
    return incast_of(others[:size], to), to, others[:size]


def training(f, r, extra="", steps=3):
    """A small training job of all NICs, its data-parallel ranks in a ring."""
    sharding = r.choice(["none", "none", "zero-1", "zero-2"])
    return (
        "jobs:\n  - { name: train, model: { layers: 2, hidden: 256, heads: 4, feed-forward: 1024, vocabulary: 4000, sequence: 256 }, "
        f"sharding: {sharding}, forward: {r.choice([20, 50])}us, backward: {r.choice([50, 100])}us, segments: {r.choice([1, 2])}, "
        f"chunk: {r.choice([128, 256])}KiB, steps: {steps}{extra} }}\n"
    )


def run_of(r, least=1000, most=2500):
    return f"run: {{ duration: {r.randint(least, most)}us, seed: {r.randint(1, 100000)}{telemetry(r)} }}\n"


def until_done(r):
    return f"run: {{ seed: {r.randint(1, 100000)}{telemetry(r)} }}\n"


def telemetry(r):
    """In-band telemetry, now and then."""
    return f", int: {{ one-in: {r.choice([10, 50, 200])} }}" if r.random() < 0.2 else ""


def fault(on, what, when=""):
    return f"faults: [{{ on: \"{on}\"{', ' + when if when else ''}, {what} }}]\n"
