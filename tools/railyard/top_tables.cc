#include "tools/railyard/top_tables.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "control/report/units.h"

namespace railyard::tools {
namespace {

using nlohmann::json;
using Row = TopTable::Row;

double number_in(const json& of, const char* key) {
  const auto found = of.find(key);
  return found != of.end() && found->is_number() ? found->get<double>() : 0;
}
std::string text_in(const json& of, const char* key) {
  const auto found = of.find(key);
  return found != of.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::string size_cell(double octets) { return report::size_text(static_cast<std::uint64_t>(std::max(0.0, octets))); }
std::string count_cell(double n) { return report::count_text(static_cast<std::uint64_t>(std::max(0.0, n))); }
std::string share_cell(double part) { return fmt::format("{:.1f} %", 100 * part); }

// Puts cells and what they are sorted by together.
class Cells {
 public:
  Cells& text(std::string t) {
    row_.cells.push_back(std::move(t));
    row_.keys.push_back(0);
    return *this;
  }
  Cells& value(double key, std::string shown) {
    row_.cells.push_back(std::move(shown));
    row_.keys.push_back(key);
    return *this;
  }
  Cells& rate(double bps) { return value(bps, report::rate_text(bps)); }
  Cells& size(double octets) { return value(octets, size_cell(octets)); }
  Cells& count(double n) { return value(n, count_cell(n)); }
  Cells& share(double part) { return value(part, share_cell(part)); }
  Row done(bool is_bad = false) {
    row_.is_bad = is_bad;
    return std::move(row_);
  }

 private:
  Row row_;
};

std::string port_name(const json& p) {
  return fmt::format("{}:{}", text_in(p, "node"), static_cast<int>(number_in(p, "port")));
}

// Each port with what it was before, which may be nothing.
template <class See>
void each_port(const TopSample& before, const TopSample& now, See&& see) {
  static const json kNothing = json::object();
  std::map<std::string, const json*> old;
  if (before.status.is_object())
    for (const json& p : before.status["ports"]) old[port_name(p)] = &p;
  for (const json& p : now.status["ports"]) {
    if (text_in(p, "peer").empty()) continue;
    const auto was = old.find(port_name(p));
    see(p, was == old.end() ? kNothing : *was->second);
  }
}

double simulated(const TopSample& s) {
  return s.status.is_object() ? number_in(s.status["engine"], "modelled_seconds") : 0;
}

double drops_of(const json& port) {
  double sum = number_in(port, "lost_on_link");
  if (port.contains("drops"))
    for (const auto& [reason, n] : port["drops"].items()) sum += n.get<double>();
  return sum;
}

double octets_in(const json& port, const char* direction) {
  return port.contains(direction) ? number_in(port[direction], "bytes") : 0;
}

TopTable links(const TopSample& before, const TopSample& now) {
  TopTable t{{"port", "to", "state", "link", "sent", "received", "use", "queued", "drops/s"}, 3, 6, {}};
  const double passed = simulated(now) - simulated(before);
  const auto rate = [&](double more) { return passed > 0 ? std::max(0.0, more) / passed : 0; };
  each_port(before, now, [&](const json& p, const json& was) {
    const bool up = p["up"].get<bool>();
    const double link = number_in(p, "rate_bps");
    const double sent = rate(octets_in(p, "tx") - octets_in(was, "tx")) * 8;
    t.rows.push_back(Cells()
                         .text(port_name(p))
                         .text(text_in(p, "peer"))
                         .text(up ? "up" : "DOWN")
                         .rate(link)
                         .rate(sent)
                         .rate(rate(octets_in(p, "rx") - octets_in(was, "rx")) * 8)
                         .share(link > 0 ? std::min(1.0, sent / link) : 0)
                         .size(number_in(p, "depth_bytes"))
                         .count(rate(drops_of(p) - drops_of(was)))
                         .done(!up));
  });
  return t;
}

TopTable queues(const TopSample& before, const TopSample& now) {
  TopTable t{{"port", "class", "queued", "deepest", "marks/s", "drops/s", "paused", "paused in all"}, 2, 2, {}};
  const double passed = simulated(now) - simulated(before);
  each_port(before, now, [&](const json& p, const json& was) {
    for (const json& q : p.value("queues", json::array())) {
      json old = json::object();
      for (const json& o : was.value("queues", json::array()))
        if (o["class"] == q["class"]) old = o;
      const auto more = [&](const char* key) {
        return passed > 0 ? std::max(0.0, number_in(q, key) - number_in(old, key)) / passed : 0;
      };
      const double drops = more("dropped");
      t.rows.push_back(Cells()
                           .text(port_name(p))
                           .text(fmt::format("{}", static_cast<int>(number_in(q, "class"))))
                           .size(number_in(q, "depth_bytes"))
                           .size(number_in(q, "max_depth_bytes"))
                           .count(more("ecn_marked"))
                           .count(drops)
                           .share(std::min(1.0, more("paused_seconds")))
                           .value(number_in(q, "paused_seconds"),
                                  report::nanoseconds_text(static_cast<std::uint64_t>(1e9 * number_in(q, "paused_seconds"))))
                           .done(drops > 0));
    }
  });
  return t;
}

TopTable flows(const TopSample& before, const TopSample& now) {
  TopTable t{{"flow", "from", "to", "state", "goodput", "delivered", "lost", "retransmitted"}, 4, 4, {}};
  if (!now.flows.is_object()) return t;
  std::map<std::string, double> old;
  if (before.flows.is_object())
    for (const json& f : before.flows["flows"]) old[text_in(f, "name")] = number_in(f, "delivered_bytes");
  const double passed = simulated(now) - simulated(before);
  for (const json& f : now.flows["flows"]) {
    const double delivered = number_in(f, "delivered_bytes");
    const auto was = old.find(text_in(f, "name"));
    const double more = was == old.end() || passed <= 0 ? 0 : std::max(0.0, delivered - was->second) / passed;
    const json transport = f.contains("roce") ? f["roce"] : f.contains("uet") ? f["uet"] : json::object();
    const bool failed = number_in(transport, "completion_errors") > 0;
    const bool done = f.contains("fct_ns") && f["fct_ns"].is_number();
    const std::string state = text_in(f, "state");
    t.rows.push_back(Cells()
                         .text(text_in(f, "name"))
                         .text(text_in(f, "source"))
                         .text(text_in(f, "destination"))
                         .text(!state.empty() ? state : failed ? "FAILED" : done ? "complete" : "active")
                         .rate(more * 8)
                         .size(delivered)
                         .count(number_in(f, "lost"))
                         .count(number_in(transport, "retransmitted_packets"))
                         .done(failed));
  }
  return t;
}

// Queues that are paused now, with what holds them back.
TopTable pauses(const TopSample& now) {
  TopTable t{{"waits", "for", "congestion root", "steps away"}, 3, 3, {}};
  if (!now.pauses.is_object()) return t;
  for (const json& tree : now.pauses.value("now", json::array())) {
    const std::string root = text_in(tree, "root");
    std::string above = root;
    double steps = 0;
    for (const json& level : tree["levels"]) {
      ++steps;
      for (const json& queue : level)
        t.rows.push_back(Cells().text(queue.get<std::string>()).text(above).text(root).count(steps).done());
      above = fmt::format("{} queues", level.size());
    }
  }
  for (const json& d : now.pauses.value("deadlocks", json::array())) {
    if (!d["resolved_ns"].is_null()) continue;
    for (const json& queue : d["ring"])
      t.rows.push_back(Cells().text(queue.get<std::string>()).text("the next in a circle").text("DEADLOCK").count(0).done(true));
  }
  return t;
}

TopTable collectives(const TopSample& now) {
  TopTable t{{"collective", "operation", "state", "repeats", "median", "busbw", "of the limit"}, 3, 5, {}};
  if (!now.collectives.is_object()) return t;
  for (const json& c : now.collectives.value("collectives", json::array())) {
    const std::string stalled = text_in(c, "stalled");
    const bool done = c.value("completed", false);
    const double busbw = number_in(c, "busbw_bps");
    const double limit = number_in(c, "limit_bps");
    double repeats = 0;
    for (const json& i : c.value("iterations", json::array())) repeats += i.contains("time_ns") && i["time_ns"].is_number() ? 1 : 0;
    t.rows.push_back(Cells()
                         .text(text_in(c, "name"))
                         .text(text_in(c, "collective"))
                         .text(done ? "complete" : "running")
                         .count(repeats)
                         .value(number_in(c, "median_ns"), report::nanoseconds_text(static_cast<std::uint64_t>(number_in(c, "median_ns"))))
                         .rate(busbw)
                         .share(limit > 0 ? std::min(1.0, busbw / limit) : 0)
                         .done());
  }
  return t;
}

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

// As wide as their widest cell, two apart.
std::vector<std::size_t> widths_of(const TopTable& t) {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < t.columns.size(); ++c) {
    std::size_t width = t.columns[c].size() + 1;  // and the mark of what is sorted by
    for (const Row& r : t.rows) width = std::max(width, r.cells[c].size());
    widths.push_back(width);
  }
  return widths;
}

template <class Cell>
std::string line(const TopTable& t, const std::vector<std::size_t>& widths, std::size_t width, Cell cell) {
  std::string out;
  for (std::size_t c = 0; c < t.columns.size(); ++c) {
    if (c > 0) out += "  ";
    out += c < t.texts ? fmt::format("{:<{}}", cell(c), widths[c]) : fmt::format("{:>{}}", cell(c), widths[c]);
  }
  return out.substr(0, width);
}

}  // namespace

TopTable top_table(TopView view, const TopSample& before, const TopSample& now) {
  switch (view) {
    case TopView::kLinks:
      return links(before, now);
    case TopView::kQueues:
      return queues(before, now);
    case TopView::kFlows:
      return flows(before, now);
    case TopView::kPauses:
      return pauses(now);
    case TopView::kCollectives:
      return collectives(now);
  }
  return {};
}

void sort_and_filter(TopTable& t, const std::string& filter, std::size_t column, bool reversed) {
  const std::string wanted = lower(filter);
  std::erase_if(t.rows, [&](const Row& r) {
    return std::ranges::none_of(r.cells, [&](const std::string& cell) { return lower(cell).find(wanted) != cell.npos; });
  });
  std::ranges::stable_sort(t.rows, [&](const Row& a, const Row& b) {
    if (a.is_bad != b.is_bad) return a.is_bad;
    const Row& first = reversed ? b : a;
    const Row& second = reversed ? a : b;
    return column < t.texts ? first.cells[column] < second.cells[column] : first.keys[column] > second.keys[column];
  });
}

std::string heading_of(const TopTable& t, std::size_t column, std::size_t width) {
  return line(t, widths_of(t), width, [&](std::size_t c) { return c == column ? t.columns[c] + "*" : t.columns[c]; });
}

std::vector<std::string> lines_of(const TopTable& t, std::size_t width) {
  const std::vector<std::size_t> widths = widths_of(t);
  std::vector<std::string> out;
  for (const Row& r : t.rows) out.push_back(line(t, widths, width, [&](std::size_t c) -> const std::string& { return r.cells[c]; }));
  return out;
}

std::string top_line(const TopSample& before, const TopSample& now) {
  const json& s = now.status;
  const json& e = s["engine"];
  double wall = number_in(e, "wall_seconds");
  double busy = number_in(e, "busy_seconds");
  if (before.status.is_object() && number_in(before.status["engine"], "wall_seconds") < wall) {
    wall -= number_in(before.status["engine"], "wall_seconds");
    busy -= number_in(before.status["engine"], "busy_seconds");
  }
  return fmt::format("{}{}: {} switches, {} hosts, {} links; at {:.3f} s; engine busy {:.0f} %, p99 late {}", text_in(s, "name"),
                     s["held"].get<bool>() ? " (paused)" : "", s["size"]["switches"].get<int>(), s["size"]["hosts"].get<int>(),
                     s["size"]["links"].get<int>(), number_in(e, "modelled_seconds"), 100 * busy / std::max(wall, 1e-9),
                     report::nanoseconds_text(static_cast<std::uint64_t>(number_in(e["lateness_ns"], "p99"))));
}

}  // namespace railyard::tools
