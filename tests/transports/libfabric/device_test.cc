// What libfabric finds, and the objects around endpoints.
#include <cstring>
#include <string>

#include <sys/wait.h>
#include <unistd.h>

#include "tests/transports/libfabric/side.h"

namespace railyard::libfabric {
namespace {

class DeviceTest : public LibfabricTest {};

TEST_F(DeviceTest, IsFound) {
  Info all;
  fi_info* const hints = fi_allocinfo();
  hints->fabric_attr->prov_name = ::strdup("railyard");
  ASSERT_EQ(fi_getinfo(FI_VERSION(1, 17), nullptr, nullptr, 0, hints, &all.info), 0);
  fi_freeinfo(hints);
  int reliable = 0, datagrams = 0;
  for (const fi_info* i = all.info; i != nullptr; i = i->next) {
    EXPECT_STREQ(i->fabric_attr->prov_name, "railyard") << "libfabric layers nothing on it";
    ++(i->ep_attr->type == FI_EP_RDM ? reliable : datagrams);
    EXPECT_EQ(i->domain_attr->cq_data_size, 8u);
  }
  EXPECT_EQ(reliable, 2);
  EXPECT_EQ(datagrams, 2);
}

TEST_F(DeviceTest, IsNotThereForWhatItCannot) {
  const auto error = [](
                         const Wanted& wanted, const std::function<void(fi_info&)>& change = [](fi_info&) {}) {
    Info info;
    look_for(info, 0, wanted, change);
    return info.error;
  };
  EXPECT_EQ(error({}), 0);
  EXPECT_EQ(error({.caps = FI_MSG | FI_COLLECTIVE}), -FI_ENODATA);
  EXPECT_EQ(error({.order = FI_ORDER_WAR}), -FI_ENODATA);
  EXPECT_EQ(error({.type = FI_EP_MSG}), -FI_ENODATA);
  EXPECT_EQ(error({}, [](fi_info& i) { i.addr_format = FI_SOCKADDR_IN; }), -FI_ENODATA);
  EXPECT_EQ(error({}, [](fi_info& i) { i.tx_attr->inject_size = 4096; }), -FI_ENODATA);
  EXPECT_EQ(error({}, [](fi_info& i) { i.ep_attr->max_msg_size = std::size_t{1} << 40; }), -FI_ENODATA);
  Info elsewhere;
  look_for(elsewhere, 7);
  EXPECT_EQ(elsewhere.error, -FI_ENODATA);
}

TEST_F(DeviceTest, HasNoCallThatIsMissing) {
  start();
  // Tables begin with their size; behind it is nothing but functions.
  const auto complete = [](const void* table) {
    std::size_t octets = 0;
    std::memcpy(&octets, table, sizeof octets);
    for (std::size_t at = sizeof octets; at < octets; at += sizeof(void*)) {
      const void* function = nullptr;
      std::memcpy(&function, static_cast<const std::byte*>(table) + at, sizeof function);
      if (function == nullptr) return false;
    }
    return true;
  };
  for (const void* const table :
       {static_cast<const void*>(a->fabric->fid.ops), static_cast<const void*>(a->fabric->ops),
        static_cast<const void*>(a->domain->fid.ops), static_cast<const void*>(a->domain->ops),
        static_cast<const void*>(a->domain->mr), static_cast<const void*>(a->av->ops),
        static_cast<const void*>(a->sent->ops), static_cast<const void*>(a->counter->ops),
        static_cast<const void*>(a->ep->ops), static_cast<const void*>(a->ep->cm), static_cast<const void*>(a->ep->msg),
        static_cast<const void*>(a->ep->tagged), static_cast<const void*>(a->ep->rma),
        static_cast<const void*>(a->ep->atomic), static_cast<const void*>(a->ep->collective)})
    EXPECT_TRUE(complete(table));
  EXPECT_EQ(a->domain->ops->poll_open(a->domain, nullptr, nullptr), -FI_ENOSYS);
}

TEST_F(DeviceTest, KeepsAddresses) {
  start();
  std::vector<std::byte> out(64);
  std::size_t octets = out.size();
  ASSERT_EQ(fi_av_lookup(a->av, to_b, out.data(), &octets), 0);
  out.resize(octets);
  EXPECT_EQ(out, b->name());
  char text[64];
  octets = sizeof text;
  EXPECT_EQ(std::string(fi_av_straddr(a->av, out.data(), text, &octets)), "fi_uet://10.0.0.2:64.1");
  EXPECT_EQ(fi_av_remove(a->av, &to_b, 1, 0), 0);
  EXPECT_EQ(fi_av_lookup(a->av, to_b, out.data(), &octets), -FI_EINVAL);
  EXPECT_EQ(a->add(*b), to_b) << "the place is free";
  const std::vector<std::byte> nonsense(32, std::byte{0xFF});
  fi_addr_t nobody = 0;
  EXPECT_EQ(fi_av_insert(a->av, nonsense.data(), 1, &nobody, 0, nullptr), 0);
  EXPECT_EQ(nobody, FI_ADDR_NOTAVAIL);
}

TEST_F(DeviceTest, TellsOfAddressesByEvents) {
  start();
  fid_eq* eq = nullptr;
  fi_eq_attr attr{};
  attr.wait_obj = FI_WAIT_UNSPEC;
  ASSERT_EQ(fi_eq_open(a->fabric, &attr, &eq, nullptr), 0);
  fid_av* av = nullptr;
  fi_av_attr addresses{};
  addresses.flags = FI_EVENT;
  ASSERT_EQ(fi_av_open(a->domain, &addresses, &av, nullptr), 0);
  ASSERT_EQ(fi_av_bind(av, &eq->fid, 0), 0);
  fi_addr_t place = FI_ADDR_NOTAVAIL;
  std::uint32_t type = 0;
  fi_eq_entry entry{};
  EXPECT_EQ(fi_eq_read(eq, &type, &entry, sizeof entry, 0), -FI_EAGAIN);
  ASSERT_EQ(fi_av_insert(av, b->name().data(), 1, &place, 0, &place), 0);
  ASSERT_EQ(fi_eq_sread(eq, &type, &entry, sizeof entry, 1000, 0), static_cast<ssize_t>(sizeof entry));
  EXPECT_EQ(type, FI_AV_COMPLETE);
  EXPECT_EQ(entry.data, 1u);
  EXPECT_EQ(entry.context, &place);
  EXPECT_EQ(fi_close(&av->fid), 0);
  EXPECT_EQ(fi_close(&eq->fid), 0);
}

TEST_F(DeviceTest, IsNotClosedWhileItIsUsed) {
  start();
  EXPECT_EQ(fi_close(&a->sent->fid), -FI_EBUSY);
  EXPECT_EQ(fi_close(&a->av->fid), -FI_EBUSY);
  EXPECT_EQ(fi_close(&a->domain->fid), -FI_EBUSY);
  EXPECT_EQ(fi_close(&a->fabric->fid), -FI_EBUSY);
}

TEST_F(DeviceTest, ReportsInEveryFormat) {
  start();
  std::uint32_t value = 7;
  for (const auto format : {FI_CQ_FORMAT_CONTEXT, FI_CQ_FORMAT_MSG, FI_CQ_FORMAT_DATA, FI_CQ_FORMAT_TAGGED}) {
    fi_cq_attr attr{};
    attr.format = format;
    fid_cq* cq = nullptr;
    ASSERT_EQ(fi_cq_open(b->domain, &attr, &cq, nullptr), 0);
    fid_ep* ep = nullptr;
    ASSERT_EQ(fi_endpoint(b->domain, b->info.info, &ep, nullptr), 0);
    ASSERT_EQ(fi_ep_bind(ep, &b->av->fid, 0), 0);
    ASSERT_EQ(fi_ep_bind(ep, &cq->fid, FI_RECV | FI_TRANSMIT), 0);
    EXPECT_EQ(fi_recv(ep, &value, sizeof value, nullptr, 0, nullptr), -FI_EOPBADSTATE) << "not enabled";
    ASSERT_EQ(fi_enable(ep), 0);
    ASSERT_EQ(fi_tsend(ep, &value, sizeof value, nullptr, to_a, 9, &value), 0);
    union {
      fi_cq_tagged_entry whole;
      std::byte octets[2 * sizeof(fi_cq_tagged_entry)];
    } out;
    std::memset(&out, 0x55, sizeof out);
    while (fi_cq_read(cq, &out, 2) == -FI_EAGAIN) {
    }
    EXPECT_EQ(out.whole.op_context, &value);
    const std::size_t octets = format == FI_CQ_FORMAT_CONTEXT ? 8
                               : format == FI_CQ_FORMAT_MSG   ? 24
                               : format == FI_CQ_FORMAT_DATA  ? 40
                                                              : 48;
    EXPECT_EQ(out.octets[octets], std::byte{0x55}) << "nothing behind the entry";
    if (format != FI_CQ_FORMAT_CONTEXT) EXPECT_EQ(out.whole.flags, FI_SEND | FI_TAGGED);
    if (format == FI_CQ_FORMAT_TAGGED) EXPECT_EQ(out.whole.tag, 9u);
    EXPECT_EQ(fi_close(&ep->fid), 0);
    EXPECT_EQ(fi_close(&cq->fid), 0);
  }
}

TEST_F(DeviceTest, SaysWhyItCannotBeOpened) {
  Info info;
  look_for(info, 0);
  ASSERT_EQ(info.error, 0);
  fid_fabric* fabric = nullptr;
  ASSERT_EQ(fi_fabric(info.info->fabric_attr, &fabric, nullptr), 0);
  lab.refuse_next(EMFILE, "as many as can be");
  fid_domain* domain = nullptr;
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(fi_domain(fabric, info.info, &domain, nullptr), -EMFILE);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "railyard: cannot open railyard0: as many as can be\n");
  lab.end();
  ::testing::internal::CaptureStderr();
  EXPECT_NE(fi_domain(fabric, info.info, &domain, nullptr), 0);
  EXPECT_NE(::testing::internal::GetCapturedStderr().find("the lab does not"), std::string::npos);
  EXPECT_EQ(fi_close(&fabric->fid), 0);
}

TEST_F(DeviceTest, IsOfNoUseInAChild) {
  start();
  const pid_t child = ::fork();
  if (child == 0) {
    std::uint32_t value = 0;
    ::_exit(fi_tsend(a->ep, &value, sizeof value, nullptr, to_b, 1, nullptr) == -FI_ENODEV ? 0 : 1);
  }
  int status = 1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  exchange(100, 1);
}

}  // namespace
}  // namespace railyard::libfabric
