// How a group's packets were shared among its members.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dataplane/base/counter.h"
#include "dataplane/base/ids.h"
#include "dataplane/switch/forwarding_table.h"

namespace railyard {

// By member of the forwarding table's list: what was sent that way, whatever became of it then.
class PathShares {
 public:
  struct Member {
    Counter packets;
    Counter octets;
  };

  // The groups are those of `table` from now on. What groups have had that are no more
  // is kept, and theirs again if they come back.
  void set_table(const ForwardingTable& table);
  // Groups of earlier tables that are not in this one, with what they had.
  struct Past {
    std::vector<PortIndex> ports;
    std::vector<std::uint32_t> weights;
    std::vector<Member> members;
  };
  const std::vector<Past>& past() const noexcept { return past_; }

  void count(std::size_t member, std::uint32_t octets) noexcept {
    members_[member].packets.increment();
    members_[member].octets.add(octets);
  }
  const Member& operator[](std::size_t member) const noexcept { return members_[member]; }

 private:
  static constexpr std::size_t kMostPast = 1024;  // the oldest are forgotten

  std::vector<Member> members_;
  std::vector<Past> past_;
  std::vector<NextHops> groups_;  // of that table
  std::vector<PortIndex> ports_;  // of its members, with their weights: the table itself may be gone
  std::vector<std::uint32_t> weights_;
};

}  // namespace railyard
