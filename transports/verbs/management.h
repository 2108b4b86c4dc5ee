// What librailyard-rdmacm.so, in the same program, gets of this provider for a device that is open: QP 1 of its NIC, and
// ports of rdma_cm. Both libraries are of one build, or kManagementVersion differs.
#pragma once

#include <cstdint>
#include <expected>
#include <mutex>

#include "transports/application/handshake.h"
#include "transports/roce/cm/mad_user.h"

struct ibv_context;

namespace railyard::verbs {

inline constexpr std::uint32_t kManagementVersion = 1;

// Who manages connections. Called with the NIC's lock held, by whoever drives the engine.
class ManagementUser : public roce::cm::MadUser {
 public:
  // When on_timer() wants to be called; never(): not at all.
  virtual Instant deadline() const noexcept = 0;
  virtual void on_timer(Instant now) = 0;
  // The lab is gone; nothing comes or goes any more.
  virtual void on_lost() = 0;

 protected:
  ~ManagementUser() = default;
};

class Management {
 public:
  virtual ~Management() = default;

  virtual const application::NicGrant& nic() const noexcept = 0;
  // Of packets whose application asked for traffic class 0.
  virtual std::uint8_t default_traffic_class() const noexcept = 0;
  virtual bool link_up() const noexcept = 0;
  virtual Instant now() const noexcept = 0;
  // Of the NIC.
  virtual std::mutex& mutex() noexcept = 0;

  // With the lock held: makes QP 1, if there is none yet, and hands its datagrams to `user` from here on. Throws
  // std::system_error: there can be no more threads.
  virtual void start(ManagementUser& user) = 0;
  virtual void stop() noexcept = 0;
  // With the lock held: the user has something to send, or another deadline.
  virtual void run() noexcept = 0;

  // Without the lock, of application::Connection.
  virtual std::expected<std::uint16_t, int> claim_port(std::uint8_t space, std::uint16_t port) = 0;
  virtual void release_port(std::uint8_t space, std::uint16_t port) = 0;
};

// Exported by librailyard-rdmav34.so under this name. nullptr: the context is none of this provider's, or the caller is
// of another build. It lives as long as the context.
using ManagementOf = Management* (*)(ibv_context* context, std::uint32_t version);
inline constexpr char kManagementSymbol[] = "railyard_management_of";

}  // namespace railyard::verbs
