// Receivers without posted receives.
#include <fmt/format.h>

#include "control/doctor/rule.h"

namespace railyard::doctor {
namespace {

std::vector<Diagnosis> find_receiver_not_ready(const Case& c) {
  constexpr std::uint64_t kLeast = 2;
  std::vector<Diagnosis> out;
  for (const NicCase& n : c.nics())
    if (n.of("out_of_buffer") >= kLeast)
      out.push_back({n.node,
                     0.9,
                     {fmt::format("{} answered {} packets by RNR NAKs (out_of_buffer): no receive was posted", n.node,
                                  n.of("out_of_buffer"))}});
  return out;
}

}  // namespace

const Rule rules::kReceiverNotReady{"receiver-not-ready", "A receiver posts its receives too late.",
                                    "More receives posted ahead, or WRITE instead of SEND.",
                                    "Packets were lost: RNR NAKs need a packet that arrived.", find_receiver_not_ready,
                                    {Input::kNics}};

}  // namespace railyard::doctor
