// What a fabric is made of, what that costs and what power it takes.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "control/plan/cabling.h"
#include "control/plan/sizing.h"
#include "control/spec/keys/table.h"

namespace railyard::plan {

// Things that are bought. Cables have fixed ends; modules (sr, dr, fr, lr) are two for each link, with a fibre.
enum class Item { kServer, kNic, kSwitch, kDac, kAec, kAoc, kSr, kDr, kFr, kLr, kFibre };
inline constexpr std::size_t kItems = 11;
std::string_view name(Item item) noexcept;  // "switch", as in a prices file

// Power in watts, at most, for each item: of a switch without modules for each Tb/s, of a NIC and of modules for each
// 400 Gb/s. Sources: docs/plan.md.
struct PowerFigures {
  std::array<std::optional<double>, kItems> watts{};  // of the user's file; of one item, whatever its rate
  bool operator==(const PowerFigures&) const = default;
};

// The user's file. A price that is not said leaves its row without one.
struct Prices {
  std::string currency = "EUR";
  std::array<std::optional<double>, kItems> each{};
  PowerFigures power{};
  // Of items at twice the rate, for the comparison with it; that of servers is `each`'s.
  std::array<std::optional<double>, kItems> at_twice{};
  std::optional<double> energy{};  // of one kWh
  double pue = 1.3;                // power usage effectiveness: all power of the hall / that of the machines

  bool any() const noexcept;
};

// Prices and watts of the items at twice the rate: watts of the user's file grow with the rate, of switches with their
// capacity.
Prices at_rate(const Prices& prices, BitRate capacity, BitRate capacity_now);

const spec::Table<Prices>& price_keys();
// Throws spec::SpecError: place, what is wrong, what was expected.
Prices read_prices(const std::string& file);

struct BillRow {
  Item item{};
  std::int64_t count = 0;
  double watts = 0;             // of one
  std::optional<double> price;  // of one
  double power() const noexcept { return watts * static_cast<double>(count); }
  std::optional<double> cost() const noexcept {
    return price ? std::optional(*price * static_cast<double>(count)) : std::nullopt;
  }
};

struct Bill {
  std::vector<BillRow> rows;
  double fabric_watts = 0;  // all but servers
  double watts = 0;
  std::optional<double> fabric_cost;  // all but servers; nothing: a price is missing
  std::vector<std::string> unpriced;  // names of items without one, if there are any prices

  std::int64_t count(Item item) const noexcept;
};

// Of so many nodes, switches and cables. Each end of a cable is in a switch or NIC; splitting cables have `split` ends
// at NICs.
struct Parts {
  std::int64_t nodes = 0;
  std::int64_t nics = 0;
  BitRate nic_rate{};
  std::int64_t switches = 0;
  BitRate switch_capacity{};
  std::vector<std::pair<CableRow, std::int64_t>> cables;  // how many of each
};
Parts parts_of(const Shape& shape, const Level& level, const SwitchChoice& chosen, const std::vector<CableRow>& cables,
               bool later);
Bill bill(const Parts& parts, const Prices& prices);

// "1,234,567 EUR".
std::string money_text(double amount, const Prices& prices);

}  // namespace railyard::plan
