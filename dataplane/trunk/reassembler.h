// Messages that come in fragments, until all of these are there.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dataplane/base/counter.h"
#include "dataplane/base/time.h"
#include "dataplane/trunk/fragment.h"

namespace railyard {

// Fragments of kMostAtOnce messages may be mixed, in any order, each come any number of times. A message that is not
// whole when somebody asks after `patience` (expire()), or when one comes whose number is kMostAtOnce higher, is given
// up. All memory is taken at once: kMostAtOnce + `most_whole` messages.
class Reassembler {
 public:
  static constexpr std::size_t kMostAtOnce = 16;

  // `most_whole`: messages that can be whole before the next recycle().
  Reassembler(Duration patience, std::size_t most_whole);

  // Whether put() may be called; if not, recycle() first.
  bool has_room() const noexcept { return !spare_.empty(); }
  // Takes a fragment of a message in several, at `now`. The message if that makes it whole, good until recycle(); else
  // nothing.
  std::span<const std::byte> put(Instant now, const TrunkFragment& fragment);
  // Nobody looks at the whole messages any more.
  void recycle() noexcept;
  // Gives up what has waited for too long at `now`. To be called when nothing is left to be put: fragments that have
  // come and were not looked at, because whoever puts them was away, are not missing.
  void expire(Instant now) noexcept;
  // Gives up everything: another sender numbers anew.
  void forget() noexcept;

  // Messages that were given up. Any thread, as all that follow.
  std::uint64_t incomplete() const noexcept { return incomplete_.read(); }
  // Fragments of messages that were whole or given up already, and those that were there already.
  std::uint64_t superfluous() const noexcept { return superfluous_.read(); }
  // Fragments that say something else than an earlier one of the same message.
  std::uint64_t contradicting() const noexcept { return contradicting_.read(); }

 private:
  static_assert(kMostTrunkFragments <= 64, "a bit for each in `missing`");
  using Buffer = std::array<std::byte, kMostTrunkMessageOctets>;

  struct Slot {
    bool used = false;
    std::uint32_t message = 0;
    TrunkCut cut;
    std::uint64_t missing = 0;  // a bit for each fragment; 0: it was whole, and is remembered because of stragglers
    Instant until{};            // when it is forgotten
    std::uint32_t buffer = 0;
  };

  Slot& slot_of(std::uint32_t message) noexcept { return slots_[message % kMostAtOnce]; }
  void give_up(Slot& slot) noexcept;

  Duration patience_;
  std::array<Slot, kMostAtOnce> slots_{};
  std::vector<Buffer> buffers_;
  std::vector<std::uint32_t> spare_;
  std::vector<std::uint32_t> whole_;
  std::size_t used_ = 0;  // slots
  Counter incomplete_;
  Counter superfluous_;
  Counter contradicting_;
};

}  // namespace railyard
