#include "kube/process_metrics.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace krafla {

namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

std::string TextOf(const char* path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::optional<double> Number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end == text.data()) return std::nullopt;
  return value;
}

// Numbered as in proc(5): "pid (name) state …". The name may contain anything; the last ")" ends
// it.
class ProcStat {
 public:
  ProcStat() : text_(TextOf("/proc/self/stat")) {
    const size_t name_end = text_.rfind(')');
    if (name_end != std::string::npos) rest_ = std::string_view(text_).substr(name_end + 1);
  }
  // `number` is 3 or more.
  std::optional<double> Field(int number) const {
    std::string_view rest = rest_;
    for (int i = 3; !rest.empty(); ++i) {
      rest.remove_prefix(std::min(rest.find_first_not_of(" \n"), rest.size()));
      const size_t end = std::min(rest.find_first_of(" \n"), rest.size());
      if (i == number) return Number(rest.substr(0, end));
      rest.remove_prefix(end);
    }
    return std::nullopt;
  }

 private:
  std::string text_;
  std::string_view rest_;
};

// Unix time at which the machine started.
std::optional<double> BootTime() {
  const std::string text = TextOf("/proc/stat");
  constexpr std::string_view kKey = "\nbtime ";
  const size_t at = text.find(kKey);
  if (at == std::string::npos) return std::nullopt;
  return Number(std::string_view(text).substr(at + kKey.size()));
}

std::optional<double> OpenFiles() {
  std::error_code error;
  std::filesystem::directory_iterator entry("/proc/self/fd", error);
  if (error) return std::nullopt;
  double count = 0;
  for (; entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    if (error) return std::nullopt;
    ++count;
  }
  return count - 1;  // the folder itself
}

}  // namespace

std::vector<MetricFamily> ProcessMetrics() {
  std::vector<MetricFamily> families;
  const auto add = [&](const char* name, const char* help, MetricType type,
                       std::optional<double> value) {
    if (!value) return;
    ClientMetric metric;
    (type == MetricType::Counter ? metric.counter.value : metric.gauge.value) = *value;
    families.push_back({name, help, type, {metric}});
  };
  const ProcStat stat;
  const double ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  std::optional<double> cpu;
  if (const auto user = stat.Field(14), system = stat.Field(15); user && system)
    cpu = (*user + *system) / ticks;
  add("process_cpu_seconds_total", "CPU time of the process, user and system", MetricType::Counter,
      cpu);
  std::optional<double> resident;
  if (const auto pages = stat.Field(24))
    resident = *pages * static_cast<double>(sysconf(_SC_PAGESIZE));
  add("process_resident_memory_bytes", "Memory of the process in RAM", MetricType::Gauge, resident);
  add("process_virtual_memory_bytes", "Address space of the process", MetricType::Gauge,
      stat.Field(23));
  add("process_open_fds", "Open file descriptors", MetricType::Gauge, OpenFiles());
  rlimit files{};
  std::optional<double> most_files;
  if (getrlimit(RLIMIT_NOFILE, &files) == 0) most_files = static_cast<double>(files.rlim_cur);
  add("process_max_fds", "The most file descriptors the process may open", MetricType::Gauge,
      most_files);
  std::optional<double> start;
  if (const auto since_boot = stat.Field(22), boot = BootTime(); since_boot && boot)
    start = *boot + *since_boot / ticks;
  add("process_start_time_seconds", "When the process was started, in Unix seconds",
      MetricType::Gauge, start);
  return families;
}

}  // namespace krafla
