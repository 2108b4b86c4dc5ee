// A collective algorithm as one value: its name, what it does, where it may be used and how it is planned. Keys, schema,
// error texts, the reference in explicit.yaml, random labs and tests go by the list of them (registry.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "control/collectives/operation.h"
#include "control/collectives/plan.h"

namespace railyard::collectives {

// Where the ranks are, as far as algorithms ask.
struct Layout {
  std::uint32_t ranks = 0;
  std::uint32_t channels = 1;          // of the collective, for transfers()
  std::vector<std::uint32_t> group{};  // by rank: its host if there are scale-up networks, else its leaf
  bool in_hosts = false;               // groups are hosts, or
  bool in_networks = false;            // several hosts that share a scale-up network; in_hosts, too
  bool reduces = false;                // some switches do
};

// Why an algorithm cannot be used: the key to change, and what is wrong and expected.
struct Refusal {
  std::string_view key;
  std::string text;
};

struct Algorithm {
  // As a fabric file spells it; and an old name that is still read, "" for none.
  std::string_view name;
  std::string_view also = "";
  // One clause for the reference.
  std::string_view help;

  // One function per operation that it does, called for each channel. nullptr: it does not do this operation.
  // `range`: the channel's part of the data. `blocks[r]`: the channel's part of rank r's block.
  void (*all_reduce)(Plan& plan, Range range) = nullptr;
  void (*reduce_scatter)(Plan& plan, const Ranges& blocks) = nullptr;
  void (*all_gather)(Plan& plan, const Ranges& blocks) = nullptr;
  void (*broadcast)(Plan& plan, Range range) = nullptr;
  void (*reduce)(Plan& plan, Range range) = nullptr;
  void (*gather)(Plan& plan, const Ranges& blocks) = nullptr;
  void (*scatter)(Plan& plan, const Ranges& blocks) = nullptr;
  // The octets from one rank to another are Plan::outgoing() of it.
  void (*all_to_all)(Plan& plan) = nullptr;
  // The channel's part of what each rank sends to the next one.
  void (*send_recv)(Plan& plan, Range range) = nullptr;
  // Plan::barrier_slot() says where arrivals are noted.
  void (*barrier)(Plan& plan) = nullptr;

  // It is the usual algorithm of this operation although it is not the first in the list.
  std::optional<Operation> usual_for = std::nullopt;
  // Nothing: it can be used there. nullptr: it can be used everywhere.
  std::optional<Refusal> (*refuse)(const Algorithm& self, const Layout& layout) = nullptr;
  // Each channel leaves hosts with scale-up networks by another NIC, so there are as many channels as ranks in a host if the
  // lab does not say. Others use all NICs in each channel.
  bool channels_by_nic = false;
  // Switches add and multicast: CollectiveShape::reduction has trees.
  bool in_switches = false;
  // Transfers of one channel, which has so many octets of a rank's data, at most: all ranks together, before messages are
  // split by `chunk`.
  double (*transfers)(const Layout& layout, double octets) = nullptr;

  bool does(Operation operation) const noexcept;
  // Refuses, or nothing.
  std::optional<Refusal> refusal(const Layout& layout) const {
    return refuse == nullptr ? std::nullopt : refuse(*this, layout);
  }
};

// Algorithm::transfers of those in which each rank sends its part of every block once or twice.
inline double all_pairs_twice(const Layout& layout, double /*octets*/) { return 2.0 * layout.ranks * layout.ranks; }

}  // namespace railyard::collectives
