// Connection management on one NIC of the program's: the state machine of transports/roce/cm over the provider's QP 1,
// and which ID each connection is.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "transports/roce/cm/connection_manager.h"
#include "transports/verbs/management.h"

struct ibv_context;
struct ibv_pd;

namespace railyard::rdmacm {

struct Id;
struct Device;
using roce::cm::IpServiceValues;
using roce::cm::PortSpace;

// All calls with the NIC's lock held.
class CmNic final : public verbs::ManagementUser {
 public:
  explicit CmNic(Device& device);

  roce::cm::ConnectionManager& manager() noexcept { return manager_; }

  // What happens to the connection is told to `id` from here on.
  void add(roce::cm::ConnectionId connection, Id& id) { ids_[connection.value] = &id; }
  void remove(roce::cm::ConnectionId connection) { ids_.erase(connection.value); }
  // Begins the connection that the ID is for (Id::begin).
  std::optional<roce::cm::ConnectError> begin(Instant now, Id& id);
  // It is not begun again.
  void give_up(Id& id);
  void listen(Id& id, PortSpace space, std::uint16_t port);
  void stop_listening(Id& id, PortSpace space, std::uint16_t port);

  // Data came to this QP before the peer's RTU.
  void on_path_established(Instant now, roce::QpNumber qp) {
    manager_.on_path_established(now, qp);
    tell(now);
  }
  // Connections that are open end: the program does.
  void abandon_all(Instant now);

  void on_mad(Instant now, const wire::IpAddress& from, const wire::IpAddress& to,
              std::span<const std::byte> mad) override;
  std::optional<roce::cm::Outgoing> next() override { return manager_.next(); }
  Instant deadline() const noexcept override {
    return again_.empty() ? manager_.deadline() : std::min(manager_.deadline(), again_.begin()->first);
  }
  void on_timer(Instant now) override;
  void on_lost() override;

 private:
  void tell(Instant now);
  void on_request(Instant now, const roce::cm::Event& event);
  void on_event(Instant now, Id& id, const roce::cm::Event& event);
  bool tries_again(Instant now, Id& id, const roce::cm::Event& event);
  Id* listener(PortSpace space, std::uint16_t port, const wire::IpAddress& address) const;

  Device& device_;
  roce::cm::ConnectionManager manager_;
  std::map<std::uint32_t, Id*> ids_;                   // by ConnectionId
  std::multimap<Instant, Id*> again_;                  // where nobody listened, when to ask again
  std::map<std::uint64_t, std::vector<Id*>> listeners_;  // by service ID
};

}  // namespace railyard::rdmacm
