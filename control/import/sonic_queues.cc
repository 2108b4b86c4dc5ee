#include "control/import/sonic_queues.h"

#include <map>
#include <utility>

#include <fmt/format.h>

#include "control/import/most_common.h"

namespace railyard::importing {
namespace {

constexpr std::int64_t kMostQueueOctets = std::int64_t{1} << 40;

std::optional<WredCurve> read_wred(const Row& row) {
  for (const Row::Field& field : row.fields())
    if (field.name.find("yellow") != std::string::npos || field.name.find("red_") != std::string::npos)
      if (!field.name.starts_with("wred_green")) row.leave(field.name, "all packets are green");
  const std::string* const ecn = row.find("ecn");
  const std::string* const enabled = row.find("wred_green_enable");
  WredCurve out;
  out.marks = ecn != nullptr && (*ecn == "ecn_all" || ecn->find("green") != std::string::npos);
  if (ecn != nullptr && !ecn->starts_with("ecn_"))
    row.fail("ecn", fmt::format("'{}'", *ecn), "ecn_none, ecn_green or ecn_all");
  const auto min = row.integer("green_min_threshold", 0, kMostQueueOctets);
  const auto max = row.integer("green_max_threshold", 0, kMostQueueOctets);
  const auto percent = row.integer("green_drop_probability", 0, 100);
  if (!out.marks && (enabled == nullptr || *enabled != "true")) return std::nullopt;
  if (!min || !max) {
    if (out.marks)
      row.fail(min ? "green_max_threshold" : "green_min_threshold", "nothing",
               "a threshold in octets, since green packets are marked");
    return std::nullopt;
  }
  if (*min > *max)
    row.fail("green_min_threshold", fmt::format("{}, above green_max_threshold", *min),
             fmt::format("at most {}", *max));
  out.min = *min;
  out.max = *max;
  out.percent = percent.value_or(100);
  return out;
}

void read_scheduler(const Row& row, QueueSettings& into) {
  const std::string* const type = row.find("type");
  if (type != nullptr && *type != "STRICT" && *type != "DWRR" && *type != "WRR")
    row.fail("type", fmt::format("'{}'", *type), "DWRR, WRR or STRICT");
  into.strict = type != nullptr && *type == "STRICT";
  const auto weight = row.integer("weight", 1, 1000);
  if (into.strict)
    row.leave("weight", "strict priority has none");
  else
    into.weight = weight;
}

using Names = std::pair<std::optional<std::string>, std::optional<std::string>>;  // WRED profile, scheduler

}  // namespace

std::array<QueueSettings, kClasses> read_queues(const ConfigDb& db, const std::vector<PortConfig>& ports) {
  std::map<std::pair<std::string, int>, const Row*> rows;
  for (const Row& row : db.table("QUEUE")) {
    const std::vector<std::pair<std::string, int>> keys = ports_and_numbers(row, 63);
    // "host|asic0|Ethernet0|3", and queues towards the CPU.
    if (row.key().find('|') != row.key().rfind('|') || row.key().starts_with("CPU")) continue;
    for (const auto& [port, queue] : keys) {
      port_named(ports, port, row);
      if (!rows.emplace(std::pair{port, queue}, &row).second)
        row.fail("", fmt::format("a duplicate: queue {} of {}", queue, port), "each queue once");
    }
  }
  std::array<QueueSettings, kClasses> out;
  for (std::size_t c = 0; c < kClasses; ++c) {
    std::vector<Names> of_linked;
    std::vector<const Row*> their_rows;
    for (const PortConfig& port : ports) {
      const auto found = rows.find({port.name, static_cast<int>(c)});
      const Row* const row = found == rows.end() ? nullptr : found->second;
      Names names;
      if (row != nullptr) {
        names = {row->reference("wred_profile"), row->reference("scheduler")};
        if (names.first) db.named(*row, "wred_profile", "WRED_PROFILE", *names.first);
        if (names.second) db.named(*row, "scheduler", "SCHEDULER", *names.second);
      }
      if (!port.linked) continue;
      of_linked.push_back(names);
      their_rows.push_back(row);
    }
    const Names most = most_common(of_linked);
    for (std::size_t i = 0; i < of_linked.size(); ++i) {
      if (their_rows[i] == nullptr) continue;
      if (of_linked[i].first != most.first)
        their_rows[i]->leave("wred_profile", "not as at most ports; a switch has one QoS profile");
      if (of_linked[i].second != most.second)
        their_rows[i]->leave("scheduler", "not as at most ports; a switch has one QoS profile");
    }
    if (most.first) out[c].wred = read_wred(*db.find("WRED_PROFILE", *most.first));
    if (most.second) read_scheduler(*db.find("SCHEDULER", *most.second), out[c]);
    out[c].names =
        fmt::format("{}{}{}", most.first.value_or(""), most.first && most.second ? ", " : "", most.second.value_or(""));
  }
  return out;
}

}  // namespace railyard::importing
