#include "dataplane/port/pcap_endpoint.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "dataplane/base/hash.h"
#include "dataplane/packet/assemble.h"
#include "dataplane/wire/parse.h"
#include "dataplane/wire/pfc.h"

namespace railyard {
namespace {

// What a TxFrame's header has room for in any packet: a chain of IPv6 extension headers can be much longer.
constexpr std::uint16_t kMostHeaderOctets = 192;

}  // namespace

PcapEndpoint::PcapEndpoint(const PcapEndpointConfig& config) : stream_(hash_string(config.in)) {
  if (!config.in.empty()) {
    auto captured = read_pcap(config.in);
    if (!captured) throw std::runtime_error(captured.error());
    for (CapturedFrame& f : *captured) take(f, config);
    std::stable_sort(controls_.begin(), controls_.end(),
                     [](const Control& a, const Control& b) { return a.at < b.at; });
    std::stable_sort(frames_.begin(), frames_.end(), [](const Frame& a, const Frame& b) { return a.at < b.at; });
    for (std::size_t i = 0; i < frames_.size(); ++i) by_class_[frames_[i].priority.index()].push_back(i);
  }
  if (!config.out.empty()) write_to(config.out);
}

void PcapEndpoint::take(CapturedFrame& f, const PcapEndpointConfig& config) {
  const Instant at = config.as_fast_as_possible ? Instant{} : std::max(f.at, Instant{});
  const auto view = wire::parse_frame(f.octets);
  if (!view) {
    ++counters_.malformed;
  } else if (view->kind == wire::FrameKind::kMacControl) {
    if (!wire::parse_pfc(f.octets)) {
      ++counters_.not_pfc;
      return;
    }
    Control& c = controls_.emplace_back(Control{at});
    std::copy_n(f.octets.begin(), std::min(f.octets.size(), c.octets.size()), c.octets.begin());
  } else if (view->header_octets > kMostHeaderOctets) {
    ++counters_.long_headers;
  } else {
    const bool ip = view->kind == wire::FrameKind::kIpv4 || view->kind == wire::FrameKind::kIpv6;
    std::uint8_t priority = config.default_class;
    if (config.trust_pcp && view->tagged) priority = config.pcp_to_class[view->pcp];
    if (!config.trust_pcp && ip) priority = config.dscp_to_class[view->traffic_class_octet >> 2];
    if (!wire::read<wire::Ethernet::Destination>(f.octets.data()).is_multicast())
      wire::write<wire::Ethernet::Destination>(f.octets.data(), config.next_hop_mac);
    frames_.push_back({at, Priority{priority}, view->header_octets, std::move(f.octets)});
  }
}

void PcapEndpoint::write_to(const std::filesystem::path& file) {
  auto out = PcapWriter::open(file);
  if (!out) throw std::runtime_error(out.error());
  out_ = std::move(*out);
}

std::optional<std::size_t> PcapEndpoint::next_of(Priority p) const noexcept {
  const std::vector<std::size_t>& of_class = by_class_[p.index()];
  const std::size_t i = next_[p.index()];
  return i < of_class.size() ? std::optional(of_class[i]) : std::nullopt;
}

Readiness PcapEndpoint::ready(Instant now) {
  Readiness r;
  for (std::uint8_t p = 0; p < kPriorities; ++p) {
    const auto next = next_of(Priority{p});
    if (!next) continue;
    if (frames_[*next].at <= now)
      r.classes = static_cast<PriorityMask>(r.classes | (1u << p));
    else
      r.until = std::min(r.until, frames_[*next].at);
  }
  if (next_control_ < controls_.size()) {
    const Instant at = controls_[next_control_].at;
    r.control = at <= now;
    if (!r.control) r.until = std::min(r.until, at);
  }
  return r;
}

bool PcapEndpoint::take_control(Instant now, std::span<std::byte, kControlOctets> out) {
  if (next_control_ == controls_.size() || controls_[next_control_].at > now) return false;
  std::ranges::copy(controls_[next_control_++].octets, out.begin());
  ++counters_.sent;
  ++counters_.control;
  last_sent_ = now;
  return true;
}

std::size_t PcapEndpoint::send(Instant now, Priority priority, std::span<TxFrame> frames) {
  std::size_t n = 0;
  for (; n < frames.size(); ++n) {
    const auto next = next_of(priority);
    if (!next || frames_[*next].at > now) break;
    const Frame& f = frames_[*next];
    TxFrame& out = frames[n];
    std::memcpy(out.header, f.octets.data(), f.header_octets);
    out.header_octets = static_cast<std::uint16_t>(f.header_octets);
    out.trailer_octets = 0;
    out.flow = TxFrame::kNoFlow;
    out.tag.vid = FrameTag::kAsWritten;
    out.payload = {stream_, *next, static_cast<std::uint32_t>(f.octets.size() - f.header_octets),
                   f.octets.data() + f.header_octets};
    ++next_[priority.index()];
    ++counters_.sent;
    last_sent_ = now;
  }
  return n;
}

bool PcapEndpoint::receive(std::span<const RxFrame> frames) {
  for (const RxFrame& f : frames) {
    ++counters_.received;
    if (!out_) continue;
    assemble(f.header, f.payload, f.icrc_pending, assembled_);
    const std::span<const std::byte> piece(assembled_);
    out_->write(f.at, {&piece, 1});
  }
  return false;
}

void PcapEndpoint::close() {
  if (!out_) return;
  if (auto ok = out_->close(); !ok) throw std::runtime_error(ok.error());
}

}  // namespace railyard
