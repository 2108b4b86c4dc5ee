#include "control/plan/step_up.h"

#include <algorithm>

#include <fmt/format.h>

#include "control/plan/arithmetic.h"
#include "control/plan/communication.h"
#include "control/report/units.h"
#include "control/spec/cable_medium.h"
#include "control/spec/pcie.h"
#include "control/spec/spec_error.h"

namespace railyard::plan {
namespace {

std::string step_time(double t) { return report::nanoseconds_text(static_cast<std::uint64_t>(t * 1e9)); }
std::string nic_rate_words(BitRate r) { return rate_words(static_cast<double>(r.bps)); }

// Ports of twice the rate: there are ports for such NICs already, or the next chips have them.
Request at_twice(const Request& r, const SwitchChoice& chosen, RateSide& side) {
  Request faster = r;
  faster.said_nic_rate = side.rate;
  faster.nics_per_node = r.nics();
  faster.said_pcie = r.pcie();
  faster.asic.clear();
  faster.capacity.reset();
  faster.radix = chosen.radix;
  faster.port_rate = chosen.port_rate;
  if (side.rate <= chosen.port_rate) return faster;
  faster.port_rate = side.rate;
  const BitRate largest = largest_capacity(side.rate);
  side.is_assumed = largest.bps == 0;
  if (!side.is_assumed)
    faster.radix = static_cast<int>(std::min<std::int64_t>(chosen.radix, largest.bps / side.rate.bps));
  return faster;
}

RateSide twice_as_fast(const Request& r, const Prices& prices, const SwitchChoice& chosen, const Communication& c) {
  RateSide side{.rate = r.nic_rate() * 2};
  const Request faster = at_twice(r, chosen, side);
  side.nic = check_nics(faster);
  side.exposed = c.exposed(side.nic.for_gpu);
  try {
    side.chosen = choose_switch(faster);
    Shape s = size(faster, side.chosen);
    side.cables = cables(faster, s);
    side.bill = bill(parts_of(s, s.now, side.chosen, side.cables, false),
                     at_rate(prices, side.chosen.capacity(), chosen.capacity()));
    side.shape = s;
  } catch (const spec::SpecError& e) {
    side.why_not = e.message();
  }
  return side;
}

Trigger communication_trigger(const Communication& c, const StepUp& step) {
  return {fmt::format("{}, not hidden by {}", c.what, c.hidden_what),
          c.octets == 0 ? "one copy of the model, nothing to send"
                        : fmt::format("({} / {} - {}) / {} of computing, 0 at least",
                                      report::size_text(static_cast<std::uint64_t>(c.octets)), nic_rate_words(step.now.nic.for_gpu),
                                      step_time(c.hidden), step_time(c.compute)),
          report::percent_text(step.now.exposed),
          fmt::format("reached above {:.0f} %{}", kWorthIt * 100,
                      c.octets == 0 ? "" : fmt::format(": with less than {} for each GPU", nic_rate_words(step.needed))),
          step.now.exposed > kWorthIt};
}

Trigger slot_trigger(const Request& r, BitRate twice) {
  const BitRate carried = spec::rate_of(r.pcie());
  std::string better;
  for (int generation = r.pcie().generation; carried < twice && better.empty() && generation <= 6; ++generation)
    if (spec::rate_of({generation, 16}) >= twice) better = fmt::format(": gen{}x16", generation);
  return {fmt::format("slot that carries {}", nic_rate_words(twice)), fmt::format("gen{}x{}", r.pcie().generation, r.pcie().lanes),
          nic_rate_words(carried), fmt::format("reached from {}{}", nic_rate_words(twice), better), carried >= twice};
}

Trigger tiers_trigger(const Shape& s, const RateSide& twice) {
  Trigger t{fmt::format("switches with ports of {}", nic_rate_words(twice.chosen.port_rate)), twice.shape ? counted_switches(twice.shape->now, " + ") : std::string(), "",
            fmt::format("reached with {} or fewer", counted(s.tiers, "tier", "tiers")), false};
  if (twice.shape) {
    t.result = counted(twice.shape->tiers, "tier", "tiers");
    t.reached = twice.shape->tiers <= s.tiers;
  } else {
    t.result = "they do not fit";
  }
  return t;
}

// "128 dac + 256 sr modules"
std::string cables_text(const RateSide& side) {
  std::string out;
  std::int64_t links = 0;
  for (const CableRow& c : side.cables) {
    links += c.now;
    out += fmt::format("{}{} {}{}", out.empty() ? "" : " + ", report::count_text(static_cast<std::uint64_t>(c.now)),
                       spec::name(c.medium), c.is_optical_pair() ? " links" : "");
  }
  return fmt::format("{} = {}", out, report::count_text(static_cast<std::uint64_t>(links)));
}

std::vector<std::string> column(const RateSide& side, const Prices& prices, bool priced) {
  std::vector<std::string> out{nic_rate_words(side.rate)};
  const auto& nic = side.nic;
  const std::string slot = nic.held_up ? fmt::format("{} < {}: too slow", nic_rate_words(nic.slot), nic_rate_words(side.rate))
                                       : fmt::format("{}: fits", nic_rate_words(nic.slot));
  if (!side.shape) {
    out.insert(out.end(), {side.why_not, "-", "-", "-", "-", slot, report::percent_text(side.exposed), "-"});
    if (priced) out.emplace_back("-");
    return out;
  }
  const Shape& s = *side.shape;
  const double capacity = static_cast<double>(s.nic_ports(s.now)) * static_cast<double>(side.rate.bps);
  out.push_back(fmt::format("{} x {}{}", side.chosen.radix, nic_rate_words(side.chosen.port_rate),
                            side.chosen.is_asic  ? fmt::format(" ({})", side.chosen.asic)
                            : side.is_assumed ? " (assumed: no shipped chip has them)"
                                              : ""));
  out.push_back(s.now.switches() == 1 ? counted_switches(s.now)
                                      : fmt::format("{} = {}", counted_switches(s.now, " + "),
                                                    report::count_text(static_cast<std::uint64_t>(s.now.switches()))));
  out.push_back(std::to_string(s.tiers));
  out.push_back(cables_text(side));
  out.push_back(rate_words(capacity));
  out.push_back(slot);
  out.push_back(report::percent_text(side.exposed));
  out.push_back(kilowatts(side.bill.fabric_watts));
  if (priced)
    out.push_back(side.bill.fabric_cost
                      ? money_text(*side.bill.fabric_cost, prices)
                      : side.bill.unpriced.empty() ? std::string("not given (at-twice)")
                                                    : fmt::format("not given: {}", fmt::join(side.bill.unpriced, ", ")));
  return out;
}

}  // namespace

bool StepUp::all_reached() const noexcept { return std::ranges::all_of(triggers, &Trigger::reached); }

StepUp step_up(const Request& r, const Prices& prices, const Shape& s, const SwitchChoice& chosen,
               const std::vector<CableRow>& rows, const Bill& now) {
  const Communication c = communication(r);
  StepUp out;
  out.now = {.rate = r.nic_rate(), .nic = check_nics(r), .chosen = chosen, .shape = s, .cables = rows, .bill = now};
  out.now.exposed = c.exposed(out.now.nic.for_gpu);
  out.twice = twice_as_fast(r, prices, chosen, c);
  out.needed = c.rate_for(kWorthIt);
  out.triggers = {communication_trigger(c, out), slot_trigger(r, out.twice.rate), tiers_trigger(s, out.twice)};
  return out;
}

std::vector<std::vector<std::string>> step_up_table(const StepUp& step, const Prices& prices) {
  const bool priced = prices.any();
  const std::vector<std::string> a = column(step.now, prices, priced), b = column(step.twice, prices, priced);
  std::vector<std::string> names{"NICs of",           "switch",        "switches",
                                 "tiers",             "cables",        "capacity to nodes",
                                 "PCI Express slot",  "communication not hidden", "power of the fabric"};
  if (priced) names.emplace_back("price of the fabric");
  std::vector<std::vector<std::string>> out;
  for (std::size_t i = 0; i < names.size(); ++i) out.push_back({names[i], a[i], b[i]});
  return out;
}

}  // namespace railyard::plan
