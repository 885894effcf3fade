#include "kube/outage_log.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/log_text.h"
#include "kube/api_client.h"

namespace krafla {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds kSettles{500};
constexpr std::chrono::seconds kBetweenLines{60};

struct Words {
  std::string_view begins;
  std::string_view lasts;
  std::string_view is_over;
  std::string_view hint;
};

// By cause.
constexpr Words kWords[] = {
    {"API server gives no answer", "API server still gives no answer", "API server answers again",
     ""},
    {"API server does not know us", "API server still does not know us", "API server knows us now",
     "is the kubeconfig's token or certificate still good?"},
    {"API server forbids what we need", "API server still forbids what we need",
     "API server allows what we need now",
     "are the roles of deploy/rbac.yaml applied, and bound to the user that the error names?"},
    {"API server does not have what we need", "API server still does not have what we need",
     "API server has what we need now",
     "are the CustomResourceDefinitions of deploy/crds, or Volcano's, installed, and is there a "
     "namespace for the Lease?"},
    {"API server answers with errors", "API server still answers with errors",
     "API server answers without errors again", ""},
};

int64_t Seconds(OutageLog::Clock::duration time) {
  return std::chrono::duration_cast<std::chrono::seconds>(time).count();
}

}  // namespace

OutageLog::Cause OutageLog::CauseOf(const HttpResponse& response) {
  switch (response.status) {
    case 0:
      return kNoAnswer;
    case 401:
      return kUnknownToServer;
    case 403:
      return kForbidden;
    case 404:
      return kMissing;
    default:
      return kOtherAnswer;
  }
}

void OutageLog::Failed(const std::string& verb, const std::string& resource,
                       const HttpResponse& response) {
  const std::scoped_lock lock(mutex_);
  const Clock::time_point now = options_.now();
  const Cause cause = CauseOf(response);
  if (!troubles_[cause] || !troubles_[cause]->asked.contains(resource)) Remove(resource, now);
  std::optional<ServerTrouble>& trouble = troubles_[cause];
  if (!trouble) {
    trouble.emplace();
    trouble->since = now;
    LookLater(kSettles);
  }
  trouble->asked[resource] = verb;
  trouble->hit = std::max(trouble->hit, trouble->asked.size());
  trouble->error = response.error.empty() ? Describe(response) : response.error;
}

void OutageLog::Worked(const std::string& resource) {
  const std::scoped_lock lock(mutex_);
  Remove(resource, options_.now());
}

void OutageLog::Remove(const std::string& resource, Clock::time_point now) {
  for (std::optional<ServerTrouble>& trouble : troubles_) {
    if (!trouble || trouble->asked.erase(resource) == 0 || !trouble->asked.empty()) continue;
    trouble->well_since = now;
    LookLater(kSettles);
  }
}

void OutageLog::LookLater(Clock::duration delay) {
  // A little later than it is due: a timer that comes too early would look in vain.
  options_.after(std::chrono::ceil<milliseconds>(delay) + milliseconds(1), [this] { Look(); });
}

void OutageLog::Look() {
  const std::scoped_lock lock(mutex_);
  const Clock::time_point now = options_.now();
  for (size_t i = 0; i < kCauses; ++i) {
    std::optional<ServerTrouble>& trouble = troubles_[i];
    if (trouble && !LookAt(static_cast<Cause>(i), *trouble, now)) trouble.reset();
  }
}

bool OutageLog::LookAt(Cause cause, ServerTrouble& trouble, Clock::time_point now) {
  const Words& words = kWords[cause];
  const bool over = trouble.asked.empty() && now - trouble.well_since >= kSettles;
  if (trouble.asked.empty() && !over) {
    LookLater(kSettles);
    return true;
  }
  if (trouble.begun) {
    if (over) {
      options_.log(fmt::format("{} server={} after_s={} resources={}", words.is_over,
                               options_.server, Seconds(trouble.well_since - trouble.since),
                               trouble.hit));
      return false;
    }
    if (now - trouble.told >= kBetweenLines) {
      Tell(fmt::format("{} for_s={}", words.lasts, Seconds(now - trouble.since)), cause, trouble,
           false);
      trouble.told = now;
      LookLater(kBetweenLines);
    }
    return true;
  }
  const auto last = last_begun_[cause];
  const Clock::time_point may_tell =
      std::max(trouble.since + kSettles, last ? *last + kBetweenLines : trouble.since);
  if (now < may_tell) {
    if (over) return false;  // it was told of within the last minute
    if (now - trouble.since >= kSettles) LookLater(may_tell - now);
    return true;
  }
  last_begun_[cause] = trouble.told = now;
  if (over) {
    options_.log(fmt::format("{}, after a short while server={} resources={} error={}",
                             words.is_over, options_.server, trouble.hit,
                             LogQuoted(trouble.error)));
    return false;
  }
  Tell(fmt::format("{}; trying again", words.begins), cause, trouble, true);
  trouble.begun = true;
  LookLater(kBetweenLines);
  return true;
}

void OutageLog::Tell(const std::string& sentence, Cause cause, const ServerTrouble& trouble,
                     bool first) {
  std::string line =
      fmt::format("{} server={} resources={}", sentence, options_.server, trouble.asked.size());
  // Whoever has to give us a role, or a definition, needs to know for what.
  if (cause == kForbidden || cause == kMissing) {
    std::vector<std::string> asked;
    for (const auto& [resource, verb] : trouble.asked) asked.push_back(verb + " " + resource);
    line += fmt::format(" asked={}", LogQuoted(fmt::format("{}", fmt::join(asked, ", "))));
  }
  line += fmt::format(" error={}", LogQuoted(trouble.error));
  if (first && !kWords[cause].hint.empty())
    line += fmt::format(" hint={}", LogQuoted(kWords[cause].hint));
  options_.log(line);
}

}  // namespace krafla
