// Why preempt and reclaim did nothing for a job that waits: the decision trace, in one sentence per
// action.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "session/session.h"

namespace krafla {

// Reads the trace once. Of everything that was tried for a job, what came furthest is told: a job
// that nearly got its place on one node is not explained by the nodes that were hopeless.
class WhyWaiting {
 public:
  explicit WhyWaiting(const Session& session);

  struct Answer {
    std::string_view action;
    std::string reason;
  };
  // One per action that looked at the job in vain, in the order of the configuration.
  std::vector<Answer> Of(JobId job) const;
  // For how many of its pods that action found a place, whether the job kept it or not.
  uint32_t PlacesFound(JobId job, std::string_view action) const;

 private:
  // How far a try came; the order is that of the questions.
  enum class Stage : uint8_t {
    kNone,
    kNotStarving,
    kMayNot,  // the pod or its queue has no right to evict
    kNoNode,
    kNoCandidate,
    kTooLarge,
    kSpared,
    kQueueShare,
    kPredicate,
    kNotAll,    // some pods of the job found room, not enough of them
    kHeldBack,  // by the eviction limit
  };
  struct Try {
    Stage stage = Stage::kNone;
    uint16_t code = 0;
    uint32_t task = 0;
    uint32_t node = 0;
    uint32_t count = 0;
  };
  struct Record {
    uint32_t action = 0;  // index into the configured actions
    Try best;
    uint32_t places = 0;
    bool closed = false;  // what follows is about making room within the job
    bool helped = false;
  };

  void Read(const TraceEvent& event);
  void ReadSkip(const TraceEvent& event);
  void ReadShort(const TraceEvent& event);
  Record& RecordOf(JobId job);
  void Note(JobId job, const Try& attempt);
  std::string Describe(JobId job, const Record& record) const;
  std::string DescribeNoCandidate(JobId job, const Record& record) const;
  std::string DescribeSkip(JobId job, const Try& attempt) const;
  // Empty when it is open.
  std::string DescribeNomination(TaskId task, NominationCode code) const;
  std::string DescribeClosedQueue(QueueId queue) const;
  std::string DescribeSpared(const Try& attempt) const;
  std::string NodeName(const Try& attempt) const;

  const Session& session_;
  const Cluster& cluster_;
  uint32_t action_ = 0;
  bool spared_ = false;  // somebody, in the try that is being read
  uint16_t veto_ = 0;    // why: what spared the last one
  uint32_t spared_task_ = 0;
  std::unordered_map<JobId, std::vector<Record>> records_;
};

}  // namespace krafla
