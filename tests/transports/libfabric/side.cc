#include "tests/transports/libfabric/side.h"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>

namespace railyard::libfabric {
namespace {

using Clock = std::chrono::steady_clock;

// libfabric's own providers are not asked. The libraries of one (psm) have installed handlers already, which write files
// PROGRAM.HOST.btr into the working directory when a test crashes.
const bool is_alone = [] {
  for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT}) std::signal(signal, SIG_DFL);
  return ::setenv("FI_PROVIDER", "railyard", 1) == 0;
}();

void write_line(const std::filesystem::path& file, const std::string& line) {
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file) << line << '\n';
}

}  // namespace

void look_for(Info& out, unsigned number, const Wanted& wanted, const std::function<void(fi_info&)>& change) {
  fi_info* const hints = fi_allocinfo();
  hints->caps = wanted.caps;
  hints->ep_attr->type = wanted.type;
  hints->tx_attr->msg_order = hints->rx_attr->msg_order = wanted.order;
  hints->domain_attr->mr_mode = wanted.mr_mode;
  hints->domain_attr->name = ::strdup(("railyard" + std::to_string(number)).c_str());
  hints->fabric_attr->prov_name = ::strdup("railyard");
  change(*hints);
  out.error = fi_getinfo(FI_VERSION(1, 17), nullptr, nullptr, 0, hints, &out.info);
  fi_freeinfo(hints);
}

Side::Side(unsigned number, const Wanted& wanted) {
  look_for(info, number, wanted);
  EXPECT_EQ(info.error, 0);
  EXPECT_EQ(fi_fabric(info.info->fabric_attr, &fabric, nullptr), 0);
  EXPECT_EQ(fi_domain(fabric, info.info, &domain, nullptr), 0);
  fi_av_attr addresses{};
  addresses.type = FI_AV_MAP;
  EXPECT_EQ(fi_av_open(domain, &addresses, &av, nullptr), 0);
  fi_cq_attr queue{};
  queue.format = FI_CQ_FORMAT_TAGGED;
  queue.wait_obj = wanted.wait;
  EXPECT_EQ(fi_cq_open(domain, &queue, &sent, nullptr), 0);
  EXPECT_EQ(fi_cq_open(domain, &queue, &received, nullptr), 0);
  fi_cntr_attr count{};
  EXPECT_EQ(fi_cntr_open(domain, &count, &counter, nullptr), 0);
  ep = open();
  EXPECT_EQ(fi_ep_bind(ep, &sent->fid, FI_TRANSMIT | wanted.cq_flags), 0);
  EXPECT_EQ(fi_ep_bind(ep, &received->fid, FI_RECV), 0);
  EXPECT_EQ(fi_ep_bind(ep, &counter->fid, FI_SEND | FI_RECV | FI_READ | FI_WRITE), 0);
  EXPECT_EQ(fi_enable(ep), 0);
}

Side::~Side() {
  for (fid_mr* const mr : regions_) EXPECT_EQ(fi_close(&mr->fid), 0);
  for (fid_ep* const other : more_) EXPECT_EQ(fi_close(&other->fid), 0);
  EXPECT_EQ(fi_close(&ep->fid), 0);
  EXPECT_EQ(fi_close(&counter->fid), 0);
  EXPECT_EQ(fi_close(&sent->fid), 0);
  EXPECT_EQ(fi_close(&received->fid), 0);
  EXPECT_EQ(fi_close(&av->fid), 0);
  EXPECT_EQ(fi_close(&domain->fid), 0);
  EXPECT_EQ(fi_close(&fabric->fid), 0);
}

fid_ep* Side::open() {
  fid_ep* made = nullptr;
  EXPECT_EQ(fi_endpoint(domain, info.info, &made, nullptr), 0);
  EXPECT_EQ(fi_ep_bind(made, &av->fid, 0), 0);
  return made;
}

fid_ep* Side::another() {
  more_.push_back(open());
  EXPECT_EQ(fi_ep_bind(more_.back(), &sent->fid, FI_TRANSMIT), 0);
  EXPECT_EQ(fi_ep_bind(more_.back(), &received->fid, FI_RECV), 0);
  EXPECT_EQ(fi_enable(more_.back()), 0);
  return more_.back();
}

std::vector<std::byte> Side::name() const {
  std::size_t octets = 0;
  EXPECT_EQ(fi_getname(&ep->fid, nullptr, &octets), -FI_ETOOSMALL);
  std::vector<std::byte> out(octets);
  EXPECT_EQ(fi_getname(&ep->fid, out.data(), &octets), 0);
  return out;
}

fi_addr_t Side::add(const Side& other) {
  fi_addr_t place = FI_ADDR_NOTAVAIL;
  EXPECT_EQ(fi_av_insert(av, other.name().data(), 1, &place, 0, nullptr), 1);
  return place;
}

Read Side::next(fid_cq* cq) {
  Read out;
  for (const auto from = Clock::now(); Clock::now() - from < std::chrono::seconds(10);) {
    const ssize_t n = fi_cq_readfrom(cq, &out.entry, 1, &out.source);
    if (n == 1) return out;
    if (n == -FI_EAVAIL) {
      EXPECT_EQ(fi_cq_readerr(cq, &out.error, 0), 1);
      return out;
    }
    EXPECT_EQ(n, -FI_EAGAIN);
  }
  ADD_FAILURE() << "nothing has come";
  out.error.err = FI_ETIMEDOUT;
  return out;
}

bool Side::is_empty(fid_cq* cq) {
  fi_cq_tagged_entry entry;
  for (const auto from = Clock::now(); Clock::now() - from < std::chrono::milliseconds(20);)
    if (fi_cq_read(cq, &entry, 1) != -FI_EAGAIN) return false;
  return true;
}

fid_mr* Side::expose(void* at, std::size_t octets, std::uint64_t key, std::uint64_t access) {
  fid_mr* mr = nullptr;
  EXPECT_EQ(fi_mr_reg(domain, at, octets, access, 0, key, 0, &mr, nullptr), 0);
  regions_.push_back(mr);
  return mr;
}

LibfabricTest::LibfabricTest() {
  static bool once = false;
  if (!once) ::setenv("FI_PROVIDER_PATH", RAILYARD_PROVIDERS, 1);
  once = true;
  ::setenv("FI_PROVIDER", "railyard", 1);
  char folder[] = "/tmp/railyard-fi-XXXXXX";
  tree = ::mkdtemp(folder);
  for (const char* const n : {"0", "1"}) {
    const auto device = tree / "class/infiniband" / (std::string("railyard") + n) / "railyard";
    write_line(device / "socket", lab.socket());
    write_line(device / "host", "h1");
    write_line(device / "nic", std::to_string(n[0] - '0' + 1));
  }
  ::setenv("SYSFS_PATH", tree.c_str(), 1);
}

LibfabricTest::~LibfabricTest() {
  // Their endpoints take leave of each other.
  std::thread other([&] { b.reset(); });
  a.reset();
  other.join();
  std::filesystem::remove_all(tree);
}

void LibfabricTest::start(const Wanted& wanted) {
  a.emplace(0, wanted);
  b.emplace(1, wanted);
  to_b = a->add(*b);
  to_a = b->add(*a);
}

void LibfabricTest::exchange(std::size_t octets, std::uint64_t tag) {
  const auto out = pattern(octets, static_cast<unsigned>(tag));
  std::vector<std::byte> in(octets + 1, std::byte{0x55});
  ASSERT_EQ(fi_trecv(b->ep, in.data(), octets, nullptr, FI_ADDR_UNSPEC, tag, 0, &in), 0);
  ASSERT_EQ(fi_tsend(a->ep, out.data(), octets, nullptr, to_b, tag, &tag), 0);
  const Read got = b->next(b->received);
  ASSERT_EQ(got.error.err, 0);
  EXPECT_EQ(got.entry.op_context, &in);
  EXPECT_EQ(got.entry.len, octets);
  const Read done = a->next(a->sent);
  ASSERT_EQ(done.error.err, 0);
  EXPECT_EQ(done.entry.op_context, &tag);
  EXPECT_EQ(in.back(), std::byte{0x55}) << "nothing is written behind the message";
  in.pop_back();
  EXPECT_EQ(in, out);
}

std::vector<std::byte> pattern(std::size_t octets, unsigned seed) {
  std::vector<std::byte> out(octets);
  for (std::size_t i = 0; i < octets; ++i) out[i] = static_cast<std::byte>((i * 131 + i / 251 + seed * 17 + 1) & 0xFF);
  return out;
}

}  // namespace railyard::libfabric
