// What a lab and an agent say to each other, one message after the other:
//
//   agent                              lab
//   hello: who, token, devices   ->
//                                <-    welcome, or error: why not, and the connection ends
//                                <-    prepare: a rank's program and data, at which address
//                                      prepare-flow: an end of a flow, likewise
//   prepared: memory, QPs        ->
//                                <-    connect: the other ends of the QPs
//   connected: QPs are in RTS    ->
//                                <-    go: all ranks of the collective, or both ends of the flow, are connected
//   progress: of a flow, now and ->
//   then
//                                <-    stop: of a flow, nothing more is asked for; what was is waited for
//   done: times, verification    ->
//                                <-    end: it is over, or has failed: QPs and memory are given up
//   failed: why, instead of any of its own about a rank or an end
//   alive, both, once a second: whoever says nothing for kPatience is gone
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

#include "dataplane/wire/address.h"
#include "transports/base/flow_config.h"
#include "transports/base/rank_program.h"

namespace railyard::agents {

inline constexpr std::uint32_t kProtocolVersion = 2;
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
// Which end of which flow between NICs is meant.
struct FlowEndId {
  std::uint32_t flow = 0;  // index into those of the lab that have an agent at an end
  bool sink = false;

  auto operator<=>(const FlowEndId&) const = default;
};

// What an agent carries out.
using TaskId = std::variant<RankId, FlowEndId>;
nlohmann::json message(std::string_view type, const TaskId& task);
TaskId task_from_json(const nlohmann::json& json);

// How QPs talk, as verbs have it.
struct QpTerms {
  std::uint32_t path_mtu = 1024;  // octets
  std::uint8_t timeout = 14;
  std::uint8_t retry_cnt = 7;
  std::uint8_t rnr_retry = 7;
  std::uint8_t min_rnr_timer = 12;
  std::uint8_t traffic_class = 0;
  std::uint8_t reads = 0;  // READs of a QP under way, at most, in either direction

  bool operator==(const QpTerms&) const = default;
};

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
  QpTerms terms{};
};
nlohmann::json to_json(const Prepare& prepare);
Prepare prepare_from_json(const nlohmann::json& json);

// The most octets that an end of a flow keeps.
inline constexpr std::uint64_t kMostOfFlow = std::uint64_t{4} << 30;

struct PrepareFlow {
  FlowEndId id{};
  FlowConfig config{};  // but for `rate`, `repost_after`, `start` and `stop`, of which agents are told otherwise
  wire::IpAddress address{};
  QpTerms terms{};

  // Octets that this end keeps: of a source that is read from all of the stream, else places for messages.
  std::uint64_t memory() const noexcept;
};
nlohmann::json to_json(const PrepareFlow& prepare);
PrepareFlow prepare_flow_from_json(const nlohmann::json& json);

struct Prepared {
  TaskId id{};
  std::string device{};
  std::uint32_t key = 0;
  // A rank's memory: data, what comes to be added, and again for the second repeat. A flow's: the stream, which begins
  // at `address` for all QPs, or places for messages, those of one QP behind those of the one before.
  std::uint64_t address = 0;
  std::uint64_t stride = 0;           // from one repeat's to the other's, from one QP's to the next's
  std::uint8_t reads = 0;             // READs of a QP that the device takes at a time, or fewer
  std::vector<std::uint32_t> qpns{};  // by connection; by QP of the flow
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
  TaskId id{};
  std::uint8_t reads = 0;       // as in Prepared; of both ends the less
  std::vector<QpPeer> peers{};  // by connection; by QP of the flow
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

// Distributions, in ns.
struct MessageTimes {
  std::uint64_t p50 = 0, p90 = 0, p99 = 0, p999 = 0, p9999 = 0, max = 0;

  bool operator==(const MessageTimes&) const = default;
};

// What became of an end of a flow, so far. Times are from `go` on, of wall time.
struct FlowResult {
  FlowEndId id{};
  bool complete = false;     // of what this end knows of, all is done
  std::string failure{};     // empty: none
  std::string status{};      // of the first work request that failed, as verbs has it; empty: none did
  std::uint64_t errors = 0;  // work requests that completed with an error, those flushed included
  // Of messages that were asked for here: complete, their octets; at a sink that is told of them: received.
  std::uint64_t messages = 0;
  std::uint64_t octets = 0;
  std::uint64_t verified = 0;                       // at a sink: of those, every octet was what was sent
  std::uint64_t wrong = 0;                          // and these were not
  std::uint64_t first_ns = 0;                       // the first was posted, or came; 0: none yet
  std::uint64_t last_ns = 0;                        // the last was complete
  MessageTimes message_ns{};                        // from post to completion
  std::map<std::string, std::uint64_t> counters{};  // of the device's port, meanwhile (hw_counters)
};
nlohmann::json to_json(const FlowResult& result, std::string_view type);  // "progress", "done", "failed"
FlowResult flow_result_from_json(const nlohmann::json& json);

}  // namespace railyard::agents
