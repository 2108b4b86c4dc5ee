// What the emulator itself adds and costs, and how to run the same again.
#include <fmt/format.h>

#include "control/report/html/markup.h"
#include "control/report/html/sections.h"
#include "control/report/units.h"

namespace railyard::report {

std::string engine_section(const Report& r) {
  const EngineReport& e = r.engine;
  Table floor({{"", true}, {"", true}});
  if (e.lateness_ns) {
    floor.row({"added latency",
               fmt::format("up to one window ({}) and the lateness below", time_text(Duration{e.window_ps}))});
    floor.row({"lateness p50 / p99 / max",
               fmt::format("{} / {} / {}", nanoseconds_text(e.lateness_ns->p50), nanoseconds_text(e.lateness_ns->p99),
                           nanoseconds_text(e.lateness_ns->max))});
    floor.row({"slip of simulated time", nanoseconds_text(static_cast<std::uint64_t>(e.slip_ns))});
    floor.row({"interruptions of the engine", fmt::format("{} longer than 50 us", count_text(e.gaps))});
  } else {
    floor.row({"added latency, lateness, slip", "none: the clock is virtual and exact"});
  }
  floor.row({"packet-hops", count_text(e.packet_hops)});
  floor.row({"CPU, wall", fmt::format("{:.2f} s, {:.2f} s", e.cpu_seconds, e.wall_seconds)});
  floor.row(
      {"packet-hops per core-second",
       e.cpu_seconds > 0 ? fmt::format("{:.2f} M", static_cast<double>(e.packet_hops) / e.cpu_seconds / 1e6) : "-"});
  floor.row({"memory", size_text(e.peak_rss_bytes)});
  floor.row({"packet accounting", !r.audit.balanced ? "DOES NOT BALANCE"
                      : r.audit.drained ? "balanced; 0 packets in flight"
                                        : fmt::format("balanced; {} frames queued, {} on the wire",
                                                      count_text(r.audit.queued), count_text(r.audit.on_the_wire))});
  std::string out = floor.html();
  if (!r.attachments.empty()) {
    Table table(
        {{"host", true}, {"NIC"}, {"device", true}, {"in"}, {"out"}, {"ring full"}, {"no memory"}, {"not sent"}});
    constexpr std::size_t kMostAttached = 64;
    for (std::size_t i = 0; i < r.attachments.size() && i < kMostAttached; ++i) {
      const AttachmentReport& a = r.attachments[i];
      table.row({a.node, fmt::format("{}", a.nic), a.device, count_text(a.received), count_text(a.sent),
                 count_text(a.host_ring_full), count_text(a.no_memory), count_text(a.not_sent)},
                a.host_ring_full > 0 ? "bad" : "");
    }
    out += "<h3>Attached</h3>\n" + table.html();
  }
  return out;
}

std::string repeat_section(const Report& r) {
  std::string out;
  if (!r.run.command.empty()) out += fmt::format("<pre>{}</pre>\n", escaped_html(r.run.command));
  Table table({{"", true}, {"", true}});
  table.row({"fabric file", r.run.spec});
  if (!r.run.lab_digest.empty()) table.row({"digest of the expanded lab", r.run.lab_digest});
  table.row({"seed", fmt::format("{}", r.run.seed)});
  table.row({"clock, scale", fmt::format("{}, {}", r.run.clock, r.run.scale)});
  table.row({"payload", r.run.payload});
  table.row({"workers", fmt::format("{}", r.run.workers)});
  table.row({"version", r.run.version});
  if (r.trace_digest) table.row({"trace digest", fmt::format("{:016x}", *r.trace_digest)});
  return out + table.html("lab.yaml beside this page is the expanded lab. It is a fabric file.");
}

}  // namespace railyard::report
