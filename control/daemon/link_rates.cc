#include "control/daemon/link_rates.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace railyard::daemon {
namespace {

// Preamble, start of frame and the gap between frames (IEEE 802.3 §3.1.1, §4.4.2): on the wire with each frame.
constexpr double kBetweenFrames = 20;

}  // namespace

LinkRates::LinkRates(const build::BuiltLab& lab) : lab_(lab) {
  end_.resize(lab.fabric().size());
  for (const spec::LinkSpec& link : lab.spec().links)
    for (const spec::PortName* name : {&link.a, &link.b}) {
      const PortRef port = lab.port(*name);
      auto& ports = end_[port.device.index()];
      if (ports.size() <= port.port.index()) ports.resize(port.port.index() + std::size_t{1});
      port_.push_back(port);
      ports[port.port.index()] = port_.size();
    }
  before_.resize(port_.size());
  now_.resize(port_.size());
}

std::optional<std::size_t> LinkRates::end_at(PortRef port) const {
  if (port.device.index() >= end_.size()) return std::nullopt;
  const auto& ports = end_[port.device.index()];
  if (port.port.index() >= ports.size() || ports[port.port.index()] == 0) return std::nullopt;
  return ports[port.port.index()] - 1;
}

void LinkRates::sample(double modelled_seconds) {
  std::vector<Counted> counted(port_.size());
  storms_.clear();
  for (const auto& device : lab_.fabric().devices()) {
    const DeviceCounters counters = device->live_counters();
    const auto& ends = end_[device->id().index()];
    for (std::size_t p = 0; p < std::min(ends.size(), counters.ports.size()); ++p) {
      if (ends[p] == 0) continue;
      const std::size_t e = ends[p] - 1;
      const PortCounters& c = counters.ports[p];
      Counted& to = counted[e];
      std::uint64_t depth = 0;
      for (const ClassCounters& k : c.classes) {
        to.octets += k.tx_octets;
        to.packets += k.tx_packets;
        to.marked += k.ecn_marked;
        to.pauses += k.xoff_received;
        to.storms += k.storms_detected;
        depth += k.depth_octets;
      }
      to.drops += c.dropped();
      counted[e ^ 1].drops += c.lost;  // of what the other end has sent
      now_[e].depth = static_cast<float>(depth);
    }
  }
  const double passed = at_ ? modelled_seconds - *at_ : 0;
  // The engine is between two windows, or was not given a core: what it has counted belongs to more time than it has said.
  // The next sample knows; time that stands still says so several times.
  constexpr int kMostSkipped = 3;
  if (at_ && passed < usual_ / 4 && skipped_ < kMostSkipped) {
    ++skipped_;
    return;
  }
  skipped_ = 0;
  if (at_) usual_ = usual_ == 0 ? passed : 0.8 * usual_ + 0.2 * passed;
  for (std::size_t e = 0; e < counted.size(); ++e) {
    EndRates& r = now_[e];
    const auto rate = [&](std::uint64_t Counted::*of) {
      const std::uint64_t more = counted[e].*of - std::min(before_[e].*of, counted[e].*of);
      return passed > 0 ? static_cast<double>(more) / passed : 0;
    };
    const double octets = rate(&Counted::octets);
    const double bps = static_cast<double>(lab_.rate(port_[e]).bps);
    // The instant is a little older than the counters: no link carries more than its rate.
    r.bps = static_cast<float>(std::min(octets * 8, bps));
    r.use = bps > 0 ? static_cast<float>(std::min(1.0, 8 * (octets + kBetweenFrames * rate(&Counted::packets)) / bps)) : 0;
    r.marked = static_cast<float>(rate(&Counted::marked));
    r.pauses = static_cast<float>(rate(&Counted::pauses));
    r.drops = static_cast<float>(rate(&Counted::drops));
    if (at_ && counted[e].storms > before_[e].storms) storms_.push_back(e);
  }
  before_ = std::move(counted);
  at_ = modelled_seconds;
}

RateHistory::RateHistory(std::size_t ends) : ends_(ends), step_(1), most_(static_cast<std::size_t>(kKept)), sum_(ends) {
  while (most_ > 10 && most_ * ends * sizeof(EndRates) > kMostOctets) {
    step_ *= 2;
    most_ = static_cast<std::size_t>(kKept / step_);
  }
}

void RateHistory::add(double unix_seconds, double modelled_seconds, const std::vector<EndRates>& rates,
                      const std::string& up) {
  if (summed_ == 0) began_ = unix_seconds;
  if (summed_ > 0 && unix_seconds - began_ >= step_) {
    close_step();
    began_ = unix_seconds;
  }
  modelled_ = modelled_seconds;
  up_ = up;
  ++summed_;
  for (std::size_t e = 0; e < ends_; ++e) {
    EndRates& s = sum_[e];
    s.bps += rates[e].bps;
    s.use += rates[e].use;
    s.depth = std::max(s.depth, rates[e].depth);
    s.marked += rates[e].marked;
    s.pauses += rates[e].pauses;
    s.drops += rates[e].drops;
  }
}

void RateHistory::close_step() {
  const auto n = static_cast<float>(summed_);
  for (EndRates& s : sum_) {
    s.bps /= n;
    s.use /= n;
    s.marked /= n;
    s.pauses /= n;
    s.drops /= n;
  }
  Step step{began_, modelled_, std::move(sum_), up_};
  sum_.assign(ends_, {});
  summed_ = 0;
  if (ring_.size() < most_) {
    ring_.push_back(std::move(step));
  } else {
    ring_[first_] = std::move(step);
    first_ = (first_ + 1) % ring_.size();
  }
}

const RateHistory::Step* RateHistory::at(double unix_seconds) const {
  const Step* found = nullptr;
  for (std::size_t i = 0; i < ring_.size(); ++i) {
    const Step& s = ring_[(first_ + i) % ring_.size()];
    if (found == nullptr || s.unix_seconds <= unix_seconds) found = &s;
  }
  return found;
}

nlohmann::json RateHistory::columns(const std::vector<std::size_t>& ends,
                                    const std::vector<std::size_t>& counted) const {
  using nlohmann::json;
  json out{{"step_seconds", step_}};
  json t = json::array(), modelled = json::array(), sent = json::array(), come = json::array(), depth = json::array(),
       marked = json::array(), pauses = json::array(), drops = json::array();
  for (std::size_t i = 0; i < ring_.size(); ++i) {
    const Step& s = ring_[(first_ + i) % ring_.size()];
    double o = 0, c = 0, m = 0, p = 0, d = 0, deepest = 0;
    for (const std::size_t e : ends) {
      o += s.ends[e].bps;
      c += s.ends[e ^ 1].bps;
    }
    for (const std::size_t e : counted) {
      deepest = std::max(deepest, static_cast<double>(s.ends[e].depth));
      m += s.ends[e].marked;
      p += s.ends[e].pauses;
      d += s.ends[e].drops;
    }
    t.push_back(std::round(s.unix_seconds * 1000) / 1000);
    modelled.push_back(s.modelled_seconds);
    sent.push_back(std::round(o));
    come.push_back(std::round(c));
    depth.push_back(std::round(deepest));
    marked.push_back(std::round(m));
    pauses.push_back(std::round(p));
    drops.push_back(std::round(d));
  }
  out["t"] = std::move(t);
  out["modelled"] = std::move(modelled);
  out["out"] = std::move(sent);
  out["in"] = std::move(come);
  out["depth"] = std::move(depth);
  out["marked"] = std::move(marked);
  out["pauses"] = std::move(pauses);
  out["drops"] = std::move(drops);
  return out;
}

}  // namespace railyard::daemon
