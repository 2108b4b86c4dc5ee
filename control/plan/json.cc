// A plan for programs.
#include "control/plan/plan.h"
#include "control/spec/value.h"

namespace railyard::plan {
namespace {

using Json = nlohmann::ordered_json;

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json level(const Level& l, const Shape& s) {
  return {{"nodes", l.nodes},
          {"nic_ports", s.nic_ports(l)},
          {"capacity_bps", s.nic_ports(l) * s.nic_rate.bps},
          {"groups", l.groups},
          {"pods", l.pods},
          {"leaves", l.leaves},
          {"spines", l.spines},
          {"cores", l.cores},
          {"switches", l.switches()}};
}

Json bill_json(const Bill& b) {
  Json rows = Json::array();
  for (const BillRow& r : b.rows)
    rows.push_back({{"item", name(r.item)},
                    {"count", r.count},
                    {"watts", r.watts},
                    {"price", or_null(r.price)},
                    {"power_watts", r.power()},
                    {"cost", or_null(r.cost())}});
  return {{"items", std::move(rows)},
          {"fabric_watts", b.fabric_watts},
          {"watts", b.watts},
          {"fabric_cost", or_null(b.fabric_cost)}};
}

Json headroom(const HeadroomOfLink& h) {
  return {
      {"cable_m", static_cast<double>(h.cable.mm) / 1000}, {"wire_bytes", h.octets.n}, {"buffer_bytes", h.buffer.n}};
}

Json side(const RateSide& s) {
  Json out{{"nic_rate_bps", s.rate.bps},
           {"for_gpu_bps", s.nic.for_gpu.bps},
           {"exposed", s.exposed},
           {"switch_ports", s.chosen.radix},
           {"switch_port_rate_bps", s.chosen.port_rate.bps},
           {"tiers", s.shape ? Json(s.shape->tiers) : Json(nullptr)},
           {"switches", s.shape ? Json(s.shape->now.switches()) : Json(nullptr)},
           {"cables", Json::array()},
           {"capacity_bps", s.shape ? Json(s.shape->nic_ports(s.shape->now) * s.rate.bps) : Json(nullptr)},
           {"fabric_watts", s.shape ? Json(s.bill.fabric_watts) : Json(nullptr)},
           {"fabric_cost", or_null(s.bill.fabric_cost)},
           {"why_not", s.why_not}};
  for (const CableRow& c : s.cables)
    out["cables"].push_back({{"between", c.between}, {"medium", spec::name(c.medium)}, {"now", c.now}});
  return out;
}

}  // namespace

Json json(const Plan& p) {
  const Request& r = p.request;
  const Shape& f = p.shape;
  Json out;
  out["request"] = {{"workload", needs(r.workload).name},
                    {"gpus", r.gpus},
                    {"gpus_later", r.later()},
                    {"model", r.model.name},
                    {"gpu", r.gpu},
                    {"gpus_per_node", r.gpus_per_node},
                    {"nics_per_node", r.nics()},
                    {"nic_rate_bps", r.nic_rate().bps},
                    {"nics_advised",
                     {{"nics_per_node", r.advice.nics},
                      {"nic_rate_bps", r.advice.rate.bps},
                      {"reason", r.advice.reason},
                      {"source", r.advice.source}}},
                    {"design", name(r.design)}};
  out["nic"] = {{"slot_bps", p.nic.slot.bps},
                {"usable_bps", p.nic.usable.bps},
                {"for_gpu_bps", p.nic.for_gpu.bps},
                {"held_up", p.nic.held_up}};
  out["switch"] = {{"ports", p.chosen.radix},
                   {"port_rate_bps", p.chosen.port_rate.bps},
                   {"capacity_bps", p.chosen.capacity().bps},
                   {"asic", p.chosen.asic},
                   {"buffer_bytes", p.chosen.profile.buffer.n}};
  out["fabric"] = {{"tiers", f.tiers},
                   {"stages", f.stages()},
                   {"rails_per_leaf", f.rails_per_leaf},
                   {"nodes_per_group", f.nodes_per_group},
                   {"leaf_ports_down", f.down},
                   {"leaf_ports_up", f.up},
                   {"uplinks_per_spine", f.uplinks_per_spine},
                   {"leaf_oversubscription", f.leaf_oversubscription()},
                   {"core_oversubscription", f.core_oversubscription()},
                   {"non_blocking", f.leaf_oversubscription() <= 1 && f.core_oversubscription() <= 1},
                   {"now", level(f.now, f)},
                   {"later", level(f.later, f)}};
  out["cables"] = Json::array();
  for (const CableRow& c : p.cables)
    out["cables"].push_back({{"between", c.between},
                             {"length_m", static_cast<double>(c.length.mm) / 1000},
                             {"rate_bps", c.rate.bps},
                             {"medium", spec::name(c.medium)},
                             {"now", c.now},
                             {"later", c.later}});
  out["headroom"] = {{"node", headroom(p.buffers.node)}, {"fabric", headroom(p.buffers.fabric)},
                     {"core", headroom(p.buffers.core)}, {"leaf_bytes", p.buffers.leaf.n},
                     {"spine_bytes", p.buffers.spine.n}, {"left_to_share_bytes", p.buffers.left_leaf.n},
                     {"left_to_share_at_spine_bytes", p.buffers.left_spine.n}};
  out["ports"] = Json::array();
  for (const TierPorts& t : p.ports)
    out["ports"].push_back({{"tier", t.tier},
                            {"switches", t.switches},
                            {"switches_later", t.switches_later},
                            {"ports", t.ports},
                            {"used", t.used},
                            {"reserved", t.reserved},
                            {"stranded", t.stranded()}});
  out["memory"] = Json::array();
  for (const MemoryNeed& m : p.memory)
    out["memory"].push_back(
        {{"model", m.model}, {"parameters", m.parameters}, {"bytes", m.total()}, {"gpus", m.gpus}, {"nodes", m.nodes}});
  out["bill"] = {{"currency", p.prices.currency}, {"now", bill_json(p.now)}, {"later", bill_json(p.later)}};
  out["step_up"] = {{"now", side(p.step.now)}, {"twice", side(p.step.twice)}, {"needed_for_gpu_bps", p.step.needed.bps}};
  out["triggers"] = Json::array();
  for (const Trigger& t : p.step.triggers)
    out["triggers"].push_back(
        {{"trigger", t.what}, {"found", t.result}, {"threshold", t.threshold}, {"reached", t.reached}});
  out["isolation"] = name(needs(r.workload).isolation);
  return out;
}

}  // namespace railyard::plan
