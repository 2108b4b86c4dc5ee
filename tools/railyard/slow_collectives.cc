#include "tools/railyard/slow_collectives.h"

#include <algorithm>
#include <array>
#include <exception>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "control/lint/facts.h"
#include "control/lint/rule.h"
#include "control/spec/load.h"

namespace railyard::tools {
namespace {

// Rules whose findings cost collectives bandwidth.
constexpr std::array<std::string_view, 4> kRules{"ranks-without-scale-up", "rails-unused", "nic-above-pcie", "path-slower-than-nics"};

// What they find in `lab` that may concern these collectives: at their own keys, or at those of all.
std::string findings_text(build::BuiltLab& lab, const spec::Tree& document, const std::set<std::string>& slow) {
  const lint::Facts facts(lab);
  std::vector<lint::Finding> all;
  lint::Findings findings(document, all);
  for (const lint::Rule& rule : lint::rules()) {
    if (std::ranges::find(kRules, rule.name) == kRules.end()) continue;
    findings.begin(rule.name, rule.severity);
    rule.find(facts, findings);
  }
  std::vector<std::string> others;
  for (std::size_t i = 0; i < lab.spec().collectives.size(); ++i)
    if (!slow.contains(lab.spec().collectives[i].name)) others.push_back(lint::Facts::collective_path(lab.spec(), i) + ".");
  std::string text;
  for (const lint::Finding& f : all)
    if (std::ranges::none_of(others, [&](const std::string& path) { return f.path.starts_with(path); }))
      text += lint::to_string(f) + "\n";
  return text.empty() ? "" : "\nBelow half of the limit, and `railyard check` says:\n" + text;
}

}  // namespace

std::string slow_collectives_text(build::BuiltLab& lab, const std::string& file, const std::vector<std::string>& sets,
                                  std::span<const report::CollectiveReport> collectives) {
  std::set<std::string> slow;
  for (const report::CollectiveReport& c : collectives)
    if (c.share_of_limit().value_or(1) < kSlowCollective) slow.insert(c.name);
  if (slow.empty()) return "";
  try {
    return findings_text(lab, spec::load_with_document(file, sets).document, slow);
  } catch (const std::exception&) {
    return "";  // a pipe, which can be read only once
  }
}

std::string slow_estimates_text(const std::string& file, const std::vector<std::string>& sets,
                                std::span<const estimate::CollectiveEstimate> estimates) {
  std::set<std::string> slow;
  for (const estimate::CollectiveEstimate& e : estimates)
    if (e.busbw_bps < kSlowCollective * e.limit_bps) slow.insert(e.name);
  if (slow.empty()) return "";
  try {
    spec::LabAndDocument loaded = spec::load_with_document(file, sets);
    build::BuiltLab lab(std::move(loaded.lab), build::Outputs::kLeaveAlone);
    return findings_text(lab, loaded.document, slow);
  } catch (const std::exception&) {
    return "";  // a pipe, which can be read only once, or a lab that is too large to be built
  }
}

}  // namespace railyard::tools
