#include "control/jobs/nccl_choices.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>

#include <fmt/format.h>

#include "control/collectives/registry.h"

namespace railyard::jobs {
namespace {

// In the order of NCCL_ALGO_*.
struct AlgorithmName {
  std::string_view text;
  const collectives::Algorithm* algorithm;
};
constexpr std::array<AlgorithmName, 7> kAlgorithmNames{{{"TREE", &collectives::kTree},
                                                        {"RING", &collectives::kRing},
                                                        {"COLLNET_DIRECT", &collectives::kInNetwork},
                                                        {"COLLNET_CHAIN", &collectives::kInNetwork},
                                                        {"NVLS", &collectives::kInNetwork},
                                                        {"NVLS_TREE", nullptr},
                                                        {"PAT", nullptr}}};
// In the order of NCCL_PROTO_*.
struct ProtocolName {
  std::string_view text;
  collectives::Protocol protocol;
};
constexpr std::array<ProtocolName, 3> kProtocolNames{{{"LL", collectives::Protocol::kLl},
                                                      {"LL128", collectives::Protocol::kLl128},
                                                      {"SIMPLE", collectives::Protocol::kSimple}}};

std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, bad] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || bad != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string_view word(std::string_view& rest) {
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  const std::size_t end = std::min(rest.find_first_of(" \r"), rest.size());
  const std::string_view out = rest.substr(0, end);
  rest.remove_prefix(end);
  return out;
}

// By name or number; nullptr: neither.
template <class Names>
const typename Names::value_type* named(const Names& names, std::string_view text) {
  if (const auto n = number(text)) return *n < names.size() ? &names[*n] : nullptr;
  const auto found = std::ranges::find(names, text, [](const auto& n) { return n.text; });
  return found == names.end() ? nullptr : &*found;
}

}  // namespace

std::expected<void, TraceError> NcclChoices::add(std::size_t process, std::string_view text, int line) {
  std::string function;
  if (const std::size_t colon = text.find(": "); colon != text.npos && colon < text.find(" Bytes -> Algo ")) {
    function = text.substr(0, colon);
    text.remove_prefix(colon + 2);
  }
  const auto octets = number(word(text));
  text.remove_prefix(std::string_view(" Bytes -> Algo").size());
  const auto* const algorithm = named(kAlgorithmNames, word(text));
  const bool has_protocol = word(text) == "proto";
  const auto* const protocol = has_protocol ? named(kProtocolNames, word(text)) : nullptr;
  if (!octets || algorithm == nullptr || protocol == nullptr)
    return std::unexpected(TraceError{
        .line = line,
        .text = "this choice has no size, algorithm and protocol of NCCL; expected, for example, \"AllReduce: 4096 "
                "Bytes -> Algo RING proto SIMPLE\" (Algo 0..6, proto 0..2)"});
  said_[{process, std::move(function), *octets}][line] = {algorithm->algorithm, protocol->protocol};
  return {};
}

std::optional<NcclChoices::Choice> NcclChoices::of(std::size_t process, std::string_view function, std::uint64_t octets,
                                                   int line) const {
  for (const std::string_view name : {function, std::string_view()}) {
    const auto found = said_.find({process, std::string(name), octets});
    if (found == said_.end()) continue;
    const auto next = found->second.upper_bound(line);
    return next != found->second.end() ? next->second : std::prev(next)->second;
  }
  return std::nullopt;
}

}  // namespace railyard::jobs
