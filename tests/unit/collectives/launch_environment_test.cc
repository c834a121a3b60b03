#include <cstdlib>
#include <map>
#include <string>

#include "absl/strings/match.h"
#include "collectives/processes/process_group.h"
#include "gtest/gtest.h"
#include "hilo/collectives.h"

namespace hilo {
namespace {

using Environment = std::map<std::string, std::string>;

absl::StatusOr<LaunchEnvironment> Detect(const Environment& environment, const LaunchArguments& given = {}) {
  return DetectLaunch(given, [&](const char* name) {
    const auto found = environment.find(name);
    return found == environment.end() ? nullptr : found->second.c_str();
  });
}

void ExpectFound(const Environment& environment, const std::string& launcher, int64_t rank, int64_t size,
                 std::optional<int64_t> local, const std::string& coordinator) {
  const auto found = Detect(environment);
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(found->launcher, launcher);
  EXPECT_EQ(found->rank, rank);
  EXPECT_EQ(found->world_size, size);
  EXPECT_EQ(found->local_rank, local);
  EXPECT_EQ(found->coordinator, coordinator);
}

void ExpectError(const Environment& environment, const std::string& part, const LaunchArguments& given = {}) {
  const auto found = Detect(environment, given);
  EXPECT_EQ(found.status().code(), absl::StatusCode::kInvalidArgument) << found.status();
  EXPECT_TRUE(absl::StrContains(found.status().message(), part)) << found.status();
}

TEST(LaunchEnvironmentTest, Alone) { ExpectFound({}, "", 0, 1, std::nullopt, ""); }

TEST(LaunchEnvironmentTest, Hilo) {
  ExpectFound(
      {{"HILO_RANK", "2"}, {"HILO_WORLD_SIZE", "4"}, {"HILO_LOCAL_RANK", "1"}, {"HILO_COORDINATOR", "file:///tmp/x"}},
      "Hilo", 2, 4, 1, "file:///tmp/x");
}

TEST(LaunchEnvironmentTest, TokenOfTheJob) {
  const auto found = Detect({{"HILO_RANK", "0"}, {"HILO_WORLD_SIZE", "1"}, {"HILO_JOB_TOKEN", "secret"}});
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(found->token, "secret");
}

TEST(LaunchEnvironmentTest, Torchrun) {
  ExpectFound(
      {{"RANK", "3"}, {"WORLD_SIZE", "4"}, {"LOCAL_RANK", "1"}, {"MASTER_ADDR", "node1"}, {"MASTER_PORT", "29500"}},
      "torchrun", 3, 4, 1, "node1:29501");
  ExpectError({{"RANK", "3"}, {"WORLD_SIZE", "4"}, {"MASTER_PORT", "29500"}}, "MASTER_ADDR is not");
  ExpectError({{"RANK", "3"}, {"WORLD_SIZE", "4"}, {"MASTER_ADDR", "a"}, {"MASTER_PORT", "0"}}, "MASTER_PORT");
}

TEST(LaunchEnvironmentTest, Jax) {
  ExpectFound({{"JAX_PROCESS_ID", "1"}, {"JAX_NUM_PROCESSES", "2"}, {"JAX_COORDINATOR_ADDRESS", "10.0.0.1:1234"}},
              "JAX", 1, 2, std::nullopt, "10.0.0.1:1234");
  ExpectError({{"JAX_PROCESS_ID", "1"}, {"JAX_NUM_PROCESSES", "2"}}, "JAX_NUM_PROCESSES");
}

TEST(LaunchEnvironmentTest, OpenMpi4) {
  const Environment environment = {{"OMPI_COMM_WORLD_RANK", "5"},
                                   {"OMPI_COMM_WORLD_SIZE", "8"},
                                   {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                                   {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"},
                                   {"OMPI_MCA_orte_hnp_uri", "1324220416.0;tcp://10.1.0.7,192.168.0.7:40123"}};
  ExpectFound(environment, "Open MPI", 5, 8, 1, "10.1.0.7:20416");
  Environment one_machine = environment;
  Environment version_6 = environment;
  version_6["OMPI_MCA_orte_hnp_uri"] = "1324220416.0;tcp6://[fd00::7,2001:db8::7]:40123";
  ExpectFound(version_6, "Open MPI", 5, 8, 1, "[fd00::7]:20416");
  one_machine["OMPI_COMM_WORLD_LOCAL_SIZE"] = "8";
  ExpectFound(one_machine, "Open MPI", 5, 8, 1, "127.0.0.1:20416");
}

TEST(LaunchEnvironmentTest, OpenMpi5) {
  Environment environment = {{"OMPI_COMM_WORLD_RANK", "1"},
                             {"OMPI_COMM_WORLD_SIZE", "2"},
                             {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                             {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
                             {"PMIX_NAMESPACE", "prterun-host-4711@1"},
                             {"PMIX_RANK", "1"}};
  ExpectFound(environment, "Open MPI", 1, 2, 1, "127.0.0.1:27111");
  environment["OMPI_COMM_WORLD_LOCAL_SIZE"] = "1";
  ExpectError(environment, "OMPI_MCA_orte_hnp_uri");
  environment["HILO_COORDINATOR"] = "host:99";
  ExpectFound(environment, "Open MPI", 1, 2, 1, "host:99");
}

TEST(LaunchEnvironmentTest, Mpich) {
  const Environment environment = {{"PMI_RANK", "0"}, {"PMI_SIZE", "3"}, {"MPI_LOCALRANKID", "0"}};
  ExpectError(environment, "set HILO_COORDINATOR");
  Environment with = environment;
  with["HILO_COORDINATOR"] = "file:///shared/job";
  ExpectFound(with, "MPICH", 0, 3, 0, "file:///shared/job");
}

TEST(LaunchEnvironmentTest, Slurm) {
  Environment environment = {{"SLURM_PROCID", "6"},     {"SLURM_NTASKS", "8"},
                             {"SLURM_LOCALID", "2"},    {"SLURM_STEP_ID", "0"},
                             {"SLURM_JOB_ID", "12345"}, {"SLURM_STEP_NODELIST", "node[03-05,9],x1"}};
  ExpectFound(environment, "Slurm", 6, 8, 2, "node03:22345");
  environment["SLURM_STEP_NUM_TASKS"] = "7";
  ExpectFound(environment, "Slurm", 6, 7, 2, "node03:22345");
  environment["SLURM_STEP_NODELIST"] = "alpha,beta[1-2]";
  ExpectFound(environment, "Slurm", 6, 7, 2, "alpha:22345");
  environment["SLURM_STEP_NODELIST"] = "rack[1-2]-ib,beta";
  ExpectFound(environment, "Slurm", 6, 7, 2, "rack1-ib:22345");
  environment["SLURM_STEP_NODELIST"] = "";
  ExpectError(environment, "SLURM_STEP_NODELIST");
}

TEST(LaunchEnvironmentTest, SlurmBatchScript_IsOneProcess) {
  ExpectFound({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}, {"SLURM_JOB_ID", "1"}}, "", 0, 1, std::nullopt, "");
}

TEST(LaunchEnvironmentTest, FirstInOrder_Wins) {
  const Environment environment = {
      {"HILO_RANK", "1"}, {"HILO_WORLD_SIZE", "2"}, {"HILO_COORDINATOR", "a:1"}, {"RANK", "5"}, {"WORLD_SIZE", "6"}};
  ExpectFound(environment, "Hilo", 1, 2, std::nullopt, "a:1");
  const auto given = Detect(environment, {.rank = 3, .world_size = 9, .coordinator = "b:2"});
  ASSERT_TRUE(given.ok()) << given.status();
  EXPECT_EQ(given->rank, 3);
  EXPECT_EQ(given->world_size, 9);
  EXPECT_EQ(given->coordinator, "b:2");
}

TEST(LaunchEnvironmentTest, PartialAndWrongVariablesAreNamed) {
  ExpectError({{"HILO_RANK", "1"}}, "HILO_RANK is set, but HILO_WORLD_SIZE is not");
  ExpectError({{"WORLD_SIZE", "4"}}, "WORLD_SIZE is set, but RANK is not");
  ExpectError({{"PMI_RANK", "x"}, {"PMI_SIZE", "2"}}, "PMI_RANK: expected a whole number from 0 on, got 'x'");
  ExpectError({{"HILO_RANK", "-1"}, {"HILO_WORLD_SIZE", "2"}}, "HILO_RANK: expected a whole number");
  ExpectError({{"HILO_RANK", "2"}, {"HILO_WORLD_SIZE", "2"}},
              "HILO_RANK: expected a rank below HILO_WORLD_SIZE = 2, got 2");
  ExpectError({{"HILO_RANK", "0"}, {"HILO_WORLD_SIZE", "0"}}, "HILO_WORLD_SIZE: expected at least 1");
  ExpectError({{"HILO_RANK", "0"}, {"HILO_WORLD_SIZE", "2"}, {"HILO_LOCAL_RANK", "7"}}, "HILO_LOCAL_RANK");
  ExpectError({{"HILO_RANK", "0"}, {"HILO_WORLD_SIZE", "2"}}, "set HILO_COORDINATOR");
  ExpectError({}, "give both", {.rank = 0});
  ExpectError({}, "rank: expected a rank below", {.rank = 2, .world_size = 2});
}

TEST(OwnHostTest, IsTheAddressTowardsTheCoordinator) {
  unsetenv("HILO_HOST");
  for (const char* here : {"127.0.0.1:5", "localhost:5", "file:///tmp/folder", ""})
    EXPECT_EQ(OwnHost(here).value(), "");
  EXPECT_EQ(OwnHost("0.0.0.0:5").value(), "127.0.0.1");
  setenv("HILO_HOST", "10.1.2.3", 1);
  EXPECT_EQ(OwnHost("0.0.0.0:5").value(), "10.1.2.3");
  unsetenv("HILO_HOST");
}

}  // namespace
}  // namespace hilo
