#include "control/jobs/write_goal.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace railyard::jobs {
namespace {

using Kind = Operation::Kind;

bool is_word(const std::string& text) {
  return !text.empty() && text != "calc" && text != "send" && text != "recv" && text != "rank" &&
         std::ranges::all_of(text, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '-'; });
}

// By operation: its label; empty: it needs none.
std::vector<std::string> labels_of(const JobGraph& graph, const std::vector<Operation>& own) {
  std::vector<bool> needed(own.size());
  for (std::size_t i = 0; i < own.size(); ++i) {
    needed[i] = needed[i] || !own[i].after.empty() || !own[i].with.empty();
    for (const auto* list : {&own[i].after, &own[i].with})
      for (const std::uint32_t before : *list) needed[before] = true;
  }
  std::map<std::uint32_t, std::size_t> times;
  for (const Operation& o : own) ++times[o.label];
  std::vector<std::string> labels(own.size());
  std::set<std::string> taken;
  for (std::size_t i = 0; i < own.size(); ++i)
    if (const std::string& label = graph.labels[own[i].label]; is_word(label) && times[own[i].label] == 1) {
      labels[i] = label;
      taken.insert(label);
    }
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (!labels[i].empty() || !needed[i]) continue;
    labels[i] = fmt::format("o{}", i);
    while (!taken.insert(labels[i]).second) labels[i] += '_';
  }
  return labels;
}

std::int64_t whole_nanoseconds(Duration time) { return (time.ps + 500) / 1000; }

}  // namespace

std::string write_goal(const JobGraph& graph) {
  std::string text = fmt::format("num_ranks {}\n", graph.ranks.size());
  const auto out = std::back_inserter(text);
  for (std::size_t r = 0; r < graph.ranks.size(); ++r) {
    const std::vector<Operation>& own = graph.ranks[r];
    const std::vector<std::string> labels = labels_of(graph, own);
    fmt::format_to(out, "\nrank {} {{\n", r);
    for (std::size_t i = 0; i < own.size(); ++i) {
      const Operation& o = own[i];
      if (!labels[i].empty()) fmt::format_to(out, "{}: ", labels[i]);
      if (o.kind == Kind::kCompute)
        fmt::format_to(out, "calc {}", whole_nanoseconds(o.time));
      else
        fmt::format_to(out, "{} {}b {} {}", o.kind == Kind::kSend ? "send" : "recv", o.octets, o.kind == Kind::kSend ? "to" : "from", o.peer);
      if (o.kind != Kind::kCompute && o.tag != 0) fmt::format_to(out, " tag {}", o.tag);
      if (o.kind == Kind::kCompute && o.stream != 0) fmt::format_to(out, " cpu {}", o.stream);
      text += '\n';
    }
    for (std::size_t i = 0; i < own.size(); ++i) {
      for (const std::uint32_t before : own[i].after) fmt::format_to(out, "{} requires {}\n", labels[i], labels[before]);
      for (const std::uint32_t with : own[i].with) fmt::format_to(out, "{} irequires {}\n", labels[i], labels[with]);
    }
    text += "}\n";
  }
  return text;
}

}  // namespace railyard::jobs
