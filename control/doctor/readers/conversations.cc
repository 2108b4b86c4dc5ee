#include "control/doctor/readers/conversations.h"

#include <algorithm>

#include "control/doctor/readers/psn_order.h"
#include "control/doctor/values.h"

namespace railyard::doctor {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kRoceV1 = 0x8915;  // EtherType, IBTA Vol 1 Annex A16

// SEND, WRITE, READ and atomic requests (IBTA Vol 1 table 38): the lower five bits.
bool asks_for_answer(int opcode) {
  const int operation = opcode & 0x1f;
  return operation <= 0x0c || operation == 0x13 || operation == 0x14 || operation == 0x16 || operation == 0x17;
}

bool is_first(int opcode) {
  const int operation = opcode & 0x1f;
  return operation == 0x00 || operation == 0x06;  // SEND First, WRITE First
}

}  // namespace

void Conversations::see(const Json& frame) {
  if (number(below(frame, "eth"), "type") == kRoceV1) {
    ++v1_[text(below(frame, "eth"), "src")];
    return;
  }
  if (text(frame, "proto") != "roce") return;
  const Json& ip = below(frame, "ip");
  const Json& bth = below(frame, "bth");
  if (ip.empty() || bth.empty()) return;
  const Hosts hosts{text(ip, "src"), text(ip, "dst")};
  const Json& mad = below(frame, "mad");
  if (!mad.empty()) return see_mad(hosts, mad);
  const auto opcode = static_cast<int>(number(bth, "opcode"));
  // Datagrams are not answered.
  if (opcode >> 5 == 3) return;
  if (asks_for_answer(opcode)) return see_request(hosts, frame);
  see_answer(hosts, frame);
}

void Conversations::see_request(const Hosts& hosts, const Json& frame) {
  const Json& bth = below(frame, "bth");
  const auto psn = static_cast<std::uint32_t>(number(bth, "psn"));
  const std::uint64_t payload = count(frame, "payload");
  Requests& r = requests_[{hosts.first, hosts.second, static_cast<std::uint32_t>(number(bth, "dest_qp"))}];
  if (r.packets++ > 0 && is_before(psn, r.next)) {
    r.times_back = r.times_back > 0 && psn == r.back_to ? r.times_back + 1 : 1;
    r.back_to = psn;
    if (r.times_back > r.most_repeats) {
      r.most_repeats = r.times_back;
      r.repeated_payload = payload;
    }
    for (const Sent& sent : r.under_way)
      if (is_before(sent.psn, psn)) r.longest_arrived = std::max(r.longest_arrived, sent.payload);
    r.under_way.clear();
  }
  r.under_way.push_back({psn, payload});
  r.next = (psn + 1) & (kPsns - 1);
  is_first_[hosts] = is_first(static_cast<int>(number(bth, "opcode")));
}

void Conversations::see_answer(const Hosts& hosts, const Json& frame) {
  Answers& a = answers_[hosts];
  ++a.packets;
  if (text(below(frame, "aeth"), "nak") == "invalid request" && is_first_[{hosts.second, hosts.first}]) ++a.refused_first;
}

void Conversations::see_mad(const Hosts& hosts, const Json& mad) {
  const std::string message = text(mad, "message");
  if (message == "REQ" || message == "SIDR_REQ") {
    Connects& c = connects_[hosts];
    ++c.requests;
    const std::string transaction = text(mad, "transaction_id");
    if (transaction == c.transaction) ++c.again;
    c.transaction = transaction;
    return;
  }
  if (message != "REP" && message != "MRA" && message != "REJ" && message != "SIDR_REP") return;
  const auto asked = connects_.find({hosts.second, hosts.first});
  if (asked == connects_.end()) return;
  ++asked->second.answered;
  if (message == "REJ") ++asked->second.refused[text(mad, "reason_name")];
}

Json Conversations::json() const {
  Json out{{"requests", Json::array()}, {"connects", Json::array()}, {"rocev1", v1_}};
  for (const auto& [key, r] : requests_) {
    const auto& [from, to, qp] = key;
    const auto back = answers_.find({to, from});
    const Answers answers = back == answers_.end() ? Answers{} : back->second;
    out["requests"].push_back({{"from", from},
                               {"to", to},
                               {"dest_qp", qp},
                               {"packets", r.packets},
                               {"most_repeats", r.most_repeats},
                               {"repeated_payload", r.repeated_payload},
                               {"arrived_payload", r.longest_arrived},
                               {"answers", answers.packets},
                               {"refused_first", answers.refused_first}});
  }
  for (const auto& [hosts, c] : connects_)
    out["connects"].push_back({{"from", hosts.first},
                               {"to", hosts.second},
                               {"requests", c.requests},
                               {"again", c.again},
                               {"answered", c.answered},
                               {"refused", c.refused}});
  return out;
}

}  // namespace railyard::doctor
