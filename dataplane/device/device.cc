#include "dataplane/device/device.h"

#include <algorithm>
#include <utility>

#include "dataplane/base/assert.h"

namespace railyard {

namespace {
// Slices are cut so that event keys never reach their limit.
constexpr Duration kLongestSlice{EventKey::kReach.ps / 4};
}  // namespace

Device::Device(DeviceId id, std::string name, std::size_t ports)
    : id_(id), name_(std::move(name)), ingress_(ports), taps_(ports, nullptr) {
  RAILYARD_ASSERT(ports <= EventKey::kMaxPorts, "a device has more ports than event keys can name");
}

void Device::connect(PortIndex port, Channel& in, Channel& out, BitRate rate) {
  Ingress& i = ingress_[port.index()];
  i.channel = &in;
  i.data_latency = in.data_latency;
  i.control_latency = in.control_latency;
  connected(port, out, rate);
}

Instant Device::advance(Instant until) {
  if (until <= done_) return next_;
  while (!scheduled_.empty() && scheduled_.back().at < until) {
    const Instant at = scheduled_.back().at;
    run_slices(at);
    while (!scheduled_.empty() && scheduled_.back().at == at) {
      const Scheduled now = std::move(scheduled_.back());
      scheduled_.pop_back();
      now.act(at);
    }
  }
  next_ = run_slices(until);
  if (!scheduled_.empty()) next_ = std::min(next_, scheduled_.back().at);
  return next_;
}

Instant Device::run_slices(Instant until) {
  Instant next = until;
  while (done_ < until) {
    const Instant end = std::min(until, done_ + kLongestSlice);
    if (end - key_base_ > 2 * kLongestSlice) {
      key_base_ = done_;
      on_new_key_base();
    }
    next = run(end);
    done_ = end;
  }
  return next;
}

Instant Device::schedule(Instant at, bool snapshot, std::function<void(Instant)> act) {
  RAILYARD_ASSERT(at >= done_, "a change in a device's past");
  Scheduled entry{at, snapshot, scheduled_count_++, std::move(act)};
  const auto later = [](const Scheduled& a, const Scheduled& b) {
    return std::tie(a.at, a.snapshot, a.order) > std::tie(b.at, b.snapshot, b.order);
  };
  scheduled_.insert(std::upper_bound(scheduled_.begin(), scheduled_.end(), entry, later), std::move(entry));
  return next_ = std::min(next_, at);
}

Instant Device::change_at(Instant at, std::function<void(Instant)> change) {
  return schedule(at, false, std::move(change));
}

Instant Device::snapshot_at(Instant at, std::function<void(DeviceCounters)> take) {
  return schedule(at, true, [this, take = std::move(take)](Instant now) {
    DeviceCounters c = counters();
    c.at = now;
    take(std::move(c));
  });
}

void Device::link_down_at(Instant at, PortIndex port) {
  change_at(at, [this, port](Instant now) {
    Ingress& in = ingress(port);
    in.up = false;
    in.downs.push_back(now);
    on_link_down(now, port);
  });
}

void Device::link_up_at(Instant at, PortIndex port) {
  change_at(at, [this, port](Instant now) {
    ingress(port).up = true;
    on_link_up(now, port);
  });
}

bool Device::lost_on_the_wire(const Ingress& in, const InFlight& frame, Duration latency) const noexcept {
  const Instant arrival = frame.effect - latency;
  return std::any_of(in.downs.begin(), in.downs.end(),
                     [&](Instant down) { return frame.start < down && down <= arrival; });
}

Instant Device::collect(Instant until) {
  ArrivalBatch& batch = arrivals();
  batch.clear();
  Instant rest = Instant::never();
  for (std::size_t p = 0; p < ingress_.size(); ++p) {
    Ingress& in = ingress_[p];
    if (in.channel == nullptr) continue;
    const auto take = [&](SpscRing<InFlight>& fifo, EventKind kind, Duration latency) {
      const InFlight* f = fifo.front();
      for (; f != nullptr && f->effect < until; f = fifo.front()) {
        RAILYARD_ASSERT(f->effect >= done_, "causality: a frame takes effect in a device's past");
        if (!in.downs.empty() && lost_on_the_wire(in, *f, latency)) [[unlikely]] {
          in.lost.increment();
          pool().release(f->packet);
        } else {
          __builtin_prefetch(f->packet);
          in.delivered.increment();
          batch.add(EventKey::make(key_base_, f->effect, kind, static_cast<std::uint32_t>(p)), f->packet);
        }
        fifo.pop();
      }
      if (f != nullptr && f->effect < rest) rest = f->effect;
    };
    take(in.channel->control, EventKind::kMacControl, in.control_latency);
    take(in.channel->data, EventKind::kArrival, in.data_latency);
  }
  batch.sort(EventKey::floor(key_base_, done_), EventKey::floor(key_base_, until));
  return rest;
}

void Device::tap(PortIndex port, Tap* tap) {
  taps_.at(port.index()) = tap;
  tapped_ = std::any_of(taps_.begin(), taps_.end(), [](const Tap* t) { return t != nullptr; });
  observed_ = tapped_ || digest_on_;
}

void Device::digest_departures(bool on) {
  digest_on_ = on;
  observed_ = tapped_ || digest_on_;
}

void Device::observe_departure(Instant now, PortIndex port, const Packet& packet, const TapNote& note) {
  if (digest_on_) digest_.departure(id_, port, now, packet);
  observe(now, port, packet, note);
}

DeviceCounters Device::counters() const {
  DeviceCounters c;
  c.name = name_;
  c.at = done_;
  c.ports.resize(ingress_.size());
  for (std::size_t p = 0; p < ingress_.size(); ++p) {
    c.ports[p].delivered = ingress_[p].delivered.read();
    c.ports[p].lost = ingress_[p].lost.read();
  }
  count(c);
  return c;
}

}  // namespace railyard
