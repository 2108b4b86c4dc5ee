// SONiC's config_db.json as tables of rows, which remember what of them was read.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace railyard::importing {

// One object of a table: "BUFFER_POOL|ingress_lossless_pool". Whoever reads a field has understood it, unless he gives
// a reason why it is left out.
class Row {
 public:
  Row(const std::string* file, std::string table, std::string key)
      : file_(file), table_(std::move(table)), key_(std::move(key)) {}

  const std::string& table() const noexcept { return table_; }
  const std::string& key() const noexcept { return key_; }

  struct Field {
    std::string name;
    std::string value;  // lists are joined by commas
    mutable bool read = false;
    mutable std::string why_left;  // a reason counts more than `read`
  };
  const std::vector<Field>& fields() const noexcept { return fields_; }
  void add(std::string name, std::string value) {
    fields_.push_back({.name = std::move(name), .value = std::move(value), .read = false, .why_left = {}});
  }

  // The value, if the row has the field.
  const std::string* find(std::string_view field) const;
  // The same without brackets and table: old versions write "[BUFFER_POOL|name]" for "name". Nothing for "NULL" and "".
  std::optional<std::string> reference(std::string_view field) const;
  // Throws SpecError if it is not a whole number from `least` to `most`.
  std::optional<std::int64_t> integer(std::string_view field, std::int64_t least, std::int64_t most) const;
  // Of the field, if the row has it: it has no effect on the fabric file.
  void leave(std::string_view field, const std::string& why) const;

  // Throws SpecError: "FILE: TABLE|key: field: found ..., expected ...". An empty field stands for the whole row.
  [[noreturn]] void fail(std::string_view field, std::string_view found, std::string_view expected) const;

 private:
  const std::string* file_;
  std::string table_;
  std::string key_;
  std::vector<Field> fields_;
};

class ConfigDb {
 public:
  // Throws SpecError for what is not JSON, has a key twice, or has none of the tables that describe ports and QoS.
  ConfigDb(const std::string& text, const std::string& file);
  ConfigDb(const ConfigDb&) = delete;  // rows point at the name of the file
  ConfigDb& operator=(const ConfigDb&) = delete;

  // In the order of the file; empty without the table.
  const std::deque<Row>& table(std::string_view name) const;
  const Row* find(std::string_view table, std::string_view key) const;
  // The row that a field names. Throws SpecError if there is none.
  const Row& named(const Row& from, std::string_view field, std::string_view table, const std::string& key) const;

  // Everything that nobody has read, or that has a reason: "BGP_NEIGHBOR|10.0.0.1: asn, name", one line for rows that
  // are alike. Also what is no table at all.
  std::vector<std::string> left_out() const;

  [[noreturn]] void fail(const std::string& what) const;

 private:
  std::string file_;
  std::vector<std::string> order_;
  std::map<std::string, std::deque<Row>, std::less<>> tables_;
  std::vector<std::string> no_tables_;
};

// "Ethernet0,Ethernet4|3-4" as the ports and the numbers that it stands for: [("Ethernet0", 3), ("Ethernet0", 4), ...].
// Throws SpecError unless the numbers are from 0 to `most`.
std::vector<std::pair<std::string, int>> ports_and_numbers(const Row& row, int most);
// "Ethernet0,Ethernet4" as names.
std::vector<std::string> split(std::string_view list, char separator = ',');
// A whole number and nothing else.
std::optional<std::int64_t> whole_number(std::string_view text);

}  // namespace railyard::importing
