#include "control/acceptance/figures.h"

#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

namespace railyard::acceptance {

std::vector<PairFigure> pairs_of(const Subject& s, const nlohmann::ordered_json& report) {
  std::unordered_map<std::string, std::size_t> number;
  // Reports call the only NIC of a host by the host's name.
  for (std::size_t n = s.nics.size(); n-- > 0;) {
    number[s.nics[n].node] = n;
    number[fmt::format("{}:{}", s.nics[n].node, s.nics[n].port)] = n;
  }
  std::vector<PairFigure> out;
  for (const auto& f : report["flows"]) {
    PairFigure p{.from = f["src"], .to = f["dst"]};
    const auto from = number.find(p.from), to = number.find(p.to);
    if (from == number.end() || to == number.end()) continue;
    const Pair pair{from->second, to->second};
    const auto nic_bps = static_cast<double>(s.pair_bps(pair));
    p.same_rack = s.same_rack(pair);
    if (f["limit_bps"].is_number()) p.limit = f["limit_bps"].get<double>() / nic_bps;
    if (f["fct_ns"].is_number() && f["goodput_bps"].is_number()) {
      p.goodput_bps = f["goodput_bps"].get<double>();
      p.share = *p.goodput_bps / nic_bps;
    }
    if (f["latency_ns"].is_object() && f["latency_ns"]["p50"].is_number())
      p.latency_ns = f["latency_ns"]["p50"].get<double>();
    out.push_back(std::move(p));
  }
  return out;
}

std::string pair_text(const PairFigure& p) { return fmt::format("{} -> {}", p.from, p.to); }

std::optional<std::pair<std::string, std::string>> verdict_of(const nlohmann::ordered_json& report,
                                                              const std::string& name) {
  for (const auto& v : report["verdicts"])
    if (v["name"] == name) return std::pair(v["verdict"].get<std::string>(), v["text"].get<std::string>());
  return std::nullopt;
}

std::vector<std::pair<std::string, std::uint64_t>> drops_for(const nlohmann::ordered_json& report,
                                                             const std::string& reason) {
  std::vector<std::pair<std::string, std::uint64_t>> out;
  const auto count = [&](const nlohmann::ordered_json& drops) {
    const auto found = drops.find(reason);
    return found != drops.end() ? found->get<std::uint64_t>() : 0;
  };
  for (const auto& p : report["ports"]) {
    std::uint64_t n = count(p["drops"]);
    for (const auto& c : p["classes"]) n += count(c["drops"]);
    if (n > 0) out.emplace_back(fmt::format("{}:{}", p["node"].get<std::string>(), p["port"].get<int>()), n);
  }
  std::ranges::stable_sort(out, std::ranges::greater{}, &std::pair<std::string, std::uint64_t>::second);
  return out;
}

std::string share_text(double share) { return fmt::format("{:.1f} %", share * 100); }

const nlohmann::ordered_json& report_of(const Runs& runs, ProbeKind kind) { return runs.at(kind).report; }

}  // namespace railyard::acceptance
