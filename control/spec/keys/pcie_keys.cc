// hosts.<name>.pcie: a slot as a word, or a map.
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "control/spec/keys/keys.h"

namespace railyard::spec {
namespace {

Form<PcieSlot> pcie_slot() {
  std::vector<std::pair<std::string, PcieSlot>> all;
  for (const int generation : {3, 4, 5, 6})
    for (const int lanes : {4, 8, 16}) all.emplace_back(fmt::format("gen{}x{}", generation, lanes), PcieSlot{generation, lanes});
  return choice<PcieSlot>(std::move(all));
}

void check_pcie(const Tree& map, const PcieSpec& pcie) {
  if (pcie.uplink && pcie.shared_by == 1)
    map.at_or_self("uplink").fail("no NICs share it; expected shared-by: the number of NICs behind an uplink");
}

}  // namespace

const Table<PcieSpec>& pcie_keys() {
  static const Table<PcieSpec> table{
      "pcie",
      "PCI Express between NICs and their host",
      {key("slot", &PcieSpec::slot, pcie_slot(), "slot of each NIC").require(),
       key("shared-by", &PcieSpec::shared_by, integer(1, kMostNics),
           "consecutive NICs of a host that share one uplink: two ports of one card, or NICs behind one PCIe switch. The last "
           "uplink has the rest"),
       key("uplink", &PcieSpec::uplink, pcie_slot(), "what the NICs of a group share, in each direction; default: as slot")},
      check_pcie};
  return table;
}

Form<PcieSpec> pcie_form() {
  const Form<PcieSlot> slot = pcie_slot();
  const Form<PcieSpec> map = map_of(pcie_keys());
  return {[=](const Tree& tree) {
            return tree.kind == Tree::Kind::kScalar ? PcieSpec{.slot = slot.read(tree), .uplink = {}} : map.read(tree);
          },
          [=](const PcieSpec& pcie) { return pcie.shared_by == 1 ? slot.write(pcie.slot) : map.write(pcie); },
          any_of_schemas({slot.schema, map.schema})};
}

}  // namespace railyard::spec
