// A NIC that an application has opened: the RoCE engine in the application's process, and the rings to the fabric. The
// driver's thread begins with the first QP.
#pragma once

#include <expected>
#include <memory>

#include "dataplane/base/time.h"
#include "transports/application/nic_driver.h"
#include "transports/application/traffic_report.h"
#include "transports/roce/roce_endpoint.h"
#include "transports/verbs/nic_settings.h"

namespace railyard::verbs {

// Told what the engine says besides completions. Called with the NIC's lock held.
class NicEvents {
 public:
  virtual ~NicEvents() = default;
  virtual void on_async(const roce::AsyncEvent& event) = 0;
  // Completions may have come to queues that somebody waits for.
  virtual void on_progress() = 0;
  virtual void on_link(bool up) = 0;
  // The lab is gone; nothing comes or goes any more.
  virtual void on_lost() = 0;
  // Lists the QPs.
  virtual void on_report(application::ConnectionList& list) const = 0;
};

// Who uses the engine beside the application: connection management. Called with the NIC's lock held.
class NicCompanion {
 public:
  virtual ~NicCompanion() = default;
  // Packets may have come, and timers may be due. Whether there was anything.
  virtual bool run(Instant now) noexcept = 0;
  // When it wants to be called; never(): not at all.
  virtual Instant deadline() const noexcept = 0;
  // The lab is gone.
  virtual void on_lost() noexcept = 0;
};

class Nic final : public application::NicDriver {
 public:
  using NicDriver::stop_thread;
  // `events` outlives it.
  Nic(std::unique_ptr<application::Connection> connection, NicEvents& events);
  ~Nic() override;

  const NicSettings& settings() const noexcept { return settings_; }

  // With the lock held.
  roce::Engine& engine() noexcept { return endpoint_.engine(); }
  bool pump(Instant now) noexcept override;
  // Sends what can be sent.
  bool send(Instant now) noexcept;

  // nullptr: none any more.
  void accompany(NicCompanion* companion) noexcept { companion_ = companion; }
  // A port of rdma_cm: application::Connection. Without the lock.
  std::expected<std::uint16_t, int> claim_port(std::uint8_t space, std::uint16_t port) {
    return connection().claim_port(space, port);
  }
  void release_port(std::uint8_t space, std::uint16_t port) { connection().release_port(space, port); }

 private:
  void on_link(bool up) noexcept override { events_.on_link(up); }
  void on_lost() noexcept override {
    events_.on_lost();
    if (companion_ != nullptr) companion_->on_lost();
  }
  void report(TrafficFigures& to) const noexcept override;
  Instant other_deadline() const noexcept override {
    return companion_ != nullptr ? companion_->deadline() : Instant::never();
  }

  NicEvents& events_;
  NicCompanion* companion_ = nullptr;
  NicSettings settings_;
  roce::RoceEndpoint endpoint_;
};

}  // namespace railyard::verbs
