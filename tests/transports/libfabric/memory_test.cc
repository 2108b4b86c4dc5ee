// Remote memory access and atomic operations.
#include <array>
#include <cstring>

#include "tests/transports/libfabric/side.h"

namespace railyard::libfabric {
namespace {

constexpr std::uint64_t kKey = 0xC0DE;

class MemoryTest : public LibfabricTest {};

TEST_F(MemoryTest, IsWrittenAndRead) {
  start();
  std::vector<std::byte> remote(1 << 20);
  b->expose(remote.data(), remote.size(), kKey);
  for (const std::size_t octets : {1u, 16u, 4096u, 100'001u, (1u << 20) - 8}) {
    const auto out = pattern(octets, static_cast<unsigned>(octets));
    ASSERT_EQ(fi_write(a->ep, out.data(), octets, nullptr, to_b, 8, kKey, nullptr), 0);
    const Read written = a->next(a->sent);
    ASSERT_EQ(written.error.err, 0);
    EXPECT_EQ(written.entry.flags, FI_RMA | FI_WRITE);
    EXPECT_EQ(std::memcmp(remote.data() + 8, out.data(), octets), 0);
    std::vector<std::byte> in(octets);
    ASSERT_EQ(fi_read(a->ep, in.data(), octets, nullptr, to_b, 8, kKey, nullptr), 0);
    const Read read = a->next(a->sent);
    ASSERT_EQ(read.error.err, 0);
    EXPECT_EQ(read.entry.flags, FI_RMA | FI_READ);
    EXPECT_EQ(in, out);
  }
  EXPECT_TRUE(b->is_empty(b->received));
}

TEST_F(MemoryTest, IsNamedByAddressAndOwnKeyInBasicMode) {
  start({.mr_mode = FI_MR_BASIC});
  EXPECT_EQ(a->info.info->domain_attr->mr_mode, FI_MR_BASIC);
  std::vector<std::byte> remote(10'000);
  const auto address = reinterpret_cast<std::uintptr_t>(remote.data());
  fid_mr* const mr = b->expose(remote.data(), remote.size(), 0);
  const auto out = pattern(5000, 1);
  ASSERT_EQ(fi_write(a->ep, out.data(), out.size(), nullptr, to_b, address + 100, fi_mr_key(mr), nullptr), 0);
  EXPECT_EQ(a->next(a->sent).error.err, 0);
  EXPECT_EQ(std::memcmp(remote.data() + 100, out.data(), out.size()), 0);
  ASSERT_EQ(fi_write(a->ep, out.data(), 8, nullptr, to_b, address - 8, fi_mr_key(mr), nullptr), 0);
  EXPECT_EQ(a->next(a->sent).error.err, FI_EFAULT);
}

TEST_F(MemoryTest, TellsItsOwnerOfDataThatCameWithIt) {
  start();
  std::array<std::byte, 64> remote{};
  b->expose(remote.data(), remote.size(), kKey);
  const auto out = pattern(64, 1);
  ASSERT_EQ(fi_writedata(a->ep, out.data(), out.size(), nullptr, 4711, to_b, 0, kKey, nullptr), 0);
  const Read told = b->next(b->received);
  EXPECT_EQ(told.entry.flags, FI_RMA | FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA);
  EXPECT_EQ(told.entry.data, 4711u);
  EXPECT_EQ(told.entry.len, 64u);
  EXPECT_EQ(a->next(a->sent).error.err, 0);
  ASSERT_EQ(fi_inject_writedata(a->ep, out.data(), 16, 4712, to_b, 0, kKey), 0);
  EXPECT_EQ(b->next(b->received).entry.data, 4712u);
  ASSERT_EQ(fi_inject_write(a->ep, out.data() + 16, 16, to_b, 0, kKey), 0);
  EXPECT_TRUE(a->is_empty(a->sent));
  EXPECT_EQ(std::memcmp(remote.data(), out.data() + 16, 16), 0);
}

TEST_F(MemoryTest, IsKeptFromWhoMayNot) {
  start();
  std::array<std::byte, 64> remote{}, local{};
  b->expose(remote.data(), remote.size(), kKey, FI_REMOTE_READ);
  const auto write = [&](std::uint64_t offset, std::uint64_t key) {
    EXPECT_EQ(fi_write(a->ep, local.data(), 8, nullptr, to_b, offset, key, nullptr), 0);
    return a->next(a->sent).error;
  };
  EXPECT_EQ(write(0, kKey).err, FI_EACCES);
  EXPECT_EQ(write(0, kKey + 1).err, FI_ENOKEY);
  EXPECT_EQ(write(0, 0x101).err, FI_ENOKEY) << "a key that the engine has for its own";
  ASSERT_EQ(fi_read(a->ep, local.data(), 8, nullptr, to_b, 60, kKey, nullptr), 0);
  const fi_cq_err_entry beyond = a->next(a->sent).error;
  EXPECT_EQ(beyond.err, FI_EFAULT);
  EXPECT_STREQ(fi_cq_strerror(a->sent, beyond.prov_errno, nullptr, nullptr, 0), "BAD_ADDR");
  fid_mr* again = nullptr;
  EXPECT_EQ(fi_mr_reg(b->domain, remote.data(), 8, FI_REMOTE_READ, 0, kKey, 0, &again, nullptr), -FI_ENOKEY);
  EXPECT_EQ(fi_mr_reg(b->domain, remote.data(), 8, FI_REMOTE_READ, 0, ~std::uint64_t{0}, 0, &again, nullptr),
            -FI_EKEYREJECTED);
}

TEST_F(MemoryTest, IsGoneWhenItsRegionIsClosed) {
  start();
  std::array<std::byte, 64> remote{}, local{};
  fid_mr* mr = nullptr;
  ASSERT_EQ(fi_mr_reg(b->domain, remote.data(), remote.size(), FI_REMOTE_READ, 0, kKey, 0, &mr, nullptr), 0);
  ASSERT_EQ(fi_close(&mr->fid), 0);
  ASSERT_EQ(fi_read(a->ep, local.data(), 8, nullptr, to_b, 0, kKey, nullptr), 0);
  EXPECT_EQ(a->next(a->sent).error.err, FI_ENOKEY);
}

TEST_F(MemoryTest, IsReadIntoPieces) {
  start({.order = FI_ORDER_SAS | FI_ORDER_RAW});
  auto remote = pattern(9000, 3);
  b->expose(remote.data(), remote.size(), kKey);
  std::vector<std::byte> in(9000);
  const iovec pieces[2] = {{in.data() + 4000, 5000}, {in.data(), 4000}};
  ASSERT_EQ(fi_readv(a->ep, pieces, nullptr, 2, to_b, 0, kKey, nullptr), 0);
  EXPECT_EQ(a->next(a->sent).entry.len, 9000u);
  EXPECT_EQ(std::memcmp(in.data() + 4000, remote.data(), 5000), 0);
  EXPECT_EQ(std::memcmp(in.data(), remote.data() + 5000, 4000), 0);
}

TEST_F(MemoryTest, IsChangedAtOnce) {
  start();
  alignas(8) std::array<std::uint64_t, 2> remote{10, 20};
  b->expose(remote.data(), sizeof remote, kKey);
  std::uint64_t operand = 5, result = 0, compare = 15;
  ASSERT_EQ(fi_atomic(a->ep, &operand, 1, nullptr, to_b, 0, kKey, FI_UINT64, FI_SUM, nullptr), 0);
  EXPECT_EQ(a->next(a->sent).entry.flags, FI_ATOMIC | FI_WRITE);
  EXPECT_EQ(remote[0], 15u);
  operand = 99;
  ASSERT_EQ(fi_compare_atomic(a->ep, &operand, 1, nullptr, &compare, nullptr, &result, nullptr, to_b, 0, kKey,
                              FI_UINT64, FI_CSWAP, nullptr),
            0);
  EXPECT_EQ(a->next(a->sent).error.err, 0);
  EXPECT_EQ(result, 15u);
  EXPECT_EQ(remote[0], 99u);
  ASSERT_EQ(
      fi_fetch_atomic(a->ep, nullptr, 1, nullptr, &result, nullptr, to_b, 8, kKey, FI_UINT64, FI_ATOMIC_READ, nullptr),
      0);
  EXPECT_EQ(a->next(a->sent).error.err, 0);
  EXPECT_EQ(result, 20u);
  ASSERT_EQ(fi_fetch_atomic(a->ep, &operand, 1, nullptr, &result, nullptr, to_b, 8, kKey, FI_UINT64, FI_MAX, nullptr),
            0);
  EXPECT_EQ(a->next(a->sent).error.err, 0);
  EXPECT_EQ(remote[1], 99u);
  operand = 1;
  ASSERT_EQ(fi_inject_atomic(a->ep, &operand, 1, to_b, 8, kKey, FI_UINT64, FI_ATOMIC_WRITE), 0);
  EXPECT_TRUE(a->is_empty(a->sent));
  EXPECT_EQ(remote[1], 1u);
  ASSERT_EQ(fi_atomic(a->ep, &operand, 1, nullptr, to_b, 4, kKey, FI_UINT64, FI_SUM, nullptr), 0);
  EXPECT_EQ(a->next(a->sent).error.err, FI_EINVAL) << "not aligned";
}

TEST_F(MemoryTest, SaysWhichChangesThereAre) {
  start();
  std::size_t count = 0;
  EXPECT_EQ(fi_atomicvalid(a->ep, FI_DOUBLE, FI_SUM, &count), 0);
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(fi_atomicvalid(a->ep, FI_DOUBLE, FI_BOR, &count), -FI_EOPNOTSUPP);
  EXPECT_EQ(fi_atomicvalid(a->ep, FI_UINT64, FI_CSWAP, &count), -FI_EOPNOTSUPP);
  EXPECT_EQ(fi_compare_atomicvalid(a->ep, FI_UINT64, FI_CSWAP, &count), 0);
  EXPECT_EQ(fi_compare_atomicvalid(a->ep, FI_UINT64, FI_SUM, &count), -FI_EOPNOTSUPP);
  EXPECT_EQ(fi_fetch_atomicvalid(a->ep, FI_INT8, FI_ATOMIC_READ, &count), 0);
  EXPECT_EQ(fi_atomicvalid(a->ep, FI_LONG_DOUBLE, FI_SUM, &count), -FI_EOPNOTSUPP);
  fi_atomic_attr attr{};
  EXPECT_EQ(fi_query_atomic(a->domain, FI_UINT32, FI_SUM, &attr, FI_FETCH_ATOMIC), 0);
  EXPECT_EQ(attr.size, 4u);
  std::uint64_t two[2] = {};
  EXPECT_EQ(fi_atomic(a->ep, two, 2, nullptr, to_b, 0, kKey, FI_UINT64, FI_SUM, nullptr), -FI_EINVAL);
}

}  // namespace
}  // namespace railyard::libfabric
