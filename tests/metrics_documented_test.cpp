// What /metrics says is an interface: every name in the source is in docs/serve.md, every name that
// ends in _total is a counter, and no other counter pretends to be something else.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "kube/http_channel.h"
#include "kube/serve_metrics.h"
#include "support/source_dir.h"

namespace krafla::testing {
namespace {

namespace fs = std::filesystem;

std::string TextOf(const fs::path& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  EXPECT_FALSE(text.str().empty()) << path;
  return text.str();
}

std::vector<fs::path> Sources() {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(fs::path(SourceDir()) / "src/kube")) {
    const std::string name = entry.path().filename();
    if (name.ends_with(".cpp") && !name.ends_with("_test.cpp")) paths.push_back(entry.path());
  }
  return paths;
}

void AddMatches(const std::string& text, const std::string& pattern, const std::string& prefix,
                std::set<std::string>& names) {
  const std::regex regex(pattern);
  for (std::sregex_iterator it(text.begin(), text.end(), regex); it != std::sregex_iterator(); ++it)
    names.insert(prefix + (*it)[1].str());
}

// Words in backticks of the documentation.
std::set<std::string> Documented() {
  const std::string text = TextOf(fs::path(SourceDir()) / "docs/serve.md");
  std::set<std::string> words;
  const std::regex word("[`]([a-z0-9_*]+)[`]");
  for (std::sregex_iterator it(text.begin(), text.end(), word); it != std::sregex_iterator(); ++it)
    words.insert((*it)[1]);
  return words;
}

bool IsDocumented(const std::set<std::string>& words, const std::string& name) {
  const std::string bare = name.substr(name.find('_') + 1);
  for (const std::string& full : {name, bare}) {
    if (words.contains(full)) return true;
    for (const std::string& word : words)
      if (word.size() > 5 && word.ends_with('*') &&
          full.starts_with(std::string_view(word).substr(0, word.size() - 1)))
        return true;
  }
  return false;
}

TEST(MetricsDocs, EveryNameInTheSourceIsDocumented) {
  std::set<std::string> names;
  for (const fs::path& path : Sources()) {
    const std::string text = TextOf(path);
    AddMatches(text, "\"(krafla_[a-z0-9_]+)\"", "", names);
    AddMatches(text, "\"(process_[a-z0-9_]+)\"", "", names);
    AddMatches(text, "kPrefix \\+ \"([a-z0-9_]+)\"", "volcano_", names);
    AddMatches(text, "Volcano\\(\"([a-z0-9_]+)\"\\)", "volcano_", names);
  }
  names.erase("volcano_queue_");  // the beginning of several
  EXPECT_GT(names.size(), 55u);
  const std::set<std::string> documented = Documented();
  for (const std::string& name : names) EXPECT_TRUE(IsDocumented(documented, name)) << name;
}

TEST(MetricsDocs, NoGaugeEndsInTotal) {
  const std::regex gauge("GaugeFamily\\(\\s*[a-z_>-]*registry,\\s*(\"[a-z0-9_]+_total\")");
  for (const fs::path& path : Sources()) {
    const std::string text = TextOf(path);
    std::smatch match;
    EXPECT_FALSE(std::regex_search(text, match, gauge)) << path << ": " << match[1];
  }
}

// Names and types as a scraper reads them.
std::map<std::string, std::string> Types(const std::string& page) {
  std::map<std::string, std::string> types;
  std::istringstream lines(page);
  std::string hash, keyword, name, type;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("# TYPE ")) continue;
    std::istringstream(line) >> hash >> keyword >> name >> type;
    types[name] = type;
  }
  return types;
}

double ValueOf(const std::string& page, const std::string& series) {
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(series + " ")) return std::stod(line.substr(series.size() + 1));
  ADD_FAILURE() << series << " is not there";
  return -1;
}

TEST(MetricsPage, EveryTotalIsACounterAndEveryCounterIsATotal) {
  ServeMetrics metrics;
  metrics.Set({.events_sent = 1});
  metrics.Request({.method = "GET", .target = "/api/v1/pods", .response = {.status = 200}});
  const auto types = Types(metrics.Text());
  EXPECT_GT(types.size(), 25u);
  for (const auto& [name, type] : types) {
    // Volcano's own name.
    const bool is_total = name.ends_with("_total") || name == "volcano_total_preemption_attempts";
    EXPECT_EQ(type == "counter", is_total) << name << " is a " << type;
  }
}

TEST(MetricsPage, TotalsThatOthersCountNeverFall) {
  ServeMetrics metrics;
  metrics.Set({.events_sent = 7});
  EXPECT_EQ(ValueOf(metrics.Text(), "krafla_events_sent_total"), 7);
  metrics.Set({.events_sent = 9});
  EXPECT_EQ(ValueOf(metrics.Text(), "krafla_events_sent_total"), 9);
  metrics.Set({.events_sent = 3});
  EXPECT_EQ(ValueOf(metrics.Text(), "krafla_events_sent_total"), 9);
}

TEST(MetricsPage, RequestsAreCountedByVerbResourceAndCode) {
  ServeMetrics metrics;
  const auto add = [&](const char* method, const char* target, int status) {
    metrics.Request({.method = method,
                     .target = target,
                     .response = {.status = status},
                     .duration = std::chrono::milliseconds(20)});
  };
  add("POST", "/api/v1/namespaces/a/pods/p/binding", 201);
  add("POST", "/api/v1/namespaces/a/pods/q/binding", 201);
  add("POST", "/api/v1/namespaces/b/pods/p/binding", 409);
  add("GET", "/api/v1/nodes?watch=true", 0);
  add("GET", "/what/ever", 9999);
  const std::string page = metrics.Text();
  const std::string requests = "krafla_api_requests_total";
  EXPECT_EQ(ValueOf(page, requests + R"({code="201",resource="pods/binding",verb="create"})"), 2);
  EXPECT_EQ(ValueOf(page, requests + R"({code="409",resource="pods/binding",verb="create"})"), 1);
  EXPECT_EQ(ValueOf(page, requests + R"({code="error",resource="nodes",verb="watch"})"), 1);
  EXPECT_EQ(ValueOf(page, requests + R"({code="error",resource="other",verb="get"})"), 1);
  const std::string seconds = "krafla_api_request_duration_seconds";
  EXPECT_EQ(ValueOf(page, seconds + R"(_count{resource="pods/binding",verb="create"})"), 3);
  EXPECT_NEAR(ValueOf(page, seconds + R"(_sum{resource="pods/binding",verb="create"})"), 0.06,
              1e-9);
  EXPECT_EQ(ValueOf(page, seconds + R"(_bucket{resource="pods/binding",verb="create",le="0.01"})"),
            0);
  EXPECT_EQ(ValueOf(page, seconds + R"(_bucket{resource="pods/binding",verb="create",le="0.025"})"),
            3);
}

TEST(MetricsPage, TheProcessAndTheBuildAreDescribed) {
  ServeMetrics metrics("1.2.3");
  const double before = ValueOf(metrics.Text(), "process_cpu_seconds_total");
  volatile uint64_t work = 0;
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(300);
  while (std::chrono::steady_clock::now() < until) work = work + 1;
  std::ifstream open_file("/proc/self/stat");
  const std::string page = metrics.Text();
  EXPECT_GT(ValueOf(page, "process_cpu_seconds_total"), before);
  const double resident = ValueOf(page, "process_resident_memory_bytes");
  EXPECT_GT(resident, 1 << 20);
  EXPECT_GE(ValueOf(page, "process_virtual_memory_bytes"), resident);
  const double open = ValueOf(page, "process_open_fds");
  EXPECT_GE(open, 4);
  EXPECT_LE(open, ValueOf(page, "process_max_fds"));
  open_file.close();
  EXPECT_EQ(ValueOf(metrics.Text(), "process_open_fds"), open - 1);
  const double now = static_cast<double>(std::chrono::duration_cast<std::chrono::seconds>(
                                             std::chrono::system_clock::now().time_since_epoch())
                                             .count());
  EXPECT_LE(ValueOf(page, "process_start_time_seconds"), now + 2);
  EXPECT_GE(ValueOf(page, "process_start_time_seconds"), now - 7200);
#ifdef __clang__
  constexpr std::string_view kCompiler = "krafla_build_info{compiler=\"clang ";
#else
  constexpr std::string_view kCompiler = "krafla_build_info{compiler=\"gcc ";
#endif
  EXPECT_NE(page.find(kCompiler), std::string::npos);
  EXPECT_NE(page.find("version=\"1.2.3\"} 1\n"), std::string::npos);
}

}  // namespace
}  // namespace krafla::testing
