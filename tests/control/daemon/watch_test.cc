// A lab that runs, watched: rates, history, what has happened, streams; and where its nodes are in the picture.
#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/daemon/layout.h"
#include "control/daemon/routes.h"
#include "control/daemon/watch.h"
#include "control/spec/load.h"
#include "tests/control/daemon/running_lab_fixture.h"

namespace railyard::daemon {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using nlohmann::json;

class Watched : public RunningLabFixture {
 protected:
  Watched() : RunningLabFixture(kTwoHosts) {
    watch_->start([this]() -> std::optional<json> { return lab_->state(); });
  }
  // Before the engine ends, which it asks.
  ~Watched() override { watch_->stop(); }

  // Events of a stream, by name: the last of each, when all of `names` have come.
  std::map<std::string, json> events(const std::vector<std::string>& names,
                                     const std::function<bool(const std::map<std::string, json>&)>& enough) {
    const api::Response answer = route(*lab_, [] {}, {"GET", "/events?every=100ms", nullptr});
    std::map<std::string, json> seen;
    const auto done = [&] {
      return std::ranges::all_of(names, [&](const auto& n) { return seen.contains(n); }) && enough(seen);
    };
    while (!done()) {
      const std::optional<std::string> news = answer.events->next();
      if (!news) return seen;
      std::istringstream lines(*news);
      std::string name, line;
      while (std::getline(lines, line)) {
        if (line.starts_with("event: ")) name = line.substr(7);
        if (line.starts_with("data: ")) {
          json data = json::parse(line.substr(6));
          if (name == "happenings" && seen.contains(name))
            seen[name].insert(seen[name].end(), data.begin(), data.end());
          else
            seen[name] = std::move(data);
        }
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return seen;
  }
  static bool any(const std::map<std::string, json>&) { return true; }
  json happened(const std::string& kind) {
    json out = json::array();
    for (const json& h : ask("GET", "/happenings")["happenings"])
      if (h["kind"] == kind) out.push_back(h["text"]);
    return out;
  }
  // Looks again and again until it is so.
  static void wait_until(const std::function<bool()>& so) {
    while (!so()) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
};

// h1 sends 100 Mb/s to h2, by links 0 (h1:1, leaf1:1) and 1 (h2:1, leaf1:2).
TEST_F(Watched, ASampleHasTheRateOfEachDirection) {
  const auto seen = events({"hello", "state", "sample"},
                           [](const auto& s) { return s.at("sample")["bps"][0].template get<double>() > 0; });
  EXPECT_EQ(seen.at("hello")["ends"], 4);
  const json& s = seen.at("sample");
  EXPECT_EQ(s["up"], "11");
  for (const char* column : {"bps", "use", "depth", "marked", "pauses", "drops"}) EXPECT_EQ(s[column].size(), 4u) << column;
  EXPECT_GT(s["use"][0].get<double>(), 0);
  EXPECT_EQ(s["bps"][1], 0) << "leaf1 sends h1 nothing";
  EXPECT_EQ(seen.at("state")["name"], "x");
  EXPECT_EQ(seen.at("state")["hosts"].size(), 2u);
}

TEST_F(Watched, ALinkThatGoesDownIsSeenAndNoted) {
  ask("POST", "/links", {{"link", "leaf1:2"}, {"up", false}});
  auto seen = events({"sample", "state"}, [](const auto& s) {
    return s.at("sample")["up"] == "10" && !s.at("state")["links_down"].empty();
  });
  EXPECT_EQ(seen.at("state")["links_down"], json({"h2:1"}));
  EXPECT_EQ(happened("link"), json({"link h2:1 - leaf1:2 down"}));
  EXPECT_THAT(happened("log").dump(), HasSubstr("link leaf1:2 - h2:1 down: asked at"));
  ask("POST", "/links", {{"link", "h2:1"}, {"up", true}});
  events({"sample"}, [](const auto& s) { return s.at("sample")["up"] == "11"; });
  EXPECT_EQ(happened("link"), json({"link h2:1 - leaf1:2 down", "link h2:1 - leaf1:2 up"}));
}

// A fault that nobody took the link down by: the counters' thread is not told, the engine's is.
TEST_F(Watched, AFaultSaysWhatItTouches) {
  events({"state"}, any);  // those that are there already do not begin
  ask("POST", "/faults", {{"fault", "on: leaf1, crash: true, name: dark"}});
  const auto seen = events({"sample", "state", "happenings"}, [](const auto& s) {
    return s.at("sample")["up"] == "00" && !s.at("state")["faults"].empty() && s.at("state")["faults"][0]["active"] == true;
  });
  EXPECT_EQ(seen.at("state")["faults"][0]["touches"],
            (json{{"scope", "switch"}, {"nodes", {"leaf1"}}, {"links", {0, 1}}}));
  ask("DELETE", "/faults/dark");
  events({"sample"}, [](const auto& s) { return s.at("sample")["up"] == "11"; });
  wait_until([&] { return happened("fault").size() >= 2; });
  EXPECT_THAT(happened("fault"), ElementsAre("fault dark (crash on leaf1) begins", "fault dark (crash on leaf1) ends"));
}

TEST_F(Watched, HistoryIsOfAPortANodeOrTheLab) {
  wait_until([&] { return ask("GET", "/history?of=h1%3A1")["t"].size() >= 2; });
  const json of_port = ask("GET", "/history?of=h1%3A1");
  EXPECT_EQ(of_port["of"], "h1:1");
  for (const char* column : {"out", "in", "depth", "marked", "pauses", "drops", "modelled"})
    EXPECT_EQ(of_port[column].size(), of_port["t"].size()) << column;
  EXPECT_GT(of_port["out"].back().get<double>(), 0);
  EXPECT_EQ(of_port["in"].back(), 0);
  EXPECT_GT(ask("GET", "/history?of=leaf1")["in"].back().get<double>(), 0);
  EXPECT_GT(ask("GET", "/history")["out"].back().get<double>(), 0);
  const json then = ask("GET", "/snapshot?at=" + std::to_string(of_port["t"][0].get<double>()));
  EXPECT_EQ(then["up"], "11");
  EXPECT_EQ(then["unix_seconds"], of_port["t"][0]);
  EXPECT_EQ(then["bps"].size(), 4u);
}

TEST_F(Watched, TheFirstPictureNeedsOneAnswer) {
  wait_until([&] { return !ask("GET", "/overview")["sample"].is_null(); });
  const json o = ask("GET", "/overview?folding=none");
  EXPECT_EQ(o["name"], "x");
  EXPECT_EQ(o["layout"], ask("GET", "/layout?folding=none"));
  EXPECT_EQ(o["sample"]["up"], "11");
  EXPECT_EQ(o["sample"]["bps"].size(), 4u);
  ask("POST", "/links", {{"link", "leaf1:2"}, {"up", false}});
  wait_until([&] { return ask("GET", "/overview")["happenings"].dump().find("leaf1:2 down") != std::string::npos; });
  EXPECT_EQ(error_of(400, "GET", "/overview?folding=much"), "folding: 'much'; expected readable or none");
}

TEST_F(Watched, NewsIsWhatIsNotKnownYet) {
  wait_until([&] { return ask("GET", "/news")["state"].is_object(); });
  ask("POST", "/links", {{"link", "leaf1:2"}, {"up", false}});
  wait_until([&] { return ask("GET", "/news")["state"]["links_down"].size() == 1; });
  const json n = ask("GET", "/news");
  EXPECT_GT(n["unix_seconds"], 1e9);
  EXPECT_EQ(n["sample"]["bps"].size(), 4u);
  EXPECT_EQ(n["trunks"], json::array());
  ASSERT_FALSE(n["happenings"].empty());
  const std::string after = std::to_string(n["happenings"].back()["number"].get<std::uint64_t>());
  wait_until([&] {
    const std::string states = std::to_string(ask("GET", "/news")["states"].get<std::uint64_t>());
    return ask("GET", "/news?after=" + after + "&state=" + states)["state"].is_null();
  });
  EXPECT_EQ(ask("GET", "/news?after=" + after)["happenings"], json::array());
  EXPECT_EQ(error_of(400, "GET", "/news?state=old"), "state: 'old'; expected the number of a state");
}

TEST_F(Watched, NobodyIsPausedHere) {
  const json p = ask("GET", "/pauses?at=1000");
  EXPECT_EQ(p["unix_seconds"], 1000);
  EXPECT_EQ(p["trees"], json::array());
  error_of(400, "GET", "/pauses?at=soon");
}

TEST_F(Watched, WrongQuestionsAreRefused) {
  EXPECT_THAT(error_of(404, "GET", "/history?of=leaf"), HasSubstr("there is no node 'leaf'; did you mean 'leaf1'?"));
  EXPECT_EQ(error_of(404, "GET", "/history?of=leaf1:9"), "there is no link at 'leaf1:9'");
  error_of(400, "GET", "/history?of=leaf1:x");
  EXPECT_EQ(error_of(400, "GET", "/snapshot?at=soon"), "at: 'soon'; expected seconds since 1970");
  error_of(400, "GET", "/snapshot?at=nan");
  EXPECT_EQ(error_of(400, "GET", "/events?every=1ms"), "every: 1ms; expected 100ms to 60s");
  error_of(400, "GET", "/events?every=often");
  error_of(400, "GET", "/happenings?after=-1");
  EXPECT_EQ(error_of(400, "GET", "/layout?folding=much"), "folding: 'much'; expected readable or none");
  EXPECT_THAT(error_of(409, "POST", "/web"), HasSubstr("railyard up --web"));
  error_of(405, "POST", "/events");
}

TEST_F(Watched, StreamsEndWithTheWatch) {
  const api::Response answer = route(*lab_, [] {}, {"GET", "/events", nullptr});
  EXPECT_TRUE(answer.events->next().has_value());
  watch_->stop();
  EXPECT_FALSE(answer.events->next().has_value());
}

TEST_F(Watched, StreamsAreToldWhyTheyEnd) {
  std::optional<api::Response> answer = route(*lab_, [] {}, {"GET", "/events", nullptr});
  EXPECT_TRUE(answer->events->next().has_value());
  std::thread reader([&] {
    std::string last;
    while (const std::optional<std::string> news = answer->events->next()) {
      if (!news->empty()) last = *news;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_THAT(last, HasSubstr("event: ended\ndata: {\"why\":\"The lab was stopped.\"}"));
    answer.reset();
  });
  const auto began = std::chrono::steady_clock::now();
  watch_->farewell("The lab was stopped.");
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(60));
  reader.join();
}

TEST_F(Watched, LookingOnlyDoesNotFillTheLog) {
  events({"state", "sample"}, any);
  ask("GET", "/faults");
  EXPECT_THAT(log(), testing::Not(HasSubstr("look at faults")));
}

// ---- The picture -------------------------------------------------------------------------------------------------

TEST(LayoutOfALab, IsThatOfItsPicture) {
  const spec::Lab lab = spec::load(RAILYARD_SOURCE_DIR "/topologies/rails-4x8.yaml", {});
  const json l = layout_json(lab, picture::Folding::kReadable);
  EXPECT_EQ(l["nodes"].size(), lab.nodes.size());
  EXPECT_EQ(l["links"].size(), lab.links.size());
  EXPECT_EQ(l["rails"], 4);
  EXPECT_FALSE(l["folded"].get<bool>());
  std::set<std::size_t> drawn;
  for (const json& line : l["lines"]) {
    for (const std::size_t link : line["links"]) drawn.insert(link);
    for (const json& strand : line["strands"]) EXPECT_GE(strand.size(), 4u);
  }
  EXPECT_EQ(drawn.size(), lab.links.size()) << "each link is in a line";
  for (std::size_t n = 0; n < l["nodes"].size(); ++n)
    EXPECT_THAT(l["boxes"][l["nodes"][n]["box"].get<std::size_t>()]["nodes"], Contains(n));
}

TEST(LayoutOfALab, UnfoldsWhatThePictureFolds) {
  const spec::Lab lab = spec::load(RAILYARD_SOURCE_DIR "/topologies/permutation-128.yaml", {});
  const json folded = layout_json(lab, picture::Folding::kReadable);
  EXPECT_TRUE(folded["folded"].get<bool>());
  EXPECT_LT(folded["boxes"].size(), lab.nodes.size());
  const json each = layout_json(lab, picture::Folding::kNone);
  EXPECT_FALSE(each["folded"].get<bool>());
  EXPECT_EQ(each["boxes"].size(), lab.nodes.size());
}

TEST(WhatAFaultTouches, FollowsFromItsPlaces) {
  const spec::Lab lab = spec::load(RAILYARD_SOURCE_DIR "/topologies/incast-8to1.yaml", {});
  EXPECT_EQ(touched_json(lab, "leaf1:1 out", "loss")["links"].size(), 1u);
  EXPECT_EQ(touched_json(lab, "leaf1:1 out", "loss")["nodes"], json::array());
  EXPECT_EQ(touched_json(lab, "spine*", "drain")["nodes"], json({"spine1", "spine2"}));
  EXPECT_EQ(touched_json(lab, "h1, h2", "straggle")["scope"], "host");
  EXPECT_EQ(touched_json(lab, "h1, h2", "straggle")["nodes"], json({"h1", "h2"}));
  EXPECT_EQ(touched_json(lab, "nowhere:1", "loss")["links"], json::array());
}

}  // namespace
}  // namespace railyard::daemon
