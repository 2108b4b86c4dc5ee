#include "control/telemetry/traffic_end.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <variant>

namespace railyard::telemetry {
namespace {

bool sends_by_itself(const spec::NodeSpec& node) {
  if (node.kind == spec::NodeSpec::Kind::kTrunk) return true;
  return std::ranges::any_of(node.nics, [](const spec::NicSpec& nic) {
    return !std::holds_alternative<std::monostate>(nic.attach) && !std::holds_alternative<spec::AttachPcap>(nic.attach);
  });
}

// No message waits for a completion, and one has failed.
template <class Counters>
std::optional<Instant> failed(const Counters& m) {
  if (m.errors == 0 || m.posted > m.completed + m.errors) return std::nullopt;
  return std::max(m.last_error, m.last);
}

std::optional<Instant> failed(const build::Flow& f) {
  if (f.is_roce()) return failed(f.messages());
  return f.is_uet() ? failed(f.uet->messages()) : std::nullopt;
}

// When the last of it was sent, of flows that nobody answers: what was lost of it never completes.
std::optional<Instant> all_sent(const build::Flow& f) {
  const auto all = static_cast<std::uint64_t>(f.total.n);
  if (all == 0) return std::nullopt;
  if (f.is_uc()) return f.messages().octets == all ? std::optional(f.messages().last) : std::nullopt;
  if (f.is_uet()) {
    const bool is_unanswered = f.uet->config().mode == uet::DeliveryMode::kUud;
    return is_unanswered && f.uet->messages().octets == all ? std::optional(f.uet->messages().last) : std::nullopt;
  }
  if (!f.is_generated()) return std::nullopt;
  const Instant sent = f.sender->all_sent(f.tx_index);
  return sent != Instant::never() ? std::optional(sent) : std::nullopt;
}

std::optional<Instant> end_of_flow(const build::Flow& f, Instant reached, bool arrived) {
  std::optional<Instant> end = f.complete();
  if (!end) end = failed(f);
  if (!end && !arrived) end = all_sent(f);
  return f.stop <= reached ? std::min(end.value_or(f.stop), f.stop) : end;
}

// When its last result was there, and it begins no other repeat.
std::optional<Instant> end_of_rank(const CollectiveRank& rank, Instant reached) noexcept {
  const std::vector<Instant>& finished = rank.finished();
  const Instant result = finished.empty() ? Instant{} : finished.back();
  if (result == Instant::never()) return std::nullopt;
  if (finished.size() == rank.config().repeats) return result;
  if (rank.running() || rank.config().stop > reached) return std::nullopt;
  return std::max(result, rank.config().stop);
}

// Ranks are asked this often, in windows, whether they have failed: there may be many.
constexpr std::int64_t kScan = 16;

// One that has failed ends with its first failure; a little later, so that every scan has seen it by then.
std::optional<Instant> end_of_collective(const build::Collective& c, Instant reached, Duration window) {
  Instant last{};
  Instant failed = Instant::never();
  bool goes_on = false;
  for (const CollectiveRank* rank : c.ranks) {
    if (rank->failure()) failed = std::min(failed, rank->failure()->at);
    const auto end = end_of_rank(*rank, reached);
    goes_on = goes_on || !end;
    last = std::max(last, end.value_or(last));
  }
  if (!goes_on) return last;
  return failed != Instant::never() ? std::optional(failed + 2 * kScan * window) : std::nullopt;
}

std::optional<Instant> end_of_rping(const roce::RpingClient& client) {
  return client.ended() != Instant::never() ? std::optional(client.ended()) : std::nullopt;
}

std::optional<Instant> end_of_capture(const PcapEndpoint& pcap) {
  return pcap.not_yet_sent() == 0 ? std::optional(pcap.last_sent()) : std::nullopt;
}

}  // namespace

TrafficEnd::TrafficEnd(const build::BuiltLab& lab)
    : lab_(lab), window_(std::min(lab.fabric().window().size, Duration{1'000'000})) {
  const std::size_t all = lab.flows().size() + lab.collectives().size() + lab.rping_runs().size() + lab.pcaps().size();
  all_ = all;
  is_known_ = all > 0 && lab.agent_flows().empty() && lab.agent_collectives().empty() &&
              std::ranges::none_of(lab.spec().nodes, sends_by_itself);
  sent_.items.resize(all);
  std::iota(sent_.items.begin(), sent_.items.end(), 0u);
  arrived_.items = sent_.items;
  arrived_.arrived = true;
  const auto add = [&](Instant stop) {
    if (stop != Instant::never()) stops_.push_back(stop);
  };
  for (const build::Flow& f : lab.flows()) add(f.stop);
  for (const build::Collective& c : lab.collectives())
    for (const CollectiveRank* rank : c.ranks) add(rank->config().stop);
  std::ranges::sort(stops_);
  const auto rest = std::ranges::unique(stops_);
  stops_.erase(rest.begin(), rest.end());
}

bool TrafficEnd::waits(std::uint32_t item) const {
  return item < lab_.flows().size() && lab_.flows()[item].started() == Instant::never();
}

std::optional<Instant> TrafficEnd::end_of(std::uint32_t item, Instant reached, bool arrived) const {
  std::size_t i = item;
  if (i < lab_.flows().size()) return end_of_flow(lab_.flows()[i], reached, arrived);
  i -= lab_.flows().size();
  if (i < lab_.collectives().size()) return end_of_collective(lab_.collectives()[i], reached, window_);
  i -= lab_.collectives().size();
  if (i < lab_.rping_runs().size()) return end_of_rping(lab_.rping_runs()[i].client());
  return end_of_capture(*lab_.pcaps()[i - lab_.rping_runs().size()]);
}

bool TrafficEnd::is_over(Pass& p, Instant reached) const {
  while (true) {
    for (; p.next < p.items.size(); ++p.next) {
      if (waits(p.items[p.next])) {
        p.waiting.push_back(p.items[p.next]);
        continue;
      }
      const auto end = end_of(p.items[p.next], reached, p.arrived);
      if (!end) return false;
      p.end = std::max(p.end, *end);
    }
    // What still waits for a trigger is not offered, unless it is about to start.
    if (!p.waiting.empty() && lab_.triggers()->starting() > 0) return false;
    if (std::ranges::all_of(p.waiting, [&](std::uint32_t item) { return waits(item); })) return true;
    p.items = std::move(p.waiting);
    p.waiting.clear();
    p.next = 0;
  }
}

bool TrafficEnd::Probe::goes_on(Instant reached) const noexcept {
  if (rank != nullptr) return reached < scan && !end_of_rank(*rank, reached);
  return octets != nullptr && *octets < all && reached < stop && (errors == nullptr || *errors == 0);
}

TrafficEnd::Probe TrafficEnd::probe_of(std::uint32_t item, Instant reached) const {
  Probe p;
  if (item < lab_.flows().size()) {
    const build::Flow& f = lab_.flows()[item];
    const auto take = [&](const auto& messages) {
      p.octets = &messages.octets;
      p.errors = &messages.errors;
    };
    if (f.is_roce())
      take(f.messages());
    else if (f.is_uet())
      take(f.uet->messages());
    else
      p.octets = &f.sender->tx_counters(f.tx_index).payload_octets;
    p.all = f.total.n > 0 ? static_cast<std::uint64_t>(f.total.n) : std::numeric_limits<std::uint64_t>::max();
    p.stop = f.stop;
  } else if (const std::size_t i = item - lab_.flows().size(); i < lab_.collectives().size()) {
    const auto& ranks = lab_.collectives()[i].ranks;
    const auto first = std::ranges::find_if(ranks, [&](const CollectiveRank* r) { return !end_of_rank(*r, reached); });
    if (first != ranks.end()) p.rank = *first;
    p.scan = Instant{} + kScan * window_ * ((reached - Instant{}) / (kScan * window_) + 1);
  }
  return p;
}

std::optional<Instant> TrafficEnd::look(Instant reached) {
  if (probe_.goes_on(reached)) [[likely]]
    return std::nullopt;
  if (!is_over(sent_, reached)) {
    if (sent_.next < sent_.items.size()) probe_ = probe_of(sent_.items[sent_.next], reached);
    return std::nullopt;
  }
  probe_ = {};
  const Instant end = is_over(arrived_, reached) ? arrived_.end : sent_.end;
  if (said_ == end) return std::nullopt;
  said_ = end;
  return end;
}

// Who decides is who asks for messages; of what the generator sends, and of what nobody answers, the sender and then the
// receiver.
bool TrafficEnd::is_over_here(std::uint32_t item, Instant reached, bool arrived) const {
  const auto is_elsewhere = [&](const spec::PortName& nic) {
    return lab_.fabric()[lab_.port(nic).device].is_elsewhere();
  };
  if (item < lab_.flows().size()) {
    const build::Flow& f = lab_.flows()[item];
    const bool is_unanswered = f.is_uc() || (f.is_uet() && f.uet->config().mode == uet::DeliveryMode::kUud);
    const bool by_receiver = arrived && (f.is_generated() || is_unanswered);
    const bool at_source = by_receiver ? false : f.asks_at_source();
    if (is_elsewhere(at_source ? f.plan.source : f.plan.destination)) return true;
  } else if (const std::size_t i = item - lab_.flows().size(); i < lab_.collectives().size()) {
    const build::Collective& c = lab_.collectives()[i];
    for (std::size_t r = 0; r < c.ranks.size(); ++r)
      if (!is_elsewhere(c.nics[r]) && !end_of_rank(*c.ranks[r], reached)) return false;
    return true;
  } else {
    const std::size_t other = i - lab_.collectives().size();
    const std::size_t pings = lab_.rping_runs().size();
    const spec::PortName& nic =
        other < pings ? lab_.rping_runs()[other].plan.source : lab_.pcap_nics()[other - pings].nic;
    if (is_elsewhere(nic)) return true;
  }
  return end_of(item, reached, arrived).has_value();
}

TrafficEnd::Hint TrafficEnd::hint(Instant reached) {
  const bool arrived = said_.has_value();
  if (arrived != hinted_arrived_) {
    hinted_arrived_ = arrived;
    hinted_ = 0;
    hinted_waiting_.clear();
  }
  for (; hinted_ < all_; ++hinted_) {
    if (waits(hinted_))
      hinted_waiting_.push_back(hinted_);
    else if (!is_over_here(hinted_, reached, arrived))
      break;
  }
  Hint h;
  h.is_over = hinted_ == all_ && (lab_.triggers() == nullptr || lab_.triggers()->starting() == 0) &&
              std::ranges::all_of(hinted_waiting_, [&](std::uint32_t item) {
                return waits(item) || is_over_here(item, reached, arrived);
              });
  if (!has_failed_ && hints_++ % kScan == 0)
    for (const build::Collective& c : lab_.collectives())
      has_failed_ = has_failed_ || std::ranges::any_of(c.ranks, [](const CollectiveRank* rank) {
                      return rank->failure().has_value();
                    });
  h.has_failed = has_failed_;
  return h;
}

}  // namespace railyard::telemetry
