#include "dataplane/run/visiting_stacks.h"

#include <stdexcept>
#include <type_traits>

namespace railyard {
namespace {

void check_stack(bool right) {
  if (!right) throw std::runtime_error("what another process told of a sampled packet is of none");
}

}  // namespace

const IntNodes& VisitingStacks::nodes() {
  if (nodes_.nodes.empty())
    for (const auto& d : fabric_.devices()) nodes_.add(d->name(), d->ports());
  return nodes_;
}

VisitingStacks::Home VisitingStacks::home_of(IntStack& stack) {
  const std::uint32_t device = nodes().number_of(*stack.hops().front().node);
  if (!parts_.is_here(DeviceId{device})) return guest_of(stack).home;
  return {device, fabric_[DeviceId{device}].int_source()->slot_of(stack)};
}

IntStack& VisitingStacks::at_home(const Home& home) {
  check_stack(parts_.is_here(DeviceId{home.device}));
  IntSource* const source = fabric_[DeviceId{home.device}].int_source();
  check_stack(source != nullptr && home.slot < source->slots());
  return source->at(home.slot);
}

VisitingStacks::Guest& VisitingStacks::new_guest() {
  static_assert(std::is_standard_layout_v<Guest>, "a guest is found through its stack");
  if (free_.empty()) free_.push_back(&guests_.emplace_back());
  Guest& guest = *free_.back();
  free_.pop_back();
  guest.place = used_.size();
  used_.push_back(&guest);
  return guest;
}

void VisitingStacks::forget(Guest& guest) {
  used_.back()->place = guest.place;
  used_[guest.place] = used_.back();
  used_.pop_back();
  free_.push_back(&guest);
}

void VisitingStacks::pack(const Packet& packet, StateArchive& out) {
  IntStack& stack = *int_stack(packet);
  Home home = home_of(stack);
  out(home);
  stack.exchange(out, nodes());
  if (!parts_.is_here(DeviceId{home.device})) forget(guest_of(stack));
}

IntStack VisitingStacks::read(StateArchive& in, Home& home) {
  IntStack stack;
  stack.exchange(in, nodes());
  check_stack(home.device < nodes().nodes.size() && nodes().nodes[home.device].name == stack.hops().front().node);
  return stack;
}

void VisitingStacks::take(Packet& packet, StateArchive& in) {
  Home home;
  in(home);
  const IntStack stack = read(in, home);
  if (parts_.is_here(DeviceId{home.device})) {
    IntStack& own = at_home(home);
    own = stack;
    return sample(packet, own);
  }
  Guest& guest = new_guest();
  guest.stack = stack;
  guest.home = home;
  sample(packet, guest.stack);
}

void VisitingStacks::give(Guest& guest, bool held, std::vector<StateArchive>& out) {
  StateArchive& to = out[parts_.part_of[guest.home.device]];
  std::uint8_t is_held = held ? 1 : 0;
  to(guest.home, is_held);
  guest.stack.exchange(to, nodes());
  if (!held) forget(guest);
}

void VisitingStacks::end(std::vector<StateArchive>& out) {
  Home none;
  for (std::size_t p = 0; p < out.size(); ++p)
    if (p != parts_.peers->self()) out[p](none);
}

// From the last one on: forget() puts the last one in the place of another.
void VisitingStacks::give_ended(std::vector<StateArchive>& out) {
  for (std::size_t i = used_.size(); i-- > 0;)
    if (used_[i]->stack.ended() != IntStack::End::kUnderWay) give(*used_[i], false, out);
  end(out);
}

void VisitingStacks::give_all(std::vector<StateArchive>& out, const std::unordered_set<const IntStack*>& held) {
  for (std::size_t i = used_.size(); i-- > 0;) give(*used_[i], held.contains(&used_[i]->stack), out);
  end(out);
}

void VisitingStacks::take_home(StateArchive& in, const std::function<void(const IntStack&)>& see) {
  while (true) {
    Home home;
    in(home);
    if (home.device == kNoMore) return;
    std::uint8_t held = 0;
    in(held);
    const IntStack stack = read(in, home);
    IntStack& own = at_home(home);
    own = stack;
    if (held != 0) see(own);
  }
}

}  // namespace railyard
