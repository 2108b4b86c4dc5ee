#include "control/decode/line.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <span>
#include <string_view>

#include <fmt/format.h>

#include "control/base/json_text.h"

namespace railyard::decode {
namespace {

using Out = std::back_insert_iterator<std::string>;

std::string_view text(const Json& value) { return value.get_ref<const std::string&>(); }
std::uint64_t number(const Json& value) { return value.get<std::uint64_t>(); }

void who_to_whom(Out out, const Json& f) {
  if (f.contains("ip"))
    fmt::format_to(out, " {} > {}", text(f["ip"]["src"]), text(f["ip"]["dst"]));
  else if (f.contains("eth"))
    fmt::format_to(out, " {} > {}", text(f["eth"]["src"]), text(f["eth"]["dst"]));
}

// Every extension header by its name and members: "reth va=0x... rkey=4660 dma_length=5".
void header(Out out, const Json& f, const char* name) {
  if (!f.contains(name)) return;
  fmt::format_to(out, "  {}", name);
  for (const auto& [key, value] : f[name].items()) {
    if (value.is_string())
      fmt::format_to(out, " {}={}", key, text(value));
    else
      fmt::format_to(out, " {}={}", key, json_text(value));
  }
}

void roce(Out out, const Json& f) {
  const Json& bth = f["bth"];
  if (bth.contains("operation"))
    fmt::format_to(out, "  {}", text(bth["operation"]));
  else
    fmt::format_to(out, "  opcode 0x{:02x}", number(bth["opcode"]));
  fmt::format_to(out, " qp=0x{:x} psn={}", number(bth["dest_qp"]), number(bth["psn"]));
  if (number(bth["ackreq"]) != 0) fmt::format_to(out, " ackreq");
  if (number(bth["se"]) != 0) fmt::format_to(out, " se");
  for (const char* name : {"xrceth", "deth", "feth", "reth", "atomiceth", "aeth", "atomicacketh", "immdt", "ieth", "mad"})
    header(out, f, name);
  if (f.contains("payload")) fmt::format_to(out, "  payload={}", number(f["payload"]));
  if (f["icrc_ok"].is_boolean()) fmt::format_to(out, "  icrc {}", f["icrc_ok"].get<bool>() ? "ok" : "WRONG");
}

bool is_one_of(std::span<const char* const> names, std::string_view name) {
  return std::ranges::any_of(names, [name](const char* one) { return one == name; });
}

// Whether a number has a name beside it that says as much; the name of a range, "VENDOR", does not.
bool says_its_name(const Json& header, std::string_view key) {
  struct Named {
    std::string_view number;
    const char* name;
  };
  static constexpr std::array kNamed{Named{"opcode", "operation"},        Named{"nack_code", "nack"},
                                     Named{"return_code", "rc"},          Named{"cc_type", "cc"},
                                     Named{"ack_cc_state", "cc"},         Named{"atomic_opcode", "operation"},
                                     Named{"atomic_datatype", "datatype"}};
  const auto* const at = std::ranges::find(kNamed, key, &Named::number);
  return at != kNamed.end() && header.contains(at->name) && header[at->name] != "VENDOR";
}

// The members of one header of UET: flags that are set by their names, numbers that have a name beside them by that.
void uet_header(Out out, const Json& header) {
  static constexpr std::array kFlags{"retx", "ar", "syn", "m",  "p",   "nt", "isrod",
                                     "dc",   "ie", "rel", "hd", "eom", "som"};
  // Of no interest beside others that are shown.
  static constexpr std::array kSilent{
      "type",     "next_hdr", "flags", "ctl_type",         "next",           "req",
      "cc_flags", "ver",      "list",  "clear_psn_offset", "ack_psn_offset", "sack_psn_offset"};
  for (const auto& [key, value] : header.items()) {
    if (value.is_object() || is_one_of(kSilent, key) || says_its_name(header, key)) continue;
    if (is_one_of(kFlags, key)) {
      if (value != 0) fmt::format_to(out, " {}", key);
    } else if (key == "pds" || key == "operation" || key == "request") {
      fmt::format_to(out, " {}", text(value));
    } else if (value.is_string()) {
      fmt::format_to(out, " {}={}", key, text(value));
    } else {
      fmt::format_to(out, " {}={}", key, json_text(value));
    }
  }
}

void uet(Out out, const Json& f) {
  const Json& pds = f["uet"];
  fmt::format_to(out, "  uet");
  if (pds.contains("type") && !pds.contains("pds")) fmt::format_to(out, " type={}", number(pds["type"]));
  if (pds.contains("ctl_type")) fmt::format_to(out, " {}", text(pds["ctl_type"]));
  uet_header(out, pds);
  if (pds.contains("tss")) fmt::format_to(out, "  tss"), uet_header(out, pds["tss"]);
  if (pds.contains("ses")) {
    const Json& ses = pds["ses"];
    fmt::format_to(out, "  ses");
    uet_header(out, ses);
    for (const char* extension : {"atomic", "rendezvous"})
      if (ses.contains(extension)) fmt::format_to(out, "  {}", extension), uet_header(out, ses[extension]);
  }
  if (f.contains("payload")) fmt::format_to(out, "  payload={}", number(f["payload"]));
  if (f.contains("crc_ok") && f["crc_ok"].is_boolean())
    fmt::format_to(out, "  crc {}", f["crc_ok"].get<bool>() ? "ok" : "WRONG");
}

}  // namespace

std::string line(const Json& frame) {
  std::string line;
  Out out(line);
  fmt::format_to(out, "{:>6} {:>14.6f} {:<6}", number(frame["frame"]),
                 static_cast<double>(frame["time_ns"].get<std::int64_t>()) / 1e6, text(frame["proto"]));
  who_to_whom(out, frame);
  // DSCP and ECN, and the class of a tagged frame: what a fabric decides by.
  if (frame.contains("vlan"))
    fmt::format_to(out, "  vlan={} pcp={}", number(frame["vlan"]["id"]), number(frame["vlan"]["pcp"]));
  if (frame.contains("ip")) {
    fmt::format_to(out, "  dscp={}", number(frame["ip"]["dscp"]));
    if (number(frame["ip"]["ecn"]) == 3) fmt::format_to(out, " CE");
  }
  if (frame.contains("bth")) {
    roce(out, frame);
  } else if (frame.contains("uet")) {
    uet(out, frame);
  } else {
    for (const char* name : {"udp", "tcp", "icmp", "icmpv6", "arp", "mac_control"}) header(out, frame, name);
    if (!frame.contains("ip") && frame["proto"] == "eth" && frame.contains("eth"))
      fmt::format_to(out, "  type=0x{:04x}", number(frame["eth"]["type"]));
  }
  fmt::format_to(out, "  {} octets", number(frame["octets"]));
  if (frame.contains("captured")) fmt::format_to(out, ", {} captured", number(frame["captured"]));
  if (frame.contains("trimmed")) fmt::format_to(out, ", trimmed");
  if (frame.contains("error")) fmt::format_to(out, "  ERROR {}", text(frame["error"]));
  return line;
}

}  // namespace railyard::decode
