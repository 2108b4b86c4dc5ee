#include "dataplane/run/engine.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <tuple>

#include <fmt/format.h>

#include "dataplane/base/assert.h"
#include "dataplane/base/state_archive.h"
#include "dataplane/run/placement.h"
#include "dataplane/run/processors.h"

namespace railyard {
namespace {

// What stays on a link for more windows than this is looked at in vain too often in a list that is gone through in
// each.
constexpr int kNearWindows = 4;

}  // namespace

Engine::Engine(Fabric& fabric, const EngineConfig& config)
    : fabric_(fabric),
      config_(config),
      window_(config.variation.window > Duration{} ? config.variation.window : fabric.window().size),
      pools_(config.workers, config.pools),
      due_(config.workers),
      border_due_(config.workers),
      crossing_(config.workers * config.workers) {
  RAILYARD_ASSERT(config.workers >= 1 && config.workers <= 64, "1..64 workers");
  if (window_ <= Duration{})
    throw RunError(
        "two devices are linked without any delay; give the link a cable length, or a device a "
        "latency");
  for (std::size_t w = 0; w < config.workers; ++w) {
    contexts_.push_back(std::make_unique<WorkerContext>());
    contexts_.back()->pool = &pools_[WorkerId{static_cast<std::uint8_t>(w)}];
  }
  if (config.variation.shuffle) shuffle_draws_ = RngStream(*config.variation.shuffle, "engine/shuffle");
  if (config.variation.slices)
    for (std::size_t d = 0; d < fabric.size(); ++d)
      slice_draws_.emplace_back(*config.variation.slices, fmt::format("engine/slices/{}", d));
  for (const auto& d : fabric.devices()) d->digest_departures(config.digest);
  if (config_.parts) {
    for (std::uint32_t d = 0; d < fabric.size(); ++d) {
      elsewhere_.push_back(!config_.parts.is_here(DeviceId{d}));
      if (!elsewhere_.back()) continue;
      fabric[DeviceId{d}].leave_to_another();
    }
    boundary_.emplace(fabric, config_.parts, pools_);
    frames_out_.resize(config_.parts.peers->count());
    octets_out_.resize(config_.parts.peers->count());
  }
  place(config.variation.shuffle ? random_workers() : place_devices(fabric_, config_.workers, elsewhere_));
  // What is attached to the outside keeps packets of its worker's pool; processes place their parts by ports alone.
  if (config.workers > 1 && config.pools.anywhere && !config.variation.shuffle && !config_.parts)
    balance_.emplace(fabric, config.workers, LoadBalance::Pace{});
  RAILYARD_ASSERT(!config.profile || config.workers == 1, "a profile is of one worker");
  if (config.profile) profile_.emplace(fabric, ScalingProfile::measure_meeting());
  is_timed_ = config.profile;
  if (config.workers > 1)
    team_ = std::make_unique<WorkerTeam>(
        config.workers, [this](std::size_t w) { run_due(w, end_); }, [this](std::size_t w) { take_crossing(w); });
}

Engine::~Engine() { team_.reset(); }

void Engine::bind_workers(std::span<const int> processors) {
  if (team_ != nullptr)
    team_->bind(processors);
  else
    bind_to(processors[0]);
}

std::vector<std::uint8_t> Engine::random_workers() {
  std::vector<std::uint8_t> worker_of;
  for (std::size_t d = 0; d < fabric_.size(); ++d)
    worker_of.push_back(static_cast<std::uint8_t>(shuffle_draws_.below(config_.workers)));
  return worker_of;
}

// At first, and again while all workers rest.
void Engine::place(std::vector<std::uint8_t> worker_of) {
  worker_of_ = std::move(worker_of);
  place_slots();
  for (std::uint32_t d = 0; d < fabric_.size(); ++d) fabric_[DeviceId{d}].place(*contexts_[worker_of_[d]]);
  for (auto& due : due_) due.reserve(fabric_.size());
  std::vector<bool> rings(fabric_.size(), false);
  constexpr Duration kSecond{1'000'000'000'000};
  const Duration longest = kNearWindows * std::min(fabric_.window().size, kSecond);  // no link at all: never
  const auto elsewhere = [&](DeviceId d) { return !elsewhere_.empty() && elsewhere_[d.index()]; };
  enum class Way { kNear, kCrossing, kRing };
  const auto way = [&](std::size_t i) {
    const Channel& c = fabric_.channels()[i];
    if ((boundary_ && boundary_->leaves(i)) || c.lookahead() > longest) return Way::kRing;
    const DeviceId sender = fabric_.sender(i).device;
    // What comes from another process is pushed while all workers rest.
    if (elsewhere(sender) || worker_of_[sender.index()] == worker_of_[c.receiver.index()]) return Way::kNear;
    return Way::kCrossing;
  };
  for (std::size_t i = 0; i < fabric_.channels().size(); ++i)
    if (way(i) == Way::kRing) rings[fabric_.channels()[i].receiver.index()] = true;
  // Whether a worker asks for a device of another by what it pushes, and not at the end of the window.
  bool asks = false;
  const auto next_of = [&](DeviceId receiver, DeviceId sender) -> Instant* {
    const std::size_t to = worker_of_[receiver.index()];
    const std::size_t from = worker_of_[sender.index()];
    if (from == to || elsewhere(sender)) return &next_[slot_of_[receiver.index()]];
    asks = true;
    return &lowered_[from][slot_of_[receiver.index()]];
  };
  for (std::size_t i = 0; i < fabric_.channels().size(); ++i) {
    Channel& c = fabric_.channels()[i];
    const DeviceId sender = fabric_.sender(i).device;
    NearFrames& frames = fabric_[c.receiver].receive_near(rings[c.receiver.index()]);
    c.deliver_near(way(i) == Way::kNear ? &frames : nullptr);
    if (way(i) == Way::kCrossing) {
      const std::size_t from = worker_of_[sender.index()];
      const std::size_t to = worker_of_[c.receiver.index()];
      c.wake_through(&unheard_of_[from].next, true);
      c.deliver_crossing(&crossing_[from * config_.workers + to], &frames, &next_[slot_of_[c.receiver.index()]]);
    } else {
      const std::size_t from = worker_of_[sender.index()];
      // What leaves the process is packed by the first worker.
      if (elsewhere(c.receiver))
        c.wake_through(&unheard_of_[from].next, from != 0);
      else
        c.wake_through(next_of(c.receiver, sender), from != worker_of_[c.receiver.index()]);
    }
  }
  for (const SideLink& s : fabric_.side_links()) s.wake->through(next_of(s.to, s.from));
  if (!asks) lowered_.clear();
}

void Engine::place_slots() {
  std::vector<Instant> next(fabric_.size(), Instant{});
  for (std::size_t d = 0; d < slot_of_.size(); ++d) next[d] = next_[slot_of_[d]];
  slot_of_.assign(fabric_.size(), 0);
  device_at_.clear();
  worker_at_.clear();
  for (std::size_t w = 0; w < config_.workers; ++w) {
    for (const bool border : {true, false}) {
      for (std::uint32_t d = 0; d < fabric_.size(); ++d) {
        if (worker_of_[d] != w || (boundary_ && boundary_->borders(DeviceId{d})) != border) continue;
        slot_of_[d] = static_cast<std::uint32_t>(device_at_.size());
        device_at_.push_back(d);
      }
    }
    while (device_at_.size() % SlotInstants::kInLine != 0) device_at_.push_back(0);  // of no device: never due
    worker_at_.resize(device_at_.size(), static_cast<std::uint8_t>(w));
  }
  next_ = SlotInstants(device_at_.size());
  for (std::size_t d = 0; d < fabric_.size(); ++d)
    if (elsewhere_.empty() || !elsewhere_[d]) next_[slot_of_[d]] = next[d];
  lowered_.assign(config_.workers, SlotInstants(device_at_.size()));
  is_due_.assign(device_at_.size(), 0);
  unheard_of_.assign(config_.workers, {});
}

Instant Engine::next() const {
  if (!config_.parts) [[likely]]
    return own_next();
  if (!agreed_) agreed_ = config_.parts.peers->least(own_next());
  return *agreed_;
}

Instant Engine::own_next() const noexcept {
  // Eight at a time, none of which waits for another.
  SlotInstants::Line least;
  least.at.fill(Instant::never());
  for (const SlotInstants::Line& line : next_.lines())
    for (std::size_t i = 0; i < SlotInstants::kInLine; ++i) least.at[i] = line.at[i] < least.at[i] ? line.at[i] : least.at[i];
  return std::ranges::min(least.at);
}

void Engine::advance(std::size_t device, Instant end) {
  Device& d = fabric_[DeviceId{static_cast<std::uint32_t>(device)}];
  Instant& next = next_[slot_of_[device]];
  if (!slice_draws_.empty()) [[unlikely]] {
    RngStream& draws = slice_draws_[device];
    const Instant from = std::max(d.done(), next);
    for (unsigned n = draws.next32() % 4; n > 0; --n) {
      const Duration span = end - from;
      d.advance(from + Duration{static_cast<std::int64_t>(draws.below(static_cast<std::uint64_t>(span.ps) + 1))});
    }
  }
  if (is_timed_) [[unlikely]] {
    const std::uint64_t began = ScalingProfile::cycles();
    next = d.advance(end);
    const std::uint64_t cycles = ScalingProfile::cycles() - began;
    if (profile_) profile_->add(device, cycles);
    if (balance_) balance_->add(device, cycles);
    return;
  }
  next = d.advance(end);
}

// Who is due before `end`. In a window most are not, so this is done many at a time.
Engine::Due Engine::find_due(Instant end) noexcept {
  std::uint8_t* due_at = is_due_.data();
  for (const SlotInstants::Line& line : next_.lines())
    for (const Instant at : line.at) *due_at++ = at.ps < end.ps;
  for (auto& due : due_) due.clear();
  Due count;
  for (std::size_t first = 0; first < is_due_.size(); first += 8) {
    std::uint64_t eight;
    std::memcpy(&eight, &is_due_[first], sizeof eight);
    std::vector<std::uint32_t>& due = due_[worker_at_[first]];
    for (; eight != 0; eight &= eight - 1, ++count.all)
      due.push_back(device_at_[first + static_cast<unsigned>(std::countr_zero(eight)) / 8]);  // there is room
  }
  if (boundary_) [[unlikely]] {
    for (std::size_t w = 0; w < config_.workers; ++w) {
      const auto inner =
          std::ranges::partition_point(due_[w], [&](std::uint32_t d) { return boundary_->borders(DeviceId{d}); });
      border_due_[w] = static_cast<std::size_t>(inner - due_[w].begin());
      count.border += border_due_[w];
    }
  }
  return count;
}

void Engine::shuffle_due() {
  for (std::size_t w = 0; w < config_.workers; ++w) {
    const std::span all(due_[w]);
    for (const std::span<std::uint32_t> turns : {all.first(border_due_[w]), all.subspan(border_due_[w])})
      for (std::size_t i = turns.size(); i > 1; --i) std::swap(turns[i - 1], turns[shuffle_draws_.below(i)]);
  }
}

void Engine::run_due(std::size_t worker, Instant end) {
  std::span<const std::uint32_t> due(due_[worker]);
  if (turns_ == Turns::kBorder) due = due.first(border_due_[worker]);
  if (turns_ == Turns::kInner) due = due.subspan(border_due_[worker]);
  // The state of all devices does not fit into a first-level cache: what comes next is fetched while one is advanced.
  const auto device = [&](std::size_t i) -> const Device& { return fabric_[DeviceId{due[i]}]; };
  // In stages, since each says where the next one's is.
  constexpr std::size_t kStages = 4;
  for (std::size_t i = 0; i < due.size() + kStages; ++i) {
    if (i < due.size()) device(i).prefetch();
    if (i >= 1 && i < due.size() + 1) device(i - 1).prefetch_parts();
    if (i >= 2 && i < due.size() + 2) device(i - 2).prefetch_contents();
    if (i >= 3 && i < due.size() + 3) device(i - 3).prefetch_rest();
    if (i >= kStages) advance(due[i - kStages], end);
  }
}

void Engine::run_turns(Turns turns, std::size_t due, Instant end) {
  turns_ = turns;
  if (config_.workers == 1) return run_due(0, end);
  if (due >= kThinWindow * config_.workers || config_.variation.always_parallel) {
    end_ = end;
    team_->run();
  } else {
    for (std::size_t w = 0; w < config_.workers; ++w) run_due(w, end);
    for (std::size_t w = 0; w < config_.workers; ++w) take_crossing(w);
  }
}

Instant Engine::step(Instant end) {
  ++windows_;
  reached_ = end;
  const Due due = find_due(end);
  if (config_.variation.shuffle) shuffle_due();
  if (config_.parts) [[unlikely]] {
    // What leaves the process is on its way while the others have their turns.
    run_turns(Turns::kBorder, due.border, end);
    start_exchange();
    run_turns(Turns::kInner, due.all - due.border, end);
  } else {
    run_turns(Turns::kAll, due.all, end);
  }
  if (profile_) [[unlikely]]
    profile_->end_window();
  if (config_.workers > 1) {
    merge();
    balance();
  }
  agreed_.reset();
  if (config_.parts) [[unlikely]]
    finish_exchange();
  if (fabric_.act_between_windows()) [[unlikely]]
    wake_all();
  for (const Look& l : looks_) l.look();
  const Instant next = this->next();
  RAILYARD_ASSERT(next >= end, "causality: something was sent into a window that is over");
  if (pools_.exhausted()) [[unlikely]]
    throw RunError("out of packet memory; raise run.memory (railyard check prints the need)");
  return next;
}

// Gives devices to other workers if that is better; where they are has no effect on results.
void Engine::balance() {
  if (config_.variation.replace_every != 0 && windows_ % config_.variation.replace_every == 0) [[unlikely]]
    return place(random_workers());
  if (!balance_) return;
  if (auto better = balance_->after_window(worker_of_)) [[unlikely]]
    place(std::move(*better));
  is_timed_ = balance_->measures();
}

void Engine::take_crossing(std::size_t worker) {
  for (std::size_t from = 0; from < config_.workers; ++from) crossing_[from * config_.workers + worker].deliver();
}

void Engine::merge() noexcept {
  for (SlotInstants& lowered : lowered_) {
    for (std::size_t l = 0; l < lowered.lines().size(); ++l) {
      SlotInstants::Line& next = next_.lines()[l];
      SlotInstants::Line& low = lowered.lines()[l];
      for (std::size_t i = 0; i < SlotInstants::kInLine; ++i) next.at[i] = std::min(next.at[i], low.at[i]);
      low.at.fill(Instant::never());
    }
  }
}

// Frames that the window has sent to devices of other processes: once those that send there have had their turns.
void Engine::start_exchange() {
  for (StateArchive& out : frames_out_) out.clear();
  boundary_->pack(frames_out_);
  for (std::size_t p = 0; p < frames_out_.size(); ++p) octets_out_[p] = frames_out_[p].written();
  config_.parts.peers->start_exchange(octets_out_, boundary_->neighbours());
}

// Frames of the others; and what all processes have to tell each other of a window that is over: what was noted, what
// happened to links and devices, and when there is something to do again.
void Engine::finish_exchange() {
  Peers& peers = *config_.parts.peers;
  const PeerOctets& frames = peers.finish_exchange();
  for (const std::uint16_t p : boundary_->neighbours()) {
    StateArchive in{frames[p]};
    // pools_ know if it was not enough.
    if (!boundary_->take(in, [this](DeviceId d) -> PacketPool& { return pool_of(d); })) break;
  }
  Instant next = own_next();
  std::vector<TopologyEvent> events;
  for (const auto& c : contexts_) events.insert(events.end(), c->topology_events.begin(), c->topology_events.end());
  noted_.clear();
  for (const Fabric::SharedBy& s : fabric_.shared()) s.shared.give(noted_);
  bool exhausted = pools_.exhausted();
  noted_(events, next, exhausted);
  std::size_t first_exhausted = exhausted ? peers.self() : peers.count();
  const PeerOctets& given = peers.share(noted_.written());
  for (std::size_t p = 0; p < given.size(); ++p) {
    if (p == peers.self()) continue;
    StateArchive in{given[p]};
    for (const Fabric::SharedBy& s : fabric_.shared()) s.shared.take(in);
    Instant its;
    in(events, its, exhausted);
    if (exhausted) first_exhausted = std::min(first_exhausted, p);
    contexts_[0]->topology_events.insert(contexts_[0]->topology_events.end(), events.begin(), events.end());
    next = std::min(next, its);
  }
  // The first of those whose packet memory is used up tells of it, and ends all.
  while (first_exhausted < peers.self()) peers.least(std::int64_t{0});
  agreed_ = next;  // unless somebody has something done meanwhile: wake_all()
}

void Engine::after_windows(const void* owner, std::function<void()> look) {
  std::erase_if(looks_, [&](const Look& l) { return l.owner == owner; });
  if (look) looks_.push_back({owner, std::move(look)});
}

void Engine::settle(Instant at) {
  reached_ = std::max(reached_, at);
  agreed_.reset();
  for (std::size_t d = 0; d < fabric_.size(); ++d) {
    if (!elsewhere_.empty() && elsewhere_[d]) continue;
    // A device that is there already knows nothing of what it was sent since; next_ does.
    if (Device& device = fabric_[DeviceId{static_cast<std::uint32_t>(d)}]; device.done() < at)
      next_[slot_of_[d]] = device.advance(at);
  }
  for (std::size_t w = 0; w < config_.workers; ++w) take_crossing(w);
  merge();
}

void Engine::wake_all() {
  agreed_.reset();
  for (std::size_t d = 0; d < fabric_.size(); ++d) {
    if (!elsewhere_.empty() && elsewhere_[d]) continue;
    Instant& next = next_[slot_of_[d]];
    next = std::min(next, fabric_[DeviceId{static_cast<std::uint32_t>(d)}].next());
  }
}

bool Engine::has_topology_events() const noexcept {
  return std::ranges::any_of(contexts_, [](const auto& c) { return !c->topology_events.empty(); });
}

std::vector<TopologyEvent> Engine::take_topology_events() {
  std::vector<TopologyEvent> all;
  for (const auto& c : contexts_) {
    all.insert(all.end(), c->topology_events.begin(), c->topology_events.end());
    c->topology_events.clear();
  }
  std::ranges::stable_sort(all, {}, [](const TopologyEvent& e) { return std::tuple(e.at, e.device.index(), e.port.value); });
  return all;
}

TraceDigest Engine::digest() const {
  TraceDigest sum;
  for (const auto& d : fabric_.devices()) sum.add(d->digest());
  return sum;
}

}  // namespace railyard
