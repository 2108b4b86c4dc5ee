#include "dataplane/port/replay_plan.h"

#include <algorithm>
#include <utility>

#include "dataplane/base/endpoint.h"
#include "dataplane/wire/parse.h"
#include "dataplane/wire/pfc.h"

namespace railyard {
namespace {

Bytes on_the_wire(const ReplayPlan::Frame& frame, Framing framing) noexcept {
  const std::size_t octets = std::max<std::size_t>(frame.octets.size() + wire::kFcsOctets, kLeastFrameOctets);
  return Bytes{static_cast<std::int64_t>(octets) + framing.around()};
}

}  // namespace

std::expected<ReplayPlan, std::string> plan_replay(std::vector<CapturedFrame> captured, const NicConfig& nic,
                                                   const wire::MacAddress& next_hop, const ReplayTiming& timing) {
  ReplayPlan plan;
  plan.loop = timing.loop;
  std::ranges::stable_sort(captured, {}, &CapturedFrame::at);
  const Instant first = captured.empty() ? Instant{} : captured.front().at;
  for (CapturedFrame& c : captured) {
    const auto view = wire::parse_frame(c.octets);
    if (view && view->kind == wire::FrameKind::kMacControl) {
      if (wire::parse_pfc(c.octets)) {
        c.octets.resize(kControlOctets);
        plan.frames.push_back({c.at - first, Priority{}, 0, std::move(c.octets), true});
      } else {
        ++plan.not_sendable;
        ++plan.not_pfc;
      }
      continue;
    }
    if (!view || view->header_octets > kMaxHeaderOctets ||
        c.octets.size() + wire::kFcsOctets > nic.largest_frame()) {
      ++plan.not_sendable;
      continue;
    }
    if (!wire::read<wire::Ethernet::Destination>(c.octets.data()).is_multicast())
      wire::write<wire::Ethernet::Destination>(c.octets.data(), next_hop);
    plan.frames.push_back({c.at - first, classify(nic.trust, *view), view->header_octets, std::move(c.octets)});
  }
  if (plan.frames.empty()) return std::unexpected("it has no frames that the NIC can send");

  if (timing.rate.bps > 0) {
    Bytes before{};
    for (ReplayPlan::Frame& f : plan.frames) {
      f.at = before / timing.rate;
      before += on_the_wire(f, timing.framing);
    }
    plan.round = before / timing.rate;
  } else if (timing.as_fast_as_possible) {
    for (ReplayPlan::Frame& f : plan.frames) f.at = Duration{};
  } else if (timing.loop) {
    // The last frame is followed by a gap like the others.
    const Duration span = plan.frames.back().at;
    plan.round = span + span / static_cast<std::int64_t>(std::max<std::size_t>(plan.frames.size() - 1, 1));
    if (plan.round == Duration{})
      return std::unexpected(
          "all its frames have the same time stamp, so it cannot loop; expected a rate, or as fast as possible");
  }
  for (std::size_t i = 0; i < plan.frames.size(); ++i)
    (plan.frames[i].control ? plan.controls : plan.by_class[plan.frames[i].priority.index()])
        .push_back(static_cast<std::uint32_t>(i));
  return plan;
}

}  // namespace railyard
