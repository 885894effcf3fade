// The HTTP API: /api/v1/{queues,jobs,zones,evictions,cycles,explain}, read-only, JSON. Answers come
// from the state that is kept beside the scheduler; docs/api.md describes them.
//
// Thread-safe.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/json_writer.h"
#include "explain/explanation.h"
#include "kube/api_request.h"
#include "kube/background_worker.h"
#include "kube/cluster_view.h"
#include "record/state_keeper.h"

namespace krafla {

inline constexpr std::string_view kApiPaths[] = {"/api/v1/queues", "/api/v1/jobs",
                                                 "/api/v1/zones",  "/api/v1/evictions",
                                                 "/api/v1/cycles", "/api/v1/explain"};

// Whether this replica decides; what others decide it does not know.
struct Leadership {
  bool leads = true;
  std::string leader;  // empty: nobody that we know of
};

class ApiPages {
 public:
  struct Options {
    WorldOptions world;
    TimeZone zone;
    std::string default_queue = "default";
    // As the scheduler reads its own.
    std::function<std::optional<SchedulerConfig>(const std::string& text)> read_config;
    std::function<Timestamp()> now;
    std::function<bool()> ready;
    // `as`: "json", "text" or "color".
    std::function<std::string(const Explanation& explanation, const std::string& as)> render;
    std::chrono::milliseconds explain_time{20'000};
    std::chrono::milliseconds view_age{1'000};
  };

  ApiPages(const StateKeeper& keeper, Options options);

  // Where replicas elect one of them: who leads. Before the first question.
  void SetLeadership(std::function<Leadership()> leadership) {
    leadership_ = std::move(leadership);
  }
  ApiAnswer Answer(const ApiRequest& request);
  // Nobody waits any longer, and what is worked on is brought to an early end.
  void Stop();

 private:
  ApiAnswer Rows(const ApiRequest& request, std::vector<ViewRow> ClusterView::* rows);
  ApiAnswer Evictions(const ApiRequest& request) const;
  ApiAnswer Cycles(const ApiRequest& request) const;
  ApiAnswer Explain(const ApiRequest& request);
  // What there is to see, not older than a second when the state has changed.
  Result<std::shared_ptr<const ClusterView>> View();

  // Written beside the rows of a page; nothing where there is no election.
  void WriteLeadership(JsonWriter& json, bool knows_decisions) const;
  std::string WhoElseMayKnow() const;

  const StateKeeper& keeper_;
  Options options_;
  std::function<Leadership()> leadership_;
  std::atomic<bool> stopping_ = false;
  std::mutex mutex_;
  std::shared_ptr<const ClusterView> view_;  // shared with those who still write it out
  BackgroundWorker viewing_{8};
  BackgroundWorker explaining_{0};
};

}  // namespace krafla
