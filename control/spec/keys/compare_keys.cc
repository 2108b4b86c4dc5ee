// The keys of a comparison of transports.
#include <optional>
#include <string>

#include "control/spec/column.h"
#include "control/spec/keys/keys.h"

namespace railyard::spec {
namespace {

Form<std::string> column_form() {
  return checked<std::string>(any_text(), [](const std::string& text) -> std::optional<std::string> {
    if (const Parsed<Column> column = parse_column(text); !column) return column.error();
    return std::nullopt;
  });
}

}  // namespace

const Table<CompareSpec>& compare_keys() {
  static const Table<CompareSpec> table{
      "compare",
      "How railyard compare-transports runs this lab, unless its command line says otherwise",
      {key("columns", &CompareSpec::columns, one_or_list_of(column_form()),
           "what is run side by side: words such as roce/gbn/ecmp/pfc or uet/rud/spray/trim, and settings behind them"),
       key("over", &CompareSpec::over, one_or_list_of(any_text()),
           "a key and its values, e.g. topology.spines=2,4: the comparison is made with each"),
       key("seeds", &CompareSpec::seeds, any_text(), "each run with each of these, e.g. 1-5; figures are medians"),
       key("metrics", &CompareSpec::metrics, one_or_list_of(any_text()),
           "figures of a report's summary, or JSON pointers into it; -NAME or +NAME: lower or higher is better")}};
  return table;
}

}  // namespace railyard::spec
