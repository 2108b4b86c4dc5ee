#include "dataplane/switch/path/quality_reporter.h"

#include <limits>

#include "dataplane/packet/packet.h"

namespace railyard {
namespace {

constexpr std::int64_t kPicosecondsPerMicrosecond = 1'000'000;
// Of so many reports' time on the wire one may be used.
constexpr std::int64_t kShareOfLink = 50;

// Some reports in a row may be lost; a queue that nobody speaks of any more should not be believed in for long.
Duration lifetime_of(Duration every) noexcept {
  const std::int64_t us = (16 * every.ps + kPicosecondsPerMicrosecond - 1) / kPicosecondsPerMicrosecond;
  return Duration{std::clamp<std::int64_t>(us, 100, std::numeric_limits<std::uint16_t>::max()) *
                  kPicosecondsPerMicrosecond};
}

std::uint32_t whole_ns(Duration band) noexcept {
  return static_cast<std::uint32_t>(
      std::clamp<std::int64_t>((band.ps + 999) / 1000, 1, std::numeric_limits<std::uint32_t>::max()));
}

}  // namespace

std::expected<void, std::string> validate(const QualityReportConfig& config, const std::string& where) {
  if (config.every <= Duration{}) return std::unexpected(where + ": every is 0; expected more than 0");
  if (config.band <= Duration{}) return std::unexpected(where + ": a band is 0; expected more than 0");
  return {};
}

void QualityReporter::set(const std::optional<QualityReportConfig>& config, const std::vector<bool>& listens) {
  config_ = config.value_or(QualityReportConfig{});
  on_ = config && std::ranges::find(listens, true) != listens.end();
  bands_ = QualityBands(Duration{whole_ns(config_.band) * std::int64_t{1000}}, wire::QualityReport::kWorstBand + 1u);
  lifetime_ = lifetime_of(config_.every);
  changed_ = mentionable_ = false;
  repeats_ = 0;
  next_ = {};
  repeat_at_ = due_ = Instant::never();
  std::ranges::fill(said_, std::uint8_t{0});
  for (std::size_t p = 0; p < listener_.size(); ++p) {
    listener_[p].listens = on_ && listens[p];
    listener_[p].waits = false;
    listener_[p].next_port = 0;
  }
}

void QualityReporter::set_rate(PortIndex port, BitRate rate, Framing framing) noexcept {
  wire_time_[port.index()] = OctetTime(rate).of(framing.slot(kLeastFrameOctets));
}

bool QualityReporter::changed(Instant now, std::span<const PortLoad> loads) {
  if (now >= next_) {
    say(now, loads);
    return true;
  }
  if (!changed_) {
    changed_ = true;
    find_due();
  }
  return false;
}

void QualityReporter::on_time(Instant now, std::span<const PortLoad> loads) {
  if (repeat_at_ <= now) {
    repeats_ = std::max(0, repeats_ - 1);
    say(now, loads);
  } else if (changed_ && next_ <= now) {
    changed_ = false;
    for (std::size_t p = 0; p < loads.size() && !changed_; ++p) changed_ = band_of(loads[p]) != said_[p];
    if (changed_) say(now, loads);
  }
  find_due();
}

void QualityReporter::say(Instant now, std::span<const PortLoad> loads) {
  using wire::QualityReport;
  mentionable_ = false;
  for (std::size_t p = 0; p < loads.size(); ++p) {
    const std::uint8_t band = band_of(loads[p]);
    if ((band == QualityReport::kNoLink) != (said_[p] == QualityReport::kNoLink)) repeats_ = kRepeats;
    mentionable_ |= band != 0 && band != QualityReport::kNoLink;
    said_[p] = band;
  }
  changed_ = false;
  next_ = now + config_.every;
  repeat_at_ = mentionable_ ? next_ : repeats_ > 0 ? now + lifetime_ / 2 : Instant::never();
  for (Listener& l : listener_) {
    l.waits = l.listens && l.up;
    l.next_port = 0;
  }
  find_due();
}

wire::QualityReport QualityReporter::take(Instant now, PortIndex port) {
  Listener& l = listener_[port.index()];
  wire::QualityReport report;
  report.first_port = l.next_port;
  report.ports =
      static_cast<std::uint8_t>(std::min<std::size_t>(said_.size() - l.next_port, wire::QualityReport::kMostPorts));
  report.lifetime_us = static_cast<std::uint16_t>(lifetime_.ps / kPicosecondsPerMicrosecond);
  report.band_end_ns = whole_ns(config_.band);
  std::copy_n(said_.begin() + l.next_port, report.ports, report.bands.begin());
  l.next_port = static_cast<std::uint16_t>(l.next_port + report.ports);
  l.not_before = now + wire_time_[port.index()] * kShareOfLink;
  l.waits = l.next_port < said_.size();
  if (!l.waits) l.next_port = 0;
  find_due();
  return report;
}

void QualityReporter::link_down(PortIndex port) noexcept {
  Listener& l = listener_[port.index()];
  l.up = l.waits = false;
  l.next_port = 0;
  find_due();
}

void QualityReporter::link_up(PortIndex port) noexcept {
  Listener& l = listener_[port.index()];
  l.up = true;
  // Nothing is what it has heard, and what there may be to say.
  l.waits = l.listens && std::ranges::any_of(said_, [](std::uint8_t band) { return band != 0; });
  find_due();
}

void QualityReporter::find_due() noexcept {
  due_ = changed_ ? std::min(next_, repeat_at_) : repeat_at_;
  for (const Listener& l : listener_)
    if (l.waits) due_ = std::min(due_, l.not_before);
}

}  // namespace railyard
