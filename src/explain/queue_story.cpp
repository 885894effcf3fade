#include "explain/queue_story.h"

#include <fmt/format.h>

#include <algorithm>

#include "config/find_plugin.h"
#include "explain/amount_words.h"
#include "explain/cooldown_words.h"
#include "explain/held_amounts.h"
#include "explain/why_waiting.h"
#include "fair_share/dominant_share.h"
#include "model/queue_amounts.h"

namespace krafla {

namespace {

constexpr size_t kMostJobs = 15;

class QueueStory {
 public:
  QueueStory(const Cluster& before, const Session& session, QueueId queue, Explanation& out)
      : before_(before), s_(session), c_(session.cluster), queue_(queue), out_(out) {
    Table<QueueId, Account> accounts(before.queues.size());
    accounts_ = std::move(accounts);
    for (QueueId id : before.queues_by_name) {
      Account& account = accounts_[id];
      account.known = s_.queue_reports[id].known;
      account.deserved = s_.queue_reports[id].deserved;
      account.allocated = AllocatedOf(before, id);
      account.request = account.allocated;
    }
    for (JobId id : before.jobs_by_name) {
      const Job& job = before.jobs[id];
      Account& account = accounts_[job.queue];
      for (TaskId task : job.tasks) {
        if (before.tasks[task].status == TaskStatus::kPending)
          account.request.Add(before.Request(task));
        const Task& t = before.tasks[task];
        if (t.status != TaskStatus::kRunning || !t.preemptable) continue;
        ++account.candidates;
        if (CooldownStandingOf(s_, task)) ++account.cooling;
      }
    }
  }

  void Tell() {
    const Queue& queue = before_.queues[queue_];
    const Account& account = accounts_[queue_];
    const std::string name(before_.QueueName(queue_));
    out_.facts.push_back(fmt::format(
        "{}, weight {}{}{}, {}", ToString(queue.state), queue.weight,
        queue.capability ? ", capability " + NamedAmountsText(*queue.capability, c_.kinds) : "",
        queue.guarantee ? ", guarantee " + NamedAmountsText(*queue.guarantee, c_.kinds) : "",
        queue.reclaimable ? "reclaimable" : "not reclaimable"));
    if (!account.known) {
      out_.answer = fmt::format("{} holds {}; {}.", name,
                                AmountsText(AllocatedByQueue(before_)[queue_], c_.kinds),
                                s_.config.tiers.empty() || !Configured("proportion")
                                    ? "no plugin shares the cluster among queues"
                                    : "no job uses it, so it deserves nothing");
    } else {
      out_.answer = Answer(name, account);
    }
    Shares();
    if (account.known) {
      CouldReclaim(account);
      OthersCouldReclaim(account);
    }
    ThisCycle();
    Waiting();
  }

 private:
  struct Account {
    bool known = false;
    Resource deserved;
    Resource allocated;
    Resource request;
    size_t candidates = 0;  // running pods that may be victims
    size_t cooling = 0;     // of them, those that cdp protects now
  };

  bool Configured(std::string_view plugin) const {
    return FindPlugin(s_.config, plugin) != nullptr;
  }

  bool IsOpen(QueueId queue) const { return before_.queues[queue].state == QueueState::kOpen; }

  // The end of "4 of its pods may be victims".
  static std::string CoolingText(const Account& a) {
    if (a.cooling == 0) return "";
    if (a.cooling == a.candidates)
      return a.cooling == 1 ? ", but not now: it is in its cooldown"
                            : ", but none of them now: all are in their cooldown";
    return fmt::format(", but {} of them {} in {} cooldown now", a.cooling,
                       a.cooling == 1 ? "is" : "are", a.cooling == 1 ? "its" : "their");
  }

  static bool IsOver(const Account& a) {
    return a.known && !a.allocated.LessEqual(a.deserved, Missing::kZero);
  }
  // As reclaim and allocate see it: they pass over a queue that has all it deserves.
  static bool IsUnder(const Account& a) {
    return a.known && !a.deserved.LessEqual(a.allocated, Missing::kZero);
  }
  static bool AsksForMore(const Account& a) {
    return !a.request.LessEqual(a.allocated, Missing::kZero);
  }

  // How it stands in each kind that it deserves or has, named: "cpu", "memory and nvidia.com/gpu".
  struct PerKind {
    std::string over, full, under;
    bool Mixed() const {
      return (over.empty() ? 0 : 1) + (full.empty() ? 0 : 1) + (under.empty() ? 0 : 1) > 1;
    }
  };
  PerKind StandingPerKind(const Account& a) const {
    std::vector<std::string> over;
    std::vector<std::string> full;
    std::vector<std::string> under;
    for (int kind = 0; kind < c_.kinds.size(); ++kind) {
      if (kind == ResourceKinds::kPods) continue;
      const double has = a.allocated.Get(kind);
      const double deserves = a.deserved.Get(kind);
      if (has < kTolerance && deserves < kTolerance) continue;
      (!LessEqualAmount(has, deserves)   ? over
       : !LessEqualAmount(deserves, has) ? under
                                         : full)
          .emplace_back(c_.kinds.Name(kind));
    }
    const auto text = [](const std::vector<std::string>& kinds) {
      return fmt::format("{}", fmt::join(kinds, " and "));
    };
    return {text(over), text(full), text(under)};
  }

  std::string Answer(const std::string& name, const Account& a) const {
    const double share = DominantShare(a.allocated, a.deserved);
    // What stops all of it comes first.
    const std::string closed =
        IsOpen(queue_)
            ? ""
            : fmt::format(" is {}, so its jobs get no more room by allocate or reclaim; it",
                          ToString(before_.queues[queue_].state));
    std::string text = fmt::format("{}{} holds {} of the {} it deserves ({:.0f}%)", name, closed,
                                   AmountsText(a.allocated, c_.kinds),
                                   AmountsText(a.deserved, c_.kinds), share * 100);
    if (IsOver(a)) {
      const Resource more = Resource::Exceeding(a.allocated, a.deserved);
      text +=
          fmt::format(": over by {}, which others may take back", NamedAmountsText(more, c_.kinds));
      if (!before_.queues[queue_].reclaimable) text += ", were it reclaimable";
      if (IsUnder(a))
        text +=
            fmt::format("; due {} more",
                        NamedAmountsText(Resource::Exceeding(a.deserved, a.allocated), c_.kinds));
    } else if (const PerKind kinds = StandingPerKind(a); IsUnder(a) && kinds.Mixed()) {
      text += fmt::format(
          ": it has all the {} it deserves and is due {} more{}; no pod that asks for {} gets a "
          "place by allocate or reclaim",
          kinds.full, NamedAmountsText(Resource::Exceeding(a.deserved, a.allocated), c_.kinds),
          AsksForMore(a)
              ? fmt::format(", and asks for {} more",
                            NamedAmountsText(Resource::Exceeding(a.request, a.allocated), c_.kinds))
              : "",
          kinds.full);
    } else if (IsUnder(a)) {
      text += AsksForMore(a) ? ": it is due more and asks for more"
                             : ": it is due more, and asks for nothing more";
    } else {
      text += ": it has all it deserves";
    }
    return text + ".";
  }

  void Shares() {
    ExplanationTable table{
        .name = "queues",
        .title = "all queues before this cycle",
        .columns = {"queue", "weight", "share", "deserved", "allocated", "request", "standing"}};
    for (QueueId id : before_.queues_by_name) {
      const Account& a = accounts_[id];
      table.rows.push_back(
          {before_.QueueName(id), before_.queues[id].weight,
           a.known ? fmt::format("{:.0f}%", DominantShare(a.allocated, a.deserved) * 100) : "-",
           a.known ? AmountsText(a.deserved, c_.kinds) : "-", AmountsText(a.allocated, c_.kinds),
           AmountsText(a.request, c_.kinds), Standing(id)});
    }
    out_.tables.push_back(std::move(table));
  }

  std::string Standing(QueueId id) const {
    const Account& a = accounts_[id];
    if (!a.known) return "-";
    const PerKind kinds = StandingPerKind(a);
    std::string text = IsOver(a) ? "over" : IsUnder(a) ? "under" : "at its share";
    if (kinds.Mixed()) {
      text.clear();
      const auto add = [&](std::string_view word, const std::string& names) {
        if (names.empty()) return;
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", word, names);
      };
      add("over in", kinds.over);
      add("at its share of", kinds.full);
      add("under in", kinds.under);
    }
    if (!IsOver(a) && IsUnder(a) && AsksForMore(a)) text += ", asks for more";
    if (!IsOpen(id)) text += fmt::format(", but {}", ToString(before_.queues[id].state));
    return text;
  }

  void CouldReclaim(const Account& own) {
    ExplanationTable table{.name = "couldReclaim",
                           .title = "what it could take back from others",
                           .columns = {"from", "at most", "pods that may be victims"}};
    if (Configured("cdp")) table.columns.push_back("in cooldown now");
    for (QueueId id : before_.queues_by_name) {
      const Account& a = accounts_[id];
      if (id == queue_ || !IsOver(a)) continue;
      table.rows.push_back(
          {before_.QueueName(id),
           before_.queues[id].reclaimable
               ? NamedAmountsText(Resource::Exceeding(a.allocated, a.deserved), c_.kinds)
               : "nothing: it is not reclaimable",
           a.candidates});
      if (Configured("cdp")) table.rows.back().push_back(a.cooling);
    }
    if (!IsOpen(queue_)) {
      out_.facts.push_back(
          fmt::format("it may not reclaim: it is {}", ToString(before_.queues[queue_].state)));
    } else if (!IsUnder(own)) {
      out_.facts.push_back("it may not reclaim: it has all it deserves");
    } else if (table.rows.empty()) {
      out_.facts.push_back("there is nothing to reclaim: no other queue has more than it deserves");
    } else {
      const PerKind kinds = StandingPerKind(own);
      std::string none;
      for (const std::string& names : {kinds.over, kinds.full})
        if (!names.empty()) none += (none.empty() ? "" : " and ") + names;
      out_.facts.push_back(fmt::format(
          "it may reclaim up to {} more{}{}",
          NamedAmountsText(Resource::Exceeding(own.deserved, own.allocated), c_.kinds),
          none.empty() ? "" : fmt::format(", for pods that ask for no {}", none),
          s_.config.HasAction("reclaim") ? "" : ", but reclaim is not among the actions"));
      out_.tables.push_back(std::move(table));
    }
  }

  void OthersCouldReclaim(const Account& own) {
    if (!IsOver(own) || !before_.queues[queue_].reclaimable) {
      out_.facts.push_back(IsOver(own) ? "others may take nothing from it: it is not reclaimable"
                                       : "others may take nothing from it: it has no more than it "
                                         "deserves");
      return;
    }
    std::string who;
    for (QueueId id : before_.queues_by_name)
      if (id != queue_ && IsOpen(id) && IsUnder(accounts_[id]) && AsksForMore(accounts_[id]))
        who += fmt::format("{}{}", who.empty() ? "" : ", ", before_.QueueName(id));
    out_.facts.push_back(fmt::format(
        "others may take back {}: {} of its pods may be victims{}; {}{}",
        NamedAmountsText(Resource::Exceeding(own.allocated, own.deserved), c_.kinds),
        own.candidates, CoolingText(own),
        who.empty() ? "no queue asks for it now" : "asking for more: " + who,
        s_.config.HasAction("reclaim") ? "" : "; but reclaim is not among the actions"));
  }

  void ThisCycle() {
    size_t bound = 0;
    size_t lost = 0;
    size_t taken = 0;
    for (const Bind& b : s_.plan.binds) bound += QueueOf(b.task) == queue_ ? 1 : 0;
    for (const Eviction& e : s_.plan.evictions) {
      if (QueueOf(e.task) == queue_) ++lost;
      if (e.action == "reclaim" && e.for_task.valid() && QueueOf(e.for_task) == queue_) ++taken;
    }
    out_.facts.push_back(
        fmt::format("this cycle: {} of its pods bound, {} evicted, {} reclaimed from others for it",
                    bound, lost, taken));
  }

  QueueId QueueOf(TaskId task) const {
    const JobId job = c_.tasks[task].job;
    return job.valid() ? c_.jobs[job].queue : QueueId{};
  }

  void Waiting() {
    const WhyWaiting why(s_);
    ExplanationTable table{.name = "waiting",
                           .title = "its jobs that wait after this cycle",
                           .columns = {"job", "pods", "why"}};
    for (JobId id : c_.jobs_by_name) {
      const Job& job = c_.jobs[id];
      const int32_t pending = job.Count(TaskStatus::kPending) + job.Count(TaskStatus::kAllocated);
      if (job.queue != queue_ || pending == 0) continue;
      if (table.rows.size() >= kMostJobs) {
        ++table.left_out;
        continue;
      }
      std::string reason = s_.WaitingReason(id);
      if (const auto answers = why.Of(id); !answers.empty())
        reason = fmt::format("{}: {}", answers.back().action, answers.back().reason);
      table.rows.push_back({c_.JobKey(id), pending, reason});
    }
    if (!table.rows.empty()) out_.tables.push_back(std::move(table));
  }

  const Cluster& before_;
  const Session& s_;
  const Cluster& c_;
  QueueId queue_;
  Explanation& out_;
  Table<QueueId, Account> accounts_;
};

}  // namespace

void TellQueueStory(const Cluster& before, const Session& session, QueueId queue,
                    Explanation& explanation) {
  QueueStory(before, session, queue, explanation).Tell();
}

}  // namespace krafla
