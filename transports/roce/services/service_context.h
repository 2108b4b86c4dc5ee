// What services and their clients share of the NIC that they are at.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "transports/roce/cm/connection_manager.h"
#include "transports/roce/engine.h"

namespace railyard::roce {

struct ServiceContext {
  Engine& engine;
  cm::ConnectionManager& connections;
  CqId cq;                            // of all QPs
  cm::ConnectionParameters defaults;  // of all connections; without a QP
  std::uint32_t next_domain = 2;

  // Of every QP: what is posted and not complete at a time, of either kind.
  static constexpr std::size_t kMostSends = 4, kMostReceives = 2;
};

// Memory of a service's own, registered for one QP. Gone with the object.
class ServiceMemory {
 public:
  ServiceMemory(Engine& engine, ProtectionDomain domain, std::size_t octets, AccessSet access);
  ~ServiceMemory();
  ServiceMemory(const ServiceMemory&) = delete;
  ServiceMemory& operator=(const ServiceMemory&) = delete;

  std::span<std::byte> octets() noexcept { return octets_; }
  std::uint64_t address() const noexcept { return kAddress; }
  MemoryRegions::Key key() const noexcept { return key_; }
  Sge piece(std::size_t offset, std::uint32_t octets) const noexcept { return {kAddress + offset, octets, key_}; }

 private:
  static constexpr std::uint64_t kAddress = 0x10000;

  Engine& engine_;
  std::vector<std::byte> octets_;
  MemoryRegions::Key key_ = 0;
};

// An RC QP in RESET. nullopt: there are no more.
std::optional<QpNumber> create_service_qp(const ServiceContext& context, ProtectionDomain domain);

}  // namespace railyard::roce
