#include "control/import/sonic_maps.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "control/import/most_common.h"

namespace railyard::importing {
namespace {

const char* const kOneProfile = "not as at most ports; a switch has one QoS profile";

class MapReader {
 public:
  MapReader(const ConfigDb& db, const std::vector<PortConfig>& ports) : db_(db), ports_(ports), rows_(ports.size()) {
    for (const Row& row : db.table("PORT_QOS_MAP")) {
      if (row.key() == "global") {
        global_ = &row;
        row.find("dscp_to_tc_map");  // for ports that say nothing
        continue;
      }
      for (const std::string& name : split(row.key())) {
        const PortConfig& port = port_named(ports, name, row);
        const Row*& of_port = rows_[static_cast<std::size_t>(port.number - 1)];
        if (of_port != nullptr) row.fail("", fmt::format("a duplicate of port {}", name), "each port once");
        of_port = &row;
      }
    }
  }

  ClassMaps read() {
    ClassMaps out;
    read_code_points(out);
    const std::array<int, 8> queue = by_tc("tc_to_queue_map", "TC_TO_QUEUE_MAP");
    const std::array<int, 8> group = by_tc("tc_to_pg_map", "TC_TO_PRIORITY_GROUP_MAP");
    for (std::size_t tc = kClasses; tc-- > 0;) {  // the first one wins
      const auto c = static_cast<std::size_t>(queue[tc]);
      out.group_of_class[c] = group[tc];
    }
    for (int& c : out.class_of_dscp) c = queue[static_cast<std::size_t>(c)];
    for (int& c : out.class_of_pcp) c = queue[static_cast<std::size_t>(c)];
    if (out.trust_pcp)
      for (const int c : out.class_of_pcp) out.is_reached[static_cast<std::size_t>(c)] = true;
    else
      for (const int c : out.class_of_dscp) out.is_reached[static_cast<std::size_t>(c)] = true;
    if (const Named dscp = common("tc_to_dscp_map", "TC_TO_DSCP_MAP"); dscp.row != nullptr)
      for (const auto& [tc, value] : entries(*dscp.row, 7, 63)) out.dscp_of_tc[tc] = value;
    read_pfc(out);
    return out;
  }

 private:
  struct Named {
    const Row* row = nullptr;  // of the map
    const Row* by = nullptr;   // names it
  };

  // The map that most linked ports name in `field`; nothing if most name none.
  Named common(const char* field, const char* table) {
    std::vector<std::optional<std::string>> names(ports_.size());
    std::vector<std::optional<std::string>> of_linked;
    for (std::size_t i = 0; i < ports_.size(); ++i) {
      const Row* const by = says(i, field);
      if (by == nullptr) {
        if (ports_[i].linked) of_linked.emplace_back();
        continue;
      }
      names[i] = by->reference(field);
      if (names[i]) db_.named(*by, field, table, *names[i]);
      if (ports_[i].linked) of_linked.push_back(names[i]);
    }
    const std::optional<std::string> most = most_common(of_linked);
    Named out;
    for (std::size_t i = 0; i < ports_.size(); ++i) {
      if (!ports_[i].linked) continue;
      const Row* const by = says(i, field);
      if (names[i] != most && by != nullptr) by->leave(field, kOneProfile);
      if (names[i] == most && by != nullptr && most && out.row == nullptr)
        out = {&db_.named(*by, field, table, *most), by};
    }
    return out;
  }

  // Who says `field` for port `i`.
  const Row* says(std::size_t i, const char* field) const {
    if (rows_[i] != nullptr && rows_[i]->find(field) != nullptr) return rows_[i];
    return global_ != nullptr && global_->find(field) != nullptr ? global_ : nullptr;
  }

  // Fields and values of a map, both from 0.
  static std::vector<std::pair<int, int>> entries(const Row& map, int most_field, int most_value) {
    std::vector<std::pair<int, int>> out;
    for (const Row::Field& field : map.fields()) {
      const std::optional<std::int64_t> from = whole_number(field.name);
      if (!from || *from < 0 || *from > most_field)
        map.fail(field.name, fmt::format("the field '{}'", field.name), fmt::format("0..{}", most_field));
      out.emplace_back(static_cast<int>(*from), static_cast<int>(*map.integer(field.name, 0, most_value)));
    }
    return out;
  }

  void read_code_points(ClassMaps& out) {
    const Named dscp = common("dscp_to_tc_map", "DSCP_TO_TC_MAP");
    const Named pcp = common("dot1p_to_tc_map", "DOT1P_TO_TC_MAP");
    // What no map lists is TC 0.
    if (dscp.row != nullptr)
      for (const auto& [from, tc] : entries(*dscp.row, 63, 7)) out.class_of_dscp[static_cast<std::size_t>(from)] = tc;
    if (pcp.row == nullptr) return;
    out.trust_pcp = dscp.row == nullptr;
    if (!out.trust_pcp) pcp.by->leave("dot1p_to_tc_map", "a port trusts DSCP or PCP; here dscp_to_tc_map");
    for (const auto& [from, tc] : entries(*pcp.row, 7, 7)) out.class_of_pcp[static_cast<std::size_t>(from)] = tc;
  }

  // Without a map, TC n leads to n; what a map does not list, to 0.
  std::array<int, 8> by_tc(const char* field, const char* table) {
    std::array<int, 8> out{0, 1, 2, 3, 4, 5, 6, 7};
    const Named map = common(field, table);
    if (map.row == nullptr) return out;
    out = {};
    for (const auto& [tc, value] : entries(*map.row, 7, 7)) out[static_cast<std::size_t>(tc)] = value;
    return out;
  }

  void read_pfc(ClassMaps& out) {
    const std::array<int, 8> queue = by_tc("pfc_to_queue_map", "MAP_PFC_PRIORITY_TO_QUEUE");
    const Named queue_map = common("pfc_to_queue_map", "MAP_PFC_PRIORITY_TO_QUEUE");
    std::map<int, int> group;
    if (const Named map = common("pfc_to_pg_map", "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP"); map.row != nullptr)
      for (const auto& [priority, pg] : entries(*map.row, 7, 7)) group[priority] = pg;
    out.has_pfc.resize(ports_.size());
    out.pfc_sources.resize(ports_.size());
    for (std::size_t i = 0; i < ports_.size(); ++i) {
      const Row* const row = rows_[i];
      if (row == nullptr) continue;
      const std::string* const enabled = row->find("pfc_enable");
      for (const std::string& word : split(enabled != nullptr ? *enabled : "")) {
        const std::optional<std::int64_t> priority = whole_number(word);
        if (!priority || *priority < 0 || *priority > 7)
          row->fail("pfc_enable", fmt::format("'{}'", *enabled), "priorities, 0..7, such as 3,4");
        const auto c = static_cast<std::size_t>(queue[static_cast<std::size_t>(*priority)]);
        if (!out.is_reached[c])
          row->fail("pfc_enable",
                    fmt::format("priority {}, whose queue {}{} no {} leads to", *priority, c,
                                queue_map.row == nullptr
                                    ? ""
                                    : fmt::format(" ({}|{})", queue_map.row->table(), queue_map.row->key()),
                                out.trust_pcp ? "PCP" : "DSCP"),
                    fmt::format("priorities of queues that carry packets: {}", reached(out)));
        if (const auto pg = group.find(static_cast<int>(*priority));
            pg != group.end() && pg->second != out.group_of_class[c])
          // Where the map is named: at the port, or for all of them.
          says(i, "pfc_to_pg_map")
              ->fail("pfc_to_pg_map", fmt::format("priority group {} for priority {}", pg->second, *priority),
                     fmt::format("{}, where tc_to_pg_map puts the packets of queue {}", out.group_of_class[c], c));
        out.has_pfc[i][c] = true;
        out.pfc_sources[i].row = row;
        out.pfc_sources[i].priority[c] = static_cast<int>(*priority);
      }
      if (const std::string* const watched = row->find("pfcwd_sw_enable");
          watched != nullptr && (enabled == nullptr || *watched != *enabled))
        row->leave("pfcwd_sw_enable", "the watchdog watches all lossless classes");
    }
  }

  static std::string reached(const ClassMaps& maps) {
    std::vector<std::size_t> out;
    for (std::size_t c = 0; c < kClasses; ++c)
      if (maps.is_reached[c]) out.push_back(c);
    return fmt::format("{}", fmt::join(out, ", "));
  }

  const ConfigDb& db_;
  const std::vector<PortConfig>& ports_;
  const Row* global_ = nullptr;
  std::vector<const Row*> rows_;  // by port
};

}  // namespace

ClassMaps read_maps(const ConfigDb& db, const std::vector<PortConfig>& ports) { return MapReader(db, ports).read(); }

}  // namespace railyard::importing
