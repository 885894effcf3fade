#include "kube/outage_log.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/log_text.h"
#include "kube/api_client.h"
#include "kube/api_text.h"

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
    {"API server does not answer", "API server still does not answer", "API server answers again",
     ""},
    {"API server's certificate is not trusted", "API server's certificate is still not trusted",
     "API server's certificate is trusted now",
     "is it signed by certificate-authority (or certificate-authority-data) of the kubeconfig's "
     "cluster? Within a cluster that is the service account's ca.crt."},
    {"API server's certificate is for another name",
     "API server's certificate is still for another name",
     "API server's certificate is for the right name now",
     "is the server's address in the kubeconfig one that its certificate names? tls-server-name "
     "gives another to look for."},
    {"client certificate cannot be used", "client certificate still cannot be used",
     "client certificate can be used now",
     "do client-certificate and client-key (or …-data) of the kubeconfig's user belong together?"},
    {"no credentials for the API server", "still no credentials for the API server",
     "credentials for the API server are there again",
     "does the exec plugin of the kubeconfig's user work when it is run by hand?"},
    {"API server rejects the credentials", "API server still rejects the credentials",
     "API server accepts the credentials again",
     "is the kubeconfig's token or certificate still good?"},
    {"API server denies a required permission", "API server still denies a required permission",
     "API server grants the required permissions now",
     "are the roles of deploy/rbac.yaml applied, and bound to the user that the error names?"},
    {"API server does not have a required resource",
     "API server still does not have a required resource",
     "API server has the required resources now",
     "are the CustomResourceDefinitions of deploy/crds, or Volcano's, installed, and is there a "
     "namespace for the Lease?"},
    {"API server expects TLS, but its address begins with http://",
     "API server still expects TLS, but its address begins with http://",
     "API server's address and its protocol agree now",
     "the kubeconfig's server should begin with https://"},
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
      switch (response.why) {
        case NoAnswer::kOther:
        case NoAnswer::kCutShort:
          return kNoAnswer;
        case NoAnswer::kUntrusted:
          return kUntrusted;
        case NoAnswer::kOtherName:
          return kOtherName;
        case NoAnswer::kOwnCertificate:
          return kOwnCertificate;
        case NoAnswer::kNoCredentials:
          return kNoCredentials;
      }
      return kNoAnswer;
    case 401:
      return kUnknownToServer;
    case 403:
      return kForbidden;
    case 404:
      return kMissing;
    default:
      return WantsHttps(response) ? kWantsHttps : kOtherAnswer;
  }
}

void OutageLog::Add(Cause cause, const std::string& key, ServerTrouble::Asked asked,
                    Clock::time_point now) {
  std::optional<ServerTrouble>& trouble = troubles_[cause];
  if (!trouble) {
    trouble.emplace();
    trouble->since = now;
    LookLater(kSettles);
  }
  trouble->asked[key] = std::move(asked);
}

void OutageLog::Failed(const std::string& verb, const std::string& resource,
                       const HttpResponse& response) {
  const std::scoped_lock lock(mutex_);
  const Clock::time_point now = options_.now();
  const std::optional<ServerTrouble>& unknown = troubles_[kUnknownToServer];
  const bool cut_short = response.status == 0 && response.why == NoAnswer::kCutShort;
  const bool follows = cut_short && unknown && !unknown->asked.empty();
  const Cause cause = follows ? kUnknownToServer : CauseOf(response);
  if (!troubles_[cause] || !troubles_[cause]->asked.contains(resource))
    Remove(resource, now, response.status == 0 && !follows);
  Add(cause, resource, {verb, resource}, now);
  ServerTrouble& trouble = *troubles_[cause];
  if (cause == kUnknownToServer) TakeThoseCutShort(trouble);
  trouble.hit = std::max(trouble.hit, trouble.asked.size());
  if (follows) return;
  if (cut_short) {
    trouble.cut_short.insert(resource);
  } else {
    trouble.cut_short.erase(resource);
  }
  trouble.error = response.error.empty() ? Describe(response) : response.error;
}

void OutageLog::WriteAnswered(std::string_view verb, std::string_view resource,
                              const HttpResponse& response) {
  const bool denied = LacksPermission(response);
  if (!denied && !response.ok()) return;
  const std::scoped_lock lock(mutex_);
  std::optional<ServerTrouble>& trouble = troubles_[kForbidden];
  if (!denied && !trouble) return;
  const std::string key =
      fmt::format("write: {} {}", verb == "update" ? std::string_view("patch") : verb, resource);
  const Clock::time_point now = options_.now();
  if (!denied) {
    const auto asked = trouble->asked.find(key);
    if (asked == trouble->asked.end()) return;
    // The other way of writing did at once: nothing is missing.
    const bool other_way = asked->second.verb != verb && !trouble->begun;
    return Remove(key, now, other_way);
  }
  Add(kForbidden, key, {std::string(verb), std::string(resource)}, now);
  trouble->hit = std::max(trouble->hit, trouble->asked.size());
  trouble->error = Describe(response);
}

void OutageLog::TakeThoseCutShort(ServerTrouble& unknown) {
  std::optional<ServerTrouble>& silent = troubles_[kNoAnswer];
  if (!silent || silent->begun) return;  // it was told of: a matter of its own
  for (const std::string& resource : silent->cut_short)
    if (const auto asked = silent->asked.find(resource); asked != silent->asked.end())
      unknown.asked.insert(silent->asked.extract(asked));
  silent->cut_short.clear();
  if (silent->asked.empty()) silent.reset();
}

void OutageLog::Worked(const std::string& resource) {
  const std::scoped_lock lock(mutex_);
  Remove(resource, options_.now());
}

void OutageLog::Remove(const std::string& key, Clock::time_point now, bool silenced) {
  for (std::optional<ServerTrouble>& trouble : troubles_) {
    if (!trouble || trouble->asked.erase(key) == 0 || !trouble->asked.empty()) continue;
    if (silenced) {
      trouble.reset();
      continue;
    }
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
  Tell(fmt::format("{}; retrying", words.begins), cause, trouble, true);
  trouble.begun = true;
  LookLater(kBetweenLines);
  return true;
}

void OutageLog::Tell(const std::string& sentence, Cause cause, const ServerTrouble& trouble,
                     bool first) {
  std::string line = fmt::format("{} server={}", sentence, options_.server);
  if (trouble.asked.size() == 1) {
    const ServerTrouble::Asked& asked = trouble.asked.begin()->second;
    line += fmt::format(" verb={} resource={}", asked.verb, LogWord(asked.resource));
  } else {
    line += fmt::format(" resources={}", trouble.asked.size());
    // A missing role or definition is added verb by verb.
    if (cause == kForbidden || cause == kMissing) {
      std::vector<std::string> all;
      for (const auto& [key, asked] : trouble.asked)
        all.push_back(asked.verb + " " + asked.resource);
      line += fmt::format(" asked={}", LogQuoted(fmt::format("{}", fmt::join(all, ", "))));
    }
  }
  line += fmt::format(" error={}", LogQuoted(trouble.error));
  std::string hint(kWords[cause].hint);
  if (cause == kUntrusted && !options_.trust.empty()) hint += " " + options_.trust;
  if (first && !hint.empty()) line += fmt::format(" hint={}", LogQuoted(hint));
  options_.log(line);
}

}  // namespace krafla
