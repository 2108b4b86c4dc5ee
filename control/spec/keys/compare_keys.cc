// The keys of a comparison of transports.
#include <optional>
#include <string>

#include "control/spec/column.h"
#include "control/spec/condition.h"
#include "control/spec/keys/keys.h"
#include "control/spec/search.h"

namespace railyard::spec {
namespace {

Form<std::string> column_form() {
  return checked<std::string>(any_text(), [](const std::string& text) -> std::optional<std::string> {
    if (const Parsed<Column> column = parse_column(text); !column) return column.error();
    return std::nullopt;
  });
}

// What `parse` says is wrong with a text.
template <class T>
Form<std::string> text_of(Parsed<T> (*parse)(std::string_view)) {
  return checked<std::string>(any_text(), [parse](const std::string& text) -> std::optional<std::string> {
    if (const Parsed<T> read = parse(text); !read) return read.error();
    return std::nullopt;
  });
}

Form<Ratio> resolution() {
  return checked<Ratio>(ratio(), [](const Ratio& r) -> std::optional<std::string> {
    if (r.numerator > 0 && r.numerator < r.denominator) return std::nullopt;
    return "expected a fraction of the range above 0, such as 1%";
  });
}

// The tests that compare transports: clause 6 of the draft.
Form<std::string> method() {
  return checked<std::string>(any_text(), [](const std::string& text) -> std::optional<std::string> {
    for (const char* known : {"T6.1", "T6.2", "T6.3", "T6.4", "T6.5a", "T6.5b", "T6.5c", "T6.6"})
      if (text == known) return std::nullopt;
    return "is not a test that compares transports; expected T6.1 to T6.4, T6.5a, T6.5b, T6.5c or T6.6";
  });
}

// What a search means, without one; a profile, without a test that it is of.
void check_compare(const Tree& map, const CompareSpec& c) {
  for (const char* key : {"until", "resolution"})
    if (const Tree* said = map.find(key); said != nullptr && c.search.empty()) said->fail("needs search");
  for (const char* key : {"profile", "deviations"})
    if (const Tree* said = map.find(key); said != nullptr && c.method.empty())
      said->fail("needs method (a test of the benchmark draft)");
}

}  // namespace

const Table<CompareSpec>& compare_keys() {
  static const Table<CompareSpec> table{
      "compare",
      "How railyard compare-transports runs this lab; command-line options override these keys",
      {key("columns", &CompareSpec::columns, one_or_list_of(column_form()),
           "transports to compare: words such as roce/gbn/ecmp/pfc or uet/rud/spray/trim, followed by settings"),
       key("over", &CompareSpec::over, one_or_list_of(any_text()),
           "a key and its values, e.g. topology.spines=2,4: repeat the comparison with each value"),
       key("seeds", &CompareSpec::seeds, any_text(),
           "seeds to run each column with, e.g. 1-5; the figures are medians"),
       key("metrics", &CompareSpec::metrics, one_or_list_of(any_text()),
           "figures of a report's summary, or JSON pointers into it; -NAME or +NAME: lower or higher is better"),
       key("search", &CompareSpec::search, text_of(parse_search),
           "for each column, find the value nearest to the second bound with which until holds, e.g. "
           "traffic.all.rate=1Gbps..100Gbps. All other figures are from the run with this value"),
       key("until", &CompareSpec::until, text_of(parse_condition),
           "search: terms such as drops=0, fct_p99<500us, joined by 'and'; default drops=0 and lost=0 and "
           "retransmitted=0 and accepted>=0.995"),
       key("resolution", &CompareSpec::resolution, resolution(),
           "search: resolution, as a fraction of the greater value"),
       key("method", &CompareSpec::method, method(),
           "test of the benchmark draft (draft-calabria-bmwg-ai-fabric-training-bench-04) that this comparison runs, "
           "e.g. T6.4. The output names the test and the standing of its result"),
       key("profile", &CompareSpec::profile,
           choice<MethodProfile>(
               {{"ci", MethodProfile::kCi}, {"lab", MethodProfile::kLab}, {"full", MethodProfile::kFull}}),
           "method: ci: smoke, not a draft result; lab: reduced; full: the draft's parameters"),
       key("deviations", &CompareSpec::deviations, one_or_list_of(any_text()),
           "method: deviations from the draft; the output prints each as a line")},
      check_compare};
  return table;
}

}  // namespace railyard::spec
