#include "dataplane/port/application_port.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>

#include "dataplane/base/hash.h"
#include "dataplane/port/received_packet.h"
#include "dataplane/port/seal.h"
#include "dataplane/wire/ethernet.h"
#include "dataplane/wire/icrc.h"
#include "dataplane/wire/parse.h"
#include "dataplane/wire/udp.h"
#include "dataplane/wire/vlan.h"

namespace railyard {
namespace {

// Turns that find nothing before the process is asked to ring. Not more: programs that ring leave the fabric more of the
// processors (1024: a half or less of the throughput where three threads share two).
constexpr unsigned kEmptyTurns = 64;
// Taken from one process before the next has its turn.
constexpr std::size_t kTurn = 16;
// Fetched so many frames before they are copied.
constexpr std::uint32_t kAhead = 2;

std::int64_t now_ns() noexcept {
  timespec t{};
  ::clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

}  // namespace

ApplicationPort::ApplicationPort(const ApplicationPortConfig& config)
    : config_(config),
      stream_(hash_string("port/application/" + config.name)),
      doorbells_(::epoll_create1(EPOLL_CLOEXEC)),
      attention_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      answers_wait_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  epoll_event event{};
  event.events = EPOLLIN;
  if (!doorbells_ || !attention_ || !answers_wait_ ||
      ::epoll_ctl(doorbells_.get(), EPOLL_CTL_ADD, answers_wait_.get(), &event) != 0)
    throw std::runtime_error(fmt::format("applications of {}: {}", config.name, std::strerror(errno)));
}

ApplicationPort::~ApplicationPort() = default;

void ApplicationPort::join(std::shared_ptr<ApplicationProcess> process) {
  epoll_event event{};
  event.events = EPOLLIN;
  ::epoll_ctl(doorbells_.get(), EPOLL_CTL_ADD, process->fabric_doorbell(), &event);
  process->set_link(carrier_);
  if (process->uet()) {
    uet_.add(*process->uet(), *process);
  } else {
    by_qpn_[process->first_qpn() / ApplicationProcess::kQpnsPerProcess] = process.get();
  }
  processes_.push_back(std::move(process));
  processes_open_.store(static_cast<std::uint32_t>(processes_.size()), std::memory_order_relaxed);
}

bool ApplicationPort::has_ended(const ApplicationProcess& process) noexcept {
  const auto found = std::ranges::find_if(processes_, [&](const auto& p) { return p.get() == &process; });
  if (found == processes_.end()) return true;
  forget(process);
  ApplicationProcess& ends = **found;
  if (ends.broken() || !ends.from_host_->any(kAllPriorities)) return true;
  // It may have been killed before it rang.
  ends.sleeping_ = false;
  ends.from_host_->wake();
  return false;
}

std::shared_ptr<ApplicationProcess> ApplicationPort::leave(const ApplicationProcess& process) {
  const auto found = std::ranges::find_if(processes_, [&](const auto& p) { return p.get() == &process; });
  if (found == processes_.end()) return nullptr;
  std::shared_ptr<ApplicationProcess> gone = std::move(*found);
  processes_.erase(found);
  next_ = 0;
  gone->counters_.left.add(gone->from_host_->count());
  forget(*gone);
  ::epoll_ctl(doorbells_.get(), EPOLL_CTL_DEL, gone->fabric_doorbell(), nullptr);
  processes_open_.store(static_cast<std::uint32_t>(processes_.size()), std::memory_order_relaxed);
  return gone;
}

// Nothing goes to it any more.
void ApplicationPort::forget(const ApplicationProcess& process) noexcept {
  if (process.uet()) {
    uet_.remove(*process.uet());
  } else {
    by_qpn_[process.first_qpn() / ApplicationProcess::kQpnsPerProcess] = nullptr;
  }
}

void ApplicationPort::found_broken(ApplicationProcess& process) noexcept {
  if (process.broken_.exchange(true, std::memory_order_relaxed)) return;
  forget(process);
  const std::uint64_t one = 1;
  static_cast<void>(::write(attention_.get(), &one, sizeof one));
}

// ---- From processes ----------------------------------------------------------------------------------------------

// A process speaks its transport with the NIC's addresses and nothing else, so that it cannot be taken for another
// host.
bool ApplicationPort::is_ours(std::span<const std::byte> frame, std::size_t whole,
                              const std::expected<wire::FrameView, DropReason>& view,
                              ApplicationProcess& process) noexcept {
  const auto may_send_uet =
      view && process.uet() ? railyard::may_send_uet(*process.uet(), *view, frame) : std::optional<bool>{};
  const bool is_its_transport =
      view && view->vid == 0 &&
      (process.uet() ? may_send_uet.has_value() : view->destination_port == wire::kRoceV2Port && view->l4_offset != 0);
  if (!is_its_transport) {
    process.counters_.malformed.increment();
    return false;
  }
  if (wire::read<wire::Ethernet::Source>(frame.data()) != config_.mac ||
      !(view->source == config_.address_v4 || view->source == config_.address_v6) || may_send_uet == false) {
    process.counters_.forged.increment();
    return false;
  }
  if (view->destination_qp == kSharedQp && shared_qp_ != nullptr &&
      !shared_qp_->may_send(process.first_qpn(), frame, whole != frame.size())) [[unlikely]] {
    process.counters_.forged.increment();
    return false;
  }
  return true;
}

// Copies first: what lies in shared memory may change at any moment. False: the frame stays in its ring.
bool ApplicationPort::take_one(ApplicationProcess& process, const FrameRingConsumer::Frame& frame, const Room& room,
                               PacketPool& pool, Packet*& out) {
  const std::size_t octets = frame.octets.size();
  const bool pending = (frame.flags & kFrameIcrcPending) != 0;
  Packet* const p = pool.allocate_real();
  if (p == nullptr) return false;
  out = nullptr;
  if (octets <= pool.real_octets()) {
    std::memcpy(p->header(), frame.octets.data(), octets);
    const std::size_t whole = octets + (pending ? std::size_t{wire::kIcrcOctets} : 0);
    const std::span<const std::byte> copy(p->header(), octets);
    const auto view = wire::parse_frame(copy, whole);
    if (view && (room.classes & bit(classify(room.trust, *view))) == 0) [[unlikely]] {
      pool.release(p);
      return false;
    }
    if (is_ours(copy, whole, view, process)) {
      describe_received(*p, static_cast<std::uint32_t>(octets), stream_, received_.read());
      if (pending) {
        p->flags = static_cast<std::uint8_t>(p->flags | Packet::kIcrcPending);
        p->frame_octets = std::max(static_cast<std::uint32_t>(whole + wire::kFcsOctets), kLeastFrameOctets);
      }
      process.counters_.received.increment();
      received_.increment();
      out = p;
      return true;
    }
  } else {
    process.counters_.malformed.increment();
  }
  rejected_.increment();
  pool.release(p);
  return true;
}

// At most `packets.size()` frames. Those that are dropped count as work too: a process cannot keep the fabric here for
// long.
ApplicationPort::Taken ApplicationPort::take_ring(ApplicationProcess& process, Priority priority, const Room& room,
                                                  PacketPool& pool, std::span<Packet*> packets) {
  FrameRingConsumer& ring = process.from_host_->of(priority);
  Taken taken;
  while (taken.frames < packets.size()) {
    const auto frame = ring.front();
    if (!frame) break;
    ring.prefetch(kAhead);
    Packet* packet = nullptr;
    if (!take_one(process, *frame, room, pool, packet)) break;
    ring.pop();
    ++taken.frames;
    if (packet != nullptr) packets[taken.packets++] = packet;
  }
  if (ring.broken()) [[unlikely]]
    found_broken(process);
  if (taken.frames > 0 && ring.release()) process.ring_host();
  return taken;
}

std::size_t ApplicationPort::take_from(ApplicationProcess& process, const Room& room, PacketPool& pool,
                                       std::span<Packet*> packets) {
  if (process.sleeping_ && !process.held_back_ && process.from_host_->sleeps()) return 0;
  Taken all;
  do {
    // Classes take turns, else one of them could have the whole burst each time.
    const std::uint8_t served = process.served_.value;
    for (std::uint8_t i = 1; i <= kPriorities && all.frames < packets.size(); ++i) {
      const Priority priority{static_cast<std::uint8_t>((served + i) % kPriorities)};
      if ((room.classes & bit(priority)) == 0) continue;
      const Taken taken = take_ring(process, priority, room, pool,
                                    packets.subspan(all.packets, packets.size() - all.frames));
      if (taken.frames > 0) process.served_ = priority;
      all.frames += taken.frames;
      all.packets += taken.packets;
    }
  } while (all.frames == 0 && !rest(process, room.classes));
  if (all.frames == 0) return 0;
  if (process.sleeping_) {
    process.sleeping_ = false;
    process.from_host_->wake();
    quiet(process);
  }
  process.empty_ = 0;
  return all.packets;
}

// Its doorbell does not ring on.
void ApplicationPort::quiet(const ApplicationProcess& process) noexcept {
  std::uint64_t rung;
  static_cast<void>(::read(process.fabric_doorbell(), &rung, sizeof rung));
}

// Nothing came of these classes. In the end the process is asked to ring when something does. False: something has come
// by now.
bool ApplicationPort::rest(ApplicationProcess& process, PriorityMask classes) {
  ClassRingsConsumer& rings = *process.from_host_;
  const bool rang = process.sleeping_ && !rings.sleeps();
  if (!rang && ++process.empty_ < kEmptyTurns) return true;
  process.empty_ = 0;
  // First made quiet, then looked for what it may have rung for: the other way round its signal would be lost.
  quiet(process);
  process.sleeping_ = !rang && rings.sleep_until_frame(classes);
  process.held_back_ = process.sleeping_ && rings.any(static_cast<PriorityMask>(~classes));
  return process.sleeping_ || process.broken() || rings.broken() || !rings.any(classes);
}

std::size_t ApplicationPort::take_of(PriorityMask classes, const TrustMap& trust, PacketPool& pool,
                                     std::span<Packet*> packets) {
  const Room room{classes, trust};
  std::size_t n = answers_.empty() ? 0 : take_answers(room, pool, packets);
  for (std::size_t i = 0; i < processes_.size() && n < packets.size(); ++i) {
    if (++next_ >= processes_.size()) next_ = 0;
    ApplicationProcess& process = *processes_[next_];
    if (process.broken()) continue;
    const std::span<Packet*> left = packets.subspan(n);
    n += take_from(process, room, pool, processes_.size() == 1 ? left : left.first(std::min(kTurn, left.size())));
  }
  return n;
}

// ---- To processes --------------------------------------------------------------------------------------------------

// Whether frames wait for a process whose ring is full.
bool ApplicationPort::keeps_waiting(ApplicationProcess& process) noexcept {
  if (process.to_host_->broken()) {
    found_broken(process);
    return false;
  }
  const std::int64_t now = now_ns();
  if (process.full_since_ns_ == 0) process.full_since_ns_ = now;
  return now - process.full_since_ns_ < kPatienceNs;
}

// False: it waits.
bool ApplicationPort::give_one(PacketPool& pool, Packet* packet) {
  const bool uet = (packet->entropy & Packet::kUetEntropy) != 0;
  ApplicationProcess* process =
      !packet->is_rdma() ? nullptr
      : uet              ? uet_.find(*packet)
                         : by_qpn_[packet->entropy / ApplicationProcess::kQpnsPerProcess % kBlocks];
  // Management datagrams are real, and one that is corrupted has a wrong ICRC.
  if (packet->is_rdma() && !uet && packet->entropy == kSharedQp && shared_qp_ != nullptr &&
      !packet->has(Packet::kElided) && !packet->has(Packet::kCorrupted)) [[unlikely]]
    process = for_shared_qp(*packet);
  if (process == nullptr) {
    not_sent_.increment();
    pool.release(packet);
    return true;
  }
  std::byte* const room = process->to_host_->next();
  if (room == nullptr) [[unlikely]] {
    if (keeps_waiting(*process)) return false;
    process->counters_.ring_full.increment();
    not_sent_.increment();
    pool.release(packet);
    return true;
  }
  process->full_since_ns_ = 0;
  if (packet->has(Packet::kElided) || packet->has(Packet::kCorrupted) || packet->telemetry != 0) {
    packet = make_whole(packet, pool);
    if (packet == nullptr) return false;
  }
  const std::uint32_t octets = packet->header_octets + packet->payload_octets;
  if (octets > process->to_host_->geometry().room()) [[unlikely]] {
    process->counters_.too_long.increment();
    not_sent_.increment();
  } else {
    std::memcpy(room, packet->header(), octets);
    process->to_host_->commit(octets, (packet->has(Packet::kIcrcPending) ? std::uint32_t{kFrameIcrcPending} : 0) |
                                          (packet->trimmed != 0 ? std::uint32_t{kFrameTrimmed} : 0));
    process->unpublished_ = true;
    process->counters_.sent.increment();
    sent_.increment();
  }
  pool.release(packet);
  return true;
}

std::size_t ApplicationPort::give(PacketPool& pool, std::span<Packet* const> packets) {
  std::size_t n = 0;
  while (n < packets.size() && give_one(pool, packets[n])) ++n;
  for (const auto& process : processes_) {
    if (!process->unpublished_) continue;
    process->unpublished_ = false;
    if (process->to_host_->publish()) process->ring_host();
  }
  return n;
}

void ApplicationPort::set_carrier(bool up) noexcept {
  carrier_ = up;
  for (const auto& process : processes_) process->set_link(up);
}

OutsidePortCounters ApplicationPort::counters() const {
  OutsidePortCounters c;
  c.received = received_.read();
  c.sent = sent_.read();
  c.not_sent = not_sent_.read();
  return c;
}

PortAbilities ApplicationPort::abilities() const {
  return {PortAbilities::Pfc::kYes, config_.mtu + std::uint32_t{wire::Ethernet::kOctets + wire::Vlan::kOctets}, true};
}

}  // namespace railyard
