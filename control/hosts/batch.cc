#include "control/hosts/batch.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include <fmt/ranges.h>

#include "control/hosts/command.h"
#include "control/hosts/hosts_error.h"

namespace railyard::hosts {
namespace {

// What to do about an error of ip or tc; empty if the error must speak for itself.
std::string_view advice(std::string_view output) {
  const auto says = [&](std::string_view text) { return output.find(text) != output.npos; };
  if (says("Operation not permitted") || says("Permission denied"))
    return ": not permitted, even for root; in a container, run it privileged (docker run --privileged)";
  if (says("Unknown device type"))
    return ": this kernel has no veth (CONFIG_VETH): modprobe veth, or use another kernel";
  if (says("qdisc kind is unknown"))
    return ": this kernel has no token bucket filter (CONFIG_NET_SCH_TBF): modprobe sch_tbf, or use another kernel";
  if (says("not supported"))
    return ": this kernel lacks veth, network namespaces or policy routing (CONFIG_VETH, "
           "CONFIG_NET_NS, "
           "CONFIG_IP_MULTIPLE_TABLES, CONFIG_IPV6_MULTIPLE_TABLES)";
  return "";
}

}  // namespace

Batch::Outcome Batch::run(const Journal& journal) const {
  if (lines_.empty()) return {0, {}};
  std::vector<std::string> command{program_};
  if (!family_.empty()) command.push_back(family_);
  if (!netns_.empty()) command.insert(command.end(), {"-n", netns_});
  command.insert(command.end(), {"-batch", "-"});
  CommandResult result =
      run_command(command, {.input = fmt::format("{}\n", fmt::join(lines_, "\n")), .keep_open = journal.descriptor()});
  if (result.status == 0) return {lines_.size(), {}};
  std::replace(result.output.begin(), result.output.end(), '\n', ' ');
  // "RTNETLINK answers: File exists\nCommand failed -:3"
  constexpr std::string_view kFailed = "Command failed -:";
  std::size_t line = 1;
  if (const std::size_t at = result.output.rfind(kFailed); at != result.output.npos) {
    line = std::strtoul(result.output.c_str() + at + kFailed.size(), nullptr, 10);
    result.output.resize(at);
  }
  while (result.output.ends_with(' ')) result.output.pop_back();
  return {std::clamp<std::size_t>(line, 1, lines_.size()) - 1, std::move(result.output)};
}

void Batch::run_or_throw(const Journal& journal) const {
  if (const Outcome outcome = run(journal); outcome.failed < lines_.size()) fail(outcome);
}

void Batch::fail(const Outcome& outcome) const {
  throw HostsError(fmt::format("{} {}{}: {}{}", program_, netns_.empty() ? "" : "-n " + netns_ + " ",
                               lines_[outcome.failed], outcome.output, advice(outcome.output)));
}

}  // namespace railyard::hosts
