// NICs that DPDK could drive.
#include <fmt/format.h>

#include "control/machine/checks.h"

namespace railyard::machine {
namespace {

// Physical NICs with their drivers: "eth0 (mlx5_core)".
std::vector<std::string> nics(const Files& files) {
  std::vector<std::string> out;
  for (const std::string& name : files.names("/sys/class/net"))
    if (const std::string driver = files.link("/sys/class/net/" + name + "/device/driver"); !driver.empty())
      out.push_back(fmt::format("{} ({})", name, driver));
  return out;
}

}  // namespace

void check_devices(const Files& files, const std::optional<Wanted>& wanted, Checks& out) {
  std::string found;
  for (const std::string& nic : nics(files)) found += (found.empty() ? "" : ", ") + nic;
  out.push_back({"nics", true, found.empty() ? "none with a driver of the kernel" : found});

  const std::size_t groups = files.names("/sys/kernel/iommu_groups").size();
  const bool vfio = files.exists("/sys/bus/pci/drivers/vfio-pci");
  Check c{"vfio", groups > 0 && vfio, fmt::format("{} IOMMU groups, vfio-pci {}", groups, vfio ? "loaded" : "not loaded")};
  if (!c.ok && (!wanted || !wanted->pci)) {
    c.ok = true;
    c.found += "; needed only for PCI NICs (attach: dpdk)";
  }
  if (!c.ok)
    c.remedy = groups == 0 ? "Switch the IOMMU on in the firmware, and boot with intel_iommu=on iommu=pt (AMD: iommu=pt). mlx5 needs "
                             "no vfio"
                           : "modprobe vfio-pci; mlx5 needs no vfio";
  out.push_back(std::move(c));
}

}  // namespace railyard::machine
