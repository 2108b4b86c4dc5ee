#include "control/machine/files.h"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/control/machine/made_up.h"

namespace railyard::machine {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(MachineFiles, AreReadBelowTheirRoot) {
  const MadeUp m;
  m.set("/sys/a/number", " 12");
  m.set("/sys/a/text", "one two\n");
  m.link("/sys/a/driver", "../../bus/pci/drivers/mlx5_core");
  const Files files = m.files();
  EXPECT_EQ(files.number("/sys/a/number"), 12);
  EXPECT_EQ(files.text("/sys/a/text"), "one two");
  EXPECT_FALSE(files.number("/sys/a/text"));
  EXPECT_FALSE(files.text("/sys/a/none"));
  EXPECT_TRUE(files.exists("/sys/a"));
  EXPECT_FALSE(files.exists("/proc"));
  EXPECT_THAT(files.names("/sys/a"), ElementsAre("driver", "number", "text"));
  EXPECT_THAT(files.names("/sys/b"), IsEmpty());
  EXPECT_EQ(files.link("/sys/a/driver"), "mlx5_core");
  EXPECT_EQ(files.link("/sys/a/text"), "");
}

TEST(MachineFiles, ListsOfProcessorsAreThoseOfTheKernel) {
  EXPECT_THAT(read_processors("0-3,8"), ElementsAre(0, 1, 2, 3, 8));
  EXPECT_THAT(read_processors("5"), ElementsAre(5));
  EXPECT_THAT(read_processors(""), IsEmpty());
  EXPECT_THAT(read_processors("(null)"), IsEmpty());
  EXPECT_THAT(read_processors("0-99999999"), IsEmpty());
  for (const char* text : {"0-3,8", "5", "", "1,3,5-6"}) EXPECT_EQ(processors_text(read_processors(text)), text);
}

TEST(MachineFiles, TheChosenWordIsInBrackets) {
  EXPECT_EQ(chosen_word("always [madvise] never"), "madvise");
  EXPECT_EQ(chosen_word("performance"), "performance");
}

TEST(MachineFiles, NumbersHaveNames) {
  EXPECT_EQ(number_of("MemTotal: 12 kB\nHugePages_Total:   7\n", "HugePages_Total"), 7);
  EXPECT_FALSE(number_of("HugePages_Total_Much: 7\n", "HugePages_Total"));
}

}  // namespace
}  // namespace railyard::machine
