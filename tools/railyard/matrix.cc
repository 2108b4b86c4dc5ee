// `railyard matrix`: who sends how much to whom in the collectives and traces of a lab.
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "control/base/json_text.h"
#include "control/base/text_table.h"
#include "control/matrix/communication_matrix.h"
#include "control/matrix/matrix_files.h"
#include "control/report/units.h"
#include "control/spec/load.h"
#include "tools/railyard/commands.h"
#include "tools/railyard/result_file.h"

namespace railyard::tools {
namespace {

using matrix::By;
using matrix::Communication;

struct MatrixOptions {
  std::string file;
  std::string by = "rank";
  std::string collective;
  std::string output;
  std::vector<std::string> sets;
  bool json = false;
};

std::string profile_text(const matrix::Profile& p) {
  using report::count_text;
  using report::size_text;
  std::vector<std::vector<std::string>> rows{
      {"messages", count_text(p.messages)},
      {"bytes", size_text(p.bytes)},
      {"scale-up", size_text(p.scale_up_bytes)},
      {"message size, min / p50 / p99 / max",
       fmt::format("{} / {} / {} / {}", size_text(p.least), size_text(p.p50), size_text(p.p99), size_text(p.most))},
      {"destinations of a rank, mean", fmt::format("{:.1f}", p.destinations)},
      {"entropy of destinations", fmt::format("{:.2f} of {:.2f} bit", p.entropy, p.most_entropy)},
      {"rounds of messages", count_text(p.rounds)},
      {"messages at once, mean / max", fmt::format("{:.1f} / {}", p.mean_at_once, count_text(p.most_at_once))}};
  return text_table(rows, 2, "  ");
}

std::string matrix_text(const matrix::CommunicationMatrix& m) {
  constexpr std::size_t kMostRows = 16;
  if (m.names.size() > kMostRows) return fmt::format("{} x {} pairs: -o FILE.csv or FILE.svg writes them\n", m.names.size(), m.names.size());
  std::vector<std::vector<std::string>> rows{{"from"}};
  for (const std::string& name : m.names) rows[0].push_back(name);
  for (std::size_t from = 0; from < m.names.size(); ++from) {
    std::vector<std::string>& row = rows.emplace_back();
    row.push_back(m.names[from]);
    for (std::size_t to = 0; to < m.names.size(); ++to) row.push_back(m.at(from, to) == 0 ? "." : report::size_text(m.at(from, to)));
  }
  return text_table(rows, 1, "  ");
}

std::string json_of(const Communication& c) {
  const matrix::Profile& p = c.profile;
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (std::size_t from = 0; from < c.matrix.names.size(); ++from) {
    nlohmann::ordered_json row = nlohmann::ordered_json::array();
    for (std::size_t to = 0; to < c.matrix.names.size(); ++to) row.push_back(c.matrix.at(from, to));
    rows.push_back(std::move(row));
  }
  return json_text(nlohmann::ordered_json{{"names", c.matrix.names},
                                          {"bytes", std::move(rows)},
                                          {"profile",
                                           {{"messages", p.messages},
                                            {"bytes", p.bytes},
                                            {"scale_up_bytes", p.scale_up_bytes},
                                            {"message_bytes", {{"min", p.least}, {"p50", p.p50}, {"p99", p.p99}, {"max", p.most}}},
                                            {"destinations", p.destinations},
                                            {"entropy_bit", p.entropy},
                                            {"max_entropy_bit", p.most_entropy},
                                            {"rounds", p.rounds},
                                            {"messages_at_once", {{"mean", p.mean_at_once}, {"max", p.most_at_once}}}}}},
                   2);
}

int run(const MatrixOptions& o) {
  const bool picture = o.output.ends_with(".svg");
  if (!o.output.empty() && !picture && !o.output.ends_with(".csv"))
    throw CLI::ValidationError("-o", fmt::format("'{}'; expected FILE.svg or FILE.csv", o.output));
  const spec::Lab lab = spec::load(o.file, o.sets);
  const Communication c = matrix::communication_of(lab, o.by == "host" ? By::kHost : By::kRank, o.collective);
  if (!o.output.empty()) {
    ResultFile file(o.output, "-o");
    file.write(picture ? matrix::svg(c.matrix, fmt::format("{}{}{}, bytes by {}", lab.name, o.collective.empty() ? "" : ": ", o.collective, o.by))
                       : matrix::csv(c.matrix));
  }
  if (o.json)
    std::puts(json_of(c).c_str());
  else if (o.output.empty())
    fmt::print("Bytes by {}, one iteration of each collective\n{}\nTraffic profile\n{}", o.by, matrix_text(c.matrix), profile_text(c.profile));
  else
    fmt::print("Traffic profile\n{}", profile_text(c.profile));
  return kOk;
}

}  // namespace

void add_matrix(CLI::App* command, int& exit_code) {
  auto o = std::make_shared<MatrixOptions>();
  command->add_option("SPEC", o->file, "Fabric file (YAML)")->required();
  command->add_option("--by", o->by, "Rows and columns")->check(CLI::IsMember({"rank", "host"}))->capture_default_str();
  command->add_option("--collective", o->collective, "Only this collective, trace or job")->type_name("NAME");
  command->add_option("-o", o->output, "Write the matrix to FILE.svg (a picture) or FILE.csv")->type_name("FILE");
  command->add_option("--set", o->sets, "Override a value of the file")->type_name("PATH=VALUE");
  command->add_flag("--json", o->json, "Print JSON");
  command->footer(
      "It plans the collectives and runs no simulation. Entropy: of the destinations of a rank, by bytes; 0 is one\n"
      "destination. Rounds: if each message took one and computing none.\n"
      "Examples:\n"
      "  railyard matrix topologies/scenarios/allreduce-rails.yaml\n"
      "  railyard matrix topologies/scenarios/skew.yaml --by host -o skew.svg");
  command->callback([o, &exit_code] { exit_code = run(*o); });
}

}  // namespace railyard::tools
