// Everything that lets others look into a running scheduler without stopping it: the tap on the
// scheduling thread, the thread that keeps the state, the record, the HTTP API. Made before the
// scheduler runs, taken down after it.
#pragma once

#include <atomic>
#include <memory>

#include "kube/api_pages.h"
#include "kube/page_process.h"
#include "record/scheduler_tap.h"
#include "record/state_keeper.h"

namespace krafla {

struct SeeingInOptions {
  std::string record_folder;  // empty: no record
  size_t record_bytes = size_t{1} << 30;
  RecordHead head;
  std::function<Timestamp()> now;
  size_t page_memory_bytes = size_t{256} << 20;  // of each page process
  std::function<void(const std::string& line)> log;
};

class SeeingIn {
 public:
  // An error: the folder of the record cannot be used.
  static Result<std::unique_ptr<SeeingIn>> Start(SeeingInOptions options);

  // In step with the cluster, for good.
  void SetReady() { ready_ = true; }
  bool ready() const { return ready_; }

  SchedulerTap& tap() { return tap_; }
  ApiPages& pages() { return *pages_; }
  const StateKeeper& keeper() const { return *keeper_; }
  const PageProcesses& processes() const { return *processes_; }

 private:
  SeeingIn() = default;
  std::atomic<bool> ready_ = false;
  ChangeFeed feed_;
  SchedulerTap tap_{feed_};
  std::unique_ptr<StateKeeper> keeper_;
  std::unique_ptr<PageProcesses> processes_;
  std::unique_ptr<ApiPages> pages_;
};

}  // namespace krafla
