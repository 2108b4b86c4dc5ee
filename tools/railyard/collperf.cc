// `railyard collperf`: one collective at many sizes over a fabric file; the table of nccl-tests.
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "control/base/json_text.h"
#include "control/collectives/registry.h"
#include "control/estimate/estimate.h"
#include "control/report/nccl_table.h"
#include "control/spec/collective_ranks.h"
#include "control/spec/load.h"
#include "control/spec/to_yaml.h"
#include "control/spec/value.h"
#include "tools/railyard/commands.h"
#include "tools/railyard/runs.h"

namespace railyard::tools {
namespace {

using collectives::Operation;

struct CollperfOptions {
  std::string file;
  std::string collective;
  std::string operation, algorithm, protocol, transport, datatype;
  std::optional<int> channels, root;
  std::vector<std::string> ranks;
  std::string least = "32MiB", most;
  std::optional<std::uint64_t> factor;
  std::string step;
  int iterations = 5;
  int warm_up = 1;
  std::vector<std::string> sets;
  std::size_t jobs = 0;
  bool json = false;
  bool estimate = false;  // without packets
};

constexpr std::uint64_t kMostSizes = 1000;
constexpr const char* kNoSizes = "a barrier has no sizes; expected an operation with data. `railyard run` times barriers";

// As nccl-tests reads sizes: 8, 64K, 1G are powers of two; and as a fabric file writes them.
std::uint64_t size_of(const std::string& text, const char* option) {
  std::string spelled = text;
  const char last = text.empty() ? ' ' : text.back();
  if (last >= '0' && last <= '9') spelled += "B";
  if (std::string_view("KMGkmg").contains(last)) {
    spelled.back() = static_cast<char>(std::toupper(last));
    spelled += "iB";
  }
  const auto bytes = spec::parse_size(spelled);
  if (!bytes || bytes->n <= 0)
    throw std::invalid_argument(fmt::format("{}: '{}'; expected a size, e.g. 8, 64K or 1G", option, text));
  return static_cast<std::uint64_t>(bytes->n);
}

// Multiples of `unit`, rounded down as nccl-tests does, each once; those that leave a rank without an element are left out.
std::vector<std::uint64_t> sizes_of(const CollperfOptions& o, std::uint64_t unit) {
  const std::uint64_t least = size_of(o.least, "-b");
  const std::uint64_t most = o.most.empty() ? least : size_of(o.most, "-e");
  if (most < least) throw std::invalid_argument(fmt::format("-e: {} is below -b {}; expected at least that", o.most, o.least));
  if (o.factor && !o.step.empty()) throw std::invalid_argument("-f and -i: expected one of the two");
  if (o.factor && *o.factor < 2) throw std::invalid_argument("-f: expected a factor of 2 or more");
  const std::uint64_t step = o.step.empty() ? 0 : size_of(o.step, "-i");
  std::vector<std::uint64_t> sizes;
  std::uint64_t steps = 0;
  for (std::uint64_t size = least; size <= most; size = o.factor ? size * *o.factor : size + step) {
    if (++steps > kMostSizes)
      throw std::invalid_argument(fmt::format("more than {} sizes; expected a larger -i, or -f", kMostSizes));
    const std::uint64_t whole = size / unit * unit;
    if (whole > 0 && (sizes.empty() || sizes.back() != whole)) sizes.push_back(whole);
    if (!o.factor && step == 0) break;
  }
  if (sizes.empty())
    throw std::invalid_argument(
        fmt::format("-e: {} has no element for each rank; expected at least {} bytes", most, unit));
  return sizes;
}

// The collective that is measured: one of the file, or a plain one over all of its built-in NICs.
spec::CollectiveSpec chosen(const spec::Lab& lab, const std::string& name) {
  if (name.empty() && lab.collectives.empty()) {
    spec::CollectiveSpec plain;
    plain.name = "collperf";
    return plain;
  }
  if (name.empty()) return lab.collectives.front();
  for (const spec::CollectiveSpec& c : lab.collectives)
    if (c.name == name) return c;
  std::vector<std::string> names;
  for (const spec::CollectiveSpec& c : lab.collectives) names.push_back(c.name);
  throw std::invalid_argument(fmt::format("--collective: there is no '{}'; expected {}", name,
                                          names.empty() ? "none, because the file has none" : fmt::to_string(fmt::join(names, " or "))));
}

// The options as settings of the collective `name`.
std::vector<std::string> settings_of(const CollperfOptions& o, const std::string& name) {
  std::vector<std::string> sets;
  const auto set = [&](const char* key, const std::string& value) {
    if (!value.empty()) sets.push_back(fmt::format("collectives.{}.{}={}", name, key, value));
  };
  set("collective", o.operation);
  set("algorithm", o.algorithm);
  set("protocol", o.protocol);
  set("transport", o.transport);
  set("datatype", o.datatype);
  if (o.channels) set("channels", fmt::to_string(*o.channels));
  if (o.root) set("root", fmt::to_string(*o.root));
  if (!o.ranks.empty()) set("ranks", fmt::format("[\"{}\"]", fmt::join(o.ranks, "\", \"")));
  return sets;
}

// A file that is gone when this is.
class TemporaryLab {
 public:
  explicit TemporaryLab(const std::string& yaml) {
    std::string path = (std::filesystem::temp_directory_path() / "railyard-collperf-XXXXXX").string();
    const int fd = ::mkstemp(path.data());
    if (fd < 0) throw std::runtime_error(fmt::format("cannot create a file in {}", std::filesystem::temp_directory_path().string()));
    ::close(fd);
    path_ = path;
    std::ofstream(path_) << yaml;
  }
  ~TemporaryLab() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  TemporaryLab(const TemporaryLab&) = delete;
  TemporaryLab& operator=(const TemporaryLab&) = delete;
  const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
};

// Of the iterations behind the warm-up: from the first one's start to the last end, over their number.
std::optional<double> mean_time_us(const nlohmann::ordered_json& iterations, std::size_t warm_up) {
  double start = 0, end = 0;
  for (std::size_t i = warm_up; i < iterations.size(); ++i) {
    if (iterations[i]["time_ns"].is_null()) return std::nullopt;
    const auto began = iterations[i]["start_ns"].get<double>();
    if (i == warm_up) start = began;
    end = std::max(end, began + iterations[i]["time_ns"].get<double>());
  }
  return (end - start) / 1000 / static_cast<double>(iterations.size() - warm_up);
}

report::NcclRow row_of(const nlohmann::ordered_json& c, std::uint64_t size, std::uint32_t element, std::size_t warm_up) {
  report::NcclRow row{.bytes = size, .elements = size / element};
  if (c["completed"].get<bool>()) row.time_us = mean_time_us(c["iterations"], warm_up);
  row.wrong = (c["wrong_bytes"].get<std::uint64_t>() + element - 1) / element;
  if (!row.time_us || *row.time_us <= 0) return row;
  row.algbw_bps = static_cast<double>(size) * 8e6 / *row.time_us;
  row.busbw_bps = row.algbw_bps * c["busbw_factor"].get<double>();
  if (const auto& limit = c["framing_limit_bps"]; limit.is_number() && limit.get<double>() > 0)
    row.share_of_limit = std::min(1.0, row.busbw_bps / limit.get<double>());
  return row;
}

// One size, without packets.
report::NcclRow estimated(const std::string& file, const std::vector<std::string>& sets, std::uint64_t size, std::uint32_t element) {
  const auto e = estimate::estimate(spec::load(file, sets));
  if (!e) throw std::runtime_error(e.error());
  const estimate::CollectiveEstimate& c = e->collectives.front();
  const double us = static_cast<double>(c.time.ps) / 1e6;
  return {.bytes = size,
          .elements = size / element,
          .time_us = us,
          .algbw_bps = us > 0 ? static_cast<double>(size) * 8e6 / us : 0,
          .busbw_bps = c.busbw_bps};
}

nlohmann::ordered_json json_of(const report::NcclTable& table, const spec::CollectiveSpec& c, std::size_t ranks) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  const auto or_null = [](const auto& value) { return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr); };
  for (const report::NcclRow& r : table.rows)
    rows.push_back({{"bytes", r.bytes},
                    {"elements", r.elements},
                    {"time_us", or_null(r.time_us)},
                    {"algbw_bps", r.algbw_bps},
                    {"busbw_bps", r.busbw_bps},
                    {"share_of_limit", or_null(r.share_of_limit)},
                    {"wrong", table.estimated ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(r.wrong)}});
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (!table.rows[i].algorithm.empty()) {
      rows[i]["algorithm"] = table.rows[i].algorithm;
      rows[i]["protocol"] = table.rows[i].protocol;
    }
  return {{"collective", name(c.collective)},
          {"algorithm", c.protocol == collectives::Protocol::kAuto && !c.algorithm ? "auto" : c.used_algorithm()->name},
          {"protocol", collectives::name(c.protocol)},
          {"transport", c.is_uet() ? "uet" : "roce"},
          {"ranks", ranks},
          {"type", table.type},
          {"redop", table.redop},
          {"root", table.root},
          {"rows", rows},
          {"mean_busbw_bps", or_null(table.mean_busbw_bps())}};
}

// "ring", "ring with LL128", "what NCCL chooses".
std::string carried_by(const spec::CollectiveSpec& c) {
  const std::string_view algorithm = c.used_algorithm()->name;
  if (c.protocol == collectives::Protocol::kNone) return std::string(algorithm);
  if (c.protocol == collectives::Protocol::kAuto && !c.algorithm) return "what NCCL chooses";
  if (c.protocol == collectives::Protocol::kAuto) return fmt::format("{} with NCCL's choice of a protocol", algorithm);
  return fmt::format("{} with protocol {}", algorithm, collectives::name(c.protocol));
}

// What is wrong with a size, without the place in the file that was made for it.
std::string without_place(const std::string& failure, const std::string& file) {
  const std::size_t at = failure.find(file);
  if (at == failure.npos) return failure;
  const std::size_t end = failure.find(": ", at);
  return end == failure.npos ? failure : failure.substr(0, at) + failure.substr(end + 2);
}

int run_collperf(const CollperfOptions& o) {
  if (o.operation == name(Operation::kBarrier)) throw std::invalid_argument(kNoSizes);
  spec::Lab lab = spec::load(o.file, o.sets);
  spec::CollectiveSpec measured = chosen(lab, o.collective);
  if (!measured.matrix.empty())
    throw std::invalid_argument(fmt::format("{}: its matrix says all sizes; expected a collective without", measured.name));
  measured.repeats = o.warm_up + o.iterations;
  measured.start = {};
  if (measured.size.n == 0) measured.size = Bytes{1 << 20};
  const bool of_file = !lab.collectives.empty();
  // What NCCL would choose differs by size, and so may the usual number of channels.
  if (of_file && measured.channels == spec::usual_channels(lab, measured)) measured.channels.reset();
  if (!of_file || !o.ranks.empty() || !o.operation.empty() || !o.algorithm.empty()) measured.channels.reset();
  if (!o.operation.empty()) measured.algorithm.reset();
  lab.collectives = {measured};
  lab.traffic.clear();
  lab.expect.clear();
  lab.probe.reset();
  lab.compare = {};
  lab.diagnosis = {};
  lab.run.clock = spec::Clock::kVirtual;
  lab.run.duration.reset();
  const TemporaryLab file(spec::to_yaml(lab));
  const std::vector<std::string> sets = settings_of(o, measured.name);
  const auto size_set = [&](std::uint64_t size) { return fmt::format("collectives.{}.size={}B", measured.name, size); };
  const spec::Lab asked = [&] {
    // What is wrong is said before anything runs; not of the size, which any number of ranks can divide.
    spec::CollectiveSpec some = measured;
    if (!o.ranks.empty()) some.ranks = o.ranks;
    std::vector<std::string> all = sets;
    all.push_back(size_set(8 * std::max<std::uint64_t>(spec::ranks(lab, some).size(), 1)));
    return spec::load(file.path(), all);
  }();
  const spec::CollectiveSpec& c = asked.collectives.front();
  if (c.collective == Operation::kBarrier)
    throw std::invalid_argument(kNoSizes);
  const std::size_t ranks = spec::ranks(asked, c).size();
  const collectives::OperationTraits& traits = collectives::traits(c.collective);
  const std::uint32_t element = c.element_octets();
  const std::vector<std::uint64_t> sizes =
      sizes_of(o, element * (traits.by_blocks && !c.has_unequal_parts() ? ranks : 1));

  report::NcclTable table{
      .title = fmt::format("# {} ({}): {}, {} over {}, {} ranks, {}\n", name(c.collective),
                           traits.nccl_test, lab.name, carried_by(c), c.is_uet() ? "UET" : "RoCEv2", ranks,
                           o.estimate ? "estimated without packets"
                                      : fmt::format("{} warm-up and {} measured iteration{}", o.warm_up, o.iterations,
                                                    o.iterations == 1 ? "" : "s")),
      .type = c.element_octets() == 4 ? "uint32" : "uint64",
      .redop = traits.sums ? "sum" : "none",
      .root = traits.has_root ? c.root : -1,
      .estimated = o.estimate};
  std::vector<std::vector<std::string>> commands;
  for (const std::uint64_t size : sizes) {
    std::vector<std::string>& command = commands.emplace_back();
    command.push_back(file.path());
    for (const std::string& set : sets) command.insert(command.end(), {"--set", set});
    command.insert(command.end(), {"--set", size_set(size)});
    table.rows.push_back({.bytes = size, .elements = size / element});
  }
  const bool automatic = c.protocol == collectives::Protocol::kAuto;
  ExitCode code = kOk;
  std::vector<std::string> failures(sizes.size());
  if (o.estimate)
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      std::vector<std::string> all = sets;
      all.push_back(size_set(sizes[i]));
      // One that cannot be estimated keeps no other one from the user.
      try {
        table.rows[i] = estimated(file.path(), all, sizes[i], element);
      } catch (const std::runtime_error& error) {
        failures[i] = error.what();
        code = worse(code, kFailed);
      }
    }
  else
    run_all(commands, {.parallel = o.jobs, .shows = !o.json && isatty(STDERR_FILENO) != 0}, [&](RunResult run) {
      code = worse(code, exit_code_of(run));
      failures[run.index] = run.failure;
      if (run.report.is_object())
        table.rows[run.index] = row_of(run.report["collectives"][0], sizes[run.index], element,
                                       static_cast<std::size_t>(o.warm_up));
    });
  for (report::NcclRow& row : table.rows) {
    if (!automatic) break;
    spec::CollectiveSpec of_size = c;
    of_size.size = Bytes{static_cast<std::int64_t>(row.bytes)};
    const collectives::ProtocolChoice choice = spec::choice_of_nccl(asked, of_size);
    row.algorithm = choice.algorithm->name;
    row.protocol = collectives::name(choice.protocol);
  }
  if (o.json)
    std::puts(json_text(json_of(table, c, ranks), 2).c_str());
  else
    std::fputs(table.text().c_str(), stdout);
  for (std::size_t i = 0; i < sizes.size(); ++i)
    if (!failures[i].empty()) fmt::print(stderr, "railyard: {} bytes: {}\n", sizes[i], without_place(failures[i], file.path()));
  return code;
}

}  // namespace

void add_collperf(CLI::App* command, int& exit_code) {
  auto o = std::make_shared<CollperfOptions>();
  command->add_option("SPEC", o->file, "Fabric file (YAML)")->required();
  command->add_option("-b,--minbytes", o->least, "Smallest size (default: 32M)")->type_name("SIZE");
  command->add_option("-e,--maxbytes", o->most, "Largest size (default: the smallest)")->type_name("SIZE");
  command->add_option("-f,--stepfactor", o->factor, "Multiply the size by this from line to line")->type_name("N");
  command->add_option("-i,--stepbytes", o->step, "Add this to the size from line to line")->type_name("SIZE");
  command->add_option("-n,--iters", o->iterations, "Measured iterations of each size (default: 5)")
      ->check(CLI::Range(1, 1000))
      ->type_name("N");
  command->add_option("-w,--warmup_iters", o->warm_up, "Iterations before them (default: 1)")
      ->check(CLI::Range(0, 1000))
      ->type_name("N");
  command->add_option("--op", o->operation, "Operation, as in a fabric file: all-reduce, all-to-all, send-recv, ...")
      ->type_name("NAME");
  command->add_option("--algorithm", o->algorithm, "As in a fabric file")->type_name("NAME");
  command->add_option("--protocol", o->protocol, "Protocol of NCCL: none, simple, ll128, ll, or auto (as NCCL chooses by size)")
      ->type_name("NAME");
  command->add_option("--transport", o->transport, "roce or uet")->type_name("NAME");
  command->add_option("--channels", o->channels, "As in a fabric file")->type_name("N");
  command->add_option("-r,--root", o->root, "Rank that has the data, or gets them")->type_name("RANK");
  command->add_option("-d,--datatype", o->datatype, "uint32 or uint64")->type_name("TYPE");
  command->add_option("--ranks", o->ranks, "Hosts or NICs in rank order, as in a fabric file")
      ->delimiter(',')
      ->type_name("NAMES");
  command->add_option("--collective", o->collective, "Collective of the file to measure (default: its first one)")
      ->type_name("NAME");
  command->add_option("--set", o->sets, "Set in all runs, as in railyard run")->type_name("PATH=VALUE");
  command->add_option("--jobs", o->jobs, "Parallel runs (default: one per processor)")->type_name("N");
  command->add_flag("--estimate", o->estimate,
                    "Estimate each size without packets, as railyard estimate does: quick, but no queues, losses or congestion control");
  command->add_flag("--json", o->json, "Print the table as JSON");
  command->footer(
      "Other traffic of the file is left out; its faults stay. Sizes are in bytes; K, M and G are powers of two, as in\n"
      "nccl-tests, and are rounded down to whole elements for each rank. Without a collective in the file, all built-in\n"
      "NICs are ranks.\n"
      "\n"
      "Examples:\n"
      "  railyard collperf topologies/scenarios/allreduce-rails.yaml -b 8 -e 16M -f 2\n"
      "  railyard collperf topologies/scenarios/allreduce-rails.yaml --protocol auto -b 8 -e 1G -f 2 --estimate\n"
      "  railyard collperf LAB.yaml --op all-to-all -b 1M -e 64M -f 4 --transport uet\n"
      "  railyard collperf LAB.yaml --algorithm tree --ranks 'h*:1' -b 64K -e 64K --json");
  command->callback([o, &exit_code] { exit_code = run_collperf(*o); });
}

}  // namespace railyard::tools
