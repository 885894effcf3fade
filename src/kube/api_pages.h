// The HTTP API: /api/v1/{queues,jobs,zones,evictions,cycles,explain}, read-only, JSON. Answers come
// from the state that is kept beside the scheduler; docs/api.md describes them. What needs a trial
// cycle (queues, jobs, zones, explain) is made by a page process (kube/page_process.h).
//
// Thread-safe. As many explanations are made at once as there are threads that ask for one.
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
#include "kube/api_request.h"
#include "kube/background_worker.h"
#include "kube/cluster_view.h"
#include "kube/page_process.h"
#include "record/record_line.h"
#include "record/state_keeper.h"

namespace krafla {

inline constexpr std::string_view kApiPaths[] = {"/api/v1/queues", "/api/v1/jobs",
                                                 "/api/v1/zones",  "/api/v1/evictions",
                                                 "/api/v1/cycles", "/api/v1/explain"};
inline constexpr std::string_view kExplainPath = "/api/v1/explain";

// Whether this replica decides; what others decide it does not know.
struct Leadership {
  bool leads = true;
  std::string leader;  // empty: nobody that we know of
};

class ApiPages {
 public:
  struct Options {
    RecordHead head;  // what holds for the state that is kept
    std::function<Timestamp()> now;
    std::function<bool()> ready;
    RunPage run;
    // For the search for changes that would help; then the explanation has as much again to end.
    std::chrono::milliseconds explain_time{20'000};
    std::chrono::milliseconds view_age{1'000};
  };

  ApiPages(const StateKeeper& keeper, Options options);

  // Where replicas elect one of them: who leads. Before the first question.
  void SetLeadership(std::function<Leadership()> leadership) {
    leadership_ = std::move(leadership);
  }
  ApiAnswer Answer(const ApiRequest& request);
  // What is asked for is answered with 503 from now on, and page processes are ended.
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
  std::shared_ptr<const ClusterView> view_;  // shared with the threads that write it out
  BackgroundWorker viewing_{8};              // one view at a time
};

}  // namespace krafla
