#include "dataplane/capture/frame_comments.h"

#include <utility>

#include <fmt/format.h>

namespace railyard {

namespace {

// Nanoseconds, as exact as they are.
std::string int_time(std::int64_t ps) { return fmt::format("{}.{:03} ns", ps / 1000, ps % 1000); }

std::string text_of(std::size_t number, const IntHop& h) {
  if (h.ingress == Instant::never())
    return fmt::format("INT {}: {} port {}, class {}, out {}", number, *h.node, h.out.value + 1, h.priority.value,
                       int_time((h.egress - Instant{}).ps));
  return fmt::format("INT {}: {} port {} -> {}, class {}, in {}, out {}, queue {} octets, waited {}{}", number, *h.node,
                     h.in.value + 1, h.out.value + 1, h.priority.value, int_time((h.ingress - Instant{}).ps),
                     int_time((h.egress - Instant{}).ps), h.queue_octets, int_time(h.waited().ps),
                     h.marked ? ", CE set" : "");
}

}  // namespace

FrameComments::FrameComments(const TapNote& note, FrameKind kind, std::span<const IntHop> hops) {
  if (kind != FrameKind::kMacControl)
    add(note.depth_octets >= 0 ? fmt::format("class {}, queue {} octets", note.priority.value, note.depth_octets)
                               : fmt::format("class {}", note.priority.value));
  if (note.marked_here) add("CE set here");
  if (note.event == TapNote::Event::kDropped) add(fmt::format("dropped: {}", name(note.reason)));
  for (std::size_t i = 0; i < hops.size(); ++i)
    if (hops[i].egress != Instant::never()) add(text_of(i, hops[i]));
}

void FrameComments::add(std::string text) {
  texts_[count_] = std::move(text);
  views_[count_] = texts_[count_];
  ++count_;
}

}  // namespace railyard
