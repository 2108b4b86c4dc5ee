#include "control/telemetry/int_collector.h"

#include <algorithm>
#include <stdexcept>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "control/spec/suggest.h"

namespace railyard::telemetry {

namespace {

std::int64_t since_begin(Instant at) { return (at - Instant{}).ps; }

std::string instant_or_null(Instant at) {
  return at == Instant::never() ? std::string("null") : fmt::format("{}", since_begin(at));
}

// From the first octet at the source to the last one at the sink.
Duration latency_of(const IntStack& stack) { return stack.hops().back().ingress - stack.hops().front().egress; }

IntReport::Hop hop_of(const IntHop& h) {
  const bool arrived = h.ingress != Instant::never();
  const bool left = h.egress != Instant::never();
  return {*h.node,
          arrived ? h.in.value + 1 : 0,
          left ? h.out.value + 1 : 0,
          h.priority.value,
          h.ingress,
          h.egress,
          h.waited(),
          h.queue_octets,
          h.marked};
}

}  // namespace

IntCollector::IntCollector(build::BuiltLab& lab, std::unique_ptr<IntExchange> exchange)
    : lab_(lab), exchange_(std::move(exchange)), sources_(lab.fabric().size()) {}

IntCollector::~IntCollector() {
  for (const auto& d : lab_.fabric().devices()) d->record_int(false, nullptr);
}

// A flow by its name, or all of a traffic by the traffic's.
std::vector<std::uint64_t> IntCollector::streams_of(const std::vector<std::string>& flows) const {
  std::vector<std::uint64_t> streams;
  for (const std::string& name : flows) {
    const std::size_t before = streams.size();
    for (const build::Flow& f : lab_.flows())
      if (f.plan.name == name || f.plan.name.substr(0, f.plan.name.find('/')) == name) streams.push_back(f.plan.id);
    if (streams.size() != before) continue;
    std::vector<std::string> names;
    for (const build::Flow& f : lab_.flows()) names.push_back(f.plan.name);
    throw std::runtime_error(
        fmt::format("in-band telemetry: there is no flow '{}'{}", name, spec::did_you_mean(name, names)));
  }
  std::ranges::sort(streams);
  return streams;
}

void IntCollector::start(const spec::IntSpec& what) {
  IntSampling sampling;
  sampling.one_in = static_cast<std::uint64_t>(what.one_in);
  if (!what.classes.empty()) {
    sampling.classes = 0;
    for (const int c : what.classes)
      sampling.classes = static_cast<PriorityMask>(sampling.classes | bit(Priority{static_cast<std::uint8_t>(c)}));
  }
  sampling.all_streams = what.flows.empty();
  sampling.streams = streams_of(what.flows);
  for (const build::Flow& f : lab_.flows()) flow_names_[f.plan.id] = &f.plan.name;
  for (const auto& d : lab_.fabric().devices()) {
    device_of_[&d->name()] = d->id();
    std::unique_ptr<IntSource>& source = sources_[d->id().index()];
    if (!lab_.is_switch(d->id()) && (exchange_ == nullptr || exchange_->is_here(d->id()))) {
      if (source == nullptr) source = std::make_unique<IntSource>(static_cast<std::size_t>(what.packets));
      IntSampling here = sampling;
      if (is_trunk(d->id())) here.streams.clear();  // what comes from there are flows of another lab
      source->begin(lab_.spec().run.seed, here);
    }
    d->record_int(true, source.get());
  }
  running_ = true;
  packets_ = 0;
  so_far_ = {};
  so_far_.one_in = sampling.one_in;
  queues_.clear();
  slowest_.clear();
}

void IntCollector::stop() {
  if (!running_) return;
  fetch_ended();
  fetch_lost();
  std::vector<const IntStack*> rest;
  for (const auto& source : sources_) {
    if (source == nullptr) continue;
    source->for_each([&](const IntStack& s) { rest.push_back(&s); });
    source->stop();
  }
  add(std::move(rest), "under_way", so_far_.under_way);
  if (exchange_ != nullptr) of_others_ = exchange_->of_others(counted());
  for (const auto& d : lab_.fabric().devices()) d->record_int(false, nullptr);
  running_ = false;
}

// Those that no packet in the fabric has.
void IntCollector::fetch_lost() {
  std::unordered_set<const IntStack*> under_way;
  lab_.fabric().for_each_packet([&](const Packet& p) {
    if (const IntStack* stack = int_stack(p)) under_way.insert(stack);
  });
  if (exchange_ != nullptr) exchange_->bring_all_home(under_way);
  std::vector<const IntStack*> lost;
  for (const auto& source : sources_)
    if (source != nullptr)
      source->take_if([&](const IntStack& s) { return !under_way.contains(&s); },
                      [&](const IntStack& s) { lost.push_back(&s); });
  add(std::move(lost), "lost", so_far_.lost);
}

void IntCollector::close() {
  if (out_) out_->close();
}

void IntCollector::look() {
  fetch_ended();
  const bool crowded = std::ranges::any_of(sources_, [](const auto& s) { return s != nullptr && s->crowded(); });
  if (exchange_ != nullptr ? exchange_->any(crowded) : crowded) fetch_lost();
  if (exchange_ != nullptr) of_others_ = exchange_->of_others(counted());
}

void IntCollector::fetch_ended() {
  if (exchange_ != nullptr) exchange_->bring_ended_home();
  std::vector<const IntStack*> arrived;
  std::vector<const IntStack*> dropped;
  for (const auto& source : sources_)
    if (source != nullptr)
      source->take_ended(
          [&](const IntStack& s) { (s.ended() == IntStack::End::kArrived ? arrived : dropped).push_back(&s); });
  add(std::move(arrived), "arrived", so_far_.arrived);
  add(std::move(dropped), "dropped", so_far_.dropped);
}

// Senders in the order of their devices; what left at one instant stays in that order.
void IntCollector::add(std::vector<const IntStack*> stacks, const char* end, std::uint64_t& count) {
  if (exchange_ != nullptr) stacks = exchange_->gather(std::move(stacks));
  count += stacks.size();
  std::ranges::stable_sort(stacks, {}, [](const IntStack* s) { return s->hops().front().egress; });
  for (const IntStack* s : stacks) add(*s, end);
}

void IntCollector::add(const IntStack& stack, const char* end) {
  so_far_.records += stack.hops().size();
  so_far_.hops_not_kept += stack.hops_not_kept();
  for (const IntHop& h : stack.hops()) {
    const DeviceId device = device_of_.at(h.node);
    if (!lab_.is_switch(device) || h.egress == Instant::never()) continue;
    IntReport::Queue& q = queues_[{device.value, h.out.value, h.priority.value}];
    const auto waited = static_cast<std::uint64_t>(h.waited().ps);
    q.waited.record(waited);
    so_far_.waited.record(waited);
    q.max_depth = std::max<std::uint64_t>(q.max_depth, h.queue_octets);
    q.marked += h.marked ? 1 : 0;
  }
  if (stack.ended() == IntStack::End::kArrived && stack.hops_not_kept() == 0) keep_if_slow(stack);
  if (out_) write(stack, end);
  ++packets_;
}

void IntCollector::keep_if_slow(const IntStack& stack) {
  const Duration latency = latency_of(stack);
  const auto place = std::ranges::upper_bound(slowest_, latency, std::greater<>{}, &Slow::latency);
  if (slowest_.size() == IntReport::kSlowest && place == slowest_.end()) return;
  slowest_.insert(place, {latency, stack});
  if (slowest_.size() > IntReport::kSlowest) slowest_.pop_back();
}

bool IntCollector::is_trunk(DeviceId device) const { return lab_.node_of(device).kind == spec::NodeSpec::Kind::kTrunk; }

std::string IntCollector::flow_name(const IntStack& stack) const {
  const IntHop& source = stack.hops().front();
  const auto flow = flow_names_.find(stack.stream());
  if (flow != flow_names_.end() && !is_trunk(device_of_.at(source.node))) return *flow->second;
  return fmt::format("{}:{}", *source.node, source.out.value + 1);
}

void IntCollector::write(const IntStack& stack, const char* end) {
  const std::string flow = flow_name(stack);
  for (std::size_t i = 0; i < stack.hops().size(); ++i) {
    const IntHop& h = stack.hops()[i];
    const auto port = [](bool there, PortIndex p) {
      return there ? fmt::format("{}", p.value + 1) : std::string("null");
    };
    out_->write(fmt::format(
        R"({{"packet":{},"flow":"{}","offset":{},"hop":{},"node":"{}","in":{},"out":{},"class":{},"octets":{},)"
        R"("ingress_ps":{},"egress_ps":{},"waited_ps":{},"queue_octets":{},"ce":{},"dropped":{}{}}})"
        "\n",
        packets_, flow, stack.offset(), i, *h.node, port(h.ingress != Instant::never(), h.in),
        port(h.queued != Instant::never(), h.out), h.priority.value, h.frame_octets, instant_or_null(h.ingress),
        instant_or_null(h.egress), h.waited().ps, h.queue_octets, h.marked,
        h.dropped == DropReason::kCount ? std::string("null") : fmt::format("\"{}\"", name(h.dropped)),
        i == 0 ? fmt::format(R"(,"end":"{}")", end) : std::string()));
  }
}

IntExchange::Counted IntCollector::counted() const {
  IntExchange::Counted all;
  for (const auto& source : sources_) {
    if (source == nullptr) continue;
    all.sampled += source->sampled();
    all.not_kept += source->not_kept();
  }
  return all;
}

IntReport IntCollector::report() const {
  IntReport r = so_far_;
  const IntExchange::Counted here = counted();
  r.sampled = here.sampled + of_others_.sampled;
  r.not_kept = here.not_kept + of_others_.not_kept;
  for (const auto& [key, queue] : queues_) {
    const auto& [device, port, priority] = key;
    const PortRef at{DeviceId{device}, PortIndex{port}};
    IntReport::Queue q = queue;
    q.node = lab_.fabric()[at.device].name();
    q.port = port + 1;
    q.peer = lab_.peer_name(at);
    q.priority = priority;
    r.queues.push_back(std::move(q));
  }
  std::ranges::stable_sort(r.queues, std::greater<>{}, [](const auto& q) { return q.waited.percentile(0.99); });
  for (const Slow& s : slowest_) {
    IntReport::Packet p{flow_name(s.stack), s.stack.offset(), s.latency, {}};
    for (const IntHop& h : s.stack.hops()) p.hops.push_back(hop_of(h));
    r.slowest.push_back(std::move(p));
  }
  return r;
}

}  // namespace railyard::telemetry
