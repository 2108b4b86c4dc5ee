#include "dataplane/packet/int_stack.h"

#include <cstring>

#include <rte_mbuf.h>

namespace railyard {

namespace {

// The hash that a driver may leave with a frame that it has received; nothing reads it after that.
static_assert(sizeof(rte_mbuf::hash) >= sizeof(IntStack*));

}  // namespace

IntStack* int_stack_of_sampled(const Packet& packet) noexcept {
  IntStack* stack;
  std::memcpy(&stack, &mbuf_of(const_cast<Packet*>(&packet))->hash, sizeof stack);
  return stack;
}

void sample(Packet& packet, IntStack& stack) noexcept {
  IntStack* const at = &stack;
  std::memcpy(&mbuf_of(&packet)->hash, &at, sizeof at);
  packet.sampled = 1;
}

}  // namespace railyard
