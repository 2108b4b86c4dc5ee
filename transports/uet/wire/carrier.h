// What carries Ultra Ethernet where it is not what the standard has, as a line of text: captures say it of themselves.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "dataplane/wire/udp.h"

namespace railyard::uet {

// One way in which packets of some NICs go.
struct Carrier {
  bool udp = true;                        // else native: behind IP
  std::uint16_t number = wire::kUetPort;  // the destination port, or the IP protocol, 0..255
  bool crc = true;                        // behind each packet
  bool ref_prov = false;                  // in the dialect of the reference provider (wire/dialect.h)

  bool operator==(const Carrier&) const = default;
};

// "UET: udp 5555, no crc; ip 250, ref-prov"; "" without any.
std::string carriers_text(const std::vector<Carrier>& carriers);
// The same back; of any other text nothing, up to where it is another.
std::vector<Carrier> parse_carriers(std::string_view text);

}  // namespace railyard::uet
