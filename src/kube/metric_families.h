// Short hands for Prometheus' families of figures.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

namespace krafla {

// From `first` doubling.
inline prometheus::Histogram::BucketBoundaries Doubling(double first, int count) {
  prometheus::Histogram::BucketBoundaries bounds;
  for (int i = 0; i < count; ++i, first *= 2) bounds.push_back(first);
  return bounds;
}

inline prometheus::Family<prometheus::Gauge>& GaugeFamily(prometheus::Registry& registry,
                                                          const std::string& name,
                                                          const std::string& help) {
  return prometheus::BuildGauge().Name(name).Help(help).Register(registry);
}
inline prometheus::Family<prometheus::Counter>& CounterFamily(prometheus::Registry& registry,
                                                              const std::string& name,
                                                              const std::string& help) {
  return prometheus::BuildCounter().Name(name).Help(help).Register(registry);
}
inline prometheus::Family<prometheus::Histogram>& HistogramFamily(prometheus::Registry& registry,
                                                                  const std::string& name,
                                                                  const std::string& help) {
  return prometheus::BuildHistogram().Name(name).Help(help).Register(registry);
}

// For totals that others count. A total never falls.
inline void RaiseTo(prometheus::Counter& counter, double total) {
  const double more = total - counter.Value();
  if (more > 0) counter.Increment(more);
}

// A label look-up costs more than the change itself.
template <class T>
class ByLabel {
 public:
  ByLabel(prometheus::Family<T>& family, std::string label)
      : family_(family), label_(std::move(label)) {}
  template <class... Args>
  T& Get(std::string_view value, Args&&... args) {
    const auto it = handles_.find(value);
    if (it != handles_.end()) return *it->second;
    T& handle = family_.Add({{label_, std::string(value)}}, std::forward<Args>(args)...);
    handles_.emplace(std::string(value), &handle);
    return handle;
  }
  // Those for which `keep` is false go.
  template <class Keep>
  void Prune(Keep&& keep) {
    std::erase_if(handles_, [&](const auto& entry) {
      if (keep(entry.first)) return false;
      family_.Remove(entry.second);
      return true;
    });
  }

 private:
  prometheus::Family<T>& family_;
  std::string label_;
  std::map<std::string, T*, std::less<>> handles_;
};

inline constexpr const char* kVolcanoPrefix = "volcano_";

}  // namespace krafla
