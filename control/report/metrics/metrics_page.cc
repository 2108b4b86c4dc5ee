#include <fmt/format.h>

#include "control/report/metrics/metric.h"

namespace railyard::report {
namespace {

constexpr std::string_view kIntroduction = R"(# Metrics

Every figure that Railyard shows: its name, unit, what is counted, over which interval, and by whom. Text, `report.json`,
`report.html`, CSV files, `compare`, `compare-transports`, `sweep` and a running lab use the same code. This page is
generated from `control/report/metrics/` by `cmake --build BUILD --target metrics-page`.

## Rules

**Goodput** is payload delivered, each byte once, in the *goodput interval* of its flow:

| flow | interval | bytes |
|---|---|---|
| with an end, completed | start to completion | all of it |
| with an end, not completed | start until it failed (or its last packet arrived, if later), its `stop`, the end of `run.duration`, or now: whichever is first | delivered by then |
| without an end | start until its `stop`, the end of `run.duration`, or now: whichever is first | delivered by then |

The drain is not counted, unless a flow completes in it. A flow completes when its last message completes at the NIC that
posted it (WRITE, SEND: the acknowledgement is back; READ: the data are there); over UC, UUD and from generators, when
its last packet arrives. A flow that delivers nothing has goodput 0. `goodput_bytes` and `goodput_ns` are both in
`report.json`. Goodput of several flows is the sum of their bytes over the time from the first start to the last end:
it never exceeds the rate of a link that all of them cross. All transports, READs and agents' flows alike.

**The load interval** is the time of every share of time and every mean rate of the run: `utilisation` and `max_utilisation`
(`used` in the table of queues), `pause_share` and `stall_share` (`of time`), the verdict `pauses`. It runs from the start of the
run until traffic ends: the last flow or collective has completed, has failed, or is no longer offered (its `stop`; a generator,
or a flow over UC or UUD, some of whose packets are lost, has sent its last one; a flow waits for a trigger that nothing fires
any more). `run.duration` ends it at the latest; so does the end of a run in which traffic does not end, and in labs where
somebody outside may send (attached NICs, trunks, agents). The counters are those of that instant plus the least time in which
anything gets from one device to another (about 0.6 us with short cables). Timers that run on after it, `run.drain` and the rest
of `run.duration` do not count. In a running lab the interval ends now.

**Shares** are fractions 0..1 (`report.json`) or 0..100 % (tables): part and whole are counted at the same place.

**Not measured** is `null` in JSON, `-` in text and HTML, and an empty cell in CSV. It is never 0. So is a latency when
no packet arrived, and what only a receiver counts when the receiver is an attached host.

**Drops** are listed where they happened: ingress reasons (`ingress_full`, `headroom_full`, `no_route`, `ttl_expired`, ...)
at the port where the frame came in and the class of its ingress priority group; egress reasons (`egress_full`, `wred`,
`trim_queue_full`, `link_down`, `crash`) at the queue that it was bound for.

**Thresholds** (Kmin, Kmax, XOFF, XON, queue limits) are compared in whole cells of the switch, as an ASIC does.
`railyard check` prints their effective bytes at the lab's frame size.

**Comparisons** star the best value of a row. A column (or row of a sweep, or side of `compare`) that delivered less never
gets a star: its `completed` is below that of another, its `delivered` is more than 1 % below the best or 0, or more of its
flows failed. A column with a failed run gets none either. Values within 0.1 % of the best share its star; if all that may
have it are that close, none has. In sweeps and
`compare-transports` a column in which not everything completed gets no star for a figure *of what completed*, nor for one of
which less is better (drops, latencies, queues).

**Percentiles** are by nearest rank. Packet latencies come from a histogram with less than 1 % error.

**Names in conditions** (`expect`, `--expect`, `--until`, `search`): a figure of a run by its name (`goodput`); an element of a list of
`report.json` by LIST.NAME.FIELD (`traffic.incast.goodput_bps.p50`, `ports.leaf1:1.utilisation`,
`flows.incast/h2->h1.goodput_bps`); an object by OBJECT.FIELD (`engine.windows`); or a JSON pointer (`/engine/windows`).

)";

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '|' ? "\\|" : std::string(1, c);
  return out;
}

// "; *: p50, p99, max".
std::string parts_text(const Field& f) {
  if (f.parts.empty()) return "";
  std::string text = f.help.empty() ? "*: " : "; *: ";
  for (const char c : f.parts) text += c == ' ' ? std::string(", ") : std::string(1, c);
  return text;
}

void add_fields(std::string& out, std::span<const FieldList> lists) {
  for (const FieldList& l : lists) {
    out += fmt::format("### {}\n\n{}\n\n| name | unit | what |\n|---|---|---|\n", l.path, l.about);
    for (const Field& f : l.fields)
      out += fmt::format("| `{}` | {} | {}{} |\n", f.name, f.unit, escaped(f.help), parts_text(f));
    out += "\n";
  }
}

}  // namespace

std::string metrics_page() {
  std::string out(kIntroduction);
  out +=
      "## Figures of a run\n\nIn `summary` of `report.json`; `compare`, `sweep` and conditions use these names. "
      "Figures "
      "with a dagger cover completed flows and iterations only.\n\n| name | unit | better | what is counted | over | "
      "counted by |\n"
      "|---|---|---|---|---|---|\n";
  for (const Metric& m : run_metrics())
    out += fmt::format("| `{}`{} | {} | {} | {} | {} | {} |\n", m.name, m.of_completed ? " †" : "", word(m.unit),
                       m.better == Better::kLower    ? "lower"
                       : m.better == Better::kHigher ? "higher"
                                                     : "",
                       escaped(m.help), m.over, m.source);
  out += "\n## Fields of report.json\n\n";
  add_fields(out, report_fields());
  out += "## Other tables\n\n";
  add_fields(out, other_fields());
  while (out.ends_with("\n\n")) out.pop_back();
  return out;
}

}  // namespace railyard::report
