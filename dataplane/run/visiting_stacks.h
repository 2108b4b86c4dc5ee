// In-band telemetry of packets that come from devices of other processes (peers.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <unordered_set>
#include <vector>

#include "dataplane/base/ids.h"
#include "dataplane/base/state_archive.h"
#include "dataplane/device/fabric.h"
#include "dataplane/packet/int_nodes.h"
#include "dataplane/packet/int_stack.h"
#include "dataplane/packet/packet.h"
#include "dataplane/run/peers.h"

namespace railyard {

// A sampled packet has its stack at home: one of the IntSource of the device where it began. In other processes it has a
// guest, which travels with it. What a guest says goes home when its packet has ended, or when somebody wants to know, so
// that all is counted and reported at home. Only while the engine rests.
class VisitingStacks {
 public:
  // Both outlive it.
  VisitingStacks(Fabric& fabric, const Parts& parts) : fabric_(fabric), parts_(parts) {}

  // `packet`, which is sampled, goes to another process: adds its stack to `out`.
  void pack(const Packet& packet, StateArchive& out);
  // It comes from there: it has a stack here from now on. Throws std::runtime_error: what has come cannot be one.
  void take(Packet& packet, StateArchive& in);

  // Adds guests whose packets have ended to out[p], p being where they are at home, and forgets them.
  void give_ended(std::vector<StateArchive>& out);
  // The same with all guests. `held`: those that packets have; the others are forgotten.
  void give_all(std::vector<StateArchive>& out, const std::unordered_set<const IntStack*>& held);
  // Takes what another process has given to this one. Calls `see` for stacks that packets there have.
  void take_home(StateArchive& in, const std::function<void(const IntStack&)>& see);

  // Guests that are here.
  std::size_t guests() const noexcept { return used_.size(); }
  // All devices of the fabric, by DeviceId.
  const IntNodes& nodes();

 private:
  static constexpr std::uint32_t kNoMore = ~std::uint32_t{0};

  // Where a stack is at home.
  struct Home {
    std::uint32_t device = kNoMore;
    std::uint32_t slot = 0;  // of its source
  };
  struct Guest {
    IntStack stack;  // packets point to it
    Home home;
    std::size_t place = 0;  // among those that are used
  };

  static Guest& guest_of(IntStack& stack) noexcept { return reinterpret_cast<Guest&>(stack); }
  Home home_of(IntStack& stack);
  IntStack& at_home(const Home& home);
  Guest& new_guest();
  void forget(Guest& guest);
  void give(Guest& guest, bool held, std::vector<StateArchive>& out);
  void end(std::vector<StateArchive>& out);
  IntStack read(StateArchive& in, Home& home);

  Fabric& fabric_;
  const Parts& parts_;
  IntNodes nodes_;
  std::deque<Guest> guests_;
  std::vector<Guest*> free_;
  std::vector<Guest*> used_;
};

}  // namespace railyard
