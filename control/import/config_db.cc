#include "control/import/config_db.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "control/base/json_text.h"
#include "control/base/short_quote.h"
#include "control/spec/spec_error.h"

namespace railyard::importing {
namespace {

using Json = nlohmann::ordered_json;

// Without any of them there is nothing to import.
constexpr std::string_view kKnown[] = {"PORT",           "BUFFER_POOL",     "BUFFER_PROFILE",  "BUFFER_PG",
                                       "BUFFER_QUEUE",   "WRED_PROFILE",    "QUEUE",           "PORT_QOS_MAP",
                                       "DSCP_TO_TC_MAP", "TC_TO_QUEUE_MAP", "DEVICE_METADATA", "SCHEDULER"};

// What the library says, from the place on: "line 3, column 5: ...".
std::string place_in(const std::string& message) {
  const std::size_t at = message.find("parse error at ");
  return at == std::string::npos ? message : message.substr(at + 15);
}

Json parse_json(const std::string& text, const std::string& file) {
  if (is_nested_too_deeply(text))
    throw spec::SpecError({},
                          fmt::format("{}: found JSON that nests too deeply, expected SONiC's config_db.json", file));
  std::vector<std::set<std::string>> keys;
  std::optional<std::string> twice;
  const auto watch = [&](int, Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::object_start) keys.emplace_back();
    if (event == Json::parse_event_t::object_end && !keys.empty()) keys.pop_back();
    if (event == Json::parse_event_t::key && !keys.empty() && !keys.back().insert(parsed.get<std::string>()).second &&
        !twice)
      twice = parsed.get<std::string>();
    return true;
  };
  try {
    Json out = Json::parse(text, watch);
    if (twice)
      throw spec::SpecError({},
                            fmt::format("{}: found the key '{}' twice in one object, expected it once", file, *twice));
    return out;
  } catch (const Json::parse_error& e) {
    throw spec::SpecError({}, fmt::format("{}: found no JSON ({}), expected SONiC's config_db.json", file,
                                          printable(place_in(e.what()))));
  }
}

std::string as_text(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_array()) return json_text(value);
  std::string out;
  for (const Json& item : value) out += (out.empty() ? "" : ",") + as_text(item);
  return out;
}

// "Ethernet0, Ethernet4"; of many, the first two and the last.
std::string few(const std::vector<std::string>& keys) {
  if (keys.size() <= 4) return fmt::format("{}", fmt::join(keys, ", "));
  return fmt::format("{}, {} .. {} ({} keys)", keys[0], keys[1], keys.back(), keys.size());
}

}  // namespace

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return out;
}

std::vector<std::string> split(std::string_view list, char separator) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t end = std::min(list.find(separator, at), list.size());
    std::string_view part = list.substr(at, end - at);
    while (part.starts_with(' ')) part.remove_prefix(1);
    while (part.ends_with(' ')) part.remove_suffix(1);
    if (!part.empty()) out.emplace_back(part);
    at = end + 1;
  }
  return out;
}

const std::string* Row::find(std::string_view field) const {
  for (const Field& f : fields_)
    if (f.name == field) {
      f.read = true;
      return &f.value;
    }
  return nullptr;
}

std::optional<std::string> Row::reference(std::string_view field) const {
  const std::string* const value = find(field);
  if (value == nullptr || value->empty() || *value == "NULL" || *value == "[]") return std::nullopt;
  if (!value->starts_with('[') || !value->ends_with(']')) return *value;
  const std::string inside = value->substr(1, value->size() - 2);
  const std::size_t bar = inside.find('|');
  if (bar == std::string::npos || bar + 1 == inside.size())
    fail(field, fmt::format("'{}'", *value), "a name, or [TABLE|name]");
  return inside.substr(bar + 1);
}

std::optional<std::int64_t> Row::integer(std::string_view field, std::int64_t least, std::int64_t most) const {
  const std::string* const value = find(field);
  if (value == nullptr) return std::nullopt;
  const std::optional<std::int64_t> number = whole_number(*value);
  if (!number || *number < least || *number > most)
    fail(field, fmt::format("'{}'", *value), fmt::format("a whole number, {}..{}", least, most));
  return number;
}

void Row::leave(std::string_view field, const std::string& why) const {
  for (const Field& f : fields_)
    if (f.name == field) f.why_left = why;
}

void Row::fail(std::string_view field, std::string_view found, std::string_view expected) const {
  throw spec::SpecError({}, fmt::format("{}: {}|{}: {}{}found {}, expected {}", *file_, table_, key_, field,
                                        field.empty() ? "" : ": ", found, expected));
}

ConfigDb::ConfigDb(const std::string& text, const std::string& file) : file_(file) {
  const Json json = parse_json(text, file);
  if (!json.is_object())
    fail(fmt::format("found {}, expected an object of tables: SONiC's config_db.json", json.type_name()));
  for (const auto& [table, rows] : json.items()) {
    if (!rows.is_object()) {
      if (std::ranges::find(kKnown, table) != std::end(kKnown))
        fail(fmt::format("{}: found {}, expected an object of rows", table, rows.type_name()));
      no_tables_.push_back(table);
      continue;
    }
    order_.push_back(table);
    std::deque<Row>& into = tables_[table];
    for (const auto& [key, fields] : rows.items()) {
      Row& row = into.emplace_back(&file_, table, key);
      if (!fields.is_object()) row.fail("", fields.type_name(), "an object of fields");
      for (const auto& [name, value] : fields.items()) row.add(name, as_text(value));
    }
  }
  const auto is_there = [&](std::string_view name) { return tables_.contains(name); };
  if (std::ranges::none_of(kKnown, is_there)) {
    std::vector<std::string> keys = order_;
    keys.insert(keys.end(), no_tables_.begin(), no_tables_.end());
    if (keys.size() > 4) keys.resize(4);
    fail(fmt::format("found JSON {}, expected SONiC's tables: PORT, PORT_QOS_MAP, BUFFER_PROFILE, ...",
                     keys.empty() ? "without keys" : fmt::format("with the keys {}", fmt::join(keys, ", "))));
  }
}

const std::deque<Row>& ConfigDb::table(std::string_view name) const {
  static const std::deque<Row> none;
  const auto found = tables_.find(name);
  return found == tables_.end() ? none : found->second;
}

const Row* ConfigDb::find(std::string_view table_name, std::string_view key) const {
  for (const Row& row : table(table_name))
    if (row.key() == key) return &row;
  return nullptr;
}

const Row& ConfigDb::named(const Row& from, std::string_view field, std::string_view table_name,
                           const std::string& key) const {
  if (const Row* row = find(table_name, key)) return *row;
  std::vector<std::string> known;
  for (const Row& row : table(table_name)) known.push_back(row.key());
  from.fail(field, fmt::format("'{}'", key),
            known.empty() ? fmt::format("a name in {}, which is missing or empty", table_name)
                          : fmt::format("a name in {}: {}", table_name, few(known)));
}

std::vector<std::string> ConfigDb::left_out() const {
  std::vector<std::string> out;
  for (const std::string& name : no_tables_) out.push_back(name + ": no table");
  for (const std::string& name : order_) {
    // Rows with the same fields for the same reasons, in the order of their first one.
    std::vector<std::pair<std::string, std::vector<std::string>>> alike;
    for (const Row& row : tables_.find(name)->second) {
      std::vector<std::pair<std::string, std::string>> by_reason;
      for (const Row::Field& f : row.fields()) {
        if (f.read && f.why_left.empty()) continue;
        const auto same = std::ranges::find(by_reason, f.why_left, &std::pair<std::string, std::string>::first);
        if (same == by_reason.end())
          by_reason.emplace_back(f.why_left, f.name);
        else
          same->second += ", " + f.name;
      }
      if (row.fields().empty()) by_reason.emplace_back("", "no fields");
      for (const auto& [why, fields] : by_reason) {
        const std::string what = why.empty() ? fields : fmt::format("{} ({})", fields, why);
        const auto same = std::ranges::find(alike, what, &std::pair<std::string, std::vector<std::string>>::first);
        if (same == alike.end())
          alike.emplace_back(what, std::vector{row.key()});
        else
          same->second.push_back(row.key());
      }
    }
    if (tables_.find(name)->second.empty()) out.push_back(name + ": no keys");
    for (const auto& [what, keys] : alike) out.push_back(printable(fmt::format("{}|{}: {}", name, few(keys), what)));
  }
  return out;
}

void ConfigDb::fail(const std::string& what) const { throw spec::SpecError({}, fmt::format("{}: {}", file_, what)); }

std::vector<std::pair<std::string, int>> ports_and_numbers(const Row& row, int most) {
  const std::size_t bar = row.key().rfind('|');
  const std::string expected = fmt::format("PORT|N or PORT|N-M, N and M from 0 to {}", most);
  if (bar == std::string::npos) row.fail("", "a key without numbers", expected);
  const std::string numbers = row.key().substr(bar + 1);
  const std::size_t dash = numbers.find('-');
  const std::optional<std::int64_t> first = whole_number(numbers.substr(0, dash));
  const std::optional<std::int64_t> last = dash == std::string::npos ? first : whole_number(numbers.substr(dash + 1));
  if (!first || !last || *first < 0 || *last > most || *first > *last)
    row.fail("", fmt::format("the numbers '{}'", numbers), expected);
  std::vector<std::pair<std::string, int>> out;
  for (const std::string& port : split(row.key().substr(0, bar)))
    for (std::int64_t n = *first; n <= *last; ++n) out.emplace_back(port, static_cast<int>(n));
  return out;
}

}  // namespace railyard::importing
