#include "control/import/from_astra_sim.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "control/spec/yaml/parse.h"
#include "control/spec/yaml/print.h"
#include "control/spec/yaml/tree.h"

namespace railyard::importing {
namespace {

using spec::Tree;

Tree read_tree(const std::string& text, const std::string& file) {
  Tree tree = spec::parse_yaml(text, file);
  spec::finish(tree, "");
  return tree;
}

enum class Block : std::uint8_t { kRing, kFullyConnected, kSwitch };
struct BlockName {
  std::string_view text;
  Block block;
};
constexpr std::array<BlockName, 3> kBlocks{
    {{"Ring", Block::kRing}, {"FullyConnected", Block::kFullyConnected}, {"Switch", Block::kSwitch}}};

struct Dimension {
  Block block = Block::kSwitch;
  std::uint32_t npus = 0;
  double rate = 0;     // Gb/s of a link
  double latency = 0;  // ns of a link

  // Links of an NPU. Two NPUs in a ring have one.
  std::uint32_t links() const noexcept {
    return block == Block::kSwitch ? 1 : block == Block::kRing ? std::min(2u, npus - 1) : npus - 1;
  }
  // Links on the way between neighbours.
  double hops() const noexcept { return block == Block::kSwitch ? 2 : 1; }
};

double number_of(const Tree& said, const char* expected, double least) {
  const std::string& text = said.as_text(expected);
  double value = 0;
  const auto [end, bad] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (bad != std::errc{} || end != text.data() + text.size() || !(value >= least) || value > 1e9)
    said.fail(fmt::format("found {}; expected {}", said.described(), expected));
  return value;
}

const std::vector<Tree>& list_of(const Tree& document, const char* key) {
  const Tree* const said = document.find(key);
  if (said == nullptr) document.fail(fmt::format("key '{}' is missing: a network description of ASTRA-sim", key));
  return said->as_list("a list, one item for each dimension");
}

std::vector<Dimension> dimensions_of(const Tree& document) {
  const std::vector<Tree>& blocks = list_of(document, "topology");
  if (blocks.empty() || blocks.size() > 2)
    document.at_or_self("topology")
        .fail(fmt::format("found {} dimensions; expected one (a fabric) or two (a scale-up network and a fabric)",
                          blocks.size()));
  std::vector<Dimension> out(blocks.size());
  for (const char* key : {"npus_count", "bandwidth", "latency"})
    if (const std::size_t n = list_of(document, key).size(); n != blocks.size())
      document.find(key)->fail(fmt::format("found {} items; expected {}, as topology has", n, blocks.size()));
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::string& name = blocks[i].as_text("Ring, FullyConnected or Switch");
    const auto* const block = std::ranges::find(kBlocks, name, &BlockName::text);
    if (block == kBlocks.end())
      blocks[i].fail(fmt::format("found '{}'; expected Ring, FullyConnected or Switch", name));
    const Tree& npus = list_of(document, "npus_count")[i];
    const double count = number_of(npus, "a whole number from 2 to 4096", 2);
    if (count > 4096 || count != static_cast<double>(static_cast<std::uint32_t>(count)))
      npus.fail(fmt::format("found {}; expected a whole number from 2 to 4096", npus.described()));
    out[i] = {.block = block->block,
              .npus = static_cast<std::uint32_t>(count),
              .rate = 8 * number_of(list_of(document, "bandwidth")[i], "a number of GB/s above 0", 1e-6),
              .latency = number_of(list_of(document, "latency")[i], "a number of ns", 0)};
  }
  return out;
}

// What a system description says of its collectives.
struct AlgorithmName {
  std::string_view theirs;
  std::string_view ours;
  std::string_view hierarchical;  // in the second of two dimensions, after a reduce-scatter in the first
};
constexpr std::array<AlgorithmName, 5> kAlgorithms{{{"ring", "ring", "hierarchical-ring"},
                                                    {"oneRing", "ring", ""},
                                                    {"doubleBinaryTree", "tree", "hierarchical-tree"},
                                                    {"direct", "direct", ""},
                                                    {"halvingDoubling", "halving-doubling", ""}}};

class Writer {
 public:
  Writer(const AstraSimInput& input, std::vector<Dimension> dimensions)
      : input_(input), dimensions_(std::move(dimensions)) {}

  std::string text() {
    Tree lab = Tree::map();
    lab.add("name", Tree::plain("imported"));
    lab.add("topology", topology());
    Tree profile = Tree::map();
    if (two()) profile = host_profile();
    if (!profile.entries.empty()) lab.add("hosts", Tree::map({{"default", std::move(profile)}}));
    lab.add("switches", Tree::map({{"default", Tree::map({{"latency", Tree::plain("0ns")}})}}));
    Tree collective = Tree::map({{"name", Tree::plain(input_.trace.empty() ? "all-reduce" : "step")}});
    if (input_.trace.empty()) {
      collective.add("collective", Tree::plain("all-reduce"));
      collective.add("size", Tree::plain("64MiB"));
    } else {
      collective.add("trace", Tree::string(input_.trace));
    }
    if (input_.system) read_system(read_tree(*input_.system, input_.system_file), collective);
    Tree collectives = Tree::list({std::move(collective)});
    collectives.spread = true;
    lab.add("collectives", std::move(collectives));
    return "# From ASTRA-sim.\n" + comments_ + spec::print_yaml(lab);
  }

 private:
  bool two() const noexcept { return dimensions_.size() == 2; }
  void comment(const std::string& text) { comments_ += "# " + text + "\n"; }
  static Tree link(double rate, double delay) {
    return Tree::map(
        {{"rate", Tree::plain(fmt::format("{}Gbps", rate))}, {"delay", Tree::plain(fmt::format("{}ns", delay))}});
  }

  Tree topology() {
    const Dimension& d = dimensions_.back();
    if (two()) {
      if (d.block != Block::kSwitch)
        comment(
            fmt::format("Not the same: {} between hosts. Here a switch for each rail is in its place, at the rate of "
                        "all {} links of an NPU.",
                        kBlocks[static_cast<std::size_t>(d.block)].text, d.links()));
      return Tree::map({{"preset", Tree::plain("rail-optimized")},
                        {"hosts", Tree::plain(std::to_string(d.npus))},
                        {"rails", Tree::plain(std::to_string(dimensions_.front().npus))},
                        {"spines", Tree::plain("0")},
                        {"host-link", link(d.rate * d.links(), d.latency * d.hops() / 2)}});
    }
    if (d.block == Block::kSwitch)
      return Tree::map({{"preset", Tree::plain("leaf-spine")},
                        {"leaves", Tree::plain("1")},
                        {"spines", Tree::plain("0")},
                        {"hosts-per-leaf", Tree::plain(std::to_string(d.npus))},
                        {"host-link", link(d.rate, d.latency)}});
    return Tree::map({{"preset", Tree::plain(d.block == Block::kRing ? "ring" : "full-mesh")},
                      {"switches", Tree::plain(std::to_string(d.npus))},
                      {"host-link", link(d.rate * d.links(), 1)},
                      {"fabric-link", link(d.rate, d.latency)}});
  }

  Tree host_profile() {
    const Dimension& d = dimensions_.front();
    if (d.block != Block::kSwitch)
      comment(
          fmt::format("Not the same: {} within a host. Here each NPU has the rate of all its {} links, to any other.",
                      kBlocks[static_cast<std::size_t>(d.block)].text, d.links()));
    return Tree::map({{"gpus", Tree::plain(std::to_string(d.npus))},
                      {"scale-up", Tree::map({{"rate", Tree::plain(fmt::format("{}Gbps", d.rate * d.links()))},
                                              {"latency", Tree::plain(fmt::format("{}ns", d.latency * d.hops()))}})}});
  }

  void read_system(const Tree& system, Tree& collective) {
    for (const Tree::Entry& e : system.as_map("a system description of ASTRA-sim")) {
      if (e.key == "all-reduce-implementation") {
        collective.add("algorithm", Tree::plain(std::string(algorithm(e.value))));
      } else if (e.key == "endpoint-delay") {
        if (const double ns = number_of(e.value, "a number of ns", 0); ns > 0)
          collective.add("step-cost", Tree::plain(fmt::format("{}ns", ns)));
      } else if (e.key.ends_with("-implementation")) {
        comment(
            fmt::format("{}: {}: set `algorithm` in a collective of that kind", e.key, spec::print_yaml_line(e.value)));
      } else {
        comment(fmt::format("left out: {}: {}", e.key, spec::print_yaml_line(e.value)));
      }
    }
  }

  std::string_view algorithm(const Tree& said) {
    const std::vector<Tree>& list = said.as_list("a list, one algorithm for each dimension");
    if (list.size() != dimensions_.size())
      said.fail(fmt::format("found {} algorithms; expected {}, one for each dimension of {}", list.size(),
                            dimensions_.size(), input_.network_file));
    const auto known = [](const Tree& item) -> const AlgorithmName& {
      const std::string& name = item.as_text("ring, oneRing, doubleBinaryTree, direct or halvingDoubling");
      const auto* const found = std::ranges::find(kAlgorithms, name, &AlgorithmName::theirs);
      if (found == kAlgorithms.end())
        item.fail(fmt::format("found '{}'; expected ring, oneRing, doubleBinaryTree, direct or halvingDoubling", name));
      return *found;
    };
    const AlgorithmName& first = known(list.front());
    if (!two()) return first.ours;
    const AlgorithmName& second = known(list.back());
    if (!second.hierarchical.empty()) {
      if (first.theirs != "ring")
        comment(fmt::format("Not the same: all-reduce {} within a host. Here it is a ring.", first.theirs));
      return second.hierarchical;
    }
    comment(fmt::format("Not the same: all-reduce {} within a host, then {} between hosts. Here {} is over all ranks.",
                        first.theirs, second.theirs, second.ours));
    return second.ours;
  }

  const AstraSimInput& input_;
  std::vector<Dimension> dimensions_;
  std::string comments_;
};

bool is_map_with(const std::string& text, const auto& has) {
  try {
    const Tree tree = read_tree(text, "");
    return tree.kind == Tree::Kind::kMap && std::ranges::any_of(tree.entries, has);
  } catch (const std::exception&) {
    return false;  // whoever reads it says what is wrong
  }
}

}  // namespace

bool is_astra_network(const std::string& text) {
  return is_map_with(text, [](const Tree::Entry& e) { return e.key == "npus_count"; });
}

bool is_astra_system(const std::string& text) {
  return is_map_with(text, [](const Tree::Entry& e) { return e.key.ends_with("-implementation"); });
}

std::string from_astra_sim(const AstraSimInput& input) {
  const Tree network = read_tree(input.network, input.network_file);
  network.as_map("a network description of ASTRA-sim");
  return Writer(input, dimensions_of(network)).text();
}

}  // namespace railyard::importing
