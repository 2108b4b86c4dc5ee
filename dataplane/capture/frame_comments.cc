#include "dataplane/capture/frame_comments.h"

#include <utility>

#include <fmt/format.h>

namespace railyard {

FrameComments::FrameComments(const TapNote& note, FrameKind kind) {
  if (kind != FrameKind::kMacControl)
    add(note.depth_octets >= 0 ? fmt::format("class {}, queue {} octets", note.priority.value, note.depth_octets)
                               : fmt::format("class {}", note.priority.value));
  if (note.marked_here) add("CE set here");
  if (note.event == TapNote::Event::kDropped) add(fmt::format("dropped: {}", name(note.reason)));
}

void FrameComments::add(std::string text) {
  texts_[count_] = std::move(text);
  views_[count_] = texts_[count_];
  ++count_;
}

}  // namespace railyard
