#include "transports/uet/congestion/credit_pacer.h"

namespace railyard::uet {

CreditPacer::CreditPacer(const CreditPacerConfig& config, RngStream chance) noexcept
    : unit_ps_(static_cast<double>((Bytes{kCreditOctets} / config.rate).ps) * config.on_wire / config.rate_share),
      core_(config.base_rtt, std::max(config.oversubscription, 1.0), chance),
      config_(config) {}

void CreditPacer::on_demand(Instant now, std::uint32_t id, CreditLine& line, Credit target) {
  line.asks = true;
  const auto most = static_cast<std::int32_t>(config_.max_ahead / kCreditOctets);
  // (A target far ahead may be one of long ago.)
  const std::int32_t more = std::min(target - line.granted, most);
  if (more > line.owed()) line.target = line.granted + static_cast<std::uint32_t>(more);
  if (line.waits || line.owed() <= 0) return;
  if (next() == Instant::never()) next_ = std::max(next_, now);
  line.waits = true;
  waiting_.push(id);
}

std::uint32_t CreditPacer::take() noexcept {
  of_idle_ = waiting_.empty();
  RingQueue<std::uint32_t>& line = of_idle_ ? idle_ : waiting_;
  const std::uint32_t id = line.front();
  line.pop();
  return id;
}

bool CreditPacer::grant(Instant at, std::uint32_t id, CreditLine& line) {
  const auto turn = static_cast<std::int32_t>(config_.grant / kCreditOctets);
  if (of_idle_) {
    line.idles = false;
    const auto most = static_cast<std::int32_t>(config_.max_ahead / kCreditOctets);
    // Who waits again has its turn there.
    if (line.waits || -line.owed() >= most) return false;
    line.granted = line.granted + static_cast<std::uint32_t>(turn);
    line.idles = true;
    idle_.push(id);
    next_ = at + takes(static_cast<std::uint32_t>(turn));
    return true;
  }
  line.waits = false;
  const std::int32_t units = std::clamp(line.owed(), 0, turn);
  line.granted = line.granted + static_cast<std::uint32_t>(units);
  if (line.owed() > 0) {
    line.waits = true;
    waiting_.push(id);
  } else if (!line.idles) {
    line.idles = true;
    idle_.push(id);
  }
  next_ = at + takes(static_cast<std::uint32_t>(units));
  return units > 0;
}

}  // namespace railyard::uet
