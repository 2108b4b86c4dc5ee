// Messages: what is sent, how it is matched with buffers, and what is said of it.
#include <array>
#include <cstring>

#include <poll.h>

#include "tests/transports/libfabric/side.h"

namespace railyard::libfabric {
namespace {

class MessageTest : public LibfabricTest {
 protected:
  // From `from` to b; a's endpoint by default.
  void send(std::uint64_t tag, std::uint32_t value, fid_ep* from = nullptr) {
    ASSERT_EQ(fi_tinject(from != nullptr ? from : a->ep, &value, sizeof value, to_b, tag), 0);
  }
};

TEST_F(MessageTest, OfEverySizeArrivesAsItWas) {
  start();
  std::uint64_t tag = 1;
  for (const std::size_t octets : {0u, 1u, 17u, 4095u, 4096u, 4097u, 65536u, 1u << 20}) exchange(octets, tag++);
}

TEST_F(MessageTest, WithoutOrderArrivesOnAllPaths) {
  start({.order = 0});
  std::uint64_t tag = 1;
  for (const std::size_t octets : {0u, 100u, 100'000u, 1u << 20}) exchange(octets, tag++);
}

TEST_F(MessageTest, IsRepairedWhereFramesAreLost) {
  start();
  lab.lose_one_in(20);
  for (std::uint64_t tag = 1; tag <= 5; ++tag) exchange(200'000, tag);
}

TEST_F(MessageTest, SaysTagDataAndSource) {
  start();
  const auto out = pattern(100, 1);
  std::array<std::byte, 200> in{};
  ASSERT_EQ(fi_trecv(b->ep, in.data(), in.size(), nullptr, to_a, 0xABCD, 0, nullptr), 0);
  ASSERT_EQ(fi_tsenddata(a->ep, out.data(), out.size(), nullptr, 0x1122'3344'5566'7788, to_b, 0xABCD, nullptr), 0);
  const Read got = b->next(b->received);
  EXPECT_EQ(got.entry.flags, FI_TAGGED | FI_RECV | FI_REMOTE_CQ_DATA);
  EXPECT_EQ(got.entry.tag, 0xABCDu);
  EXPECT_EQ(got.entry.data, 0x1122'3344'5566'7788u);
  EXPECT_EQ(got.entry.len, out.size());
  EXPECT_EQ(got.entry.buf, in.data());
  EXPECT_EQ(got.source, to_a);
  EXPECT_EQ(a->next(a->sent).entry.flags, FI_TAGGED | FI_SEND);
}

TEST_F(MessageTest, ThatComesBeforeItsBufferIsKeptInOrder) {
  start();
  for (std::uint32_t i = 0; i < 10; ++i) send(5, i);
  EXPECT_TRUE(b->is_empty(b->received));
  for (std::uint32_t i = 0; i < 10; ++i) {
    std::uint32_t in = 99;
    ASSERT_EQ(fi_trecv(b->ep, &in, sizeof in, nullptr, FI_ADDR_UNSPEC, 5, 0, nullptr), 0);
    EXPECT_EQ(b->next(b->received).error.err, 0);
    EXPECT_EQ(in, i);
  }
}

TEST_F(MessageTest, GoesToTheBufferWhoseTagFits) {
  start();
  std::uint32_t exact = 0, any = 0, plain = 0;
  ASSERT_EQ(fi_recv(b->ep, &plain, sizeof plain, nullptr, FI_ADDR_UNSPEC, &plain), 0);
  ASSERT_EQ(fi_trecv(b->ep, &exact, sizeof exact, nullptr, FI_ADDR_UNSPEC, 7, 0, &exact), 0);
  ASSERT_EQ(fi_trecv(b->ep, &any, sizeof any, nullptr, FI_ADDR_UNSPEC, 0, ~std::uint64_t{0}, &any), 0);
  send(8, 80);
  send(7, 70);
  const std::uint32_t nine = 90;
  ASSERT_EQ(fi_inject(a->ep, &nine, sizeof nine, to_b), 0);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(b->next(b->received).error.err, 0);
  EXPECT_EQ(any, 80u);
  EXPECT_EQ(exact, 70u);
  EXPECT_EQ(plain, 90u);
}

TEST_F(MessageTest, OfOneSourceIsReceivedFromIt) {
  start();
  fid_ep* const other = a->another();
  std::vector<std::byte> name(64);
  std::size_t octets = name.size();
  ASSERT_EQ(fi_getname(&other->fid, name.data(), &octets), 0);
  fi_addr_t to_other = FI_ADDR_NOTAVAIL;
  ASSERT_EQ(fi_av_insert(b->av, name.data(), 1, &to_other, 0, nullptr), 1);
  std::uint32_t tagged = 0, plain = 0;
  ASSERT_EQ(fi_trecv(b->ep, &tagged, sizeof tagged, nullptr, to_other, 1, 0, nullptr), 0);
  ASSERT_EQ(fi_recv(b->ep, &plain, sizeof plain, nullptr, to_other, nullptr), 0);
  const std::uint32_t one = 1, two = 2;
  ASSERT_EQ(fi_inject(a->ep, &one, sizeof one, to_b), 0);
  send(1, 1);
  EXPECT_TRUE(b->is_empty(b->received));
  ASSERT_EQ(fi_inject(other, &two, sizeof two, to_b), 0);
  send(1, 2, other);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(b->next(b->received).source, to_other);
  EXPECT_EQ(tagged, 2u);
  EXPECT_EQ(plain, 2u);
}

TEST_F(MessageTest, ThatIsTooLongIsCutAndSaid) {
  start();
  const auto out = pattern(5000, 1);
  std::array<std::byte, 1000> in{};
  ASSERT_EQ(fi_trecv(b->ep, in.data(), in.size(), nullptr, FI_ADDR_UNSPEC, 1, 0, nullptr), 0);
  ASSERT_EQ(fi_tsend(a->ep, out.data(), out.size(), nullptr, to_b, 1, nullptr), 0);
  const Read got = b->next(b->received);
  EXPECT_EQ(got.error.err, FI_ETRUNC);
  EXPECT_EQ(got.error.len, 1000u);
  EXPECT_EQ(got.error.olen, 4000u);
  EXPECT_EQ(std::memcmp(in.data(), out.data(), in.size()), 0);
}

TEST_F(MessageTest, IsNotWaitedForAnyMore) {
  start();
  std::uint32_t first = 0, second = 0;
  ASSERT_EQ(fi_trecv(b->ep, &first, sizeof first, nullptr, FI_ADDR_UNSPEC, 1, 0, &first), 0);
  ASSERT_EQ(fi_trecv(b->ep, &second, sizeof second, nullptr, FI_ADDR_UNSPEC, 1, 0, &second), 0);
  EXPECT_EQ(fi_cancel(&b->ep->fid, &first), 0);
  EXPECT_EQ(fi_cancel(&b->ep->fid, &to_a), -FI_ENOENT);
  const Read cancelled = b->next(b->received);
  EXPECT_EQ(cancelled.error.err, FI_ECANCELED);
  EXPECT_EQ(cancelled.error.op_context, &first);
  send(1, 42);
  EXPECT_EQ(b->next(b->received).entry.op_context, &second);
  EXPECT_EQ(second, 42u);
  EXPECT_EQ(first, 0u);
}

TEST_F(MessageTest, IsLookedForClaimedAndDiscarded) {
  start();
  send(3, 30);
  send(3, 31);
  send(3, 32);
  fi_context context{}, other{};
  fi_msg_tagged look{};
  look.addr = FI_ADDR_UNSPEC;
  look.tag = 4;
  look.context = &context;
  ASSERT_EQ(fi_trecvmsg(b->ep, &look, FI_PEEK), 0);
  EXPECT_EQ(b->next(b->received).error.err, FI_ENOMSG);
  // The first one, when it has come.
  look.tag = 3;
  Read found;
  do {
    ASSERT_EQ(fi_trecvmsg(b->ep, &look, FI_PEEK), 0);
    found = b->next(b->received);
  } while (found.error.err == FI_ENOMSG);
  EXPECT_EQ(found.entry.len, sizeof(std::uint32_t));
  EXPECT_EQ(found.source, to_a);
  ASSERT_EQ(fi_trecvmsg(b->ep, &look, FI_PEEK | FI_CLAIM), 0);
  EXPECT_EQ(b->next(b->received).error.err, 0);
  look.context = &other;
  do {
    ASSERT_EQ(fi_trecvmsg(b->ep, &look, FI_PEEK | FI_DISCARD), 0);
    found = b->next(b->received);
  } while (found.error.err == FI_ENOMSG);
  std::uint32_t in = 0;
  const iovec piece{&in, sizeof in};
  fi_msg_tagged take = look;
  take.context = &context;
  take.msg_iov = &piece;
  take.iov_count = 1;
  ASSERT_EQ(fi_trecvmsg(b->ep, &take, FI_CLAIM), 0);
  EXPECT_EQ(b->next(b->received).entry.op_context, &context);
  EXPECT_EQ(in, 30u);
  ASSERT_EQ(fi_trecv(b->ep, &in, sizeof in, nullptr, FI_ADDR_UNSPEC, 3, 0, nullptr), 0);
  EXPECT_EQ(b->next(b->received).error.err, 0);
  EXPECT_EQ(in, 32u) << "31 is gone";
  EXPECT_EQ(fi_trecvmsg(b->ep, &take, FI_CLAIM), -FI_EINVAL) << "it was claimed once";
}

TEST_F(MessageTest, SharesABufferWithOthers) {
  start();
  std::array<std::byte, 1000> in{};
  const iovec piece{in.data(), in.size()};
  fi_msg buffer{};
  buffer.msg_iov = &piece;
  buffer.iov_count = 1;
  buffer.addr = FI_ADDR_UNSPEC;
  buffer.context = &in;
  const std::size_t least = 300;
  ASSERT_EQ(fi_setopt(&b->ep->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &least, sizeof least), 0);
  const auto out = pattern(400, 1);
  ASSERT_EQ(fi_send(a->ep, out.data(), 400, nullptr, to_b, nullptr), 0);  // before the buffer
  EXPECT_EQ(a->next(a->sent).error.err, 0);
  ASSERT_EQ(fi_recvmsg(b->ep, &buffer, FI_MULTI_RECV), 0);
  ASSERT_EQ(fi_send(a->ep, out.data(), 400, nullptr, to_b, nullptr), 0);
  const Read first = b->next(b->received), second = b->next(b->received);
  EXPECT_EQ(first.entry.buf, in.data());
  EXPECT_EQ(first.entry.flags & FI_MULTI_RECV, 0u);
  EXPECT_EQ(second.entry.buf, in.data() + 400);
  EXPECT_NE(second.entry.flags & FI_MULTI_RECV, 0u) << "less than 300 octets are left";
  EXPECT_EQ(std::memcmp(in.data(), out.data(), 400), 0);
  EXPECT_EQ(std::memcmp(in.data() + 400, out.data(), 400), 0);
}

TEST_F(MessageTest, InPiecesIsOneMessage) {
  start();
  const auto out = pattern(3000, 1);
  auto* const from = const_cast<std::byte*>(out.data());
  const iovec send[3] = {{from, 10}, {from + 10, 1990}, {from + 2000, 1000}};
  std::vector<std::byte> in(3000);
  const iovec receive[2] = {{in.data(), 2500}, {in.data() + 2500, 500}};
  ASSERT_EQ(fi_trecvv(b->ep, receive, nullptr, 2, FI_ADDR_UNSPEC, 1, 0, nullptr), 0);
  ASSERT_EQ(fi_tsendv(a->ep, send, nullptr, 3, to_b, 1, nullptr), 0);
  EXPECT_EQ(b->next(b->received).entry.len, 3000u);
  EXPECT_EQ(in, out);
}

TEST_F(MessageTest, ThatIsInjectedLeavesNoEntry) {
  start();
  std::array<std::byte, 512> out{};
  out.fill(std::byte{7});
  std::array<std::byte, 512> in{};
  ASSERT_EQ(fi_tinject(a->ep, out.data(), out.size(), to_b, 1), 0);
  out.fill(std::byte{8});  // may be used again at once
  ASSERT_EQ(fi_trecv(b->ep, in.data(), in.size(), nullptr, FI_ADDR_UNSPEC, 1, 0, nullptr), 0);
  EXPECT_EQ(b->next(b->received).error.err, 0);
  EXPECT_EQ(in[511], std::byte{7});
  EXPECT_TRUE(a->is_empty(a->sent));
  std::array<std::byte, 513> more{};
  EXPECT_EQ(fi_tinject(a->ep, more.data(), more.size(), to_b, 1), -FI_EMSGSIZE);
}

TEST_F(MessageTest, IsCountedAndReportedOnlyIfAsked) {
  start({.cq_flags = FI_SELECTIVE_COMPLETION});
  std::uint32_t out = 1;
  std::array<std::uint32_t, 2> in{};
  for (auto& i : in) ASSERT_EQ(fi_recv(b->ep, &i, sizeof i, nullptr, FI_ADDR_UNSPEC, nullptr), 0);
  ASSERT_EQ(fi_send(a->ep, &out, sizeof out, nullptr, to_b, &in), 0);
  const iovec piece{&out, sizeof out};
  fi_msg message{};
  message.msg_iov = &piece;
  message.iov_count = 1;
  message.addr = to_b;
  message.context = &out;
  ASSERT_EQ(fi_sendmsg(a->ep, &message, FI_COMPLETION), 0);
  EXPECT_EQ(fi_cntr_wait(a->counter, 2, 10'000), 0);
  EXPECT_EQ(a->next(a->sent).entry.op_context, &out);
  EXPECT_TRUE(a->is_empty(a->sent));
  EXPECT_EQ(fi_cntr_wait(b->counter, 2, 10'000), 0);
  EXPECT_EQ(fi_cntr_read(a->counter), 2u);
  EXPECT_EQ(fi_cntr_wait(a->counter, 3, 10), -FI_ETIMEDOUT);
}

TEST_F(MessageTest, IsDeliveredBeforeItIsComplete) {
  start();
  std::uint32_t out = 5, in = 0;
  const iovec piece{&out, sizeof out};
  fi_msg_tagged message{};
  message.msg_iov = &piece;
  message.iov_count = 1;
  message.addr = to_b;
  message.tag = 1;
  ASSERT_EQ(fi_tsendmsg(a->ep, &message, FI_DELIVERY_COMPLETE), 0);
  EXPECT_TRUE(a->is_empty(a->sent)) << "nobody has a buffer for it";
  ASSERT_EQ(fi_trecv(b->ep, &in, sizeof in, nullptr, FI_ADDR_UNSPEC, 1, 0, nullptr), 0);
  EXPECT_EQ(a->next(a->sent).error.err, 0);
  EXPECT_EQ(in, 5u);
}

TEST_F(MessageTest, WakesWhoSleeps) {
  start({.wait = FI_WAIT_FD});
  int fd = -1;
  ASSERT_EQ(fi_control(&b->received->fid, FI_GETWAIT, &fd), 0);
  fid* queue = &b->received->fid;
  ASSERT_EQ(fi_trywait(b->fabric, &queue, 1), 0);
  pollfd on{.fd = fd, .events = POLLIN, .revents = 0};
  EXPECT_EQ(::poll(&on, 1, 0), 0);
  std::uint32_t in = 0;
  ASSERT_EQ(fi_trecv(b->ep, &in, sizeof in, nullptr, FI_ADDR_UNSPEC, 1, 0, nullptr), 0);
  fi_cq_tagged_entry entry;
  EXPECT_EQ(fi_cq_sread(b->received, &entry, 1, nullptr, 10), -FI_EAGAIN);
  send(1, 3);
  EXPECT_EQ(::poll(&on, 1, 10'000), 1);
  EXPECT_EQ(fi_trywait(b->fabric, &queue, 1), -FI_EAGAIN);
  EXPECT_EQ(fi_cq_sread(b->received, &entry, 1, nullptr, 10'000), 1);
  EXPECT_EQ(in, 3u);
  EXPECT_EQ(::poll(&on, 1, 0), 0);
}

TEST_F(MessageTest, AsADatagramComesOrDoesNot) {
  start({.caps = FI_MSG | FI_SOURCE, .order = 0, .type = FI_EP_DGRAM});
  const auto out = pattern(1000, 1);
  std::vector<std::byte> in(1000);
  ASSERT_EQ(fi_recv(b->ep, in.data(), in.size(), nullptr, FI_ADDR_UNSPEC, nullptr), 0);
  ASSERT_EQ(fi_send(a->ep, out.data(), out.size(), nullptr, to_b, nullptr), 0);
  EXPECT_EQ(b->next(b->received).source, to_a);
  EXPECT_EQ(in, out);
  EXPECT_EQ(a->next(a->sent).error.err, 0);
  ASSERT_EQ(fi_send(a->ep, out.data(), out.size(), nullptr, to_b, nullptr), 0);
  EXPECT_EQ(a->next(a->sent).error.err, 0) << "nobody waits for it, and nobody minds";
  EXPECT_EQ(fi_tsend(a->ep, out.data(), 1, nullptr, to_b, 1, nullptr), -FI_EOPNOTSUPP);
}

TEST_F(MessageTest, FailsWhenTheLabIsGone) {
  start();
  std::uint32_t in = 0;
  ASSERT_EQ(fi_trecv(b->ep, &in, sizeof in, nullptr, FI_ADDR_UNSPEC, 1, 0, &in), 0);
  lab.end();
  EXPECT_EQ(b->next(b->received).error.err, FI_ENODEV);
  EXPECT_EQ(fi_trecv(b->ep, &in, sizeof in, nullptr, FI_ADDR_UNSPEC, 1, 0, &in), -FI_ENODEV);
}

TEST_F(MessageTest, ToNobodyIsRefused) {
  start();
  auto name = a->name();
  name[6] ^= std::byte{0x20};  // another resource index
  fi_addr_t nobody = FI_ADDR_NOTAVAIL;
  ASSERT_EQ(fi_av_insert(b->av, name.data(), 1, &nobody, 0, nullptr), 1);
  std::uint32_t out = 0;
  ASSERT_EQ(fi_tsend(b->ep, &out, sizeof out, nullptr, nobody, 1, &out), 0);
  const Read failed = b->next(b->sent);
  EXPECT_EQ(failed.error.err, FI_ECONNREFUSED);
  EXPECT_EQ(failed.error.op_context, &out);
  EXPECT_STREQ(fi_cq_strerror(b->sent, failed.error.prov_errno, nullptr, nullptr, 0), "BAD_INDEX");
  EXPECT_EQ(fi_tsend(b->ep, &out, sizeof out, nullptr, 1234, 1, &out), -FI_EINVAL);
}

}  // namespace
}  // namespace railyard::libfabric
