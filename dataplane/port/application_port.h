// Applications behind a NIC: processes of this machine that run a transport engine themselves (transports/verbs,
// transports/libfabric) and exchange whole frames with the fabric through rings in shared memory.
//
// All processes of one NIC share its addresses; frames for them are told apart by the destination QP (BTH), of which
// each process has a block of its own, or by numbers of UET (uet_processes.h). QP 1, where connections are managed, is
// shared: SharedQp says whose a frame is. A process has a ring per traffic class, from which the fabric takes only while
// the NIC has room for that class, so PFC holds back frames of a class without loss, and no others. A ring that a process
// does not empty holds back its NIC for kPatience at most; then frames for that process are dropped, and its neighbours
// go on.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dataplane/base/class_rings.h"
#include "dataplane/base/counter.h"
#include "dataplane/base/file_descriptor.h"
#include "dataplane/base/frame_ring_pair.h"
#include "dataplane/packet/pool.h"
#include "dataplane/port/outside_port.h"
#include "dataplane/port/shared_qp.h"
#include "dataplane/port/uet_processes.h"
#include "dataplane/wire/address.h"
#include "dataplane/wire/mac_address.h"
#include "dataplane/wire/parse.h"

namespace railyard {

// Frames that a process and its NIC exchanged, and those that were dropped between the two, by reason.
struct ApplicationCounters {
  Counter received;   // taken from the process
  Counter sent;       // handed to the process
  Counter malformed;  // from it: not a frame of its transport
  Counter forged;     // from it: with a source address that is not the NIC's, numbers that are not its own, or to a QP 1
                      // and not its own to say
  Counter ring_full;  // for it: its ring was full for longer than kPatience
  Counter too_long;   // for it: longer than a slot of its ring
  Counter left;       // from it: still in its rings when it had ended and its NIC could not send them in time
};

// A process that has opened the NIC: its rings, doorbells and QP numbers, or numbers of UET.
class ApplicationProcess {
 public:
  // Makes the shared memory, sealed so that nobody can shrink it, and the doorbells. Throws std::runtime_error: there
  // is no memory or no descriptor left. `first_qpn` is a multiple of kQpnsPerProcess.
  ApplicationProcess(const FrameRingPairGeometry& rings, std::uint32_t first_qpn);
  // One that speaks UET, and has no QPs.
  ApplicationProcess(const FrameRingPairGeometry& rings, const UetNumbers& uet);
  ~ApplicationProcess();
  ApplicationProcess(const ApplicationProcess&) = delete;
  ApplicationProcess& operator=(const ApplicationProcess&) = delete;

  static constexpr std::uint32_t kQpnsPerProcess = 1u << 12;

  const FrameRingPairGeometry& rings() const noexcept { return rings_; }
  std::uint32_t first_qpn() const noexcept { return first_qpn_; }
  const std::optional<UetNumbers>& uet() const noexcept { return uet_; }
  // To be passed to the process, which maps the memory.
  int memory() const noexcept { return memory_.get(); }
  int fabric_doorbell() const noexcept { return fabric_doorbell_.get(); }  // wakes the fabric
  int host_doorbell() const noexcept { return host_doorbell_.get(); }      // wakes the process

  const ApplicationCounters& counters() const noexcept { return counters_; }
  // What the process reports about its traffic; any numbers. Any thread.
  const TrafficFigures& figures() const noexcept { return FrameRingPairGeometry::state(mapped_).figures; }
  // The process wrote into its rings what cannot be: it is cut off. Any thread.
  bool broken() const noexcept { return broken_.load(std::memory_order_relaxed); }

 private:
  friend class ApplicationPort;
  void ring_host() noexcept;
  void set_link(bool up) noexcept;

  FrameRingPairGeometry rings_;
  std::uint32_t first_qpn_;
  std::optional<UetNumbers> uet_{};
  FileDescriptor memory_;
  FileDescriptor fabric_doorbell_;
  FileDescriptor host_doorbell_;
  std::byte* mapped_ = nullptr;
  std::optional<ClassRingsConsumer> from_host_;
  std::optional<FrameRingProducer> to_host_;
  ApplicationCounters counters_;
  std::atomic<bool> broken_ = false;
  // Of the engine's thread:
  unsigned empty_ = 0;     // turns in a row that found nothing
  bool sleeping_ = false;  // the process is to ring when it has something
  bool held_back_ = false;  // when it was asked to, it had frames of a class that had no room
  Priority served_{0};      // class of the last frame that was taken: the next ones are looked for behind it
  bool unpublished_ = false;
  std::int64_t full_since_ns_ = 0;  // 0: it is not full
};

struct ApplicationPortConfig {
  std::string name;      // of host and NIC, for its packets' identity
  wire::MacAddress mac;  // of the NIC: frames come from it alone
  std::optional<wire::IpAddress> address_v4;
  std::optional<wire::IpAddress> address_v6;
  std::uint32_t mtu = 9216;  // of the link, octets
};

class ApplicationPort final : public OutsidePort {
 public:
  // Throws std::runtime_error: there is no descriptor left.
  explicit ApplicationPort(const ApplicationPortConfig& config);
  ~ApplicationPort() override;
  ApplicationPort(const ApplicationPort&) = delete;
  ApplicationPort& operator=(const ApplicationPort&) = delete;

  const ApplicationPortConfig& config() const noexcept { return config_; }

  // By the engine's thread, between windows. Its QP numbers are nobody else's here.
  void join(std::shared_ptr<ApplicationProcess> process);
  // Frames for QP 1 are nobody's without. Before the engine runs, or by its thread.
  void share_qp(std::shared_ptr<SharedQp> shared) noexcept { shared_qp_ = std::move(shared); }
  // Sends a frame of the NIC's own, given without its ICRC. By the engine's thread.
  void answer(std::vector<std::byte> frame);
  // The process is gone: nothing goes to it any more. What it had sent when it ended is still taken, as a NIC sends what it
  // has told to be done. Returns whether nothing is left, or nothing can be taken. By the engine's thread.
  bool has_ended(const ApplicationProcess& process) noexcept;
  // What is still in its rings is dropped. Returns the process if it was there; who gets it gives it back later.
  std::shared_ptr<ApplicationProcess> leave(const ApplicationProcess& process);

  // Readable when a process is found broken; the reader reads it empty. eventfd(2).
  int attention() const noexcept { return attention_.get(); }

  std::size_t take(PacketPool& pool, std::span<Packet*> packets) override {
    return take_of(kAllPriorities, TrustMap{}, pool, packets);
  }
  // A frame in the ring of a class that is not its own is held back by either.
  std::size_t take_of(PriorityMask classes, const TrustMap& trust, PacketPool& pool,
                      std::span<Packet*> packets) override;
  std::size_t give(PacketPool& pool, std::span<Packet* const> packets) override;
  void release_packets(PacketPool&) override {}
  void set_carrier(bool up) noexcept override;
  int readable() const noexcept override { return doorbells_.get(); }

  // not_sent: frames that no process could take: for a QP or UET number that nobody has, neither RoCEv2 nor UET, too
  // long, ring full.
  OutsidePortCounters counters() const override;
  bool link_up() const override { return processes_open_.load(std::memory_order_relaxed) > 0; }
  PortAbilities abilities() const override;

  // How long a process may leave its ring full before its frames are dropped, ns of wall time: longer than a busy
  // machine keeps a process from a core (12 ms with three spinning on two cores), shorter than RDMA's usual timeouts.
  static constexpr std::int64_t kPatienceNs = 50'000'000;

 private:
  static constexpr std::size_t kBlocks = (1u << 24) / ApplicationProcess::kQpnsPerProcess;

  struct Room {
    PriorityMask classes;
    const TrustMap& trust;
  };
  bool take_one(ApplicationProcess& process, const FrameRingConsumer::Frame& frame, const Room& room, PacketPool& pool,
                Packet*& out);
  struct Taken {
    std::size_t frames = 0;   // that left their rings
    std::size_t packets = 0;  // that they became
  };
  Taken take_ring(ApplicationProcess& process, Priority priority, const Room& room, PacketPool& pool,
                  std::span<Packet*> packets);
  std::size_t take_from(ApplicationProcess& process, const Room& room, PacketPool& pool, std::span<Packet*> packets);
  bool rest(ApplicationProcess& process, PriorityMask classes);
  static void quiet(const ApplicationProcess& process) noexcept;
  void found_broken(ApplicationProcess& process) noexcept;
  void forget(const ApplicationProcess& process) noexcept;
  bool is_ours(std::span<const std::byte> frame, std::size_t whole,
               const std::expected<wire::FrameView, DropReason>& view, ApplicationProcess& process) noexcept;
  bool give_one(PacketPool& pool, Packet* packet);
  ApplicationProcess* for_shared_qp(const Packet& packet);
  std::size_t take_answers(const Room& room, PacketPool& pool, std::span<Packet*> packets);
  bool keeps_waiting(ApplicationProcess& process) noexcept;

  ApplicationPortConfig config_;
  std::uint64_t stream_;
  FileDescriptor doorbells_;  // epoll(7) over those of all processes
  FileDescriptor attention_;
  std::vector<std::shared_ptr<ApplicationProcess>> processes_;
  std::array<ApplicationProcess*, kBlocks> by_qpn_{};
  std::shared_ptr<SharedQp> shared_qp_;
  std::deque<std::vector<std::byte>> answers_;  // of QP 1, to be sent
  FileDescriptor answers_wait_;                 // eventfd
  UetProcesses uet_;
  std::size_t next_ = 0;  // who is asked first
  bool carrier_ = true;
  std::atomic<std::uint32_t> processes_open_ = 0;
  Counter received_;
  Counter sent_;
  Counter not_sent_;
  Counter rejected_;  // malformed or forged
};

}  // namespace railyard
