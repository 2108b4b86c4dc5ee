// RDMA devices of this host, by libibverbs.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tools/agent/verbs.h"

namespace railyard::agent {

class RdmaVerbs final : public Verbs {
 public:
  // Only the device of that name; empty: all. Throws VerbsError: there is none of that name.
  explicit RdmaVerbs(std::string only);

  std::vector<agents::DevicePort> devices() override;
  std::unique_ptr<RcVerbs> open(const wire::IpAddress& address, std::size_t completions) override;
  // /sys/class/infiniband/DEVICE/ports/1/hw_counters.
  std::map<std::string, std::uint64_t> counters(const std::string& device) override;

 private:
  std::string only_;
};

}  // namespace railyard::agent
