#include "control/compare/method.h"

#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace railyard::compare {
namespace {

// What §3 of the draft wants a report to say of those that no emulator can be like.
constexpr std::string_view kPlatform =
    "the platform is software: no hardware traffic generator, no accelerators; switches and NICs are models";
constexpr std::string_view kEndpoints = "endpoints are not certified implementations";
// TSS, a field that T6.6 requires.
constexpr std::string_view kSecurity = "none";

std::string_view word(spec::MethodProfile profile) {
  switch (profile) {
    case spec::MethodProfile::kCi:
      return "ci";
    case spec::MethodProfile::kLab:
      return "lab";
    case spec::MethodProfile::kFull:
      return "full";
  }
  return "";
}

}  // namespace

std::string Method::label() const {
  switch (profile) {
    case spec::MethodProfile::kCi:
      return "smoke, not a draft result";
    case spec::MethodProfile::kLab:
      return "reduced: parameters listed";
    case spec::MethodProfile::kFull:
      return "draft parameters";
  }
  return "";
}

std::vector<std::string> Method::all_deviations() const {
  std::vector<std::string> all{std::string(kPlatform), std::string(kEndpoints)};
  all.insert(all.end(), deviations.begin(), deviations.end());
  return all;
}

std::vector<std::string> Method::lines() const {
  return {fmt::format("{} of {}-{}, profile {}: {}", test, kDraft, kRevision, word(profile), label()),
          fmt::format("Deviations: {}", fmt::join(all_deviations(), "; ")),
          fmt::format("Clock: {}. UET security (TSS): {}. Observed at: NIC ports (goodput, lost, latency), counters of "
                      "switches (drops, queues, marks, trims, pauses), endpoints (completion times, retransmissions)",
                      clock, kSecurity)};
}

nlohmann::ordered_json Method::json() const {
  return {{"methodology", {{"doc", kDraft}, {"rev", kRevision}}},
          {"test", test},
          {"profile", word(profile)},
          {"label", label()},
          {"platform", {{"class", "software"}, {"clock", clock}, {"deviations", all_deviations()}}},
          {"tss", kSecurity},
          {"verdict", nullptr}};
}

}  // namespace railyard::compare
