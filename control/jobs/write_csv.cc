#include "control/jobs/write_csv.h"

#include <algorithm>
#include <iterator>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace railyard::jobs {
namespace {

using Kind = Operation::Kind;

std::string field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == text.npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

}  // namespace

std::string write_csv(const JobGraph& graph) {
  std::string text = "rank,operation,kind,label,peer,tag,bytes,time_ns,stream,ranks,collective,after,with\n";
  const auto out = std::back_inserter(text);
  for (std::size_t r = 0; r < graph.ranks.size(); ++r)
    for (std::size_t i = 0; i < graph.ranks[r].size(); ++i) {
      const Operation& o = graph.ranks[r][i];
      const std::string label = field(graph.labels[o.label]);
      switch (o.kind) {
        case Kind::kCompute:
          fmt::format_to(out, "{},{},compute,{},,,,{}.{:03},{},,", r, i, label, o.time.ps / 1000, o.time.ps % 1000, o.stream);
          break;
        case Kind::kSend:
        case Kind::kReceive:
          fmt::format_to(out, "{},{},{},{},{},{},{},,,,", r, i, o.kind == Kind::kSend ? "send" : "receive", label, o.peer, o.tag, o.octets);
          break;
        case Kind::kCollective: {
          const Collective& c = graph.collectives[o.collective];
          fmt::format_to(out, "{},{},{},{},,,{},,,{},{}", r, i, name(c.operation), label, c.octets,
                         fmt::join(graph.communicators[c.communicator], " "), o.collective);
          break;
        }
      }
      fmt::format_to(out, ",{},{}\n", fmt::join(o.after, " "), fmt::join(o.with, " "));
    }
  return text;
}

}  // namespace railyard::jobs
