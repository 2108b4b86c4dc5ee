// A capture as a case: what packets of one place say.
#pragma once

#include <filesystem>
#include <memory>

#include "control/doctor/case.h"

namespace railyard::doctor {

// A pcap or pcapng file. Its RoCEv2 packets and PFC frames become RDMA counters of hosts, by IP address, and counters of
// the port. Throws std::runtime_error as decode_file() does, and InputError: it has neither.
std::unique_ptr<Case> read_capture(const std::filesystem::path& file);

}  // namespace railyard::doctor
