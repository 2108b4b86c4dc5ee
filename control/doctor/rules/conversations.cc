// What only packets show: requests without answers, and how connections fail.
#include <algorithm>

#include <fmt/format.h>

#include "control/doctor/rule.h"
#include "control/doctor/values.h"

namespace railyard::doctor {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t kStuck = 3;
// What every network carries that carries IP (RFC 791's 576 octets).
constexpr std::uint64_t kSmall = 512;

// Never got further than this packet.
bool is_stuck(const Json& r) { return count(r, "most_repeats") >= kStuck; }
bool is_long(const Json& r) {
  return count(r, "repeated_payload") > kSmall && count(r, "repeated_payload") > count(r, "arrived_payload");
}
std::string who(const Json& r) { return fmt::format("{} -> {}", text(r, "from"), text(r, "to")); }

std::vector<Diagnosis> find_large_packets_lost(const Case& c) {
  std::vector<Diagnosis> out;
  for (const Json& r : items(c.conversations(), "requests"))
    if (is_stuck(r) && is_long(r) && count(r, "answers") > 0)
      out.push_back({who(r),
                     0.85,
                     {fmt::format("{} to QP {}: a packet of {} octets came {} times again and got no further", who(r),
                                  count(r, "dest_qp"), count(r, "repeated_payload"), count(r, "most_repeats")),
                      fmt::format("shorter ones were answered ({} answers)", count(r, "answers"))}});
  return out;
}

std::vector<Diagnosis> find_no_answer(const Case& c) {
  std::vector<Diagnosis> out;
  for (const Json& r : items(c.conversations(), "requests"))
    if (is_stuck(r) && count(r, "answers") == 0)
      out.push_back({text(r, "to"),
                     0.7,
                     {fmt::format("{} to QP {}: the first packet that was not answered came {} times again", who(r),
                                  count(r, "dest_qp"), count(r, "most_repeats")),
                      fmt::format("no packet of {} to {} in this capture", text(r, "to"), text(r, "from"))}});
  return out;
}

std::vector<Diagnosis> find_path_mtu_differs(const Case& c) {
  std::vector<Diagnosis> out;
  for (const Json& r : items(c.conversations(), "requests"))
    if (count(r, "refused_first") > 0)
      out.push_back({who(r),
                     0.9,
                     {fmt::format("{} refused {} first packets of long messages as invalid requests (NAK 0x61)", text(r, "to"),
                                  count(r, "refused_first"))}});
  return out;
}

std::vector<Diagnosis> find_connect_unanswered(const Case& c) {
  std::vector<Diagnosis> out;
  for (const Json& r : items(c.conversations(), "connects"))
    if (count(r, "again") >= 1 && count(r, "answered") == 0)
      out.push_back({text(r, "to"),
                     0.85,
                     {fmt::format("{}: {} requests for a connection (REQ), {} of them again, and no answer", who(r),
                                  count(r, "requests"), count(r, "again"))}});
  return out;
}

std::vector<Diagnosis> find_connect_refused(const Case& c) {
  std::vector<Diagnosis> out;
  for (const Json& r : items(c.conversations(), "connects"))
    for (const auto& [reason, n] : below(r, "refused").items())
      out.push_back({text(r, "to"),
                     0.9,
                     {fmt::format("{}: {} requests for a connection refused (REJ): {}", who(r), n.get<std::uint64_t>(), reason)}});
  return out;
}

std::vector<Diagnosis> find_roce_v1(const Case& c) {
  std::vector<Diagnosis> out;
  for (const auto& [mac, n] : below(c.conversations(), "rocev1").items())
    out.push_back({mac, 0.95, {fmt::format("{} sent {} frames of EtherType 0x8915", mac, n.get<std::uint64_t>())}});
  return out;
}

}  // namespace

const Rule rules::kLargePacketsLost{
    "large-packets-lost", "Long packets vanish on the way, short ones arrive.",
    "Compare the MTU of every hop with the path MTU of the QP and its headers: RoCE does not react to ICMP. `railyard validate` "
    "finds the hop.",
    "Short packets of this QP get lost, too.", find_large_packets_lost, {Input::kPackets}};
const Rule rules::kNoAnswer{
    "no-answer", "A host answers nothing on this QP.",
    "Is the program still there? A peer that restarted has other QPs. Else look for a filter of UDP port 4791, another P_Key, "
    "a way back by another interface, or `rx_icrc_encapsulated` at the receiver.",
    "Answers take another way, past this capture.", find_no_answer, {Input::kPackets}};
const Rule rules::kPathMtuDiffers{
    "path-mtu-differs", "The two QPs of a connection have different path MTUs.",
    "Give both the same path MTU: the smaller of the two ports' active MTU (`ibv_devinfo`).",
    "The access or length of the message is wrong: then the NAK is 0x62, or comes with the last packet.", find_path_mtu_differs,
    {Input::kPackets}};
const Rule rules::kConnectUnanswered{
    "connect-unanswered", "Requests for connections get no answer.",
    "Look for a filter of UDP port 4791 on the way; TCP may work all the same. Check the way back.",
    "The capture is of one direction only.", find_connect_unanswered, {Input::kPackets}};
const Rule rules::kConnectRefused{
    "connect-refused", "A host refuses connections.",
    "\"invalid service ID\": nobody listens at this port. \"stale connection\": the peer restarted; wait, or close the old one.",
    "The program refuses on purpose (\"consumer\").", find_connect_refused, {Input::kPackets}};
const Rule rules::kRoceV1{
    "roce-v1", "A host sends RoCE v1, which routers do not forward and others do not understand.",
    "Choose the GID index of RoCE v2 (`show_gids`, `rdma link`; perftest's `-x`, NCCL_IB_GID_INDEX).",
    "All hosts use v1, in one subnet.", find_roce_v1, {Input::kPackets}};

}  // namespace railyard::doctor
