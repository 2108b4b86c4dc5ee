// QP 1 of an engine: carries the datagrams of connection management.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "transports/roce/cm/mad_user.h"
#include "transports/roce/engine.h"

namespace railyard::roce::cm {

class Gsi {
 public:
  // Makes QP 1, with memory of its own; the engine has none yet. Both outlive it.
  Gsi(Instant now, Engine& engine, MadUser& user);

  // Hands in what has come, sends what is to be sent. After packets came, and after anything was asked of the user.
  // Whether there was anything.
  bool run(Instant now);

 private:
  static constexpr std::size_t kReceives = 64, kSends = 32;
  static constexpr std::size_t kReceiveOctets = 40 + kMadOctets;  // behind a GRH

  void post_receive(Instant now, std::uint64_t place);

  Engine& engine_;
  MadUser& user_;
  std::vector<std::byte> memory_;
  MemoryRegions::Key key_ = 0;
  CqId send_cq_{}, recv_cq_{};
  std::vector<std::uint64_t> free_;  // places to send from
  std::vector<AhId> ways_;           // where to, by place
};

}  // namespace railyard::roce::cm
