// The routes of a network namespace, as its kernel has them: what a speaker there has decided.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "dataplane/base/ids.h"
#include "dataplane/switch/forwarding_table.h"
#include "dataplane/wire/address.h"

struct mnl_socket;

namespace railyard::speakers {

// For one thread at a time.
class KernelRoutes {
 public:
  // `ports`: by the interface in the namespace `netns`, which is there. Throws std::runtime_error.
  KernelRoutes(std::string netns, const std::map<std::string, PortIndex>& ports);
  ~KernelRoutes();
  KernelRoutes(const KernelRoutes&) = delete;
  KernelRoutes& operator=(const KernelRoutes&) = delete;

  // Readable when something has happened to routes, next hops or interfaces, until calm().
  int readable() const noexcept;
  void calm() noexcept;

  // Sorted by prefix. Of several routes for a prefix the one of the least metric, with the members whose interface is a
  // port with a carrier; a route without such a member is none.
  //
  // DEVIATION: routes that say to drop (blackhole, unreachable, prohibit) are none either: a shorter prefix, if there
  // is one, takes their packets.
  struct Table {
    std::vector<Route> routes;           // of the main table; those to addresses of the namespace itself have no ports
    std::vector<wire::IpAddress> local;  // these addresses

    bool operator==(const Table& other) const;
  };
  // As it is now. Throws std::runtime_error.
  Table read();

 private:
  struct Found;
  void dump(int family, Found& into);

  std::string netns_;
  std::map<unsigned, PortIndex> ports_;  // by the number of the interface
  mnl_socket* events_ = nullptr;
  mnl_socket* asks_ = nullptr;
  unsigned sequence_ = 0;
};

}  // namespace railyard::speakers
