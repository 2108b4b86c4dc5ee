#include "control/spec/flow_file.h"

#include <algorithm>
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
    lines.fail(fmt::format("bytes: '{}'; expected at least one octet and at most {}", text, format(kLargest)));
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
      lines.fail(fmt::format("'{}' is no column; expected a first line with from, to, bytes and perhaps start{}",
                             names[i], did_you_mean(std::string(names[i]), columns)));
    if (*column) lines.fail(fmt::format("column '{}' is there twice", names[i]));
    *column = i;
  }
  for (const auto& [column, name] : {std::pair{&c.from, "from"}, {&c.to, "to"}, {&c.bytes, "bytes"}})
    if (!*column) lines.fail(fmt::format("there is no column '{}'; expected from, to, bytes and perhaps start", name));
  return c;
}

std::vector<ListedFlow> read_csv(const Lab& lab, Lines& lines) {
  const auto heading = lines.next();
  if (!heading) lines.fail("is empty; expected a first line with from, to, bytes and perhaps start");
  const Columns c = read_heading(lines, *heading);
  std::vector<ListedFlow> flows;
  while (const auto line = lines.next()) {
    const auto cells = split_at(*line, ',', false);
    if (cells.size() != c.count)
      lines.fail(fmt::format("{} cells; expected {}, as the first line has", cells.size(), c.count));
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

  std::vector<ListedFlow> read() {
    while (const auto line = lines_.next()) read_line(split_at(*line, ' ', true));
    if (!count_) lines_.fail("there is no line 'Nodes N'");
    if (connections_ && *connections_ != flows_.size())
      lines_.fail(fmt::format("{} connections in all; the line 'Connections' says {}", flows_.size(), *connections_));
    return std::move(flows_);
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
    } else if (first == "Triggers" || first == "Failures") {
      if (number(words, 0) != 0)
        lines_.fail(
            fmt::format("{}: flows do not wait for each other here, and what fails is "
                        "under 'faults'; expected none",
                        first));
    } else if (first.find("->") != first.npos) {
      read_connection(words);
    } else {
      lines_.fail(fmt::format(
          "'{}' is unknown; expected Nodes, Connections, or a line such as 3->5 start 0 size 2000000", first));
    }
  }

  std::size_t number(const Words& words, std::size_t at) const {
    const auto n = at + 1 < words.size() ? whole_number(words[at + 1]) : std::nullopt;
    if (!n) lines_.fail(fmt::format("{}: expected a whole number behind it", words[at]));
    return static_cast<std::size_t>(*n);
  }

  PortName node(std::string_view text) const {
    const auto n = whole_number(text);
    if (!n) lines_.fail(fmt::format("'{}' is no node; expected a number from 0", text));
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
    for (std::size_t i = 1; i < words.size(); i += 2) {
      if (words[i] == "start") {
        f.start = Duration{static_cast<std::int64_t>(number(words, i))};
        has_start = true;
      } else if (words[i] == "size") {
        f.bytes = Bytes{static_cast<std::int64_t>(number(words, i))};
      } else if (words[i] == "id" || words[i] == "prio") {
        number(words, i);
      } else if (words[i].ends_with("trigger")) {
        lines_.fail(fmt::format("'{}': flows do not wait for each other here; expected 'start'", words[i]));
      } else {
        lines_.fail(fmt::format("'{}' is unknown; expected id, start, size or prio", words[i]));
      }
    }
    if (!has_start) lines_.fail("no 'start'; expected one, in picoseconds");
    if (f.bytes < Bytes{1} || f.bytes > kLargest) lines_.fail("no 'size' above 0; expected one, in octets");
    if (f.start > kLatest) lines_.fail(fmt::format("start: more than {}", format(kLatest)));
    flows_.push_back(std::move(f));
    if (flows_.size() > kMostListed) lines_.fail(fmt::format("more than {} connections", kMostListed));
  }

  Lines& lines_;
  const std::vector<PortName>& nodes_;
  std::optional<std::size_t> count_;
  std::optional<std::size_t> connections_;
  std::vector<ListedFlow> flows_;
};

}  // namespace

std::vector<ListedFlow> read_flow_file(const Lab& lab, const std::string& file, const std::vector<PortName>& nodes) {
  const std::string text = read_file(file);
  Lines lines(file, text);
  std::vector<ListedFlow> flows = file.ends_with(".cm") ? Matrix(lines, nodes).read() : read_csv(lab, lines);
  if (flows.empty()) lines.fail("has no flow");
  return flows;
}

}  // namespace railyard::spec
