// Connections by real datagrams between QPs 1, and data over the QPs they end in.
#include "transports/roce/cm/gsi.h"

#include <gtest/gtest.h>

#include "dataplane/base/units.h"
#include "tests/transports/roce/pair.h"
#include "transports/roce/wire/deth.h"

namespace railyard::roce::cm {
namespace {

using namespace literals;

TEST(Gsi, TwoEndsConnectByDatagramsAndWriteToEachOther) {
  for (const unsigned lost : {0u, 3u}) {
    SCOPED_TRACE(lost);
    PairConfig config;
    config.connect = false;
    Pair pair(config);
    std::array<std::unique_ptr<ConnectionManager>, 2> managers;
    std::array<std::unique_ptr<Gsi>, 2> gsis;
    for (std::size_t i = 0; i < 2; ++i) {
      CmConfig cm{.seed = {i + 1}, .response_timeout = 10};
      cm.route = [](const wire::IpAddress& own, const wire::IpAddress& peer) {
        AddressVector av;
        av.source = own;
        av.destination = peer;
        av.priority = Priority{0};
        return std::optional(av);
      };
      managers[i] = std::make_unique<ConnectionManager>(pair.engine(i), cm);
      gsis[i] = std::make_unique<Gsi>(Instant{}, pair.engine(i), *managers[i]);
    }
    pair.fate = [&, n = 0u](const Seen& s) mutable { return Fate{.lost = s.packet.bth.dest_qp == 1 && n++ < lost}; };
    managers[1]->listen(PortSpace::kTcp, 4711);
    const AccessSet all = AccessSet(Access::kRemoteWrite) | Access::kRemoteRead;
    ASSERT_TRUE(managers[0]->connect({}, {9, wire::IpAddress(0x0A000001u), wire::IpAddress(0x0A000002u)},
                                     PortSpace::kTcp, 4711, {.qp = pair.end(0).qp, .access_flags = all}));
    std::array<bool, 2> established{};
    for (int step = 0; step < 10'000 && !(established[0] && established[1]); ++step) {
      for (std::size_t i = 0; i < 2; ++i) {
        gsis[i]->run(pair.now());
        for (const Event& e : managers[i]->take_events()) {
          if (e.type == EventType::kConnectRequest) {
            ASSERT_TRUE(managers[i]->accept(pair.now(), e.connection, {.qp = pair.end(i).qp, .access_flags = all}));
          }
          established[i] = established[i] || e.type == EventType::kEstablished;
        }
        gsis[i]->run(pair.now());
      }
      pair.run_until(pair.now() + 10_us);
      for (auto& m : managers) m->on_timer(pair.now());
    }
    ASSERT_TRUE(established[0] && established[1]);
    EXPECT_EQ(pair.state(0), QpState::kRts);
    EXPECT_EQ(pair.state(1), QpState::kRts);
    EXPECT_EQ(pair.log().front().packet.deth, (DethValues{.q_key = kGsiQKey, .source_qp = 1}));
    EXPECT_EQ(pair.log().front().packet.octets() + 8, 288u) << "UDP length";
    pair.write_and_expect(5000);
    EXPECT_TRUE(pair.books_balance());
  }
}

}  // namespace
}  // namespace railyard::roce::cm
