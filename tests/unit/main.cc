// The main function of hilo_unit_tests. --folder=tests/unit/base runs the tests whose source files lie directly in that
// folder, which is how ctest splits one program into a few processes; all other flags are gtest's.
#include <cstdio>
#include <string>

#include "gtest/gtest.h"

namespace {

// Returns the gtest filter that selects the tests in the files directly in `folder`; empty when there is none.
std::string FilterForFolder(const std::string& folder) {
  std::string filter;
  const testing::UnitTest& all = *testing::UnitTest::GetInstance();
  for (int i = 0; i < all.total_test_suite_count(); ++i) {
    const testing::TestSuite& suite = *all.GetTestSuite(i);
    for (int j = 0; j < suite.total_test_count(); ++j) {
      const testing::TestInfo& test = *suite.GetTestInfo(j);
      const std::string file = test.file();
      const std::string parent = file.substr(0, file.find_last_of('/'));
      if (parent == folder || parent.ends_with("/" + folder)) {
        filter += std::string(suite.name()) + "." + test.name() + ":";
      }
    }
  }
  return filter;
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const std::string flag = "--folder=";
    if (!argument.starts_with(flag)) {
      std::fprintf(stderr, "unknown argument %s; expected --folder=DIR or a gtest flag\n", argv[i]);
      return 2;
    }
    const std::string filter = FilterForFolder(argument.substr(flag.size()));
    if (filter.empty()) {
      std::fprintf(stderr, "no test in %s\n", argv[i] + flag.size());
      return 2;
    }
    testing::FLAGS_gtest_filter = filter;
  }
  return RUN_ALL_TESTS();
}
