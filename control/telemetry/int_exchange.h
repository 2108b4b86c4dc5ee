// In-band telemetry of a lab that several processes run together (dataplane/run/peers.h): what they tell each other.
#pragma once

#include <cstdint>
#include <unordered_set>
#include <vector>

#include "dataplane/base/ids.h"
#include "dataplane/packet/int_stack.h"
#include "dataplane/run/peers.h"
#include "dataplane/run/visiting_stacks.h"

namespace railyard::telemetry {

// Each process samples what its own devices send, and the first one reports of all. All call the same functions in the
// same order, while the engine rests.
class IntExchange {
 public:
  // Both outlive it.
  IntExchange(const Parts& parts, VisitingStacks& visiting) : parts_(parts), visiting_(visiting) {}

  bool is_here(DeviceId device) const noexcept { return parts_.is_here(device); }
  // Whether any process says so.
  bool any(bool mine) { return parts_.peers->any(mine); }

  // Stacks of packets that have ended in other processes are up to date where they are at home.
  void bring_ended_home();
  // All are. `held`: those that packets of this process have; those at home here that packets of others have are added.
  void bring_all_home(std::unordered_set<const IntStack*>& held);

  // The first process gets the stacks of all, in the order of the devices where they began, as each has them; the others
  // get none. They stay until the next call.
  std::vector<const IntStack*> gather(std::vector<const IntStack*> mine);
  // What all others have counted, for the first process; nothing for the others.
  struct Counted {
    std::uint64_t sampled = 0;
    std::uint64_t not_kept = 0;
  };
  Counted of_others(Counted mine);

 private:
  void take_home(std::vector<StateArchive> out, const std::function<void(const IntStack&)>& see);

  const Parts& parts_;
  VisitingStacks& visiting_;
  std::vector<IntStack> gathered_;
};

}  // namespace railyard::telemetry
