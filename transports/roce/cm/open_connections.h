// The connections of a process, as its messages and those of its peers tell: so that its peers can be told when it ends
// without a word, as a kernel does for its programs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "transports/roce/cm/messages.h"
#include "transports/roce/path.h"

namespace railyard::roce::cm {

class OpenConnections {
 public:
  // More are not known; their peers find out by themselves.
  static constexpr std::size_t kMost = 8192;

  // To the process. `back` is the way to the peer.
  void came(const AddressVector& back, const Message& message);
  // From the process, to `peer`.
  void went(const wire::IpAddress& peer, const Message& message);

  // What ends them.
  std::vector<std::pair<AddressVector, Dreq>> ends() const;
  // Whether a REQ or SIDR_REQ of this communication ID of `peer`'s has come, and has no answer yet.
  bool is_asked(const wire::IpAddress& peer, std::uint32_t id) const { return asked_.contains({peer, id}); }
  std::size_t size() const noexcept { return open_.size(); }

 private:
  struct Peer {
    AddressVector way{};
    std::uint32_t comm_id = 0;
    std::uint32_t qpn = 0;
  };
  using PeerKey = std::pair<wire::IpAddress, std::uint32_t>;

  std::map<PeerKey, Peer> asked_;       // of requests that have come, by the peer's communication ID
  std::map<std::uint32_t, Peer> open_;  // by the process's
};

}  // namespace railyard::roce::cm
