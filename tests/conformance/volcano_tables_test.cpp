// Volcano's own test tables, recorded as data. They are not part of this project:
// KRAFLA_EXTRA_CASES names the folder that has them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "config/config_names.h"
#include "conformance/volcano_expect.h"
#include "conformance/volcano_json.h"
#include "conformance/volcano_probes.h"
#include "conformance/volcano_vectors.h"
#include "conformance/volcano_world.h"
#include "session/session.h"

namespace krafla::volcano_tables {

namespace {

// What a case may need that Krafla does not have.
constexpr std::array<std::string_view, 19> kOutOfScope{
    "capacity",
    "capacity-hierarchy",
    "custom-plugin",
    "dra",
    "gangpreempt",
    "gangreclaim",
    "hypernode",
    "hypernode-raw-state",
    "network-topology-aware",
    "nodegroup",
    "numaaware",
    "queue-affinity",
    "queue-hierarchy",
    "resource-strategy-fit",
    "resourcequota",
    "sharding",
    "subjob",
    "task-topology",
    "usage",
};

bool InScope(const Json& entry) {
  const std::vector<std::string> needs = entry["needs"].Texts();
  return std::none_of(needs.begin(), needs.end(), [](const std::string& need) {
    return std::find(kOutOfScope.begin(), kOutOfScope.end(), need) != kOutOfScope.end();
  });
}

struct Tally {
  int passed = 0;
  int out_of_scope = 0;
  std::vector<std::string> failed;
  int observed_equal = 0;
  int observed_different = 0;
};

std::string Lines(const std::vector<std::string>& lines) {
  return fmt::format("{}", fmt::join(lines, "\n    "));
}

void RunCase(const std::string& file, const Json& recorded, Tally& tally) {
  const std::unique_ptr<World> world = MakeWorld(recorded, SuppliedObjects(recorded));
  std::vector<std::string> differences = world->problems;
  if (differences.empty()) {
    Session session(world->cluster, world->config, world->options, world->log);
    session.ExecuteActions();
    session.VerifyInvariants();
    // Recorded phases are without what plugins have to say at the end.
    session.UpdateJobPhases();
    // A difference in what Volcano goes on to do after an assertion of its own failed says nothing.
    if (recorded["observed"].present() && IsDeterministic(recorded) &&
        !recorded["upstreamPanics"].present()) {
      const std::vector<std::string> observed = CompareWithObserved(recorded, *world);
      ++(observed.empty() ? tally.observed_equal : tally.observed_different);
      if (!observed.empty())
        std::printf("  observed states differ: %s\n    %s\n", file.c_str(),
                    Lines(observed).c_str());
    }
    differences = CompareWithExpect(recorded, *world, session);
    for (std::string& difference : CompareProbes(recorded, *world, session))
      differences.push_back(std::move(difference));
    session.Close();
  }
  if (differences.empty()) {
    ++tally.passed;
    return;
  }
  tally.failed.push_back(file);
  ADD_FAILURE() << file << "\n    " << Lines(differences);
}

using Path = std::filesystem::path;

void SessionsDecideAsRecorded(const Path& folder) {
  const Result<JsonFile> index = JsonFile::Load(folder / "index.json");
  ASSERT_TRUE(index) << index.error().message;

  Tally tally;
  for (const Json& entry : index->root()["cases"].Items()) {
    if (!InScope(entry)) {
      ++tally.out_of_scope;
      continue;
    }
    const std::string file(entry["file"].Text());
    const Result<JsonFile> recorded = JsonFile::Load(folder / file);
    ASSERT_TRUE(recorded) << recorded.error().message;
    RunCase(file, recorded->root(), tally);
  }
  std::printf("volcano tables: %d passed, %d out of scope, %zu failed\n", tally.passed,
              tally.out_of_scope, tally.failed.size());
  for (const std::string& file : tally.failed) std::printf("  failed: %s\n", file.c_str());
  std::printf("observed states: %d equal, %d different\n", tally.observed_equal,
              tally.observed_different);
  EXPECT_GT(tally.passed, 0);
  EXPECT_EQ(tally.observed_different, 0);
}

void AbsentSwitchesMeanWhatTheyDoInVolcano(const Path& folder) {
  const Result<JsonFile> options = JsonFile::Load(folder / "plugin-options.json");
  ASSERT_TRUE(options) << options.error().message;
  int known = 0;
  for (const Json& option : options->root()["options"].Items()) {
    const std::string_view key = option["yaml"].Text();
    const SwitchName* ours = FindSwitch(key);
    ASSERT_NE(ours, nullptr) << key;
    EXPECT_EQ(DefaultSwitches().test(static_cast<size_t>(ours->value)),
              option["whenAbsentInYaml"].Bool())
        << key;
    ++known;
  }
  EXPECT_EQ(known, static_cast<int>(Switch::kCount));
}

void VectorsGiveTheRecordedValues(const Path& folder) {
  const Result<JsonFile> index = JsonFile::Load(folder / "index.json");
  ASSERT_TRUE(index) << index.error().message;

  VectorTally tally;
  for (const Json& entry : index->root()["vectors"].Items()) {
    const std::string file(entry["file"].Text());
    const Result<JsonFile> recorded = JsonFile::Load(folder / file);
    ASSERT_TRUE(recorded) << recorded.error().message;
    for (const std::string& failure : RunVectors(file, recorded->root(), tally))
      ADD_FAILURE() << file << ": " << failure;
  }
  std::printf("volcano vectors: %d of %d files; %d vectors run, %d out of scope, %d failed\n",
              tally.files_run, tally.files_run + tally.files_out_of_scope, tally.run,
              tally.out_of_scope, tally.failed);
  EXPECT_GT(tally.run, 0);
}

// One test for all: without the folder nothing may look as if it had been run.
TEST(VolcanoTables, AreRunWhenNamed) {
  const char* cases = std::getenv("KRAFLA_EXTRA_CASES");
  if (cases == nullptr || *cases == '\0') {
    std::printf("KRAFLA_EXTRA_CASES is not set: VOLCANO'S TEST TABLES WERE NOT RUN.\n");
    return;
  }
  const Path folder = Path(cases) / "volcano";
  SessionsDecideAsRecorded(folder);
  AbsentSwitchesMeanWhatTheyDoInVolcano(folder);
  VectorsGiveTheRecordedValues(folder);
}

}  // namespace

}  // namespace krafla::volcano_tables
