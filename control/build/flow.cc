#include "control/build/flow.h"

namespace railyard::build {

Instant Flow::started() const noexcept {
  if (is_uet())
    return asks_at_source() ? uet->source->config(uet->places.at_source).start
                            : uet->sink->config(uet->places.at_sink).start;
  if (is_roce())
    return asks_at_source() ? source->config(places.at_source).start : sink->config(places.at_sink).start;
  return config().start;
}

void Flow::start_at(Instant now) const {
  if (is_uet())
    return asks_at_source() ? uet->source->start(now, uet->places.at_source)
                            : uet->sink->start(now, uet->places.at_sink);
  if (is_roce()) return asks_at_source() ? source->start(now, places.at_source) : sink->start(now, places.at_sink);
  sender->start(now, tx_index);
}

void Flow::tell(bool at_source, FlowListener& listener, std::uint32_t token) const {
  if (is_uet())
    return at_source ? uet->source->tell(uet->places.at_source, listener, token)
                     : uet->sink->tell(uet->places.at_sink, listener, token);
  if (is_roce())
    return at_source ? source->tell(places.at_source, listener, token)
                     : sink->tell(places.at_sink, listener, token);
  if (at_source) return sender->tell_sent(tx_index, listener, token);
  receiver->tell_received(plan.id, total, listener, token);
}

TxFlowCounters Flow::sent() const {
  if (is_uet()) return uet->source->sent(uet->places.at_source);
  return is_roce() ? source->sent(places.at_source) : sender->tx_counters(tx_index);
}

const RxFlowCounters& Flow::received() const {
  static const RxFlowCounters kNothing;
  if (is_roce()) return sink->received(places.at_sink);
  if (is_uet()) return uet->sink->received(uet->places.at_sink);
  return receiver == nullptr ? kNothing : *receiver->rx_counters(plan.id);
}

std::optional<Instant> Flow::complete() const {
  if (total.n == 0) return std::nullopt;
  const auto all = static_cast<std::uint64_t>(total.n);
  if (is_uet() && uet->config().mode != uet::DeliveryMode::kUud)
    return uet->messages().octets == all ? std::optional(uet->messages().last) : std::nullopt;
  if (is_roce() && !is_uc()) return messages().octets == all ? std::optional(messages().last) : std::nullopt;
  return received().payload_octets >= all ? std::optional(received().last) : std::nullopt;
}

roce::QpCounters Flow::qps() const {
  roce::QpCounters sum = source->counters(places.at_source);
  sum += sink->counters(places.at_sink);
  return sum;
}

const roce::MessageCounters& Flow::messages() const {
  return roce_config().asks(true) ? source->messages(places.at_source) : sink->messages(places.at_sink);
}

void Flow::set_rate(Instant now, BitRate to) const {
  if (is_roce())
    source->set_rate(now, places.at_source, to);
  else if (is_uet() && uet->asks(true))
    uet->source->set_rate(now, uet->places.at_source, to);
  else if (is_uet())
    uet->sink->set_rate(now, uet->places.at_sink, to);
  else
    sender->set_rate(now, tx_index, to);
}

}  // namespace railyard::build
