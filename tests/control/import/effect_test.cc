// A field of the shipped sample that is not listed as left out has an effect: another value changes the fabric file, or
// is refused.
#include <set>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "control/import/sonic_switch.h"
#include "control/spec/spec_error.h"
#include "tests/control/import/sample.h"

namespace railyard::importing {
namespace {

// What is understood and changes nothing here.
bool is_idle(const Row& row, const std::string& field) {
  static const std::set<std::pair<std::string, std::string>> idle{
      {"BUFFER_POOL", "mode"},                // a threshold says itself which it is
      {"BUFFER_POOL", "type"},                // of the largest egress pool only
      {"WRED_PROFILE", "wred_green_enable"},  // as long as packets are marked
  };
  if (row.key() == "egress_lossless_profile" && field == "static_th") return true;  // listed: a lossless queue has no limit
  if (row.table() == "PORT_QOS_MAP" && row.key() == "global") return true;              // each port says the same
  if (row.table() == "MAP_PFC_PRIORITY_TO_QUEUE") return field != "3" && field != "4";  // without PFC
  return idle.contains({row.table(), field});
}

// One of many ports is enough: the first, and the first of the uplinks.
bool is_tried(const Row& row) {
  const std::size_t at = row.key().find("Ethernet");
  if (at == std::string::npos) return true;
  const std::string port = row.key().substr(at, row.key().find('|', at) - at);
  return port == "Ethernet0" || port == "Ethernet128";
}

std::string changed(const std::string& value) {
  const std::optional<std::int64_t> number = whole_number(value);
  return number ? std::to_string(*number + 1) : value + "x";
}

TEST(SonicFields, WhatIsNotListedHasAnEffect) {
  const SampleJson config = sample();
  const std::string text = imported(config);
  const ConfigDb db(config.dump(), "config_db.json");
  read_switch(db, {});
  int tried = 0;
  for (const auto& [table, rows] : config.items())
    for (const Row& row : db.table(table))
      for (const Row::Field& field : row.fields()) {
        if (!is_tried(row) || !field.read || !field.why_left.empty() || is_idle(row, field.name)) continue;
        SampleJson other = config;
        other[table][row.key()][field.name] = changed(field.value);
        ++tried;
        try {
          EXPECT_NE(imported(other), text) << row.table() << "|" << row.key() << ": " << field.name;
        } catch (const spec::SpecError&) {
          // refused: it was looked at
        }
      }
  EXPECT_GT(tried, 150);
}

}  // namespace
}  // namespace railyard::importing
