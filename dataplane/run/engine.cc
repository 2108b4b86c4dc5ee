#include "dataplane/run/engine.h"

#include <algorithm>

#include <fmt/format.h>

#include "dataplane/base/assert.h"
#include "dataplane/run/placement.h"

namespace railyard {
namespace {

// Fewer devices due than this per worker, and meeting at the end of the window costs more than it brings.
constexpr std::size_t kThinWindow = 8;

// What stays on a link for more windows than this is looked at in vain too often in a list that is gone through in
// each.
constexpr int kNearWindows = 4;

}  // namespace

Engine::Engine(Fabric& fabric, const EngineConfig& config)
    : fabric_(fabric),
      config_(config),
      window_(config.variation.window > Duration{} ? config.variation.window : fabric.window().size),
      pools_(config.workers, config.pools),
      next_(fabric.size(), Instant{}),
      lowered_(config.workers, std::vector<Instant>(fabric.size(), Instant::never())),
      share_(config.workers) {
  RAILYARD_ASSERT(config.workers >= 1 && config.workers <= 64, "1..64 workers");
  if (window_ <= Duration{})
    throw RunError(
        "the fabric has a link without any delay between two devices; give the link a cable length, or the device a "
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
  place();
  if (config.workers > 1)
    team_ = std::make_unique<WorkerTeam>(config.workers, [this](std::size_t w) { run_share(w, end_); });
}

Engine::~Engine() { team_.reset(); }

void Engine::place() {
  worker_of_ = place_devices(fabric_, config_.workers);
  if (config_.variation.shuffle)
    for (std::uint8_t& w : worker_of_) w = static_cast<std::uint8_t>(shuffle_draws_.below(config_.workers));
  for (std::uint32_t d = 0; d < fabric_.size(); ++d) {
    const std::size_t w = worker_of_[d];
    share_[w].push_back(d);
    fabric_[DeviceId{d}].place(*contexts_[w]);
  }
  std::vector<bool> rings(fabric_.size(), false);
  constexpr Duration kSecond{1'000'000'000'000};
  const Duration longest = kNearWindows * std::min(fabric_.window().size, kSecond);  // no link at all: never
  const auto near = [&](std::size_t i) {
    const Channel& c = fabric_.channels()[i];
    return worker_of_[fabric_.sender(i).device.index()] == worker_of_[c.receiver.index()] && c.lookahead() <= longest;
  };
  for (std::size_t i = 0; i < fabric_.channels().size(); ++i)
    if (!near(i)) rings[fabric_.channels()[i].receiver.index()] = true;
  for (std::size_t i = 0; i < fabric_.channels().size(); ++i) {
    Channel& c = fabric_.channels()[i];
    const std::size_t w = worker_of_[fabric_.sender(i).device.index()];
    c.wake_through(config_.workers == 1 ? &next_[c.receiver.index()] : &lowered_[w][c.receiver.index()],
                   w != worker_of_[c.receiver.index()]);
    NearFrames& frames = fabric_[c.receiver].receive_near(rings[c.receiver.index()]);
    c.deliver_near(near(i) ? &frames : nullptr);
  }
}

Instant Engine::next() const noexcept {
  std::int64_t least = Instant::never().ps;  // a plain loop over plain numbers, which compilers vectorise
  for (const Instant n : next_) least = n.ps < least ? n.ps : least;
  return Instant{least};
}

void Engine::advance(std::size_t device, Instant end) {
  Device& d = fabric_[DeviceId{static_cast<std::uint32_t>(device)}];
  if (!slice_draws_.empty()) [[unlikely]] {
    RngStream& draws = slice_draws_[device];
    const Instant from = std::max(d.done(), next_[device]);
    for (unsigned n = draws.next32() % 4; n > 0; --n) {
      const Duration span = end - from;
      d.advance(from + Duration{static_cast<std::int64_t>(draws.below(static_cast<std::uint64_t>(span.ps) + 1))});
    }
  }
  next_[device] = d.advance(end);
}

void Engine::run_share(std::size_t worker, Instant end) {
  const std::vector<std::uint32_t>& share = share_[worker];
  // The state of all devices does not fit into a first-level cache: what comes next is fetched while one is advanced.
  const auto due_after = [&](std::size_t i) {
    while (++i < share.size() && next_[share[i]] >= end) {
    }
    return i;
  };
  const auto device = [&](std::size_t i) -> const Device& { return fabric_[DeviceId{share[i]}]; };
  std::size_t now = due_after(std::size_t{0} - 1);
  std::size_t soon = due_after(now);
  if (soon < share.size()) device(soon).prefetch();
  while (now < share.size()) {
    const std::size_t later = due_after(soon);
    if (later < share.size()) device(later).prefetch();
    if (soon < share.size()) device(soon).prefetch_parts();
    advance(share[now], end);
    now = soon;
    soon = later;
  }
}

Instant Engine::step(Instant end) {
  ++windows_;
  reached_ = end;
  if (config_.variation.shuffle)
    for (auto& share : share_)
      for (std::size_t i = share.size(); i > 1; --i) std::swap(share[i - 1], share[shuffle_draws_.below(i)]);
  if (config_.workers == 1) {
    run_share(0, end);
  } else {
    const auto due =
        static_cast<std::size_t>(std::count_if(next_.begin(), next_.end(), [&](Instant n) { return n < end; }));
    if (due >= kThinWindow * config_.workers || config_.variation.always_parallel) {
      end_ = end;
      team_->run();
    } else {
      for (std::size_t w = 0; w < config_.workers; ++w) run_share(w, end);
    }
    merge();
  }
  for (const Look& l : looks_) l.look();
  const Instant next = this->next();
  RAILYARD_ASSERT(next >= end, "causality: something was sent into a window that is over");
  if (pools_.exhausted()) [[unlikely]]
    throw RunError("packet memory ran out; raise run.memory (railyard check prints what the fabric can hold)");
  return next;
}

void Engine::merge() noexcept {
  for (auto& lowered : lowered_) {
    for (std::size_t d = 0; d < next_.size(); ++d) {
      next_[d] = std::min(next_[d], lowered[d]);
      lowered[d] = Instant::never();
    }
  }
}

void Engine::after_windows(const void* owner, std::function<void()> look) {
  std::erase_if(looks_, [&](const Look& l) { return l.owner == owner; });
  if (look) looks_.push_back({owner, std::move(look)});
}

void Engine::settle(Instant at) {
  reached_ = std::max(reached_, at);
  for (std::size_t d = 0; d < next_.size(); ++d) {
    // A device that is there already knows nothing of what it was sent since; next_ does.
    if (Device& device = fabric_[DeviceId{static_cast<std::uint32_t>(d)}]; device.done() < at)
      next_[d] = device.advance(at);
  }
  if (config_.workers > 1) merge();
}

void Engine::wake_all() {
  for (std::size_t d = 0; d < next_.size(); ++d)
    next_[d] = std::min(next_[d], fabric_[DeviceId{static_cast<std::uint32_t>(d)}].next());
}

TraceDigest Engine::digest() const {
  TraceDigest sum;
  for (const auto& d : fabric_.devices()) sum.add(d->digest());
  return sum;
}

}  // namespace railyard
