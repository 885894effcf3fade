// The requests of the scheduling thread on their way out: they name us as field manager, and where
// a role forbids `patch` but allows `update`, as Volcano's own chart does, a patch becomes a
// replacement: the object is read, the patch is applied to it here, and the result is sent with PUT
// and the resourceVersion that was read. A conflict reads again. Objects are read with `list`,
// which every role has that can watch them; `get` may be missing.
//
// What a role forbids altogether is reported by kube/outage_log.h.
//
// Owned by the scheduling thread. UpdateFallback is the ApiClient that kube/serve.cpp hands out.
#pragma once

#include <chrono>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

#include "kube/api_client.h"
#include "kube/api_text.h"

namespace krafla {

// What a request is about: "/apis/scheduling.volcano.sh/v1beta1/queues/q/status?x=y".
struct ApiTarget {
  std::string resource;    // with the subresource: "queues/status"; empty: not understood
  std::string collection;  // path of all objects: "/apis/scheduling.volcano.sh/v1beta1/queues"
  std::string object;      // path of the object with its subresource, without the query
  std::string name;        // empty: of the collection
};
ApiTarget ParseApiTarget(std::string_view target);

class UpdateFallback final : public ApiClient {
 public:
  struct Options {
    std::string field_manager = std::string(kFieldManager);
    std::chrono::milliseconds patch_again{600'000};  // a role may have been corrected
    std::chrono::milliseconds update_again{60'000};  // after both were forbidden
    std::function<void(const std::string& line)> log;
  };

  UpdateFallback(ApiClient& next, Options options) : next_(next), options_(std::move(options)) {}

  void Send(HttpRequest request, Done done) override;
  void After(std::chrono::milliseconds delay, std::function<void()> task) override {
    next_.After(delay, std::move(task));
  }
  SteadyTime SteadyNow() const override { return next_.SteadyNow(); }
  Timestamp Now() const override { return next_.Now(); }

 private:
  enum class Way {
    kPatch,
    kUpdate,   // patch is forbidden, update works
    kNeither,  // both are forbidden
  };
  // A patch on its way to become a replacement.
  struct Replacement {
    HttpRequest patch;
    ApiTarget target;
    Done done;
    HttpResponse refusal;  // of the patch; status 0: it was not tried
    int attempt = 0;
  };

  void Read(Replacement replacement);
  void Replace(Replacement replacement, const HttpResponse& list);
  void Replaced(Replacement replacement, const HttpResponse& response);
  void SetWay(const std::string& resource, Way way);
  std::string WithManager(std::string target) const;
  void Log(const std::string& line) const {
    if (options_.log) options_.log(line);
  }

  ApiClient& next_;
  Options options_;
  ApiTextParser parser_;
  std::unordered_map<std::string, Way> ways_;  // by resource; absent: kPatch
  std::set<std::string> logged_;               // resources whose fallback the log names already
};

}  // namespace krafla
