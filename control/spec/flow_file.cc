#include "control/spec/flow_file.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "control/spec/load.h"
#include "control/spec/spec_error.h"
#include "control/spec/suggest.h"
#include "control/spec/text_lines.h"
#include "control/spec/value.h"

namespace railyard::spec {
namespace {

constexpr std::size_t kMostListed = std::size_t{1} << 20;

constexpr Bytes kLargest{std::int64_t{1} << 50};
constexpr Duration kLatest{std::int64_t{100'000} * kPicosecondsPerSecond};

// ---- CSV -----------------------------------------------------------------------------------------------------------

PortName nic_named(const Lab& lab, const Lines& lines, std::string_view text, const char* column) {
  PortName name{std::string(text.substr(0, text.find(':'))), 1};
  if (text.find(':') != text.npos) {
    const auto parsed = parse_port_name(text);
    if (!parsed) lines.fail(fmt::format("{}: {}", column, parsed.error()));
    name = *parsed;
  }
  const NodeSpec* node = lab.find(name.node);
  if (node == nullptr || node->kind != NodeSpec::Kind::kHost) {
    std::vector<std::string> hosts;
    for (const NodeSpec& n : lab.nodes)
      if (n.kind == NodeSpec::Kind::kHost) hosts.push_back(n.name);
    lines.fail(fmt::format("{}: there is no host '{}'{}", column, name.node, did_you_mean(name.node, hosts)));
  }
  if (static_cast<std::size_t>(name.port) > node->nics.size())
    lines.fail(fmt::format("{}: '{}': {} has {} NIC{}", column, text, name.node, node->nics.size(),
                           node->nics.size() == 1 ? "" : "s"));
  return name;
}

Bytes octets_of(const Lines& lines, std::string_view text) {
  Bytes size{};
  if (const auto n = whole_number(text)) {
    size = Bytes{*n};
  } else {
    const auto parsed = parse_size(text);
    if (!parsed) lines.fail(fmt::format("bytes: {}", parsed.error()));
    size = *parsed;
  }
  if (size < Bytes{1} || size > kLargest)
    lines.fail(fmt::format("bytes: '{}'; expected at least 1 and at most {}", text, format(kLargest)));
  return size;
}

struct Columns {
  std::optional<std::size_t> from, to, bytes, start;
  std::size_t count = 0;
};

Columns read_heading(const Lines& lines, std::string_view line) {
  Columns c;
  static const std::vector<std::string> columns{"from", "to", "bytes", "start"};
  const auto names = split_at(line, ',', false);
  c.count = names.size();
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::optional<std::size_t>* column = names[i] == "from"    ? &c.from
                                         : names[i] == "to"    ? &c.to
                                         : names[i] == "bytes" ? &c.bytes
                                         : names[i] == "start" ? &c.start
                                                               : nullptr;
    if (column == nullptr)
      lines.fail(fmt::format("unknown column '{}'; expected a first line with from, to, bytes and optionally start{}",
                             names[i], did_you_mean(std::string(names[i]), columns)));
    if (*column) lines.fail(fmt::format("column '{}' is defined twice", names[i]));
    *column = i;
  }
  for (const auto& [column, name] : {std::pair{&c.from, "from"}, {&c.to, "to"}, {&c.bytes, "bytes"}})
    if (!*column)
      lines.fail(fmt::format("column '{}' is missing; expected from, to, bytes and optionally start", name));
  return c;
}

std::vector<ListedFlow> read_csv(const Lab& lab, Lines& lines) {
  const auto heading = lines.next();
  if (!heading) lines.fail("is empty; expected a first line with from, to, bytes and optionally start");
  const Columns c = read_heading(lines, *heading);
  std::vector<ListedFlow> flows;
  while (const auto line = lines.next()) {
    const auto cells = split_at(*line, ',', false);
    if (cells.size() != c.count)
      lines.fail(fmt::format("{} cells; expected {}, as in the first line", cells.size(), c.count));
    ListedFlow f;
    f.from = nic_named(lab, lines, cells[*c.from], "from");
    f.to = nic_named(lab, lines, cells[*c.to], "to");
    f.bytes = octets_of(lines, cells[*c.bytes]);
    if (c.start) {
      const auto start = parse_duration(cells[*c.start]);
      if (!start) lines.fail(fmt::format("start: {}", start.error()));
      f.start = *start;
    }
    if (f.start < Duration{} || f.start > kLatest)
      lines.fail(fmt::format("start: '{}'; expected at most {}", cells[*c.start], format(kLatest)));
    if (f.from.node == f.to.node) lines.fail(fmt::format("{} would send to itself", f.from.node));
    flows.push_back(std::move(f));
    if (flows.size() > kMostListed) lines.fail(fmt::format("more than {} flows", kMostListed));
  }
  return flows;
}

// ---- htsim ---------------------------------------------------------------------------------------------------------

class Matrix {
 public:
  Matrix(Lines& lines, const std::vector<PortName>& nodes) : lines_(lines), nodes_(nodes) {}

  void read(TrafficSpec& traffic) {
    while (const auto line = lines_.next()) read_line(split_at(*line, ' ', true));
    if (!count_) lines_.fail("line 'Nodes N' is missing");
    if (connections_ && *connections_ != flows_.size())
      lines_.fail(fmt::format("{} connections; the line 'Connections' has {}", flows_.size(), *connections_));
    if (trigger_count_ && *trigger_count_ != triggers_.size())
      lines_.fail(fmt::format("{} triggers; the line 'Triggers' has {}", triggers_.size(), *trigger_count_));
    check_triggers();
    traffic.listed = std::move(flows_);
    traffic.triggers = std::move(triggers_);
  }

 private:
  using Words = std::vector<std::string_view>;

  void read_line(const Words& words) {
    const std::string_view first = words[0];
    if (first == "Nodes") {
      count_ = number(words, 0);
      if (*count_ > nodes_.size())
        lines_.fail(fmt::format("{} nodes, but 'from' selects {} NICs", *count_, nodes_.size()));
    } else if (first == "Connections") {
      connections_ = number(words, 0);
    } else if (first == "Triggers") {
      trigger_count_ = number(words, 0);
    } else if (first == "trigger") {
      read_trigger(words);
    } else if (first == "Failures" || first == "failure") {
      if (first == "failure" || number(words, 0) != 0)
        lines_.fail(fmt::format("{}: failures belong to `faults` in the fabric file; expected none here", first));
    } else if (first.find("->") != first.npos) {
      read_connection(words);
    } else {
      lines_.fail(
          fmt::format("unknown line '{}'; expected Nodes, Connections, Triggers, a line such as 3->5 start 0 size "
                      "2000000, or one such as trigger id 1 oneshot",
                      first));
    }
  }

  std::size_t number(const Words& words, std::size_t at) const {
    const auto n = at + 1 < words.size() ? whole_number(words[at + 1]) : std::nullopt;
    if (!n) lines_.fail(fmt::format("{}: expected a whole number after it", words[at]));
    return static_cast<std::size_t>(*n);
  }
  // 0 is nobody's.
  std::uint32_t identity(const Words& words, std::size_t at) const {
    const std::size_t n = number(words, at);
    if (n == 0 || n > 0xFFFF'FFFF) lines_.fail(fmt::format("{} {}; expected 1 or more", words[at], n));
    return static_cast<std::uint32_t>(n);
  }

  PortName node(std::string_view text) const {
    const auto n = whole_number(text);
    if (!n) lines_.fail(fmt::format("'{}' is not a node; expected a number from 0", text));
    if (!count_) lines_.fail("a connection before the line 'Nodes N'");
    if (static_cast<std::size_t>(*n) >= *count_)
      lines_.fail(fmt::format("node {}; there are {}, from 0 to {}", *n, *count_, *count_ - 1));
    return nodes_[static_cast<std::size_t>(*n)];
  }

  void read_connection(const Words& words) {
    const std::size_t arrow = words[0].find("->");
    ListedFlow f;
    f.from = node(words[0].substr(0, arrow));
    f.to = node(words[0].substr(arrow + 2));
    if (f.from.node == f.to.node) lines_.fail(fmt::format("'{}': a node would send to itself", words[0]));
    bool has_start = false;
    bool is_message = false;
    std::uint32_t id = 0;
    for (std::size_t i = 1; i < words.size(); i += 2) {
      if (words[i] == "start") {
        f.start = Duration{static_cast<std::int64_t>(number(words, i))};
        has_start = true;
      } else if (words[i] == "size") {
        f.bytes = Bytes{static_cast<std::int64_t>(number(words, i))};
      } else if (words[i] == "id") {
        id = identity(words, i);
      } else if (words[i] == "prio") {
        number(words, i);
      } else if (words[i] == "msg") {
        is_message = true;
        if (i + 1 >= words.size() || !whole_number(words[i + 1])) --i;  // without a number of its own
      } else if (words[i] == "trigger") {
        f.trigger = identity(words, i);
      } else if (words[i] == "send_done_trigger") {
        f.send_done = identity(words, i);
      } else if (words[i] == "recv_done_trigger") {
        f.recv_done = identity(words, i);
      } else {
        lines_.fail(
            fmt::format("unknown word '{}'; expected id, start, trigger, size, send_done_trigger, "
                        "recv_done_trigger, msg or prio",
                        words[i]));
      }
    }
    if (has_start && f.trigger != 0) lines_.fail("both 'start' and 'trigger'; expected one of them");
    if (!has_start && f.trigger == 0) lines_.fail("neither 'start' nor 'trigger'; expected a start, in picoseconds");
    if (f.bytes < Bytes{1} || f.bytes > kLargest) lines_.fail("no 'size' above 0; expected a size in bytes");
    if (f.start > kLatest) lines_.fail(fmt::format("start: more than {}", format(kLatest)));
    if (is_message && id == 0) lines_.fail("'msg' without 'id'; expected the id of its connection");
    if (is_message) f.connection = id;
    if (id != 0) note_id(id, is_message, f);
    lines_of_flows_.push_back(lines_.number());
    flows_.push_back(std::move(f));
    if (flows_.size() > kMostListed) lines_.fail(fmt::format("more than {} connections", kMostListed));
  }

  // Messages of one connection share its id, its source and its destination; else each flow has one of its own.
  void note_id(std::uint32_t id, bool is_message, const ListedFlow& f) {
    const auto [known, is_new] = by_id_.try_emplace(id, flows_.size());
    if (is_new) return;
    const ListedFlow& first = flows_[known->second];
    if (!is_message || first.connection == 0)
      lines_.fail(fmt::format("id {} is used by another connection; expected a unique id, or 'msg' in both lines", id));
    if (first.from != f.from || first.to != f.to)
      lines_.fail(fmt::format("id {} connects other nodes; expected the same nodes", id));
  }

  void read_trigger(const Words& words) {
    ListedTrigger t;
    std::optional<ListedTrigger::Kind> kind;
    std::optional<std::uint32_t> count;
    for (std::size_t i = 1; i < words.size(); ++i) {
      if (words[i] == "id")
        t.number = identity(words, i++);
      else if (words[i] == "count")
        count = identity(words, i++);
      else if (words[i] == "oneshot" || words[i] == "multishot" || words[i] == "barrier")
        kind = words[i] == "oneshot"   ? ListedTrigger::Kind::kOneshot
               : words[i] == "barrier" ? ListedTrigger::Kind::kBarrier
                                       : ListedTrigger::Kind::kMultishot;
      else
        lines_.fail(fmt::format("unknown word '{}'; expected id, oneshot, multishot, barrier or count", words[i]));
    }
    if (t.number == 0) lines_.fail("a trigger without 'id'; expected an id, from 1");
    if (!kind) lines_.fail("a trigger without a kind; expected oneshot, multishot or barrier");
    if (*kind == ListedTrigger::Kind::kBarrier && !count)
      lines_.fail("a barrier without 'count'; expected a count, from 1");
    t.kind = *kind;
    if (*kind == ListedTrigger::Kind::kBarrier) t.count = *count;
    if (!place_of_trigger_.try_emplace(t.number, triggers_.size()).second)
      lines_.fail(fmt::format("trigger {} is defined twice; expected it once", t.number));
    triggers_.push_back(t);
  }

  // ---- Triggers ----

  // Those that flows name are there, and no flows only wait for each other.
  void check_triggers() const {
    for (std::size_t i = 0; i < flows_.size(); ++i)
      for (const std::uint32_t number : {flows_[i].trigger, flows_[i].send_done, flows_[i].recv_done})
        if (number != 0 && !place_of_trigger_.contains(number))
          lines_.fail_at(lines_of_flows_[i],
                         fmt::format("there is no trigger {}; expected a line such as trigger id {} oneshot", number,
                                     number));
    const std::vector<bool> starts = flows_that_start();
    for (std::size_t i = 0; i < flows_.size(); ++i)
      if (!starts[i])
        lines_.fail_at(lines_of_flows_[i], fmt::format("a cycle: the flow waits for trigger {}, which waits for this "
                                                       "flow; expected a flow with 'start' in the cycle",
                                                       flows_[i].trigger));
  }

  // Which flows start if every trigger that is fired too seldom were fired by somebody else: all but those in circles.
  std::vector<bool> flows_that_start() const {
    struct State {
      std::vector<std::size_t> targets{};
      std::size_t fired = 0;
      std::size_t firings = 0;  // in all
      std::size_t next = 0;
    };
    std::vector<State> states(triggers_.size());
    const auto state = [&](std::uint32_t number) -> State& { return states[place_of_trigger_.at(number)]; };
    for (std::size_t i = 0; i < flows_.size(); ++i) {
      if (flows_[i].trigger != 0) state(flows_[i].trigger).targets.push_back(i);
      for (const std::uint32_t number : {flows_[i].send_done, flows_[i].recv_done})
        if (number != 0) ++state(number).firings;
    }
    std::vector<bool> starts(flows_.size());
    std::vector<std::size_t> todo;
    const auto start = [&](std::size_t flow) {
      if (!starts[flow]) todo.push_back(flow);
      starts[flow] = true;
    };
    // So often must it be fired until its `n`-th flow starts.
    const auto needed = [&](std::size_t trigger, std::size_t n) -> std::size_t {
      const ListedTrigger& t = triggers_[trigger];
      return t.kind == ListedTrigger::Kind::kMultishot ? n + 1 : t.count;
    };
    const auto start_those = [&](std::size_t trigger) {
      State& s = states[trigger];
      while (s.next < s.targets.size() &&
             (s.fired >= needed(trigger, s.next) || s.firings < needed(trigger, s.next)))
        start(s.targets[s.next++]);
    };
    for (std::size_t i = 0; i < flows_.size(); ++i)
      if (flows_[i].trigger == 0) start(i);
    for (std::size_t t = 0; t < triggers_.size(); ++t) start_those(t);
    while (!todo.empty()) {
      const ListedFlow& f = flows_[todo.back()];
      todo.pop_back();
      for (const std::uint32_t number : {f.send_done, f.recv_done}) {
        if (number == 0) continue;
        ++state(number).fired;
        start_those(place_of_trigger_.at(number));
      }
    }
    return starts;
  }

  Lines& lines_;
  const std::vector<PortName>& nodes_;
  std::optional<std::size_t> count_;
  std::optional<std::size_t> connections_;
  std::optional<std::size_t> trigger_count_;
  std::vector<ListedFlow> flows_;
  std::vector<int> lines_of_flows_;
  std::map<std::uint32_t, std::size_t> by_id_;  // the first flow of it
  std::vector<ListedTrigger> triggers_;
  std::map<std::uint32_t, std::size_t> place_of_trigger_;
};

}  // namespace

void read_flow_file(const Lab& lab, const std::vector<PortName>& nodes, TrafficSpec& traffic) {
  const std::string text = read_file(traffic.file);
  Lines lines(traffic.file, text);
  if (traffic.file.ends_with(".cm"))
    Matrix(lines, nodes).read(traffic);
  else
    traffic.listed = read_csv(lab, lines);
  if (traffic.listed.empty()) lines.fail("has no flows");
}

}  // namespace railyard::spec
