"""Fabrics drawn at random, and traffic on them, as text of a fabric file."""


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
    """Switches and hosts by the names that presets give them. `at_least`: NICs."""

    def __init__(self, r, buffer=None, at_least=6, shape=None, rate=None):
        self.rate = rate or r.choice([25, 50, 100, 200, 400])
        self.cable = r.choice([2, 5, 10, 20])
        shape = shape or r.choice(["leaf-spine", "leaf-spine", "fat-tree", "rails"])
        self.shape = shape
        if shape == "leaf-spine":
            self.leaves, self.spines, per_leaf = r.randint(2, 4), r.randint(2, 4), r.randint(2, 5)
            while self.leaves * per_leaf < at_least:
                per_leaf += 1
            topology = f"preset: leaf-spine, leaves: {self.leaves}, spines: {self.spines}, hosts-per-leaf: {per_leaf}"
            hosts = range(self.leaves * per_leaf)
            self.ends = [End(f"h{h + 1}", 1, f"leaf{h // per_leaf + 1}", h % per_leaf + 1) for h in hosts]
        elif shape == "fat-tree":
            self.leaves, self.spines, topology = 8, 8, "preset: fat-tree, k: 4"
            self.ends = [End(f"h{h + 1}", 1, f"leaf{h // 2 + 1}", h % 2 + 1) for h in range(16)]
        else:
            rails, hosts = r.randint(2, 3), max(r.randint(4, 6), (at_least + 1) // 2)
            self.leaves, self.spines = rails, r.randint(2, 3)
            topology = f"preset: rail-optimized, hosts: {hosts}, rails: {rails}, spines: {self.spines}"
            self.ends = [End(f"h{h + 1}", n + 1, f"leaf-r{n + 1}", h + 1) for n in range(rails) for h in range(hosts)]
        self.switches = sorted({e.leaf for e in self.ends}) + [f"spine{i + 1}" for i in range(self.spines)]
        self.buffer = buffer or r.choice([16, 32, 64])
        self.text = (
            f"topology: {{ {topology} }}\n"
            f"defaults: {{ link: {{ rate: {self.rate}Gbps, cable: {self.cable}m }} }}\n"
            f"switches: {{ default: {{ buffer: {self.buffer}MiB }} }}\n"
        )

    def groups(self):
        """NICs that reach each other: all of them, or those of a rail."""
        if self.shape != "rails":
            return [self.ends]
        return [[e for e in self.ends if e.leaf == leaf] for leaf in sorted({e.leaf for e in self.ends})]


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
    return "\n".join(lines) + "\n", pairs


def incast(f, r, transport="roce", size=None, extra=""):
    """Several NICs send to one. Returns text, the receiver, the senders."""
    ends = r.choice(f.groups())
    to = r.choice(ends)
    others = [e for e in ends if e is not to]
    senders = r.sample(others, min(len(others), size or r.randint(3, 6)))
    names = ", ".join(f"'{e.nic}'" for e in senders)
    kind = ", payload: 4096B" if transport == "generator" else f", transport: {transport}"
    return f"traffic:\n  - {{ name: t, pattern: incast, from: [{names}], to: '{to.nic}'{kind}{extra} }}\n", to, senders


def run_of(r, least=1000, most=2500):
    return f"run: {{ duration: {r.randint(least, most)}us, seed: {r.randint(1, 100000)} }}\n"


def fault(on, what, when=""):
    return f"faults: [{{ on: \"{on}\"{', ' + when if when else ''}, {what} }}]\n"
