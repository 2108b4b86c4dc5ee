#include "control/plan/bill.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "control/report/units.h"
#include "control/spec/keys/form.h"
#include "control/spec/load.h"
#include "control/spec/spec_error.h"
#include "control/spec/yaml/parse.h"

namespace railyard::plan {
namespace {

using spec::Tree;

struct ItemInfo {
  Item item;
  std::string_view name;
  std::string_view help;
  double watts;      // at most
  bool by_capacity;  // of each Tb/s; else of each 400 Gb/s of the link; servers: of one
};

// DGX H100 user guide: 10.2 kW at most. Modules and cables: NVIDIA MMS4X00-NS400 (DR4, 9 W), MMA4Z00-NS400 (SR4, 9 W),
// MCP4Y10 (passive copper, 0.1 W); others are our choice, see docs/plan.md. A cable has two ends.
constexpr std::array kInfo{
    ItemInfo{Item::kServer, "server", "a node", 10'200, false},
    ItemInfo{Item::kNic, "nic", "a NIC", 25, false},
    ItemInfo{Item::kSwitch, "switch", "a switch", 20, true},
    ItemInfo{Item::kDac, "dac", "a passive copper cable", 0.2, false},
    ItemInfo{Item::kAec, "aec", "an active copper cable, both ends", 12, false},
    ItemInfo{Item::kAoc, "aoc", "an active optical cable, both ends", 18, false},
    ItemInfo{Item::kSr, "sr", "a module for multi-mode fibre", 9, false},
    ItemInfo{Item::kDr, "dr", "a module for 500 m of single-mode fibre", 9, false},
    ItemInfo{Item::kFr, "fr", "a module for 2 km", 12, false},
    ItemInfo{Item::kLr, "lr", "a module for 10 km", 12, false},
    ItemInfo{Item::kFibre, "fibre", "a fibre between two modules", 0, false},
};
static_assert(kInfo.size() == kItems);

spec::Form<std::optional<double>> amount(const char* what) {
  return {[what](const Tree& said) -> std::optional<double> {
            const std::string& text = said.as_text(fmt::format("{} of 0 or more", what));
            double value = 0;
            const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
            if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value) || value < 0)
              said.fail(fmt::format("found {}; expected {} of 0 or more", said.described(), what));
            return value;
          },
          [](const std::optional<double>& value) { return value ? Tree::plain(fmt::format("{}", *value)) : Tree{}; },
          {}};
}

// A key for each item, of an array of amounts.
template <class T, class Array>
std::vector<spec::Key<T>> item_keys(Array T::*member, const char* what) {
  std::vector<spec::Key<T>> keys;
  const auto form = amount(what);
  for (std::size_t i = 0; i < kItems; ++i)
    keys.push_back({std::string(kInfo[i].name),
                    std::string(kInfo[i].help),
                    [=](const Tree& value, T& into) { (into.*member)[i] = form.read(value); },
                    [=](const T& from) { return form.write((from.*member)[i]); },
                    [=](const T& a, const T& b) { return (a.*member)[i] == (b.*member)[i]; },
                    {}});
  return keys;
}

const spec::Table<PowerFigures>& power_keys() {
  static const spec::Table<PowerFigures> table{"power", "Watts of one, at most",
                                               item_keys(&PowerFigures::watts, "watts")};
  return table;
}

using AtTwice = std::array<std::optional<double>, kItems>;
struct FasterPrices {
  AtTwice each{};
};
const spec::Table<FasterPrices>& faster_keys() {
  static const spec::Table<FasterPrices> table{"at-twice", "Prices of one at twice the rate",
                                               item_keys(&FasterPrices::each, "a price")};
  return table;
}

double watts_of(Item item, BitRate rate, const Prices& prices) {
  const auto i = static_cast<std::size_t>(item);
  if (prices.power.watts[i]) return *prices.power.watts[i];
  if (item == Item::kServer) return kInfo[i].watts;
  constexpr double kTerabit = 1e12, kUsual = 400e9;
  return kInfo[i].watts * static_cast<double>(rate.bps) / (kInfo[i].by_capacity ? kTerabit : kUsual);
}

Item item_of(spec::CableMedium medium) {
  switch (medium) {
    case spec::CableMedium::kDac:
      return Item::kDac;
    case spec::CableMedium::kAec:
      return Item::kAec;
    case spec::CableMedium::kAoc:
      return Item::kAoc;
    case spec::CableMedium::kSr:
      return Item::kSr;
    case spec::CableMedium::kDr:
      return Item::kDr;
    case spec::CableMedium::kFr:
      return Item::kFr;
    case spec::CableMedium::kLr:
      break;
  }
  return Item::kLr;
}

}  // namespace

std::string_view name(Item item) noexcept { return kInfo[static_cast<std::size_t>(item)].name; }

bool Prices::any() const noexcept {
  return std::ranges::any_of(each, [](const auto& p) { return p.has_value(); });
}

std::int64_t Bill::count(Item item) const noexcept {
  std::int64_t n = 0;
  for (const BillRow& r : rows)
    if (r.item == item) n += r.count;
  return n;
}

const spec::Table<Prices>& price_keys() {
  static const spec::Table<Prices> table = [] {
    std::vector<spec::Key<Prices>> keys = item_keys(&Prices::each, "a price");
    keys.push_back(
        spec::key("currency", &Prices::currency, spec::text_without_control_characters(16), "name of the currency"));
    keys.push_back(spec::key("power", &Prices::power,
                             spec::Form<PowerFigures>{[](const Tree& said) {
                                                        PowerFigures p;
                                                        power_keys().read(said, p);
                                                        return p;
                                                      },
                                                      [](const PowerFigures& p) { return power_keys().write(p); },
                                                      {}},
                             "watts of one, at most, instead of the defaults"));
    keys.push_back(spec::key("at-twice", &Prices::at_twice,
                             spec::Form<AtTwice>{[](const Tree& said) {
                                                   FasterPrices p;
                                                   faster_keys().read(said, p);
                                                   return p.each;
                                                 },
                                                 [](const AtTwice&) { return Tree{}; },
                                                 {}},
                             "the same prices at twice the rate"));
    keys.push_back(
        spec::Key<Prices>{"energy",
                          "price of a kWh",
                          [form = amount("a price")](const Tree& said, Prices& into) { into.energy = form.read(said); },
                          [](const Prices&) { return Tree{}; },
                          [](const Prices& a, const Prices& b) { return a.energy == b.energy; },
                          {}});
    keys.push_back(spec::Key<Prices>{"pue",
                                     "power usage effectiveness: all power of the hall / that of the machines",
                                     [form = amount("a ratio")](const Tree& said, Prices& into) {
                                       into.pue = form.read(said).value_or(1);
                                       if (into.pue < 1)
                                         said.fail(fmt::format("found {}; expected 1 or more", said.described()));
                                     },
                                     [](const Prices&) { return Tree{}; },
                                     [](const Prices& a, const Prices& b) { return a.pue == b.pue; },
                                     {}});
    return spec::Table<Prices>{"prices", "Prices of one, and watts", std::move(keys)};
  }();
  return table;
}

Prices read_prices(const std::string& file) {
  Tree map = spec::parse_yaml(spec::read_file(file), file);
  spec::finish(map, "");
  if (map.place.file.empty()) map.place.file = file;
  Prices prices;
  price_keys().read(map, prices);
  return prices;
}

Prices at_rate(const Prices& prices, BitRate capacity, BitRate capacity_now) {
  Prices out = prices;
  for (std::size_t i = 0; i < kItems; ++i) {
    const bool is_server = static_cast<Item>(i) == Item::kServer;
    if (!is_server) out.each[i] = prices.at_twice[i];
    if (!out.power.watts[i] || is_server) continue;
    *out.power.watts[i] *= kInfo[i].by_capacity
                               ? static_cast<double>(capacity.bps) / static_cast<double>(capacity_now.bps)
                               : 2;
  }
  return out;
}

Parts parts_of(const Shape& s, const Level& l, const SwitchChoice& chosen, const std::vector<CableRow>& cables,
               bool later) {
  Parts p{.nodes = l.nodes,
          .nics = s.nic_ports(l),
          .nic_rate = s.nic_rate,
          .switches = l.switches(),
          .switch_capacity = chosen.capacity(),
          .cables = {}};
  for (const CableRow& c : cables) p.cables.emplace_back(c, later ? c.later : c.now);
  return p;
}

Bill bill(const Parts& parts, const Prices& prices) {
  Bill out;
  const auto add = [&](Item item, std::int64_t count, BitRate rate) {
    if (count == 0) return;
    const double watts = watts_of(item, rate, prices);
    for (BillRow& r : out.rows)
      if (r.item == item && r.watts == watts) {
        r.count += count;
        return;
      }
    out.rows.push_back({item, count, watts, prices.each[static_cast<std::size_t>(item)]});
  };
  add(Item::kServer, parts.nodes, {});
  add(Item::kNic, parts.nics, parts.nic_rate);
  add(Item::kSwitch, parts.switches, parts.switch_capacity);
  for (const auto& [cable, count] : parts.cables) {
    add(item_of(cable.medium), cable.is_optical_pair() ? 2 * count : count, cable.rate);
    if (cable.is_optical_pair()) add(Item::kFibre, count, cable.rate);
  }
  double cost = 0;
  bool complete = prices.any();
  for (const BillRow& r : out.rows) {
    out.watts += r.power();
    if (r.item != Item::kServer) out.fabric_watts += r.power();
    if (prices.any() && !r.price && std::ranges::find(out.unpriced, name(r.item)) == out.unpriced.end())
      out.unpriced.emplace_back(name(r.item));
    if (r.item == Item::kServer) continue;
    if (r.price)
      cost += *r.cost();
    else
      complete = false;
  }
  if (complete) out.fabric_cost = cost;
  return out;
}

std::string money_text(double amount, const Prices& prices) {
  return fmt::format("{} {}", report::count_text(static_cast<std::uint64_t>(std::llround(amount))), prices.currency);
}

}  // namespace railyard::plan
