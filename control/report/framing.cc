#include "control/report/framing.h"

#include <algorithm>
#include <cstdint>

#include "control/spec/uet_security_octets.h"
#include "dataplane/base/units.h"
#include "dataplane/packet/packet.h"

namespace railyard::report {
namespace {

constexpr int kEthernet = 14 + 4;  // header and FCS
constexpr int kUdpBthIcrc = 8 + 12 + 4;
// IBTA Vol 1 §9: RETH in the first packet of a WRITE, AETH in the first and last response of a READ.
constexpr int kReth = 16;
constexpr int kAeth = 4;
constexpr int kSelective = 8;  // in each packet, with the RETH in each of a WRITE: check_traffic.cc

// Around the payload of UET: PDS and SES header (UET page §3, §4) and what they are put into.
int uet_headers(const spec::TrafficSpec& t, const spec::UetNicSpec& uet) {
  constexpr int kStd = 44;
  constexpr int kResponseData = 20;
  const bool rudi = t.service == spec::UetService::kRudi;
  const int pds = rudi ? 8 : t.service == spec::UetService::kUud ? 4 : 12;
  return uet_outer_octets(uet, t.ip_version) + pds + (t.roce.operation == spec::RoceOperation::kRead ? kResponseData : kStd);
}

int headers(const spec::TrafficSpec& t, const spec::UetNicSpec& uet) {
  if (t.is_uet()) return kEthernet + (t.ip_version == 4 ? 20 : 40) + uet_headers(t, uet);
  return kEthernet + (t.ip_version == 4 ? 20 : 40) + kUdpBthIcrc;
}

// RoCEv2 fills up to a multiple of four.
std::int64_t padded(const spec::TrafficSpec& t, std::int64_t octets) {
  return t.is_uet() ? octets : (octets + 3) / 4 * 4;
}

// What `messages` of `message` octets take on the wire.
std::int64_t wire_octets(const spec::TrafficSpec& t, std::int64_t message, std::int64_t messages, bool selective,
                         const spec::UetNicSpec& uet, Framing framing) {
  if (message == 0) return 0;
  const std::int64_t packets = (message + t.roce.path_mtu - 1) / t.roce.path_mtu;
  std::int64_t octets = padded(t, message) + packets * (headers(t, uet) + framing.around());
  if (t.is_uet()) return messages * octets;
  switch (t.roce.operation) {
    case spec::RoceOperation::kWrite:
      octets += selective ? packets * (kSelective + kReth) : kReth;
      break;
    case spec::RoceOperation::kSend:
      if (selective) octets += packets * kSelective;
      break;
    case spec::RoceOperation::kRead:
      octets += packets > 1 ? 2 * kAeth : kAeth;
      break;
    case spec::RoceOperation::kRping:  // pings wait for each other; they are no flow
      break;
  }
  return messages * octets;
}

}  // namespace

int uet_outer_octets(const spec::UetNicSpec& uet, int ip_version) {
  constexpr int kUdp = 8;
  constexpr int kEntropy = 4;
  constexpr int kCrc = 4;
  return (uet.udp ? kUdp : kEntropy) +
         (uet.security ? spec::uet_security_octets(ip_version) : uet.crc ? kCrc : 0);
}

double framing_efficiency(const spec::TrafficSpec& t, Bytes total, bool selective, const spec::UetNicSpec& uet,
                          Framing framing) {
  if (t.transport == spec::TrafficSpec::Transport::kGenerator)
    return static_cast<double>(t.payload) /
           static_cast<double>(static_cast<int>(t.payload) + headers(t, uet) + framing.around());
  const std::int64_t message = t.roce.message;
  const std::int64_t all = total.n > 0 ? total.n : message;
  return static_cast<double>(all) /
         static_cast<double>(wire_octets(t, message, all / message, selective, uet, framing) +
                             wire_octets(t, all % message, 1, selective, uet, framing));
}

int cm_frame_octets(const spec::TrafficSpec& t) {
  constexpr int kDeth = 8;
  constexpr int kMad = 256;  // IBTA Vol 1 §13.4.2
  return headers(t, {}) + kDeth + kMad;
}

int data_frame_octets(const spec::TrafficSpec& t, const spec::UetNicSpec& uet) {
  if (!t.has_messages()) return static_cast<int>(t.payload) + headers(t, uet);
  const bool writes = t.is_roce() && t.roce.operation == spec::RoceOperation::kWrite;
  const std::int64_t payload = std::min<std::int64_t>(t.roce.message, t.roce.path_mtu);
  return static_cast<int>(padded(t, payload)) + headers(t, uet) + (writes ? kReth : 0);
}

int last_frame_octets(const spec::TrafficSpec& t, Bytes total, bool selective, const spec::UetNicSpec& uet) {
  if (t.transport == spec::TrafficSpec::Transport::kGenerator) return static_cast<int>(t.payload) + headers(t, uet);
  const std::int64_t message = t.roce.message;
  const std::int64_t last_message = total.n > 0 && total.n % message != 0 ? total.n % message : message;
  const std::int64_t rest = last_message % t.roce.path_mtu;
  const std::int64_t payload = rest != 0 ? rest : t.roce.path_mtu;
  return static_cast<int>(padded(t, payload)) + headers(t, uet) + (selective ? kSelective : 0);
}

}  // namespace railyard::report
