// Buffers and PFC headroom of a plan as text: exact numbers, so that people can compute them again.
#include <fmt/format.h>

#include "control/plan/plan.h"
#include "control/plan/sections.h"
#include "control/report/units.h"
#include "control/spec/value.h"

namespace railyard::plan {
namespace {

std::string octets_text(Bytes b) {
  return fmt::format("{}{} B", b.n < 0 ? "-" : "", report::count_text(static_cast<std::uint64_t>(b.n < 0 ? -b.n : b.n)));
}

// "2,345,678 B (2.35 MB)"
std::string exactly(Bytes b) {
  return fmt::format("{} ({}{})", octets_text(b), b.n < 0 ? "-" : "",
                     report::size_text(static_cast<std::uint64_t>(b.n < 0 ? -b.n : b.n)));
}

// All digits: "262.4 ns".
std::string exactly(Duration d) {
  std::string out = fmt::format("{}.{:03}", report::count_text(static_cast<std::uint64_t>(d.ps / 1000)), d.ps % 1000);
  out.erase(out.find_last_not_of('0') + 1);
  if (out.back() == '.') out.pop_back();
  return out + " ns";
}

void add_headroom(const char* what, const HeadroomOfLink& h, Bytes cell, Section& s) {
  if (h.octets.n == 0) return;
  const auto& t = h.terms;
  const Bytes frames{std::int64_t{t.framing.slot(t.own_frame)} + t.framing.slot(64) + t.framing.slot(t.peer_frame)};
  const Bytes waiting = h.octets - frames;
  s.lines.push_back({fmt::format("{}: until a pause works", what),
                     fmt::format("({} cable of {} there and back + {} response + {} pipeline) x {} / 8, + 1 B",
                                 exactly(2 * t.propagation), spec::format(h.cable), exactly(t.peer_response),
                                 exactly(t.rx_latency), report::rate_text(static_cast<double>(t.rate.bps))),
                     octets_text(waiting), ""});
  s.lines.push_back({"", fmt::format("{} own frame + {} PFC frame + {} + {} peer's frame",
                                     octets_text(Bytes{t.framing.slot(t.own_frame)}), octets_text(Bytes{t.framing.slot(64)}),
                                     octets_text(waiting), octets_text(Bytes{t.framing.slot(t.peer_frame)})),
                     octets_text(h.octets), "IEEE 802.1Q annex N"});
  s.lines.push_back(
      {"", fmt::format("{} / ({} + {}) B, rounded up", octets_text(h.octets), h.mix.frame, t.framing.around()),
       fmt::format("{} of {} B", counted(h.mix.frames, "frame", "frames"), h.mix.frame),
       "the size of frame that takes most memory"});
  s.lines.push_back({"",
                     fmt::format("{} frames x {} of {} B", report::count_text(static_cast<std::uint64_t>(h.mix.frames)),
                                 counted(h.mix.cells_each, "cell", "cells"), cell.n),
                     exactly(h.buffer), ""});
}

std::string ports_of_spine(const Plan& p) {
  std::string out = fmt::format("{} to leaves x {}", counted(p.buffers.spine_down, "port", "ports"),
                                octets_text(p.buffers.fabric.buffer));
  if (p.shape.spine_up > 0)
    out += fmt::format(" + {} to cores x {}", counted(p.shape.spine_up, "port", "ports"),
                       octets_text(p.buffers.core.buffer));
  return out;
}

std::string ports_of_leaf(const Plan& p) {
  std::string out = fmt::format("{} x {}", counted(p.shape.nodes_per_group * p.shape.rails_per_leaf, "NIC", "NICs"),
                                octets_text(p.buffers.node.buffer));
  if (p.shape.up > 0)
    out += fmt::format(" + {} x {}", counted(p.shape.up, "uplink", "uplinks"), octets_text(p.buffers.fabric.buffer));
  return out;
}

}  // namespace

Section buffer_section(const Plan& p) {
  const Request& r = p.request;
  const Buffers& b = p.buffers;
  const auto& profile = p.chosen.profile;
  Section s{.title = fmt::format("Buffer and PFC headroom ({})",
                                 counted(r.lossless_classes, "lossless class", "lossless classes")),
            .lines = {}};
  const std::string source = p.chosen.is_asic ? p.chosen.asic : fmt::format("that of {}", p.chosen.asic);
  if (r.lossless_classes == 0) {
    s.lines.push_back({"buffer of a switch, all shared", "", exactly(profile.buffer), source});
    s.notes.push_back("Without a lossless class no headroom is set aside.");
    return s;
  }
  add_headroom("port to a node", b.node, profile.cell, s);
  add_headroom("port between leaf and spine", b.fabric, profile.cell, s);
  add_headroom("port between spine and core", b.core, profile.cell, s);
  s.lines.push_back({"headroom of a full leaf", fmt::format("{} x ({})", r.lossless_classes, ports_of_leaf(p)),
                     exactly(b.leaf), ""});
  s.lines.push_back({"buffer left to share at a leaf",
                     fmt::format("{} - {}", octets_text(profile.buffer), octets_text(b.leaf)), exactly(b.left_leaf),
                     source});
  if (p.shape.tiers > 1) {
    s.lines.push_back({"headroom of a full spine", fmt::format("{} x ({})", r.lossless_classes, ports_of_spine(p)),
                       exactly(b.spine), ""});
    s.lines.push_back({"buffer left to share at a spine",
                       fmt::format("{} - {}", octets_text(profile.buffer), octets_text(b.spine)), exactly(b.left_spine),
                       source});
  }
  if (b.left_leaf.n < 0 || (p.shape.tiers > 1 && b.left_spine.n < 0))
    s.notes.push_back(
        profile.headroom_pool.n > 0
            ? fmt::format("The headroom of all ports together does not fit: ports share a pool of {}, as this chip ships.",
                          report::size_text(static_cast<std::uint64_t>(profile.headroom_pool.n)))
            : std::string("The headroom of all ports together does not fit: use shorter cables, fewer lossless classes or "
                          "a chip with a headroom pool."));
  return s;
}

}  // namespace railyard::plan
