#include "control/decode/decode_file.h"

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

#include "control/decode/capture_note.h"
#include "dataplane/port/pcap_file.h"

namespace railyard::decode {
namespace {

template <class T>
T or_throw(std::expected<T, std::string> value) {
  if (!value) throw std::runtime_error(value.error());
  return std::move(*value);
}

}  // namespace

void decode_file(const std::filesystem::path& path, const std::function<void(const Json&)>& each,
                 const DecodeOptions& said) {
  DecodeOptions options = said;
  const bool piped = path == "-";
  CaptureStart start;
  if (said.uet.as_capture_says) {
    if (piped) start = capture_start(PcapReader::read_standard_input);
    options.uet.carriers = uet::parse_carriers(piped ? start.note : capture_note(path));
  }
  PcapReader reader = or_throw(piped ? PcapReader::standard_input(std::move(start.octets)) : PcapReader::open(path));
  for (std::uint64_t number = 1;; ++number) {
    const auto frame = or_throw(reader.next());
    if (!frame) return;
    Json out{{"frame", number}, {"time_ns", frame->at.ps / 1000}, {"octets", frame->frame_octets}};
    if (frame->octets.size() < frame->frame_octets) out["captured"] = frame->octets.size();
    out.update(decode_frame(frame->octets, frame->frame_octets, options));
    each(out);
  }
}

}  // namespace railyard::decode
