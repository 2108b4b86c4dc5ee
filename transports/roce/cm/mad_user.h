// Whose management datagrams QP 1 carries.
#pragma once

#include <array>
#include <optional>
#include <span>

#include "dataplane/base/time.h"
#include "dataplane/wire/address.h"
#include "transports/roce/cm/mad.h"
#include "transports/roce/path.h"

namespace railyard::roce::cm {

// A MAD to be sent from QP 1 to QP 1.
struct Outgoing {
  AddressVector av{};
  std::array<std::byte, kMadOctets> mad{};
};

class MadUser {
 public:
  // A MAD that came to QP 1.
  virtual void on_mad(Instant now, const wire::IpAddress& from, const wire::IpAddress& to,
                      std::span<const std::byte> mad) = 0;
  // The next MAD to be sent; nullopt: there is none.
  virtual std::optional<Outgoing> next() = 0;

 protected:
  ~MadUser() = default;
};

}  // namespace railyard::roce::cm
