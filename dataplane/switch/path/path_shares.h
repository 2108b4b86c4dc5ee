// How a group's packets were shared among its members.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dataplane/base/counter.h"

namespace railyard {

// By member of the forwarding table's list: what was sent that way, whatever became of it then.
class PathShares {
 public:
  struct Member {
    Counter packets;
    Counter octets;
  };

  void resize(std::size_t members) { members_.assign(members, {}); }
  void count(std::size_t member, std::uint32_t octets) noexcept {
    members_[member].packets.increment();
    members_[member].octets.add(octets);
  }
  const Member& operator[](std::size_t member) const noexcept { return members_[member]; }

 private:
  std::vector<Member> members_;
};

}  // namespace railyard
