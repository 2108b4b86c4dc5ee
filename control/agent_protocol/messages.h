// What a lab and an agent say to each other, one message after the other:
//
//   agent                              lab
//   hello: who, token, devices   ->
//                                <-    welcome, or error: why not, and the connection ends
//                                <-    prepare: a rank's program and data, at which address
//   prepared: memory, QPs        ->
//                                <-    connect: the other ends of the QPs
//   connected: QPs are in RTS    ->
//                                <-    go: all ranks of the collective are connected
//   done: times, verification    ->
//                                <-    end: the collective is over, or has failed: QPs and memory are given up
//   failed: why, instead of any of its own about a rank
//   alive, both, once a second: whoever says nothing for kPatience is gone
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "dataplane/wire/address.h"
#include "transports/base/rank_program.h"

namespace railyard::agents {

inline constexpr std::uint32_t kProtocolVersion = 1;
inline constexpr std::chrono::milliseconds kAliveEvery{1'000};
inline constexpr std::chrono::milliseconds kPatience{15'000};

// {"type": TYPE}, to which the rest is added.
nlohmann::json message(std::string_view type);
// Of any message. Throws ProtocolError, as all from_json() here.
std::string type_of(const nlohmann::json& message);

// A port of an RDMA device, as its host knows it.
struct DevicePort {
  std::string device{};
  std::uint32_t port = 1;
  std::string state{};           // "ACTIVE", "DOWN", ...
  std::uint32_t active_mtu = 0;  // octets
  std::uint32_t max_qps = 0;
  std::uint32_t max_work_requests = 0;
  std::uint32_t max_completions = 0;
  std::vector<wire::IpAddress> gids{};  // of RoCE v2; an IPv4 address is the one mapped into IPv6

  bool operator==(const DevicePort&) const = default;
};

struct Hello {
  std::uint32_t protocol = kProtocolVersion;
  std::string version{};  // of the program, for people
  std::string host{};     // of the lab
  std::string token{};
  std::vector<DevicePort> devices{};
};
nlohmann::json to_json(const Hello& hello);
// Also of another protocol version: then nothing but that is there.
Hello hello_from_json(const nlohmann::json& json);

// Which rank is meant.
struct RankId {
  std::uint32_t collective = 0;  // index into those of the lab
  std::uint32_t rank = 0;

  auto operator<=>(const RankId&) const = default;
};
nlohmann::json message(std::string_view type, RankId rank);
RankId rank_from_json(const nlohmann::json& json);

struct Prepare {
  RankId id{};
  RankProgram program{};
  wire::IpAddress address{};  // the NIC's
  // As in CollectiveConfig; durations are of wall time.
  std::uint32_t index = 0;
  std::uint32_t element = 4;
  std::uint32_t repeats = 1;
  std::uint64_t seed = 0;
  std::uint32_t jitter_ppm = 0;
  std::uint64_t gap_ns = 0;
  // As verbs have them.
  std::uint32_t path_mtu = 1024;  // octets
  std::uint8_t timeout = 14;
  std::uint8_t retry_cnt = 7;
  std::uint8_t rnr_retry = 7;
  std::uint8_t min_rnr_timer = 12;
  std::uint8_t traffic_class = 0;
};
nlohmann::json to_json(const Prepare& prepare);
Prepare prepare_from_json(const nlohmann::json& json);

struct Prepared {
  RankId id{};
  std::string device{};
  std::uint32_t key = 0;  // of the rank's memory: data, what comes to be added, and again for the second repeat
  std::uint64_t address = 0;
  std::uint64_t stride = 0;
  std::vector<std::uint32_t> qpns{};  // by connection
};
nlohmann::json to_json(const Prepared& prepared);
Prepared prepared_from_json(const nlohmann::json& json);

// The other end of a QP, and how the two of them talk.
struct QpPeer {
  wire::IpAddress address{};
  std::uint32_t qpn = 0;
  std::uint32_t key = 0;
  std::uint64_t memory = 0;
  std::uint64_t stride = 0;
  std::uint32_t sq_psn = 0;
  std::uint32_t rq_psn = 0;
  std::uint16_t udp_source_port = 0;
};
struct Connect {
  RankId id{};
  std::vector<QpPeer> peers{};  // by connection
};
nlohmann::json to_json(const Connect& connect);
Connect connect_from_json(const nlohmann::json& json);

// What became of a rank, so far.
struct RankResult {
  // From `go` on, of wall time.
  struct Repeat {
    std::uint64_t start_ns = 0;
    std::uint64_t finish_ns = 0;  // 0: its result is not there
  };
  RankId id{};
  bool complete = false;
  std::string failure{};  // empty: none
  std::vector<Repeat> repeats{};
  std::uint64_t wrong_octets = 0;
  std::uint32_t wrong_repeat = 0;  // of the first of them
  std::uint64_t wrong_offset = 0;
  std::uint64_t wrong_messages = 0;
  std::uint64_t messages = 0;  // received
  std::uint64_t octets = 0;
  std::uint64_t computed_ns = 0;
  // Of messages, from post to completion.
  std::uint64_t send_min_ns = 0, send_median_ns = 0, send_max_ns = 0;
  std::map<std::string, std::uint64_t> counters{};  // what the device's port has counted meanwhile (hw_counters)
};
nlohmann::json to_json(const RankResult& result, std::string_view type);  // "done", "failed"
RankResult result_from_json(const nlohmann::json& json);

}  // namespace railyard::agents
