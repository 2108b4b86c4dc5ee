#include "dataplane/capture/capture_tap.h"

#include <stdexcept>

#include "dataplane/capture/frame_comments.h"
#include "dataplane/packet/assemble.h"

namespace railyard {
namespace {

PcapngWriter open_or_throw(const std::filesystem::path& file, std::string_view comment) {
  auto writer = PcapngWriter::open(file, 0, comment);
  if (!writer) throw std::runtime_error(writer.error());
  return std::move(*writer);
}

}  // namespace

CaptureTap::CaptureTap(const std::filesystem::path& file, const std::string& port, const std::string& description,
                       BitRate rate, CaptureDirection direction, std::string_view comment)
    : writer_(open_or_throw(file, comment)),
      interface_(writer_.add_interface(port, description, rate)),
      direction_(direction) {}

void CaptureTap::see(Instant at, const Packet& packet, const TapNote& note) {
  if (!is_wanted(direction_, note)) return;
  const IntStack* const stack = int_stack(packet);
  const FrameComments comments(note, packet.kind, stack != nullptr ? stack->hops() : std::span<const IntHop>{});
  assemble(packet, octets_);
  const std::span<const std::byte> piece(octets_);
  writer_.write(interface_, at,
                is_inbound(note) ? PcapngWriter::Direction::kInbound : PcapngWriter::Direction::kOutbound, {&piece, 1},
                static_cast<std::uint32_t>(octets_.size()), comments.texts());
  ++frames_;
}

void CaptureTap::close() {
  if (auto ok = writer_.close(); !ok) throw std::runtime_error(ok.error());
}

}  // namespace railyard
