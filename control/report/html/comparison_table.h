// Figures of several runs side by side: value, change and star in cells of their own, with a bar for each value.
#pragma once

#include <string>
#include <vector>

namespace railyard::report {

class ComparisonTable {
 public:
  struct Cell {
    std::string value;   // "88.2 us"; empty: "-"
    std::string change;  // "-3.0 %"
    bool best = false;
    double length = 0;  // of the bar, 0..1 of the row's largest
  };
  explicit ComparisonTable(std::vector<std::string> columns) : columns_(std::move(columns)) {}

  // As many cells as columns. All text is escaped here. `hint`: what the figure means.
  void row(const std::string& figure, const std::string& hint, const std::vector<Cell>& cells);
  bool empty() const noexcept { return body_.empty(); }
  std::string html() const;

 private:
  std::vector<std::string> columns_;
  std::string body_;
};

// What the page needs beside kStyle: on a phone each figure is a block with a line per column.
inline constexpr const char* kComparisonStyle = R"(
table.cmp { width: 100%; } table.cmp th, table.cmp td { white-space: normal; overflow-wrap: anywhere; }
table.cmp td, table.cmp tbody th { vertical-align: top; } table.cmp td.p, table.cmp td.s { padding-left: 0; }
table.cmp thead th { text-align: left; }
table.cmp td.p { color: var(--quiet); white-space: nowrap; } table.cmp td.s { color: var(--good); width: 1.4rem; }
table.cmp .len { height: .3rem; margin-top: .15rem; background: var(--band); }
table.cmp .len i { display: block; height: 100%; background: var(--c0); } table.cmp .best .len i { background: var(--c2); }
@media (max-width: 46rem) {
  table.cmp td.v { padding-right: .3rem; } table.cmp thead { display: none; } table.cmp, table.cmp tbody { display: block; }
  table.cmp tr { display: grid; grid-template-columns: minmax(0, 1fr) 4.2rem 1.6rem; border-bottom: 1px solid var(--edge); }
  table.cmp tbody th { grid-column: 1 / -1; position: static; max-width: none; } table.cmp td, table.cmp th { border: 0; }
  table.cmp td.v::before { content: attr(data-c); float: left; color: var(--quiet); max-width: calc(100% - 5rem);
    overflow-wrap: anywhere; text-align: left; }
  table.cmp .len { clear: both; }
}
)";

}  // namespace railyard::report
