// Who may ask over TCP, and who may not.
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/api/guard.h"
#include "control/api/query.h"

namespace railyard::api {
namespace {

using testing::HasSubstr;

constexpr const char* kHere = "127.0.0.1:8421";
constexpr const char* kToken = "0123456789abcdef";

// What a request is refused with; 0: it is not.
template <class Check>
int status_of(Check check, std::string* why = nullptr) {
  try {
    check();
  } catch (const ApiError& error) {
    if (why != nullptr) *why = error.what();
    return error.status();
  }
  return 0;
}

class Guarded : public testing::Test {
 protected:
  static Request from_program(const std::string& token) {
    Request r{"GET", "/v1/lab", nullptr};
    r.host = kHere;
    r.authorization = token;
    return r;
  }
  // As the page's own scripts ask.
  static Request from_page(const std::string& cookie, const std::string& method = "GET") {
    Request r{method, "/v1/lab", nullptr};
    r.host = kHere;
    r.origin = method == "GET" ? "" : "http://127.0.0.1:8421";
    r.fetch_site = "same-origin";
    r.cookie = cookie;
    return r;
  }
  int known(const Request& r, std::string* why = nullptr) {
    return status_of([&] { guard.check_known(r); }, why);
  }
  int origin(const Request& r, std::string* why = nullptr) {
    return status_of([&] { guard.check_origin(r); }, why);
  }
  // "railyard-8421=...", of a session that a code has been exchanged for.
  std::string session() {
    const Response answer = guard.exchange({{"code", guard.new_code()}});
    const std::string& field = answer.fields.at(0).second;
    return field.substr(0, field.find(';'));
  }

  Guard guard{kHere, kToken};
};

TEST_F(Guarded, AProgramNeedsTheToken) {
  EXPECT_EQ(known(from_program("Bearer 0123456789abcdef")), 0);
  std::string why;
  EXPECT_EQ(known(from_program(""), &why), 401);
  EXPECT_THAT(why, HasSubstr("Authorization: Bearer TOKEN"));
  for (const char* wrong : {"Bearer 0123456789abcdee", "Bearer 0123456789abcde", "Bearer 0123456789abcdef0", "Bearer ",
                            "Basic 0123456789abcdef", "0123456789abcdef", "bearer"})
    EXPECT_EQ(known(from_program(wrong)), 401) << wrong;
}

TEST_F(Guarded, TheTokenCountsInItsFieldAlone) {
  Request r = from_program("");
  r.target = std::string("/v1/lab?token=") + kToken;
  r.cookie = std::string("token=") + kToken;
  EXPECT_EQ(known(r), 401);
}

TEST_F(Guarded, ACodeWorksOnce) {
  const std::string code = guard.new_code();
  const Response answer = guard.exchange({{"code", code}});
  EXPECT_EQ(answer.status, 200);
  ASSERT_EQ(answer.fields.size(), 1u);
  EXPECT_EQ(answer.fields[0].first, "Set-Cookie");
  EXPECT_THAT(answer.fields[0].second, testing::StartsWith("railyard-8421="));
  EXPECT_THAT(answer.fields[0].second, HasSubstr("HttpOnly"));
  EXPECT_THAT(answer.fields[0].second, HasSubstr("SameSite=Strict"));
  EXPECT_THAT(answer.fields[0].second, testing::Not(HasSubstr(code)));
  std::string why;
  EXPECT_EQ(status_of([&] { guard.exchange({{"code", code}}); }, &why), 401);
  EXPECT_THAT(why, HasSubstr("`railyard web`"));
}

TEST_F(Guarded, OnlyTheLastCodesAreKept) {
  const std::string first = guard.new_code();
  for (std::size_t i = 0; i < Guard::kMostCodes; ++i) guard.new_code();
  EXPECT_EQ(status_of([&] { guard.exchange({{"code", first}}); }), 401);
}

TEST_F(Guarded, TheTokenCanBeExchangedAndAWrongOneCannot) {
  EXPECT_EQ(guard.exchange({{"token", kToken}}).status, 200);
  EXPECT_EQ(status_of([&] { guard.exchange({{"token", "0123"}}); }), 401);
  for (const nlohmann::json& body : {nlohmann::json(nullptr), nlohmann::json{{"token", 7}}, nlohmann::json::array()})
    EXPECT_EQ(status_of([&] { guard.exchange(body); }), 400) << body;
}

TEST_F(Guarded, ASessionOpensThePageUntilItIsLeft) {
  const std::string cookie = session();
  EXPECT_EQ(known(from_page(cookie)), 0);
  EXPECT_EQ(known(from_page("a=b; " + cookie + "; c=d")), 0);
  EXPECT_EQ(known(from_page(cookie, "POST")), 0);
  EXPECT_EQ(known(from_page("railyard-8421=0")), 401);
  EXPECT_EQ(known(from_page("x" + cookie)), 401);
  guard.leave(from_page(cookie));
  EXPECT_EQ(known(from_page(cookie)), 401);
}

TEST_F(Guarded, AChangeWithACookieSaysWhereItComesFrom) {
  Request r = from_page(session(), "POST");
  r.origin = r.fetch_site = "";
  EXPECT_EQ(known(r), 403);
}

// DNS rebinding and CSRF.
TEST_F(Guarded, OtherPagesAreRefused) {
  EXPECT_EQ(origin(from_page("")), 0);
  EXPECT_EQ(origin(from_page("", "POST")), 0);
  Request r = from_page("", "POST");
  r.origin = "http://evil.example";
  std::string why;
  EXPECT_EQ(origin(r, &why), 403);
  EXPECT_THAT(why, HasSubstr("http://evil.example"));
  r.origin = "null";
  EXPECT_EQ(origin(r), 403);
  // Another program's page on this machine.
  r.origin = "http://127.0.0.1:3000";
  EXPECT_EQ(origin(r), 403);
  r = from_page("");
  r.fetch_site = "cross-site";
  EXPECT_EQ(origin(r), 403);
  r.fetch_site = "same-site";
  EXPECT_EQ(origin(r), 403);
  r = from_page("");
  r.host = "127.0.0.1:3000";
  EXPECT_EQ(origin(r), 403);
  // A link in another program, or typed in.
  r = from_page("");
  r.fetch_site = "none";
  EXPECT_EQ(origin(r), 0);
  r.host = "localhost:8421";
  EXPECT_EQ(origin(r), 0);
}

TEST(Secrets, AreLongAndNeverTheSame) {
  std::set<std::string> seen;
  for (int i = 0; i < 100; ++i) {
    const std::string secret = drawn_secret();
    EXPECT_EQ(secret.size(), 64u);
    EXPECT_TRUE(seen.insert(secret).second);
  }
}

TEST(Query, IsDecoded) {
  EXPECT_EQ(parse_target("/history").path, "/history");
  EXPECT_TRUE(parse_target("/history").query.is_null());
  const Target t = parse_target("/history?of=leaf1%3A3&x=a+b%20c&flag&=1&of2=%C3%A4");
  EXPECT_EQ(t.path, "/history");
  EXPECT_EQ(t.query, (nlohmann::json{{"of", "leaf1:3"}, {"x", "a b c"}, {"flag", ""}, {"of2", "ä"}}));
}

TEST(Query, ThatIsNoneIsRefused) {
  for (const char* target : {"/x?a=%", "/x?a=%4", "/x?a=%zz", "/x?a=%00", "/x?a=%ff", "/x?%c3=1"})
    EXPECT_EQ(status_of([&] { parse_target(target); }), 400) << target;
}

}  // namespace
}  // namespace railyard::api
