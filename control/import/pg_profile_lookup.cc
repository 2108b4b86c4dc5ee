#include "control/import/pg_profile_lookup.h"

#include <algorithm>
#include <array>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "control/import/config_db.h"
#include "control/spec/spec_error.h"

namespace railyard::importing {
namespace {

constexpr std::array<const char*, 7> kLookupColumns{"speed", "cable", "size", "xon", "xoff", "threshold", "xon_offset"};
constexpr std::int64_t kMostPgOctets = std::int64_t{1} << 40;

}  // namespace

PgProfileLookup::PgProfileLookup(const std::string& text, std::string file) : file_(std::move(file)) {
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::vector<std::string> found;
    for (std::string word; words >> word;) found.push_back(word);
    if (found.empty()) continue;
    const auto fail = [&](const std::string& what) {
      throw spec::SpecError({}, fmt::format("{}:{}: {}", file_, number, what));
    };
    if (found.size() < 6 || found.size() > 7)
      fail(fmt::format("found {} columns, expected speed, cable, size, xon, xoff, threshold and perhaps xon_offset",
                       found.size()));
    const auto column = [&](std::size_t n, std::int64_t least, std::int64_t most) {
      const std::optional<std::int64_t> value = whole_number(found[n]);
      if (!value || *value < least || *value > most)
        fail(fmt::format("{}: found '{}', expected a whole number, {}..{}", kLookupColumns[n], found[n], least, most));
      return *value;
    };
    PgProfile row{.speed = column(0, 1, 10'000'000),
                  .cable = found[1],
                  .size = column(2, 0, kMostPgOctets),
                  .xon = column(3, 0, kMostPgOctets),
                  .xoff = column(4, 0, kMostPgOctets),
                  .threshold = static_cast<int>(column(5, -8, 7)),
                  .xon_offset = {}};
    if (!row.cable.ends_with('m') || !whole_number(row.cable.substr(0, row.cable.size() - 1)))
      fail(fmt::format("cable: found '{}', expected a length such as 5m", row.cable));
    if (found.size() == 7) row.xon_offset = column(6, 0, kMostPgOctets);
    if (std::ranges::any_of(rows_, [&](const PgProfile& r) { return r.speed == row.speed && r.cable == row.cable; }))
      fail(fmt::format("found a duplicate of {} and {}, expected one line for both", row.speed, row.cable));
    rows_.push_back(row);
  }
  if (rows_.empty())
    throw spec::SpecError({},
                          fmt::format("{}: found no rows, expected speed, cable, size, xon, xoff, threshold", file_));
}

const PgProfile* PgProfileLookup::find(std::int64_t speed, const std::string& cable) const {
  for (const PgProfile& row : rows_)
    if (row.speed == speed && row.cable == cable) {
      was_read_ = true;
      return &row;
    }
  return nullptr;
}

}  // namespace railyard::importing
