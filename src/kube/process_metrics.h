// Figures about this process by the names that Prometheus' client libraries use (process_*), read
// from /proc at each scrape. Part of kube/serve_metrics.h's page.
#pragma once

#include <vector>

#include <prometheus/metric_family.h>

namespace krafla {

// What cannot be read is left out.
std::vector<prometheus::MetricFamily> ProcessMetrics();

}  // namespace krafla
