#include "control/compare/clash.h"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <unistd.h>

namespace railyard::compare {
namespace {

using testing::IsEmpty;

class Clashes : public testing::Test {
 protected:
  Clashes() {
    std::ofstream(file_) << "name: x\n"
                            "topology: { preset: leaf-spine, leaves: 2, spines: 2, hosts-per-leaf: 2 }\n"
                            "traffic: [ { name: all, from: h1, to: h3, transport: roce, bytes: 1MB } ]\n";
  }
  ~Clashes() override { std::filesystem::remove(file_); }

  // What remains of `setting` under an override of the word ecmp.
  bool clash(const std::string& setting, const std::string& by) {
    const auto found = clashes(file_, {setting}, {{by, "ecmp"}});
    if (found.empty()) return false;
    EXPECT_EQ(found, (std::vector<Clash>{{setting, {by, "ecmp"}}}));
    return true;
  }

  const std::filesystem::path file_ =
      std::filesystem::temp_directory_path() / ("clash-" + std::to_string(::getpid()) + ".yaml");
};

TEST_F(Clashes, AreValuesThatDoNotRemain) {
  EXPECT_TRUE(clash("qos.default.classes.3.path=spray", "qos.default.classes.3.path=ecmp"));
  EXPECT_FALSE(clash("qos.default.classes.3.path= ecmp", "qos.default.classes.3.path=ecmp")) << "the same";
  EXPECT_FALSE(clash("qos.default.classes.4.path=spray", "qos.default.classes.3.path=ecmp"));
  EXPECT_FALSE(clash("qos.default.classes.3.weight=3", "qos.default.classes.3.path=ecmp"));
}

TEST_F(Clashes, GoByTheDocumentNotByTheWordsOfAPath) {
  EXPECT_TRUE(clash("traffic.all.dscp=8", "traffic.0.dscp=26"));
  EXPECT_TRUE(clash("traffic.0.dscp=8", "traffic.all.dscp=26"));
}

TEST_F(Clashes, AreFoundInAndAboveMaps) {
  EXPECT_TRUE(clash("qos.default.classes.3.path.policy=spray", "qos.default.classes.3.path=ecmp"));
  EXPECT_TRUE(clash("qos.default.classes.3={ lossless: true, path: spray }", "qos.default.classes.3.path=ecmp"));
  EXPECT_FALSE(clash("qos.default.classes.3={ lossless: true, path: ecmp }", "qos.default.classes.3.path=ecmp"));
  EXPECT_FALSE(clash("qos.default.classes.3={ lossless: true }", "qos.default.classes.3.path=ecmp"));
}

TEST_F(Clashes, AValueThatIsTakenAwayIsOneToo) {
  const auto found =
      clashes(file_, {"qos.default.classes.3.queue-limit=50KB"}, {{"qos.default.classes.3.queue-limit=", "pfc"}});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found[0].removes());
}

TEST_F(Clashes, AFileThatCannotBeReadHasNone) {
  EXPECT_THAT(clashes("/nowhere.yaml", {"a.b=1"}, {{"a.b=2", ""}}), IsEmpty());
}

}  // namespace
}  // namespace railyard::compare
