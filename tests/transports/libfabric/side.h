// Programs of libfabric: two of them with a lab without a fabric between them. The provider is loaded by libfabric, and
// called through it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include <gtest/gtest.h>
#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>

#include "tests/transports/verbs/fake_lab.h"

namespace railyard::libfabric {

// What a program asks for.
struct Wanted {
  std::uint64_t caps = FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC | FI_DIRECTED_RECV | FI_SOURCE | FI_MULTI_RECV;
  std::uint64_t order = FI_ORDER_SAS;
  fi_ep_type type = FI_EP_RDM;
  int mr_mode = 0;
  fi_wait_obj wait = FI_WAIT_NONE;
  std::uint64_t cq_flags = 0;  // FI_SELECTIVE_COMPLETION
};

// Frees what fi_getinfo() returned.
struct Info {
  fi_info* info = nullptr;
  int error = 0;
  Info() = default;
  Info(const Info&) = delete;
  Info& operator=(const Info&) = delete;
  ~Info() {
    if (info != nullptr) fi_freeinfo(info);
  }
};
// Of device railyard<number>; `change` has the last word.
void look_for(
    Info& out, unsigned number, const Wanted& wanted = {},
    const std::function<void(fi_info&)>& change = [](fi_info&) {});

// What a program has read.
struct Read {
  fi_cq_tagged_entry entry{};
  fi_addr_t source = FI_ADDR_NOTAVAIL;
  fi_cq_err_entry error{};  // err: 0, or what went wrong
};

// A program with one endpoint on a NIC of its own.
class Side {
 public:
  Side(unsigned number, const Wanted& wanted);
  ~Side();
  Side(const Side&) = delete;
  Side& operator=(const Side&) = delete;

  fid_ep* ep = nullptr;
  fid_cq* sent = nullptr;
  fid_cq* received = nullptr;
  fid_av* av = nullptr;
  fid_domain* domain = nullptr;
  fid_fabric* fabric = nullptr;
  fid_cntr* counter = nullptr;  // of everything it sends and receives
  Info info;

  std::vector<std::byte> name() const;
  fi_addr_t add(const Side& other);
  // Another endpoint with the same queues.
  fid_ep* another();

  // The next entry of a queue, in 10 s.
  Read next(fid_cq* cq);
  // Nothing comes to it in a while.
  bool is_empty(fid_cq* cq);
  fid_mr* expose(void* at, std::size_t octets, std::uint64_t key,
                 std::uint64_t access = FI_REMOTE_READ | FI_REMOTE_WRITE);

 private:
  fid_ep* open();
  std::vector<fid_ep*> more_;
  std::vector<fid_mr*> regions_;
};

// A lab and its two programs.
class LibfabricTest : public ::testing::Test {
 protected:
  LibfabricTest();
  ~LibfabricTest() override;
  // Instead of what is wanted by default.
  void start(const Wanted& wanted = {});
  // All of what one side sends is received by the other, octet by octet.
  void exchange(std::size_t octets, std::uint64_t tag);

  verbs::FakeLab lab;
  std::filesystem::path tree;
  std::optional<Side> a, b;
  fi_addr_t to_a = FI_ADDR_NOTAVAIL, to_b = FI_ADDR_NOTAVAIL;
};

// Octets that are told from others.
std::vector<std::byte> pattern(std::size_t octets, unsigned seed);

}  // namespace railyard::libfabric
