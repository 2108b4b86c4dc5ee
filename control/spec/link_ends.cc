#include "control/spec/link_ends.h"

namespace railyard::spec {

std::map<PortName, LinkEnd> link_ends(const Lab& lab) {
  std::map<PortName, LinkEnd> ends;
  for (const LinkSpec& link : lab.links) {
    ends[link.a] = {&link, link.b};
    ends[link.b] = {&link, link.a};
  }
  return ends;
}

}  // namespace railyard::spec
