"""Fabrics without an incident, and fabrics with two at once."""
from fabrics import Fabric, incast, messages, run_of, training, until_done
from kinds_jobs import all_reduce


def healthy(r):
    kind = r.choice(["messages", "messages", "messages", "incast", "all-reduce", "uet-incast", "classes", "job", "job", "inference", "small", "rates"])
    f = Fabric(r, connected=kind in ("all-reduce", "job", "inference"))
    if kind == "messages":
        return f.text + messages(f, r)[0] + run_of(r), None
    if kind == "incast":
        return f.text + incast(f, r)[0] + run_of(r), None
    if kind == "uet-incast":
        return f.text + incast(f, r, "uet")[0] + run_of(r), None
    if kind == "classes":
        # Storage over the generator in a class of its own.
        text, to, _ = incast(f, r, "roce")
        return f.text + text + f"  - {{ name: storage, pattern: permutation, dscp: 0, rate: {max(1, f.rate // 10)}Gbps }}\n" + run_of(r), None
    if kind == "job":
        return f.text + training(f, r, r.choice(["", ", transport: uet"])) + until_done(r), None
    if kind == "inference":
        return serving(f, r), None
    if kind == "small":
        return f.text + messages(f, r, "roce", 2, f", message: {r.choice([512, 4096, 16384])}B")[0] + run_of(r, 500, 1000), None
    if kind == "rates":
        return f.text + messages(f, r, "roce", r.choice([1, 4]), f", rate: {f.rate / 5:.1f}Gbps")[0] + run_of(r), None
    text = all_reduce(r, r.choice(["", ", transport: uet"]), (1, 4, 16))
    if len(f.ends) not in (8, 16):
        text = text.replace("halving-doubling", "ring")
    return f.text + text + until_done(r), None


def serving(f, r):
    """Requests to a small model: prompts on half of the NICs, tokens on the other half."""
    n = len(f.ends) // 2
    return f.text + (
        "jobs:\n  - { name: chat, model: { layers: 4, hidden: 1024, heads: 8, feed-forward: 4096, vocabulary: 8000, sequence: 1024 }, gpu: a100, inference: { "
        f"prefill: {{ tp: 1, replicas: {n} }}, decode: {{ tp: 1, replicas: {n} }}, rate: {r.choice([1000, 4000])}/s, requests: 40, prompt: 256, output: 16 }} }}\n"
    ) + until_done(r)


def both(r):
    """Two incidents at two NICs of one fabric."""
    f = Fabric(r)
    text, _ = messages(f, r, "roce")
    a, b = r.sample(f.ends, 2)
    choices = {
        "frame-errors": lambda e: (f"{e.nic} out", "bit-errors: 3e-6", ("frame-errors", [e.link])),
        "loss": lambda e: (f"{e.nic} out", "loss: 2%", ("one-way-loss", [e.up])),
        "mtu": lambda e: (e.nic, "mtu: 1500", ("mtu-mismatch", [e.link, e.leaf])),
        "down": lambda e: (e.nic, f"at: {r.randint(100, 400)}us, down: true", ("link-down", [e.link])),
        "flap": lambda e: (e.nic, "at: 200us, flap: { down: 50us, up: 100us }", ("link-flapping", [e.link])),
        "pfc-storm": lambda e: (e.nic, "at: 300us, for: 400us, pfc-storm: 3", ("pfc-storm", [e.host])),
        "slow-receiver": lambda e: (e.nic, f"receive: {f.rate / 4:.0f}Gbps", ("slow-receiver", [e.host])),
        "dscp-map": lambda e: (e.port, "dscp-map: { 26: 0 }", ("dscp-rewritten", [e.port])),
        "slow-link": lambda e: (e.port, "rate: 1/4", ("slow-link", [e.link])),
        "duplicate": lambda e: (f"{e.nic} out", "duplicate: true, probability: 5%", ("duplicated-frames", [e.up])),
    }
    first, second = r.sample(sorted(choices), 2)
    parts = [choices[first](a), choices[second](b)]
    faults = ", ".join(f'{{ on: "{on}", {what} }}' for on, what, _ in parts)
    return f.text + text + f"faults: [{faults}]\n" + run_of(r), [label for _, _, label in parts]
