#include "control/acceptance/live/own_work.h"

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <vector>

#include "control/estimate/estimate.h"

namespace railyard::acceptance::live {

using nlohmann::json;

std::size_t iterations_over(const json& collective) {
  const json& all = collective["iterations"];
  return static_cast<std::size_t>(std::ranges::count_if(all, [](const json& i) { return i["time_ns"].is_number(); }));
}

namespace {

// Of one attempt to the next, agents count from the beginning.
bool is_same_attempt(const json& before, const json& after) {
  return !before.is_null() && before.value("attempt", 0) == after.value("attempt", 0);
}

// Of jobs: computing / time, of all ranks together.
nlohmann::ordered_json utilisation(const json& before, const json& after, std::size_t from, std::size_t until) {
  if (!after["job"].is_object()) return nullptr;
  const json& first = after["iterations"][from];
  const json& last = after["iterations"][until - 1];
  const double begin = first["start_ns"].get<double>();
  // With forward and backward, each step of each rank computes for as long.
  if (after["job"]["buckets"].get<int>() > 0) {
    const double lasted = last["start_ns"].get<double>() + last["time_ns"].get<double>() - begin;
    const double computed = after["job"]["compute_ns"].get<double>() * static_cast<double>(until - from);
    if (lasted <= 0) return nullptr;
    return std::min(1.0, computed / lasted);
  }
  // Requests of a batch are computed at once: the report says how long that keeps a rank busy.
  const bool serves = after["schedule"].is_object() && after["schedule"]["inference"].is_object();
  if (serves || !after.contains("at_seconds") || !after["computed_ns"].is_number()) return after["job"]["utilisation"];
  // Of a schedule, ranks compute at different times: what they did between the two looks. One may have come while they rested.
  const bool was_running = !before.is_null() && !before["iterations"].empty() && before["iterations"].back()["time_ns"].is_null();
  const double lasted = after["at_seconds"].get<double>() * 1e9 - (was_running ? before["at_seconds"].get<double>() * 1e9 : begin);
  const double already = before.is_null() || !before["computed_ns"].is_number() ? 0.0 : before["computed_ns"].get<double>();
  if (lasted <= 0) return nullptr;
  return std::min(1.0, (after["computed_ns"].get<double>() - already) / lasted);
}

}  // namespace

nlohmann::ordered_json progress(const json& before, const json& after) {
  const json since = is_same_attempt(before, after) ? before : json(nullptr);
  const std::size_t from = since.is_null() ? 0 : iterations_over(since);
  const std::size_t until = iterations_over(after);
  nlohmann::ordered_json out{{"iterations", until - std::min(from, until)},
                            {"median_ns", nullptr},
                            {"busbw_bps", nullptr},
                            {"utilisation", nullptr}};
  if (until <= from) return out;
  std::vector<double> times;
  for (std::size_t i = from; i < until; ++i) times.push_back(after["iterations"][i]["time_ns"].get<double>());
  std::ranges::sort(times);
  const double median = times[(times.size() - 1) / 2];
  out["median_ns"] = median;
  // busbw as in nccl-tests, of jobs and barriers none.
  const double octets = after["bytes"].get<double>() * after["busbw_factor"].get<double>();
  if (after["job"].is_null() && octets > 0 && median > 0) out["busbw_bps"] = octets * 8e9 / median;
  out["utilisation"] = utilisation(since, after, from, until);
  return out;
}

std::optional<Reference> reference_of(const spec::Lab& lab, const std::string& name, const std::set<std::string>& others) {
  spec::Lab alone = lab;
  std::erase_if(alone.collectives,
                [&](const spec::CollectiveSpec& c) { return c.name != name && !others.contains(c.name); });
  constexpr int kRepeats = 3;  // one is like the other
  for (spec::CollectiveSpec& c : alone.collectives) c.repeats = std::min(c.repeats, kRepeats);
  try {
    const auto estimated = estimate::estimate(alone);
    if (!estimated) return std::nullopt;
    for (const estimate::CollectiveEstimate& c : estimated->collectives)
      if (c.name == name) return Reference{static_cast<double>(c.time.ps) / 1000, c.computed};
  } catch (const std::exception&) {
    // A lab that only runs live may have routes that nothing but the daemon knows.
  }
  return std::nullopt;
}

nlohmann::ordered_json still_running(nlohmann::ordered_json report) {
  bool failed = false;
  for (const nlohmann::ordered_json& c : report["collectives"])
    failed = failed || c["stalled"].get<std::string>().find(" failed at ") != std::string::npos;
  for (nlohmann::ordered_json& v : report["verdicts"]) {
    if (v["name"] != "completion" || v["verdict"] != "fail") continue;
    if (!failed && v["text"].get<std::string>().find(" failed") == std::string::npos) v["verdict"] = "open";
  }
  return report;
}

}  // namespace railyard::acceptance::live
