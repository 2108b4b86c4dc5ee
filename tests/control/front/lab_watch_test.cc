// The whole lab, watched and asked by the page: with shell scripts in the place of remote shells and relays.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/base/base64.h"
#include "control/front/front_routes.h"
#include "control/front/lab_watch.h"
#include "tests/control/front/two_sites.h"

namespace railyard::front {
namespace {

using nlohmann::json;
using testing::HasSubstr;

// Both sites of two_sites() answer by a script: lines of `case`, patterns of a request and what is answered.
class Front : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* site : {"a", "b"}) answers_[site] = {{R"(*'"/news'*)", news(site)}};
  }
  void TearDown() override {
    routes_.reset();
    watch_.reset();
  }

  json news(const std::string& site) const {
    const std::size_t links = map_.at(site).size();
    json sample{{"up", std::string(links, '1')}, {"modelled_seconds", 5}, {"held", false}};
    for (const char* key : {"bps", "use", "depth", "marked", "pauses", "drops"}) sample[key] = std::vector<int>(2 * links, 1);
    return {{"unix_seconds", 1000}, {"sample", sample}, {"states", 1}, {"trunks", json::array()},
            {"state", {{"held", false}, {"size", {{"flows", 0}, {"collectives", 0}}}}},
            {"happenings", {{{"number", 1u}, {"unix_seconds", 1000}, {"kind", "drain"}, {"element", ""}, {"text", "at " + site}}}}};
  }
  void answer(const std::string& site, const std::string& pattern, const json& body) { answers_[site][pattern] = body; }

  FrontRoutes& front() {
    if (routes_) return *routes_;
    for (const auto& [site, answers] : answers_) {
      std::FILE* out = std::fopen(script(site).c_str(), "w");
      std::fputs("while read -r line; do case $line in *'\"lab\"'*) echo '{\"up\":true}';;\n", out);
      for (const auto& [pattern, body] : answers)
        std::fputs((pattern + ") cat <<'END'\n" + (body.contains("gone") || body.contains("status") ? body : json{{"status", 200}, {"body", body}}).dump() + "\nEND\n;;\n").c_str(), out);
      std::fputs("*) echo '{\"status\":404,\"body\":\"no such thing\"}';; esac; done\n", out);
      std::fclose(out);
    }
    record_.shell = {.prefix = "env sh " + testing::TempDir() + "front-{site}.sh", .program = "x"};
    record_.sites = {{"a", "host-a", "x-a"}, {"b", "host-b", "x-b"}};
    links_ = std::make_unique<SiteLinks>(record_);
    links_->start("file");
    watch_ = std::make_unique<LabWatch>("x", plan_, map_, *links_);
    routes_ = std::make_unique<FrontRoutes>("x", plan_, map_, *links_, *watch_, [] {});
    return *routes_;
  }
  static std::string script(const std::string& site) { return testing::TempDir() + "front-" + site + ".sh"; }

  json get(const std::string& target) { return front().answer({"GET", target, nullptr}).body; }
  json post(const std::string& target, const json& body) { return front().answer({"POST", target, body}).body; }
  int refused(const std::function<void()>& work) {
    try {
      work();
    } catch (const api::ApiError& error) {
      why_ = error.what();
      return error.status();
    }
    return 200;
  }

  // Events by name, until it is so.
  std::map<std::string, json> events(const std::function<bool(const std::map<std::string, json>&)>& enough) {
    const api::Response stream = front().answer({"GET", "/events?every=100ms", nullptr});
    std::map<std::string, json> seen;
    for (int i = 0; i < 2000 && !enough(seen); ++i) {
      std::istringstream lines(stream.events->next().value_or(""));
      std::string name;
      for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("event: ")) name = line.substr(7);
        if (line.starts_with("data: ")) seen[name] = json::parse(line.substr(6));
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return seen;
  }

  SitePlan plan_ = two_sites();
  LinkMap map_{plan_};
  SiteRecord record_;
  std::map<std::string, std::map<std::string, json>> answers_;
  std::unique_ptr<SiteLinks> links_;
  std::unique_ptr<LabWatch> watch_;
  std::unique_ptr<FrontRoutes> routes_;
  std::string why_;
};

TEST_F(Front, OneStreamTellsOfAllSites) {
  const auto seen = events([](const auto& s) { return s.contains("sample") && s.contains("state") && s.contains("happenings"); });
  EXPECT_EQ(seen.at("hello")["ends"], 2 * map_.lab().links.size());
  EXPECT_EQ(seen.at("sample")["up"], std::string(map_.lab().links.size(), '1'));
  EXPECT_GT(seen.at("sample")["unix_seconds"], 1e9) << "the clock of this machine, and not of the sites";
  EXPECT_EQ(seen.at("state")["sites"].size(), 2u);
  EXPECT_EQ(seen.at("happenings").size(), 2u);
  EXPECT_GT(seen.at("happenings")[0]["unix_seconds"], 1e9);
}

TEST_F(Front, ASiteThatIsAwayIsNamedAndItsLinksAreDown) {
  answer("b", R"(*'"/news'*)", {{"gone", "its daemon has ended"}});
  const auto seen = events([](const auto& s) { return s.contains("sample") && s.contains("state") && s.at("state")["sites"][1].contains("why"); });
  EXPECT_EQ(seen.at("state")["sites"][1]["why"], "its daemon has ended");
  EXPECT_THAT(seen.at("sample")["up"].get<std::string>(), HasSubstr("0"));
  EXPECT_THAT(seen.at("sample")["up"].get<std::string>(), HasSubstr("1"));
}

TEST_F(Front, ASiteThatTalksNonsenseHarmsNobody) {
  answer("b", R"(*'"/news'*)", {{"sample", {{"up", 7}}}, {"state", {{"held", 3}}}, {"happenings", 5}, {"trunks", {4}}, {"unix_seconds", "x"}});
  const auto seen = events([](const auto& s) { return s.contains("sample") && s.contains("state"); });
  EXPECT_THAT(seen.at("sample")["up"].get<std::string>(), HasSubstr("1"));
}

TEST_F(Front, AnAnswerOfAnotherKindIsRefused) {
  answer("a", R"(*'"/captures"'*)", {{"captures", json::array()}});
  answer("b", R"(*'"/captures"'*)", 5);
  EXPECT_EQ(refused([&] { get("/captures"); }), 503);
  EXPECT_THAT(why_, HasSubstr("expected a railyard of the same version"));
}

TEST_F(Front, StreamsEndWithAWord) {
  const api::Response stream = front().answer({"GET", "/events?every=100ms", nullptr});
  stream.events->next();
  std::thread leaves([&] { watch_->farewell("The lab was stopped."); });
  std::string last;
  while (const auto news = stream.events->next()) last = *news;
  EXPECT_THAT(last, HasSubstr("event: ended\ndata: {\"why\":\"The lab was stopped.\"}"));
  const_cast<api::Response&>(stream).events.reset();
  leaves.join();
}

TEST_F(Front, TheFirstPictureHasTheWholeLab) {
  const json o = get("/overview?folding=none");
  EXPECT_EQ(o["name"], "x");
  EXPECT_EQ(o["read_only"], false);
  EXPECT_EQ(o["layout"]["nodes"].size(), 5u);
  EXPECT_EQ(get("/layout")["links"].size(), map_.lab().links.size());
  EXPECT_TRUE(get("/schema").contains("$defs"));
  EXPECT_EQ(refused([&] { get("/layout?folding=paper"); }), 400);
  EXPECT_EQ(refused([&] { get("/snapshot?at=soon"); }), 400);
  EXPECT_EQ(refused([&] { get("/snapshot?at=1"); }), 404);
}

TEST_F(Front, CapturesAreCalledByTheirSites) {
  answer("b", R"(*'"POST"'*'"/captures"'*|*'"/captures"'*'"POST"'*)", {{"id", "3"}, {"port", "leaf2:1"}, {"socket", "/x"}});
  answer("b", R"(*'"/captures/stop"'*)", {{"id", "3"}, {"port", "leaf2:1"}});
  answer("b", R"(*'"/captures/3/file"'*)", base64(std::string("\0\1\xff", 3)));
  const json started = post("/captures", {{"port", "leaf2:1"}, {"keep", true}});
  EXPECT_EQ(started["id"], "b.3");
  EXPECT_FALSE(started.contains("socket"));
  EXPECT_EQ(post("/captures/stop", {{"id", "b.3"}})["id"], "b.3");
  const api::Response file = front().answer({"GET", "/captures/b.3/file", nullptr});
  EXPECT_EQ(file.text, std::string("\0\1\xff", 3));
  EXPECT_EQ(refused([&] { post("/captures", {{"port", "leaf2:1"}}); }), 409);
  for (const char* id : {"3", "c.3", "b.", "b.3x", "b./../x"}) EXPECT_EQ(refused([&] { post("/captures/stop", {{"id", id}}); }), 404) << id;
}

TEST_F(Front, AFileThatIsNoneIsRefused) {
  answer("a", R"(*'"/captures/1/file"'*)", "not base64!");
  EXPECT_EQ(refused([&] { front().answer({"GET", "/captures/a.1/file", nullptr}); }), 503);
  EXPECT_THAT(why_, HasSubstr("site a: no file in the answer"));
}

// It was taken down at the other end.
TEST_F(Front, ALinkBetweenSitesComesUpByEitherEnd) {
  const std::string at_a = plan_.trunks.at("b").begin()->second.far, at_b = plan_.trunks.at("a").begin()->second.far;
  answer("a", R"(*'"/links"'*)", {{"status", 409}, {"body", "link is already up"}});
  answer("b", R"(*'"/links"'*)", {{"link", at_b + " - " + plan_.trunks.at("b").begin()->first + ":1"}, {"up", true}});
  EXPECT_EQ(post("/links", {{"link", at_a}, {"up", true}})["link"], at_b + " - " + at_a);
  EXPECT_EQ(refused([&] { post("/links", {{"link", at_a}, {"up", false}}); }), 409);
  EXPECT_EQ(refused([&] { post("/links", {{"link", "leaf9:1"}, {"up", false}}); }), 404);
}

TEST_F(Front, ReportsAreThoseOfSites) {
  answer("a", R"(*'"/report"'*)", {{"report.html", "<p>"}, {"report.txt", "x"}});
  EXPECT_EQ(front().answer({"GET", "/report/a.report.html", nullptr}).text, "<p>");
  EXPECT_EQ(refused([&] { get("/report/report.html"); }), 404);
  EXPECT_THAT(why_, HasSubstr("expected one such as a.report.html"));
}

TEST_F(Front, WhatOneSiteHasToAnswerSaysWhere) {
  EXPECT_EQ(refused([&] { get("/probes"); }), 409);
  EXPECT_THAT(why_, HasSubstr("--lab x-a"));
}

}  // namespace
}  // namespace railyard::front
