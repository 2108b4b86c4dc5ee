// What passes between two RDMA hosts, as a capture shows it: requests that come again, answers, refusals, and how connections
// are made.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace railyard::doctor {

class Conversations {
 public:
  // A frame as decode shows it; what is not RoCE is left alone.
  void see(const nlohmann::ordered_json& frame);
  bool empty() const noexcept { return requests_.empty() && answers_.empty() && connects_.empty() && v1_.empty(); }

  // For Case::conversations(): `requests`, for each host and QP that some went to: from, to, dest_qp, packets, most_repeats (how
  // often a sender went back to the same PSN), repeated_payload (of that packet), arrived_payload (of the longest packet
  // before it), answers (from that host), refused_first (NAKs "invalid request" of a First packet). `connects`, for each two
  // hosts: requests (REQ), again (of one transaction), answered, refused (by reason). `rocev1`: frames by source MAC.
  nlohmann::ordered_json json() const;

 private:
  struct Sent {
    std::uint32_t psn = 0;
    std::uint64_t payload = 0;
  };
  struct Requests {
    std::uint64_t packets = 0;
    std::uint32_t next = 0;           // PSN
    std::vector<Sent> under_way{};    // since the sender went back last: what it then goes back over has arrived
    std::uint64_t longest_arrived = 0;
    std::uint32_t back_to = 0;        // PSN
    std::uint64_t times_back = 0;     // in a row, to that PSN
    std::uint64_t most_repeats = 0, repeated_payload = 0;
  };
  struct Answers {
    std::uint64_t packets = 0;
    std::uint64_t refused_first = 0;
  };
  struct Connects {
    std::uint64_t requests = 0, again = 0, answered = 0;
    std::string transaction{};  // of the newest REQ
    std::map<std::string, std::uint64_t> refused{};  // by reason
  };
  using Hosts = std::pair<std::string, std::string>;  // from, to

  void see_request(const Hosts& hosts, const nlohmann::ordered_json& frame);
  void see_answer(const Hosts& hosts, const nlohmann::ordered_json& frame);
  void see_mad(const Hosts& hosts, const nlohmann::ordered_json& mad);

  std::map<std::tuple<std::string, std::string, std::uint32_t>, Requests> requests_;  // by hosts and QP
  std::map<Hosts, Answers> answers_;
  std::map<Hosts, Connects> connects_;  // by who asks
  std::map<Hosts, bool> is_first_;  // whether the newest request between them begins a long message
  std::map<std::string, std::uint64_t> v1_;
};

}  // namespace railyard::doctor
