// What `railyard top` shows, as tables: made of the answers of the API, sorted and filtered, without a terminal.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace railyard::tools {

// What the API has said at one time. Of `flows`, `collectives` and `pauses` what was asked for; else null.
struct TopSample {
  nlohmann::json status;
  nlohmann::json flows;
  nlohmann::json collectives;
  nlohmann::json pauses;
  double at_seconds = 0;  // of a clock that only goes forward
};

enum class TopView { kLinks, kQueues, kFlows, kPauses, kCollectives };
inline constexpr std::array<std::string_view, 5> kTopViews{"links", "queues", "flows", "pauses", "collectives"};

struct TopTable {
  struct Row {
    std::vector<std::string> cells;  // by column
    std::vector<double> keys;        // by column: what it is sorted by; texts: 0
    bool is_bad = false;             // needs attention: a link that is down, a flow that failed
  };
  std::vector<std::string> columns;
  std::size_t texts = 1;         // the first so many columns are texts
  std::size_t sorted_first = 0;  // the column that is sorted by unless somebody says otherwise
  std::vector<Row> rows;
};

// Rates are of the time between the two; in simulated time, so that they are those of the fabric for any run.scale.
TopTable top_table(TopView view, const TopSample& before, const TopSample& now);

// Rows with `filter` in a cell (capital letters do not matter), the largest of `column` first; texts from A on;
// `reversed`: the other way round. Rows that need attention stay on top.
void sort_and_filter(TopTable& table, const std::string& filter, std::size_t column, bool reversed);

// The heading, which says by `*` what is sorted by, and the rows, `width` wide at most.
std::string heading_of(const TopTable& table, std::size_t column, std::size_t width);
std::vector<std::string> lines_of(const TopTable& table, std::size_t width);

// Name, time, load of the lab: one line.
std::string top_line(const TopSample& before, const TopSample& now);

}  // namespace railyard::tools
