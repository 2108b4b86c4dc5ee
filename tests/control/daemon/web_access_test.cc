// The page of a lab and its API over TCP: who gets what.
#include <array>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "control/base/read_file.h"
#include "control/daemon/web_access.h"

namespace railyard::daemon {
namespace {

using testing::HasSubstr;
using testing::Not;

class Access : public testing::Test {
 protected:
  static constexpr std::array kFiles{PageFile{"/index.html", "text/html; charset=utf-8", "<!doctype html>"},
                                     PageFile{"/assets/a-1.js", "text/javascript; charset=utf-8", "run()", "(gzip)"}};

  static api::Request request(const std::string& method, const std::string& target) {
    api::Request r{method, target, nullptr};
    r.host = "127.0.0.1:8421";
    return r;
  }
  // As the server does.
  api::Response ask(const api::Request& r) {
    try {
      if (auto at_once = access.admit(r)) return *std::move(at_once);
      return access.handle(r);
    } catch (const api::ApiError& error) {
      return api::problem(error.status(), error.what());
    }
  }
  static std::string field(const api::Response& r, const std::string& name) {
    for (const auto& [n, value] : r.fields)
      if (n == name) return value;
    return "";
  }

  std::string asked;  // the last request that reached the API
  WebAccess access{"127.0.0.1:8421", "secret", kFiles, [this](const api::Request& r) {
                     asked = r.method + " " + r.target;
                     return api::Response{200, {{"ok", true}}};
                   }};
};

TEST_F(Access, ThePageIsForAnybodyOnThisMachine) {
  for (const char* target : {"/", "/index.html", "/?x"}) {
    const api::Response page = ask(request("GET", target));
    EXPECT_EQ(page.text, "<!doctype html>") << target;
    EXPECT_EQ(page.media_type, "text/html; charset=utf-8");
    EXPECT_THAT(field(page, "Content-Security-Policy"), HasSubstr("default-src 'none'"));
    EXPECT_THAT(field(page, "Content-Security-Policy"), HasSubstr("frame-ancestors 'none'"));
    EXPECT_EQ(field(page, "Cache-Control"), "no-cache");
  }
  EXPECT_THAT(field(ask(request("GET", "/assets/a-1.js")), "Cache-Control"), HasSubstr("immutable"));
  EXPECT_EQ(ask(request("POST", "/")).status, 405);
}

TEST_F(Access, FilesGoCompressedToThoseWhoTakeIt) {
  api::Request r = request("GET", "/assets/a-1.js");
  for (const char* accepted : {"gzip, deflate, br", "br;q=1, GZIP ;q=0.5"}) {
    r.accept_encoding = accepted;
    const api::Response got = ask(r);
    EXPECT_EQ(got.text, "(gzip)") << accepted;
    EXPECT_EQ(field(got, "Content-Encoding"), "gzip");
    EXPECT_EQ(field(got, "Vary"), "Accept-Encoding");
  }
  for (const char* accepted : {"", "br", "gzip;q=0", "gzipped"}) {
    r.accept_encoding = accepted;
    EXPECT_EQ(ask(r).text, "run()") << accepted;
    EXPECT_EQ(field(ask(r), "Content-Encoding"), "");
    EXPECT_EQ(field(ask(r), "Vary"), "Accept-Encoding");
  }
  api::Request page = request("GET", "/");
  page.accept_encoding = "gzip";
  EXPECT_EQ(ask(page).text, "<!doctype html>") << "it has no compressed form";
}

TEST_F(Access, TheApiIsForThoseWhoAreKnown) {
  for (const char* target : {"/v1/lab", "/v1/down", "/v1/session", "/metrics", "/assets/../token", "/v2/lab", "/x", "/v1"})
    EXPECT_EQ(ask(request("GET", target)).status, 401) << target;
  EXPECT_EQ(asked, "");
  api::Request r = request("GET", "/v1/history?of=h1");
  r.authorization = "Bearer secret";
  EXPECT_EQ(ask(r).status, 200);
  EXPECT_EQ(asked, "GET /history?of=h1");
  r.target = "/v2/lab";
  EXPECT_EQ(ask(r).status, 404);
}

TEST_F(Access, ALinkBringsASession) {
  const std::string link = access.new_link();
  ASSERT_THAT(link, testing::StartsWith("http://127.0.0.1:8421/#code="));
  api::Request r = request("POST", "/v1/session");
  r.origin = "http://127.0.0.1:8421";
  r.body = {{"code", link.substr(link.find('=') + 1)}};
  const api::Response answer = ask(r);
  EXPECT_EQ(answer.status, 200);
  const std::string cookie = field(answer, "Set-Cookie");
  EXPECT_EQ(ask(r).status, 401) << "the link has been used";
  api::Request later = request("POST", "/v1/links");
  later.origin = r.origin;
  later.cookie = cookie.substr(0, cookie.find(';'));
  EXPECT_EQ(ask(later).status, 200);
  EXPECT_EQ(asked, "POST /links");
  later.origin = "http://127.0.0.1:9999";
  EXPECT_EQ(ask(later).status, 403);
}

TEST_F(Access, TheFirstPictureComesWithTheSessionIfThatIsAskedFor) {
  api::Request r = request("POST", "/v1/session");
  r.origin = "http://127.0.0.1:8421";
  r.body = {{"token", "secret"}, {"overview", "none"}};
  EXPECT_EQ(ask(r).body, (nlohmann::json{{"session", true}, {"overview", {{"ok", true}}}}));
  EXPECT_EQ(asked, "GET /overview?folding=none");
  asked.clear();
  for (const nlohmann::json& other : {nlohmann::json("x&at=1"), nlohmann::json(1), nlohmann::json(nullptr)}) {
    r.body["overview"] = other;
    EXPECT_EQ(ask(r).body, (nlohmann::json{{"session", true}})) << other;
  }
  r.body = {{"token", "wrong"}, {"overview", "none"}};
  EXPECT_EQ(ask(r).status, 401);
  EXPECT_EQ(asked, "") << "without a session nothing reaches the API";
}

// Whatever stands in the fields that say who asks: without the token or a session nothing reaches the API.
TEST_F(Access, NobodyGetsInByChance) {
  std::mt19937 random(1);
  const auto one_of = [&](const std::vector<std::string>& words) { return words[random() % words.size()]; };
  const std::vector<std::string> pieces{"", "Bearer ", "secre", "secrett", "Bearer secre", "Bearer  secret", "Basic secret",
                                        "railyard-8421=", "railyard-8421=; railyard-8421=a", ";;;", "=", std::string(4000, 'a'),
                                        std::string(1, '\0'), "\xff\xfe", "http://127.0.0.1:8421", "null", "127.0.0.1:8421",
                                        "localhost:8421", "[::1]:8421", "same-origin", "cross-site"};
  for (int i = 0; i < 20'000; ++i) {
    api::Request r = request(one_of({"GET", "POST", "DELETE", "HEAD", ""}),
                             one_of({"/v1/lab", "/v1/down", "/v1/", "/v1//", "/v1/session/../down", "/v1/session?x", "//v1/lab",
                                     "/v1/%73ession", "/assets/../v1/lab", "/?/v1/down", ""}));
    r.host = one_of(pieces);
    r.origin = one_of(pieces);
    r.fetch_site = one_of(pieces);
    r.authorization = one_of(pieces);
    r.cookie = one_of(pieces) + one_of(pieces);
    if (i % 2 == 0) r.body = {{"code", one_of(pieces)}, {"token", one_of(pieces)}};
    ask(r);
    ASSERT_EQ(asked, "") << r.target;
  }
}

TEST(TheToken, IsForItsOwnerAlone) {
  const std::string file = testing::TempDir() + "token." + std::to_string(::getpid());
  keep_token(file, "abc");
  keep_token(file, "def");  // in the place of an older one
  struct stat st {};
  ASSERT_EQ(::stat(file.c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 0777, 0600u);
  EXPECT_EQ(read_whole_file(file).value(), "def\n");
  EXPECT_THROW(keep_token("/nonexistent/token", "x"), std::runtime_error);
}

}  // namespace
}  // namespace railyard::daemon
