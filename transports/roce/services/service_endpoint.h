// A RoCE NIC that is spoken to: peers, real ones too, connect by rdma_cm to what it serves, and it connects to theirs.
// Everything happens at the instant at which what it follows from does, so nothing depends on when the NIC asks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "dataplane/base/endpoint.h"
#include "transports/roce/cm/gsi.h"
#include "transports/roce/roce_endpoint.h"
#include "transports/roce/services/atomics_server.h"
#include "transports/roce/services/rping_client.h"
#include "transports/roce/services/rping_server.h"
#include "transports/roce/services/udaddy_server.h"

namespace railyard::roce {

struct ServiceEndpointConfig {
  EngineConfig engine{};
  cm::CmConfig connections{};         // with a route
  cm::ConnectionParameters defaults;  // timers, retries, the largest path MTU that is taken
  bool rping_server = false;
  bool udaddy_server = false;
  bool atomics_server = false;
  std::size_t most_sessions = 64;  // of a service
  std::vector<RpingClientConfig> rping_clients;
};

class ServiceEndpoint final : public Endpoint {
 public:
  explicit ServiceEndpoint(ServiceEndpointConfig config);
  ~ServiceEndpoint() override;

  Readiness ready(Instant now) override;
  std::size_t send(Instant now, Priority priority, std::span<TxFrame> frames) override;
  bool receive(std::span<const RxFrame> frames) override;
  // Whoever is connected by datagrams sends real octets.
  bool has_real_payload() const noexcept override { return true; }

  // No client begins anything at or after `at`.
  void stop_at(Instant at);

  const Engine& engine() const noexcept { return roce_.engine(); }
  const cm::ConnectionManager& connections() const noexcept { return connections_; }
  const RpingServer* rping_server() const noexcept { return rping_server_ ? &*rping_server_ : nullptr; }
  const UdaddyServer* udaddy_server() const noexcept { return udaddy_server_ ? &*udaddy_server_ : nullptr; }
  const AtomicsServer* atomics_server() const noexcept { return atomics_server_ ? &*atomics_server_ : nullptr; }
  std::size_t rping_clients() const noexcept { return rping_clients_.size(); }
  const RpingClient& rping_client(std::size_t i) const noexcept { return *rping_clients_[i]; }
  // What all of these count, told by the process that runs the NIC, taken by others.
  void exchange_figures(StateArchive& archive);

 private:
  static constexpr std::size_t kCompletionsOfQp = ServiceContext::kMostSends + ServiceContext::kMostReceives;

  Instant due() const noexcept;
  void run_due(Instant now);
  // Whether anything has happened.
  bool settle(Instant now);
  void on_event(Instant now, const cm::Event& event);
  void on_completion(Instant now, const Completion& completion);
  void on_async_event(Instant now, const AsyncEvent& event);

  RoceEndpoint roce_;
  cm::ConnectionManager connections_;
  cm::Gsi gsi_;
  ServiceContext context_;
  std::optional<RpingServer> rping_server_;
  std::optional<UdaddyServer> udaddy_server_;
  std::optional<AtomicsServer> atomics_server_;
  std::vector<std::unique_ptr<RpingClient>> rping_clients_;
};

}  // namespace railyard::roce
