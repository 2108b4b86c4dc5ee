// Where a fabric endpoint (FEP) is.
#pragma once

#include "dataplane/wire/address.h"
#include "dataplane/wire/mac_address.h"

namespace railyard::uet {

struct AddressVector {
  wire::MacAddress source_mac;
  wire::MacAddress next_hop_mac;
  wire::IpAddress source;  // both of one family
  wire::IpAddress destination;

  bool operator==(const AddressVector&) const = default;
};

}  // namespace railyard::uet
