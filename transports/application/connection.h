// An application's hold on a NIC of an emulated host: the rings to the fabric and what it was given of the NIC. For
// libraries inside other people's programs: no DPDK, no exceptions to the outside, no thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dataplane/base/class_rings.h"
#include "dataplane/base/file_descriptor.h"
#include "dataplane/base/frame_ring_pair.h"
#include "transports/application/handshake.h"

namespace railyard::application {

// Why a NIC cannot be opened: errno and a line for people.
struct OpenError {
  int error = 0;
  std::string why;
};

class Connection {
 public:
  // Asks the daemon that listens at `socket` for NIC `nic` (from 1) of `host`; waits for its answer, 10 s at most.
  // `job_id`: of UET; 0: the lab's.
  static std::expected<std::unique_ptr<Connection>, OpenError> open(const std::string& socket, const std::string& host,
                                                                    std::uint32_t nic,
                                                                    Transport transport = Transport::kRoce,
                                                                    std::uint32_t job_id = 0);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  const NicGrant& nic() const noexcept { return nic_; }
  // Of the transport engine, as the daemon sent them.
  std::span<const std::byte> settings() const noexcept { return settings_; }

  ClassRingsProducer& to_fabric() noexcept { return *to_fabric_; }
  FrameRingConsumer& from_fabric() noexcept { return *from_fabric_; }
  // The NIC's link to the fabric.
  bool link_up() const noexcept {
    return FrameRingPairGeometry::state(memory_).link_up.load(std::memory_order_acquire) != 0;
  }

  // Where this process reports its traffic.
  TrafficFigures& figures() noexcept { return FrameRingPairGeometry::state(memory_).figures; }

  // A port of rdma_cm on this NIC; 0: any that is free. Returns it, or an errno: EADDRINUSE, somebody else has it. Any
  // thread; waits for the daemon.
  std::expected<std::uint16_t, int> claim_port(std::uint8_t space, std::uint16_t port);
  void release_port(std::uint8_t space, std::uint16_t port);

  // In a child of fork(2), which has a copy of everything: lets go of what is the parent's, so that the daemon sees the
  // parent end. The rings are empty ones from then on, the link is down.
  void leave_to_parent() noexcept;

  // Hung up (POLLHUP) when the daemon is gone.
  int socket() const noexcept { return socket_.get(); }
  // Readable when somebody has rung: the fabric, or ring_self(). calm() makes it quiet.
  int doorbell() const noexcept { return own_doorbell_.get(); }
  void calm() noexcept;
  void ring_self() noexcept;
  void ring_fabric() noexcept;

 private:
  Connection() = default;
  std::optional<OpenError> map(const Welcome& welcome, FileDescriptor memory);
  PortAnswer ask(const PortRequest& request);

  FileDescriptor socket_;
  std::mutex asks_;  // one at a time
  FileDescriptor fabric_doorbell_;
  FileDescriptor own_doorbell_;
  NicGrant nic_{};
  std::vector<std::byte> settings_;
  std::byte* memory_ = nullptr;
  std::size_t memory_octets_ = 0;
  std::optional<ClassRingsProducer> to_fabric_;
  std::optional<FrameRingConsumer> from_fabric_;
};

}  // namespace railyard::application
