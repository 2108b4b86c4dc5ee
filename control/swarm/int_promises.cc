#include "control/swarm/int_promises.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "control/spec/value.h"

namespace railyard::swarm {

IntPromises::IntPromises(build::BuiltLab& lab, std::function<void(const std::string&)> broken)
    : lab_(lab), broken_(std::move(broken)), sources_(lab.fabric().size()) {
  const spec::IntSpec& what = *lab.spec().run.in_band;
  IntSampling sampling;
  sampling.one_in = static_cast<std::uint64_t>(what.one_in);
  for (const auto& d : lab.fabric().devices()) {
    device_of_[&d->name()] = d->id();
    std::unique_ptr<IntSource>& source = sources_[d->id().index()];
    if (!lab.is_switch(d->id())) {
      source = std::make_unique<IntSource>(static_cast<std::size_t>(what.packets));
      source->begin(lab.spec().run.seed, sampling);
    }
    d->record_int(true, source.get());
  }
}

IntPromises::~IntPromises() {
  for (const auto& d : lab_.fabric().devices()) d->record_int(false, nullptr);
}

std::string IntPromises::name(const IntHop& hop) const {
  return fmt::format("{} at {}", *hop.node,
                     spec::format(std::min(hop.ingress, std::min(hop.queued, hop.egress)) - Instant{}));
}

void IntPromises::look(std::vector<DeviceCounters> now) {
  now_ = std::move(now);
  for (const auto& source : sources_)
    if (source != nullptr) source->take_ended([&](const IntStack& s) { check(s); });
}

void IntPromises::check(const IntStack& stack) {
  ++fetched_;
  if (stack.hops_not_kept() > 0) return;
  const IntHop& first = stack.hops().front();
  const IntHop& last = stack.hops().back();
  if (lab_.is_switch(device_of_.at(first.node))) broken_(name(first) + ": a packet that starts at a switch");
  for (std::size_t i = 0; i < stack.hops().size(); ++i) check_hop(stack, i);
  if (stack.ended() == IntStack::End::kDropped) {
    const DeviceCounters& device = now_[device_of_.at(last.node).index()];
    if (last.dropped == DropReason::kCount)
      broken_(name(last) + ": a packet was dropped, but its last hop does not report it");
    else if (device.dropped() == 0)
      broken_(
          fmt::format("{}: dropped ({}), but the device counted no drop", name(last), railyard::name(last.dropped)));
  }
}

void IntPromises::check_hop(const IntStack& stack, std::size_t i) {
  const IntHop& hop = stack.hops()[i];
  const DeviceId device = device_of_.at(hop.node);
  if (i > 0) {
    const IntHop& before = stack.hops()[i - 1];
    const DeviceId from = device_of_.at(before.node);
    if (before.egress == Instant::never() || hop.ingress == Instant::never() || hop.ingress <= before.egress) {
      broken_(fmt::format("{} and {}: not in order", name(before), name(hop)));
      return;
    }
    if (lab_.fabric().peer({from, before.out}) != PortRef{device, hop.in})
      broken_(fmt::format("{} by port {}, then {} by port {}: not linked", name(before), before.out.value + 1,
                          name(hop), hop.in.value + 1));
  }
  if (hop.queued == Instant::never() || i == 0 || !lab_.is_switch(device)) return;
  if (hop.queued < hop.ingress || hop.egress < hop.queued)
    broken_(fmt::format("{}: queued at {}, sent at {}", name(hop), spec::format(hop.queued - Instant{}),
                        spec::format(hop.egress - Instant{})));
  const ClassCounters& queue =
      now_[device.index()].ports[hop.out.index()].classes[hop.priority.index()];
  if (hop.queue_octets > queue.max_depth_octets)
    broken_(fmt::format("{}: found {} bytes in a queue whose maximum was {}", name(hop), hop.queue_octets,
                        queue.max_depth_octets));
  if (hop.egress != Instant::never())
    waits_[{device.value, hop.out.value, hop.priority.value}].push_back(
        {hop.queued, hop.egress, hop.frame_octets, hop.queue_octets});
}

void IntPromises::look_at_the_end(std::vector<DeviceCounters> now) {
  look(std::move(now));
  std::uint64_t sampled = 0;
  for (const auto& source : sources_) {
    if (source == nullptr) continue;
    // Their packets were lost between devices.
    source->take_if([](const IntStack&) { return true; }, [&](const IntStack& s) { check(s); });
    sampled += source->sampled() - source->not_kept();
  }
  if (sampled != fetched_) broken_(fmt::format("{} packets were sampled, but {} fetched", sampled, fetched_));
  for (auto& [key, waits] : waits_) {
    // Queues are first in, first out: who is ahead of a packet are the last ones before it that had not gone.
    std::ranges::sort(waits, {}, [](const Wait& w) { return std::pair(w.from, w.until); });
    std::size_t ahead = 0;
    std::uint64_t octets = 0;
    for (std::size_t i = 0, entered = 0; i < waits.size(); ++i) {
      for (; waits[entered].from < waits[i].from; ++entered) octets += waits[entered].octets;
      for (; ahead < entered && waits[ahead].until < waits[i].from; ++ahead) octets -= waits[ahead].octets;
      if (waits[i].found >= octets) continue;
      const auto& [device, port, priority] = key;
      broken_(fmt::format("{}:{} class {} at {}: found {} octets, and {} of sampled packets alone were ahead",
                          lab_.fabric()[DeviceId{device}].name(), port + 1, priority,
                          spec::format(waits[i].from - Instant{}), waits[i].found, octets));
    }
  }
}

}  // namespace railyard::swarm
