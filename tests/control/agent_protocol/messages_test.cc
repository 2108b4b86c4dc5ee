// Messages between a lab and its agents: frames, fields, programs; whatever else comes is one clear error.
#include "control/agent_protocol/messages.h"

#include <string>

#include <gtest/gtest.h>

#include "control/agent_protocol/frames.h"
#include "control/agent_protocol/program_json.h"
#include "control/collectives/collective_plan.h"
#include "dataplane/base/rng.h"

namespace railyard::agents {
namespace {

using nlohmann::json;

RankProgram a_program() {
  return collectives::plan_collective({.size = 4 * 4000, .chunk = 1000, .channels = 2}, 4)[1];
}

template <class F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const ProtocolError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Frames, ComeOctetByOctetAndSeveralAtOnce) {
  const std::string octets = frame({{"a", 1}}) + frame({{"b", "x"}});
  FrameReader slow(1000);
  std::vector<json> all;
  for (const char c : octets) {
    slow.append({&c, 1});
    while (auto m = slow.next()) all.push_back(*m);
  }
  EXPECT_EQ(all, (std::vector<json>{{{"a", 1}}, {{"b", "x"}}}));
  EXPECT_FALSE(slow.in_message());
  FrameReader fast(1000);
  fast.append(octets);
  EXPECT_EQ(fast.next(), json({{"a", 1}}));
  EXPECT_EQ(fast.next(), json({{"b", "x"}}));
  EXPECT_EQ(fast.next(), std::nullopt);
}

TEST(Frames, AreBounded) {
  FrameReader reader(10);
  reader.append(std::string("\0\0\0\x0B", 4));
  EXPECT_EQ(error_of([&] { reader.next(); }),
            "a message of 11 bytes; expected at most 10: is the peer railyard-agent?");
}

TEST(Messages, SayWhatIsMissingOrWrong) {
  EXPECT_EQ(error_of([] { type_of(json::object()); }), "a message: 'type' is missing");
  EXPECT_EQ(error_of([] {
              task_from_json({{"collective", -1}});
            }),
            "a message: 'collective': expected a number of 0 or more");
  EXPECT_EQ(error_of([] {
              prepared_from_json({{"collective", 0}, {"rank", 0}, {"device", 3}});
            }),
            "prepared: 'device': expected text of at most 64 bytes");
  // Of another version nothing else is looked at.
  EXPECT_EQ(hello_from_json({{"protocol", 1}}).protocol, 1u);
}

TEST(Messages, ArriveAsTheyWereSent) {
  const Hello hello{.version = "0.1", .host = "h", .token = "t",
                    .devices = {{.device = "rxe0", .port = 1, .state = "ACTIVE", .active_mtu = 1024, .max_qps = 5,
                                 .max_work_requests = 6, .max_completions = 7,
                                 .gids = {*wire::IpAddress::parse("10.0.0.1"), *wire::IpAddress::parse("fe80::1")}}}};
  EXPECT_EQ(to_json(hello_from_json(to_json(hello))), to_json(hello));
  const Prepare prepare{.id = {3, 1}, .program = a_program(), .address = *wire::IpAddress::parse("10.0.0.1"),
                        .index = 3, .element = 8, .repeats = 4, .seed = ~std::uint64_t{0}, .gap_ns = 12};
  EXPECT_EQ(to_json(prepare_from_json(to_json(prepare))), to_json(prepare));
  const RankResult result{.id = {3, 1}, .complete = true, .failure = "", .repeats = {{1, 2}, {3, 0}},
                          .wrong_octets = 4, .counters = {{"rcvd_pkts", 9}}};
  EXPECT_EQ(to_json(result_from_json(to_json(result, "done")), "done"), to_json(result, "done"));
}

TEST(Messages, FlowsArriveAsTheyWereSent) {
  PrepareFlow prepare{
      .id = {3, true}, .address = *wire::IpAddress::parse("10.0.0.1"), .terms = {.path_mtu = 4096, .reads = 16}};
  prepare.config = {.id = 9,
                    .operation = FlowOperation::kSend,
                    .total = Bytes{12'345},
                    .message = 1000,
                    .outstanding = 3,
                    .qps = 2,
                    .receives = 5};
  EXPECT_EQ(to_json(prepare_flow_from_json(to_json(prepare))), to_json(prepare));
  EXPECT_EQ(prepare.memory(), 2u * 5 * 1000);
  const FlowResult result{.id = {3, true},
                          .complete = true,
                          .failure = "",
                          .status = "",
                          .messages = 13,
                          .octets = 12'345,
                          .verified = 12,
                          .wrong = 1,
                          .first_ns = 1,
                          .last_ns = 99,
                          .message_ns = {1, 2, 3, 4, 5, 6},
                          .counters = {{"rcvd_pkts", 9}}};
  EXPECT_EQ(to_json(flow_result_from_json(to_json(result, "done")), "done"), to_json(result, "done"));
  EXPECT_EQ(task_from_json(message("go", FlowEndId{3, true})), TaskId(FlowEndId{3, true}));
  EXPECT_EQ(task_from_json(message("go", RankId{3, 1})), TaskId(RankId{3, 1}));
}

// What an agent is told to keep is bounded, and the places of announced WRITEs are more than may be under way.
TEST(Messages, WhatAnEndOfAFlowKeepsIsBounded) {
  PrepareFlow p{.id = {0, false}, .address = *wire::IpAddress::parse("10.0.0.1")};
  p.config.message = 1000;
  p.config.outstanding = 4;
  EXPECT_EQ(p.memory(), 4000u);
  p.id.sink = true;
  p.config.announced = true;
  EXPECT_EQ(p.memory(), 9000u);
  p.id.sink = false;
  p.config.operation = FlowOperation::kRead;
  EXPECT_EQ(error_of([&] { prepare_flow_from_json(to_json(p)); }),
            "prepare-flow: 'total': a READ flow has no end; expected a total");
  p.config.total = Bytes{std::int64_t{5} << 30};
  EXPECT_EQ(error_of([&] { prepare_flow_from_json(to_json(p)); }),
            "prepare-flow: 'message': 5368709120 bytes of buffer; expected at most 4294967296");
  json j = to_json(p);
  j["operation"] = "dance";
  EXPECT_EQ(error_of([&] { prepare_flow_from_json(j); }),
            "prepare-flow: 'operation': 'dance'; expected write, send or read");
  EXPECT_EQ(error_of([] { prepare_flow_from_json(message("prepare-flow", RankId{})); }),
            "a message names a rank; expected an end of a flow");
}

// A program that was changed on the way is refused, or stays within its memory and its lists: whatever a number says.
TEST(Programs, NoNumberInThemLeadsOutside) {
  const json whole = to_json(a_program());
  RngStream rng(Seed{5}, "programs");
  int refused = 0;
  for (int i = 0; i < 3000; ++i) {
    json changed = whole;
    const std::vector<std::string> lists{"steps", "after", "connections", "inputs", "results"};
    json& list = changed[lists[rng.below(5)]];
    json& value = list[rng.below(static_cast<std::uint32_t>(list.size()))];
    json& number = value.is_array() ? value[rng.below(static_cast<std::uint32_t>(value.size()))] : value;
    const std::array<std::uint64_t, 6> odd{0, 1, 3999, 16001, 0xFFFF'FFFF, ~std::uint64_t{0}};
    number = odd[rng.below(6)];
    try {
      const RankProgram p = program_from_json(changed);
      const std::uint64_t all = p.data_octets + p.staging_octets;
      for (const CollectiveStep& s : p.steps) {
        ASSERT_LE(s.offset + s.octets, p.data_octets);
        if (s.receives()) {
          ASSERT_LE(s.place + s.octets, all);
        }
        ASSERT_TRUE(s.kind == CollectiveStep::Kind::kCompute || s.connection < p.connections.size());
        ASSERT_LE(s.end_after, p.after.size());
      }
      for (const std::uint32_t a : p.after) ASSERT_LT(a, p.steps.size());
      for (const auto* extents : {&p.inputs, &p.results})
        for (const CollectiveExtent& e : *extents) ASSERT_LE(e.offset + e.octets, p.data_octets);
    } catch (const ProtocolError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace railyard::agents
