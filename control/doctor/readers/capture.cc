#include "control/doctor/readers/capture.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "control/decode/decode_file.h"
#include "control/doctor/readers/conversations.h"
#include "control/doctor/readers/gathered.h"
#include "control/doctor/readers/psn_order.h"
#include "control/doctor/values.h"
#include "control/spec/input_error.h"

namespace railyard::doctor {
namespace {

using Json = nlohmann::ordered_json;

// Requests have PSNs in a row; responses repeat those of READ requests.
bool is_request(int opcode) {
  const int operation = opcode & 0x1f;
  return operation <= 0x0b;  // SEND and WRITE (IBTA, vol. 1, 9.2.1); the upper three bits are the transport
}

class Capture {
 public:
  void see(const Json& frame) {
    const std::string proto = text(frame, "proto");
    conversations_.see(frame);
    if (proto == "pfc") see_pfc(frame);
    if (proto != "roce" && proto != "cnp") return;
    const Json& ip = below(frame, "ip");
    const std::string from = text(ip, "src"), to = text(ip, "dst");
    talks_.insert(from);
    ++packets_;
    if (proto == "cnp") {
      ++nic(from)["np_cnp_sent"];
      return;
    }
    if (number(ip, "ecn") == 3) ++nic(to)["np_ecn_marked_roce_packets"];
    if (const auto ok = frame.find("icrc_ok"); ok != frame.end() && ok->is_boolean() && !ok->get<bool>()) ++damaged_[to];
    see_psn(to, below(frame, "bth"));
  }

  bool empty() const noexcept { return packets_ == 0 && pauses_.empty() && conversations_.empty(); }

  std::unique_ptr<Case> make_case(const std::string& name) const {
    Gathered all;
    for (const auto& [host, counters] : nics_)
      for (const auto& [counter, n] : counters) {
        // Of a host that says nothing here, answers go another way.
        if (counter != "out_of_sequence" && counter != "duplicate_request" && !talks_.contains(host)) continue;
        all.nic(host)[counter] = n;
        if (counter == "np_ecn_marked_roce_packets") all.nic(host).try_emplace("np_cnp_sent", 0);
      }
    for (const auto& [host, n] : damaged_) all.port(host, "1", false).drops["icrc_error"] = n;
    for (const auto& [source, xoff] : pauses_)
      all.port(source.first, "1", false).classes[source.second]["xoff_sent"] = xoff;
    all.add_input(Input::kNics);
    all.add_input(Input::kPorts);
    all.set_conversations(conversations_.json());
    return all.make_case(name);
  }

 private:
  std::map<std::string, std::uint64_t>& nic(const std::string& host) { return nics_[host]; }

  void see_pfc(const Json& frame) {
    const Json& control = below(frame, "mac_control");
    const auto enabled = control.find("enable");
    const auto quanta = control.find("time");
    if (enabled == control.end() || quanta == control.end()) return;
    for (const Json& k : *enabled)
      if (const auto n = k.get<std::size_t>(); n < quanta->size() && (*quanta)[n].get<int>() > 0)
        ++pauses_[{text(below(frame, "eth"), "src"), static_cast<int>(n)}];
  }

  // A gap, or what came before.
  void see_psn(const std::string& to, const Json& bth) {
    if (bth.empty() || !is_request(static_cast<int>(number(bth, "opcode")))) return;
    const auto psn = static_cast<std::uint32_t>(number(bth, "psn"));
    const auto [at, is_new] = expected_.try_emplace({to, static_cast<std::uint32_t>(number(bth, "dest_qp"))}, psn);
    if (!is_new && psn != at->second) ++nic(to)[is_before(psn, at->second) ? "duplicate_request" : "out_of_sequence"];
    if (is_new || !is_before(psn, at->second)) at->second = (psn + 1) & (kPsns - 1);
  }

  Conversations conversations_;
  std::map<std::string, std::map<std::string, std::uint64_t>> nics_;  // by IP address
  std::map<std::pair<std::string, std::uint32_t>, std::uint32_t> expected_;  // PSN, by destination and QP
  std::map<std::string, std::uint64_t> damaged_;
  std::map<std::pair<std::string, int>, std::uint64_t> pauses_;  // XOFF, by source MAC and class
  std::set<std::string> talks_;
  std::uint64_t packets_ = 0;
};

}  // namespace

std::unique_ptr<Case> read_capture(const std::filesystem::path& file) {
  Capture capture;
  decode::decode_file(file, [&](const Json& frame) { capture.see(frame); });
  if (capture.empty())
    throw InputError(fmt::format("{}: neither RoCEv2 packets nor PFC frames; `railyard decode` shows what is in it",
                                 file.string()));
  return capture.make_case(file.string());
}

}  // namespace railyard::doctor
