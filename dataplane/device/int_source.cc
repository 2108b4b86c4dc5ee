#include "dataplane/device/int_source.h"

#include <algorithm>
#include <limits>
#include <new>
#include <type_traits>
#include <utility>

#include "dataplane/base/hash.h"

namespace railyard {

bool IntSource::wanted(const Packet& packet, Priority priority) const noexcept {
  if ((sampling_.classes & bit(priority)) == 0) return false;
  return sampling_.all_streams || std::ranges::binary_search(sampling_.streams, packet.stream);
}

IntSource::IntSource(std::size_t most)
    : stacks_(static_cast<IntStack*>(::operator new (most * sizeof(IntStack), std::align_val_t{alignof(IntStack)}))) {
  static_assert(std::is_trivially_destructible_v<IntStack>);
  free_.reserve(most);
  for (std::size_t i = most; i > 0; --i) free_.push_back(static_cast<std::uint32_t>(i - 1));
  used_.reserve(most);
}

void IntSource::Free::operator()(IntStack* stacks) const noexcept {
  ::operator delete (stacks, std::align_val_t{alignof(IntStack)});
}

void IntSource::begin(Seed seed, IntSampling sampling) {
  sampling_ = std::move(sampling);
  key_ = mix64(seed.value ^ hash_string("int"));
  most_ = std::numeric_limits<std::uint64_t>::max() / sampling_.one_in;
  sampled_.set(0);
  not_kept_.set(0);
  for (Used& u : used_) u.reported = false;
}

void IntSource::choose(const std::string& node, PortIndex out, Priority priority, Instant now,
                       Packet& packet) noexcept {
  sampled_.increment();
  if (free_.empty()) return not_kept_.increment();
  const std::uint32_t slot = free_.back();
  free_.pop_back();
  used_.push_back({slot, true});  // within what is reserved
  IntStack& stack = *new (stacks_.get() + slot) IntStack;
  stack.begin(packet);
  stack.depart_source(node, out, priority, now, packet.frame_octets);
  sample(packet, stack);
}

}  // namespace railyard
