// The configuration of a SONiC switch: ports and QoS as config_db.json. `railyard import` reads the same fabric from it.
//
// Names of tables and fields: SONiC's Configuration.md and its QoS and buffer designs. Each class is a traffic class, a
// queue and a priority group of the same number.
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "control/export/export.h"
#include "control/spec/input_error.h"
#include "control/spec/port_class.h"
#include "control/spec/value.h"

namespace railyard::exporting {
namespace {

using Json = nlohmann::ordered_json;
using spec::TrafficClass;

constexpr const char* kMap = "RAILYARD";
constexpr std::int64_t kMegabit = 1'000'000;
constexpr std::uint32_t kPercent = 10'000;  // parts per million

struct Port {
  int number = 0;
  const spec::LinkSpec* link = nullptr;  // null: nothing is linked there
  std::string peer{};
  std::string name() const { return fmt::format("Ethernet{}", (number - 1) * 8); }
};

std::string text_of(std::int64_t n) { return std::to_string(n); }

const spec::NodeSpec& switch_of(const spec::Lab& lab, const std::string& name) {
  const auto found = std::ranges::find_if(lab.nodes, [&](const spec::NodeSpec& node) {
    return node.kind == spec::NodeSpec::Kind::kSwitch && (name.empty() || node.name == name);
  });
  if (found == lab.nodes.end())
    throw InputError(name.empty() ? std::string("the lab has no switches")
                                  : fmt::format("--node {}: the lab has no such switch", name));
  return *found;
}

// Up to the last one that is linked.
std::vector<Port> ports_of(const spec::Lab& lab, const spec::NodeSpec& node) {
  std::map<int, Port> linked;
  for (const spec::LinkSpec& link : lab.links)
    for (const auto& [here, there] : {std::pair{link.a, link.b}, std::pair{link.b, link.a}})
      if (here.node == node.name) linked[here.port] = {here.port, &link, there.node};
  std::vector<Port> out;
  const int last = linked.empty() ? 0 : linked.rbegin()->first;
  for (int n = 1; n <= last; ++n) out.push_back(linked.contains(n) ? linked[n] : Port{.number = n});
  return out;
}

class Writer {
 public:
  Writer(const spec::Lab& lab, const spec::NodeSpec& node)
      : lab_(lab),
        node_(node),
        profile_(lab.switches.at(node.profile)),
        qos_(spec::qos_of(lab, node)),
        ports_(ports_of(lab, node)) {}

  Json write() {
    out_["DEVICE_METADATA"]["localhost"] = {{"hostname", node_.name}, {"hwsku", "Railyard"}, {"type", "LeafRouter"}};
    ports();
    maps();
    for (const Port& port : ports_)
      if (port.link != nullptr) classes(port);
    pools();
    watchdog();
    return std::move(out_);
  }

 private:
  [[noreturn]] void refuse(std::size_t c, const std::string& what) const {
    throw InputError(fmt::format("{}: class {} of {} has {}", lab_.name, c, node_.name, what));
  }

  void ports() {
    for (const Port& p : ports_) {
      Json& row = out_["PORT"][p.name()];
      row["admin_status"] = p.link != nullptr ? "up" : "down";
      row["speed"] = text_of((p.link != nullptr ? p.link->rate : BitRate{100'000 * kMegabit}).bps / kMegabit);
      if (p.link == nullptr) continue;
      row["mtu"] = text_of(p.link->mtu);
      out_["DEVICE_NEIGHBOR"][p.name()] = {{"name", p.peer}, {"port", "eth0"}};
      constexpr std::int64_t kMetre = 1000;
      if (p.link->cable)
        out_["CABLE_LENGTH"][kMap][p.name()] = fmt::format("{}m", (p.link->cable->mm + kMetre - 1) / kMetre);
    }
  }

  void maps() {
    const bool pcp = qos_.trust == spec::Trust::kPcp;
    if (pcp)
      for (std::size_t i = 0; i < qos_.pcp_to_class.size(); ++i)
        out_["DOT1P_TO_TC_MAP"][kMap][std::to_string(i)] = text_of(qos_.pcp_to_class[i]);
    else
      for (std::size_t i = 0; i < qos_.dscp_to_class.size(); ++i)
        out_["DSCP_TO_TC_MAP"][kMap][std::to_string(i)] = text_of(qos_.dscp_to_class[i]);
    for (const char* table : {"TC_TO_QUEUE_MAP", "TC_TO_PRIORITY_GROUP_MAP", "MAP_PFC_PRIORITY_TO_QUEUE"})
      for (std::size_t i = 0; i < kPriorities; ++i) out_[table][kMap][std::to_string(i)] = std::to_string(i);
    for (const Port& p : ports_) {
      if (p.link == nullptr) continue;
      Json& row = out_["PORT_QOS_MAP"][p.name()];
      row = {{pcp ? "dot1p_to_tc_map" : "dscp_to_tc_map", kMap},
             {"tc_to_queue_map", kMap},
             {"tc_to_pg_map", kMap},
             {"pfc_to_queue_map", kMap}};
      const PriorityMask pfc = spec::pfc_at(lab_, node_, p.number, p.link->rate).tx;
      std::string enabled;
      for (std::size_t c = 0; c < kPriorities; ++c)
        if ((pfc >> c & 1) != 0) enabled += (enabled.empty() ? "" : ",") + std::to_string(c);
      if (enabled.empty()) continue;
      row["pfc_enable"] = row["pfcwd_sw_enable"] = enabled;
      pauses_ = true;
    }
  }

  void classes(const Port& port) {
    const PriorityMask pfc = spec::pfc_at(lab_, node_, port.number, port.link->rate).tx;
    for (std::size_t c = 0; c < kPriorities; ++c) {
      const TrafficClass t = spec::class_at(lab_, node_, port.number, port.link->rate, c);
      const std::string key = fmt::format("{}|{}", port.name(), c);
      out_["BUFFER_PG"][key]["profile"] = group(c, t, (pfc >> c & 1) != 0);
      out_["BUFFER_QUEUE"][key]["profile"] = queue(c, t);
      out_["QUEUE"][key] = scheduling(c, t, port.link->rate);
    }
  }

  // The profile with these fields, made when it is needed first.
  std::string profile(const std::string& kind, Json fields) {
    std::string& name = profiles_[kind + fields.dump()];
    if (name.empty()) {
      name = fmt::format("{}_{}", kind, ++count_);
      out_["BUFFER_PROFILE"][name] = std::move(fields);
    }
    return name;
  }

  std::string group(std::size_t c, const TrafficClass& t, bool pauses) {
    Json fields{{"pool", "ingress_lossless_pool"}, {"size", text_of(t.reserved.n)}};
    if (t.xoff)
      fields["static_th"] = text_of(t.xoff->n);
    else
      fields["dynamic_th"] = text_of(t.alpha_exponent);
    if (!pauses) return profile("ingress_lossy", std::move(fields));
    // Groups that share a pool may have all of it.
    const Bytes pool = profile_.headroom_pool;
    if (t.headroom || pool.n > 0) {
      const Bytes headroom = t.headroom.value_or(pool);
      headroom_ += headroom.n;
      fields["xon"] = "0";
      fields["xon_offset"] = text_of(t.xon_offset.n);
      fields["xoff"] = text_of(headroom.n);
      return profile("pg_lossless", std::move(fields));
    }
    if (t.xoff || t.reserved.n > 0)
      refuse(c, "`headroom: auto` with `xoff` or `reserved`; SONiC computes all of a group or nothing: expected a headroom");
    computes_ = true;
    fields["headroom_type"] = "dynamic";
    return profile("pg_lossless_computed", std::move(fields));
  }

  std::string queue(std::size_t c, const TrafficClass& t) {
    if (t.lossless)
      return profile("egress_lossless", {{"pool", "egress_lossless_pool"}, {"size", text_of(t.queue_reserved.n)}});
    Json fields{{"pool", "egress_lossy_pool"}, {"size", text_of(t.queue_reserved.n)}};
    if (t.queue_limit)
      fields["static_th"] = text_of(t.queue_limit->n);
    else
      fields["dynamic_th"] = text_of(t.queue_alpha_exponent);
    if (t.trim) {
      fields["packet_discard_action"] = "trim";
      const Json trimming{{"size", text_of(t.trim->keep)},
                          {"dscp_value", text_of(t.trim->dscp)},
                          {"queue_index", text_of(t.trim->to_class)}};
      Json& known = out_["SWITCH_TRIMMING"]["GLOBAL"];
      if (!known.is_null() && known != trimming) refuse(c, "another `trim` than a class before it; a SONiC switch has one");
      known = trimming;
    }
    return profile("egress_lossy", std::move(fields));
  }

  Json scheduling(std::size_t c, const TrafficClass& t, BitRate rate) {
    const std::string scheduler = t.strict ? "scheduler.strict" : fmt::format("scheduler.{}", t.weight);
    out_["SCHEDULER"][scheduler] =
        t.strict ? Json{{"type", "STRICT"}} : Json{{"type", "DWRR"}, {"weight", text_of(t.weight)}};
    Json row{{"scheduler", scheduler}};
    if (t.ecn.enabled) {
      const Bytes kmin = t.ecn.auto_thresholds ? spec::automatic_kmin(rate) : t.ecn.kmin;
      const Bytes kmax = t.ecn.auto_thresholds ? spec::automatic_kmax(rate) : t.ecn.kmax;
      row["wred_profile"] = wred(c, true, kmin, kmax, t.ecn.pmax_ppm);
    } else if (t.drop.all) {
      row["wred_profile"] = wred(c, false, t.drop.all->min, t.drop.all->max, t.drop.all->probability_ppm);
    }
    return row;
  }

  std::string wred(std::size_t c, bool marks, Bytes min, Bytes max, std::uint32_t ppm) {
    if (ppm % kPercent != 0) refuse(c, "a probability that is no whole percent; SONiC has whole ones");
    const std::string name = fmt::format("{}_{}_{}_{}", marks ? "MARK" : "DROP", min.n, max.n, ppm / kPercent);
    out_["WRED_PROFILE"][name] = {{"ecn", marks ? "ecn_all" : "ecn_none"},
                                  {"wred_green_enable", "true"},
                                  {"green_min_threshold", text_of(min.n)},
                                  {"green_max_threshold", text_of(max.n)},
                                  {"green_drop_probability", text_of(ppm / kPercent)}};
    return name;
  }

  // The egress pool is all of the memory, and so the ingress pool's headroom is beside what it shares.
  void pools() {
    const std::int64_t all = profile_.buffer.n, pool = profile_.headroom_pool.n;
    const std::int64_t xoff = pool > 0 ? pool : computes_ ? 0 : headroom_;
    if (computes_ && headroom_ > 0)
      throw InputError(fmt::format("{}: {} has classes with a headroom and with `headroom: auto`; SONiC has one of the two",
                                   lab_.name, node_.name));
    if (xoff >= all)
      throw InputError(fmt::format("{}: the headroom of {} ({} bytes) leaves nothing of its buffer ({})", lab_.name,
                                   node_.name, xoff, all));
    Json& pools = out_["BUFFER_POOL"];
    pools["ingress_lossless_pool"] = {{"type", "ingress"}, {"mode", "dynamic"}, {"size", text_of(all - xoff)}};
    if (xoff > 0) pools["ingress_lossless_pool"]["xoff"] = text_of(xoff);
    pools["egress_lossless_pool"] = {{"type", "egress"}, {"mode", "static"}, {"size", text_of(all)}};
    pools["egress_lossy_pool"] = {{"type", "egress"}, {"mode", "dynamic"}, {"size", text_of(all - xoff)}};
  }

  void watchdog() {
    if (!profile_.pfc_watchdog || !pauses_) return;
    const spec::PfcWatchdog& w = *profile_.pfc_watchdog;
    constexpr std::int64_t kMillisecond = 1'000'000'000;
    const auto ms = [&](Duration d) { return text_of(std::max<std::int64_t>((d.ps + kMillisecond - 1) / kMillisecond, 1)); };
    constexpr std::array kActions{"drop", "forward", "alert"};
    out_["PFC_WD"]["GLOBAL"]["POLL_INTERVAL"] = ms(w.poll);
    for (const Port& p : ports_)
      if (p.link != nullptr)
        out_["PFC_WD"][p.name()] = {{"action", kActions[static_cast<std::size_t>(w.action)]},
                                    {"detection_time", ms(w.detect)},
                                    {"restoration_time", ms(w.restore)}};
  }

  const spec::Lab& lab_;
  const spec::NodeSpec& node_;
  const spec::SwitchProfile& profile_;
  const spec::QosProfile& qos_;
  std::vector<Port> ports_;
  Json out_ = Json::object();
  std::map<std::string, std::string> profiles_;  // by kind and fields
  int count_ = 0;
  std::int64_t headroom_ = 0;  // of all groups
  bool computes_ = false;      // some headroom is left to the switch
  bool pauses_ = false;
};

}  // namespace

std::string sonic(const spec::Lab& lab, const Options& options) {
  return Writer(lab, switch_of(lab, options.node)).write().dump(2) + "\n";
}

}  // namespace railyard::exporting
