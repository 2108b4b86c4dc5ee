// Buffers that no frame fits into, and packets that do not fit into memory.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "control/build/packet_memory.h"
#include "control/lint/rules/rules.h"
#include "control/report/units.h"
#include "control/spec/value.h"

namespace railyard::lint {
namespace {

// Ethernet, IP, UDP and FCS: what a frame has around its payload at least.
constexpr std::int64_t kHeaders = 14 + 20 + 8 + 4;

std::int64_t frame_of(const Stream& s) {
  return kHeaders + (s.like.has_messages() || s.is_collective ? s.like.roce.path_mtu
                                                              : static_cast<std::int64_t>(s.like.payload));
}

std::string size(std::int64_t octets) { return report::size_text(static_cast<std::uint64_t>(octets)); }

void find_limit_below_frame(const Facts& facts, Findings& findings) {
  for (const Stream& s : facts.kinds_of_streams()) {
    const std::int64_t frame = frame_of(s);
    const auto say = [&](const std::string& path, std::string_view what, std::int64_t limit) {
      findings.add(path,
                   fmt::format("{} is {}, less than a frame of {} ({} or more): no frame can pass.", what, size(limit),
                               s.name, size(frame)),
                   fmt::format("Set it to several frames, at least {}.", size(2 * frame)));
    };
    for (const Hop& h : facts.hops(s)) {
      const spec::NodeSpec& node = facts.lab().nodes[h.node];
      const spec::QosProfile& qos = facts.qos(node);
      const spec::TrafficClass& in = qos.classes[static_cast<std::size_t>(h.in_class)];
      const spec::TrafficClass& out = qos.classes[static_cast<std::size_t>(h.out_class)];
      if (!out.lossless && out.queue_limit && !out.trim && out.queue_limit->n + out.queue_reserved.n < frame)
        say(Facts::class_path(facts.qos_name(node), h.out_class) + ".queue-limit", "The queue limit",
            out.queue_limit->n);
      const Mmu& mmu = facts.built().switch_named(node.name).mmu();
      const std::int64_t shared = std::int64_t{mmu.shared_size()} * mmu.cell().n;
      const auto share = [&](int alpha_exponent) {  // of an empty buffer
        return std::min(static_cast<std::int64_t>(std::ldexp(static_cast<double>(shared), alpha_exponent)), shared);
      };
      if (const std::int64_t queue = share(out.queue_alpha_exponent) + out.queue_reserved.n;
          !out.lossless && !out.queue_limit && !out.trim && queue < frame)
        say(Facts::class_path(facts.qos_name(node), h.out_class) + ".queue-alpha",
            fmt::format("The queue limit of class {} at {}", h.out_class, node.name), queue);
      const std::int64_t room = (in.xoff ? in.xoff->n : share(in.alpha_exponent)) + in.reserved.n;
      if (!in.lossless && !in.trim && room < frame)
        say(fmt::format("switches.{}.buffer", node.profile),
            fmt::format("The buffer share of class {} at {}", h.in_class, node.name), room);
      if (in.lossless && room < frame)
        say(Facts::class_path(facts.qos_name(node), h.in_class) + (in.xoff ? ".xoff" : ".alpha"),
            "The XOFF threshold", room);
    }
    const std::string& profile = facts.lab().find(s.to.node)->profile;
    if (const Bytes buffer = facts.lab().hosts.at(profile).receive.buffer; buffer.n < frame)
      say(fmt::format("hosts.{}.receive.buffer", profile), "The receive buffer", buffer.n);
  }
}

void find_packet_memory(const Facts& facts, Findings& findings) {
  const build::PacketMemory most = build::packet_memory(facts.built());
  const std::int64_t allowed = facts.lab().run.memory.n;
  if (most.octets() <= static_cast<std::uint64_t>(allowed)) return;
  findings.add(
      "run.memory",
      fmt::format("Full buffers need {} of packet memory ({} packets of {} bytes), but run.memory allows {}: a run "
                  "that fills them stops.",
                  report::size_text(most.octets()), report::count_text(most.packets), most.frame_octets, size(allowed)),
      fmt::format("Set run.memory to {}, or use smaller switch buffers.",
                  spec::format(Bytes{static_cast<std::int64_t>((most.octets() >> 30) + 1) << 30})));
}

}  // namespace

const Rule kLimitBelowFrame{"limit-below-frame", Severity::kError,
                            "A queue, ingress group or receive buffer is smaller "
                            "than one frame.",
                            find_limit_below_frame};
const Rule kPacketMemory{"packet-memory", Severity::kWarning,
                         "Packets could need more memory than run.memory allows.", find_packet_memory};

}  // namespace railyard::lint
