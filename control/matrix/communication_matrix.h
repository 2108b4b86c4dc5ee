// Who sends how much to whom in the collectives and traces of a lab, from their plans: nothing runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "control/spec/spec.h"

namespace railyard::matrix {

enum class By : std::uint8_t { kRank, kHost };

struct CommunicationMatrix {
  std::vector<std::string> names{};      // of ranks ("h1/gpu3", "h2:1") or hosts, in their order
  std::vector<std::uint64_t> bytes{};    // payload, row by row: from each to each

  std::uint64_t at(std::size_t from, std::size_t to) const { return bytes[from * names.size() + to]; }
  std::uint64_t total() const noexcept;
};

// How the messages are: sizes, over how many destinations, how many at once.
struct Profile {
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  std::uint64_t scale_up_bytes = 0;  // of them over scale-up networks
  // Payload of messages, bytes: by the nearest rank.
  std::uint64_t least = 0, p50 = 0, p99 = 0, most = 0;
  // Shannon's entropy of the destinations of a rank by bytes, bit, the mean over ranks that send; and what it would be if
  // each sent to all others alike. 0: one destination.
  double entropy = 0, most_entropy = 0;
  double destinations = 0;  // of a rank that sends, mean
  // If each message took one round and computing none: rounds, and messages in the busiest round and in the mean.
  std::size_t rounds = 0;
  std::uint64_t most_at_once = 0;
  double mean_at_once = 0;
};

struct Communication {
  CommunicationMatrix matrix{};
  Profile profile{};
};

// One repeat of each collective, trace and job of the lab, or of the one called `name`. Throws InputError if there is
// none.
Communication communication_of(const spec::Lab& lab, By by, const std::string& name = {});

}  // namespace railyard::matrix
