// Losses as a NIC sees them, where the network's own counters are not known.
#include <fmt/format.h>

#include "control/doctor/rule.h"

namespace railyard::doctor {
namespace {

std::vector<Diagnosis> find_rdma_loss(const Case& c) {
  constexpr std::uint64_t kLeast = 10;
  // With the network's counters at hand there are better rules.
  if (c.has(Input::kLinks)) return {};
  std::vector<Diagnosis> out;
  for (const NicCase& n : c.nics()) {
    const std::uint64_t gaps = n.of("out_of_sequence"), twice = n.of("duplicate_request"), naks = n.of("packet_seq_err"),
                        timeouts = n.of("local_ack_timeout_err");
    if (gaps >= kLeast && twice * 2 < gaps)
      out.push_back({n.node, 0.7, {fmt::format("{} missed packets {} times (out_of_sequence), with {} duplicates: they are "
                                               "lost on the way to it",
                                               n.node, gaps, twice)}});
    else if (gaps >= kLeast)
      out.push_back({n.node, 0.6, {fmt::format("{} missed packets {} times (out_of_sequence) and got {} twice: they are "
                                               "reordered on the way to it, or retransmitted too early",
                                               n.node, gaps, twice)}});
    if (naks + timeouts >= kLeast)
      out.push_back({n.node, 0.65, {fmt::format("{} retransmitted after {} NAKs (packet_seq_err) and {} timeouts "
                                                "(local_ack_timeout_err): what it sends is lost",
                                                n.node, naks, timeouts)}});
  }
  return out;
}

}  // namespace

const Rule rules::kRdmaLoss{"rdma-loss", "A NIC's RDMA packets are lost, or come in another order.",
                            "Drops and errors of the ports on the way; counters of switches say more (`--from` takes many "
                            "files).",
                            "The counters do not grow any more.", find_rdma_loss, {Input::kNics}};

}  // namespace railyard::doctor
