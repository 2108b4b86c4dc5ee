// A NIC that a libfabric domain has opened: the UET engine in the application's process, and the rings to the fabric.
// The driver's thread begins with the first endpoint.
#pragma once

#include <memory>

#include "transports/application/nic_driver.h"
#include "transports/libfabric/nic_settings.h"
#include "transports/uet/uet_endpoint.h"

namespace railyard::libfabric {

// Told what the engine says. Called with the NIC's lock held.
class NicEvents {
 public:
  virtual ~NicEvents() = default;
  virtual void on_completion(const uet::Completion& completion) noexcept = 0;
  // The lab is gone; nothing comes or goes any more.
  virtual void on_lost() noexcept = 0;
};

// How the memory of a domain is named by its peers (fi_domain_attr::mr_mode).
struct MemoryMode {
  bool chosen_keys = true;         // not FI_MR_PROV_KEY
  bool virtual_addresses = false;  // FI_MR_VIRT_ADDR
};

class Nic final : public application::NicDriver {
 public:
  // `events` outlives it.
  Nic(std::unique_ptr<application::Connection> connection, MemoryMode memory, NicEvents& events);
  ~Nic() override;

  // With the lock held.
  uet::Engine& engine() noexcept { return endpoint_.engine(); }
  const uet::EngineConfig& config() const noexcept { return endpoint_.engine().config(); }
  uet::CqId cq() const noexcept { return cq_; }
  // All of the process's memory, for buffers that are not registered: peers may not touch it.
  MemoryRegions::Key local_key() const noexcept { return local_key_; }
  bool pump(Instant now) noexcept override;
  // Sends what can be sent.
  void send(Instant now) noexcept;
  // Hands out completions that wait.
  void complete() noexcept;

  // Waits until nothing that was sent is open, and then until peers know that this end goes, but not for long.
  void linger() noexcept;

  // Completions that can wait: more requests than that are never under way.
  static constexpr std::size_t kCompletions = 1u << 14;

 private:
  void on_link(bool) noexcept override {}
  void on_lost() noexcept override { events_.on_lost(); }
  void report(TrafficFigures& to) const noexcept override;
  auto ready() noexcept {
    return [this](Instant at) { return endpoint_.ready(at); };
  }

  NicEvents& events_;
  uet::UetEndpoint endpoint_;
  uet::CqId cq_;
  MemoryRegions::Key local_key_ = 0;
  uet::OutPacket out_;
};

}  // namespace railyard::libfabric
