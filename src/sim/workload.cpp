#include "sim/workload.h"

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "base/did_you_mean.h"

namespace krafla {

namespace {

class Reader {
 public:
  Reader(const Scenario& scenario, LiveCluster& live, Templates& templates,
         const ReadClusterOptions& options, Diagnostics& diagnostics)
      : scenario_(scenario),
        live_(live),
        templates_(templates),
        options_(options),
        diagnostics_(diagnostics) {}

  Workload Read() {
    Workload workload;
    workload.at_start = ReadStart();
    for (const ManifestSubmission& submission : scenario_.manifest_submissions)
      workload.manifests.push_back(ReadManifest(submission));
    LearnNames(workload);
    CheckQueues(workload);
    for (const Submission& submission : scenario_.submissions) {
      CheckName(submission.job, submission.job.name);
      workload.submissions.push_back(ReadShape(submission.job));
    }
    for (const Arrivals& arrivals : scenario_.arrivals) {
      CheckPrefix(arrivals.job);
      workload.arrivals.push_back(ReadShape(arrivals.job));
    }
    return workload;
  }

 private:
  Workload::Manifest ReadStart() {
    auto facts = std::make_unique<FactCollector>(live_);
    for (const NodeShape& shape : scenario_.nodes) templates_.AddNodes(shape, *facts, diagnostics_);
    std::istringstream nothing;
    if (!scenario_.manifests.empty())
      ReadObjectsInto(*facts, scenario_.manifests, nothing, options_, diagnostics_);
    if (!scenario_.queues_yaml.empty())
      ReadTextInto(*facts, scenario_.queues_yaml, scenario_.file, options_, diagnostics_);
    // Volcano makes this one itself.
    const StrId name = live_.strings().Intern(options_.default_queue);
    if (std::none_of(facts->queues.begin(), facts->queues.end(),
                     [&](const QueueFacts& queue) { return queue.queue.name == name; })) {
      QueueFacts queue;
      queue.queue.name = name;
      facts->AddQueue(std::move(queue));
    }
    if (facts->nodes.empty() && !diagnostics_.HasErrors())
      diagnostics_.Warning(scenario_.file, {}, "the scenario has no node: nothing can be placed");
    return Finish(std::move(facts));
  }

  Workload::Manifest ReadManifest(const ManifestSubmission& submission) {
    auto facts = std::make_unique<FactCollector>(live_);
    std::istringstream nothing;
    ReadObjectsInto(*facts, std::vector{submission.file}, nothing, options_, diagnostics_);
    return Finish(std::move(facts));
  }

  Workload::Manifest Finish(std::unique_ptr<FactCollector> facts) {
    Workload::Manifest manifest;
    manifest.jobs = templates_.OfManifest(*facts);
    manifest.facts = std::move(facts);
    return manifest;
  }

  void LearnNames(const Workload& workload) {
    Learn(workload.at_start, {scenario_.file, {}});
    for (size_t i = 0; i < workload.manifests.size(); ++i)
      Learn(workload.manifests[i], scenario_.manifest_submissions[i].place);
  }

  void Learn(const Workload::Manifest& manifest, const ScenarioPlace& place) {
    for (const QueueFacts& queue : manifest.facts->queues)
      queues_.insert(std::string(live_.strings().Text(queue.queue.name)));
    for (const PriorityClassFacts& entry : manifest.facts->priority_classes)
      classes_.insert(std::string(live_.strings().Text(entry.name)));
    for (const JobTemplate* job : manifest.jobs) {
      if (!job->has_group) continue;
      Take(std::string(live_.strings().Text(job->group.job.ns)),
           std::string(live_.strings().Text(job->group.job.name)), place);
    }
  }

  // Kubernetes takes such a job, and so does a run; it waits.
  void CheckQueues(Workload& workload) {
    const auto check = [&](const Workload::Manifest& manifest, const ScenarioPlace& place) {
      for (const JobTemplate* job : manifest.jobs) {
        const std::string queue(live_.strings().Text(job->group.queue));
        if (!job->has_group || queue.empty() || queues_.contains(queue)) continue;
        workload.missing_queues.insert(queue);
        const std::vector<std::string_view> names(queues_.begin(), queues_.end());
        diagnostics_.Warning(place.file, place.location,
                             fmt::format("job {}/{} waits for ever: there is no queue {}{}",
                                         live_.strings().Text(job->group.job.ns),
                                         live_.strings().Text(job->group.job.name), Quoted(queue),
                                         DidYouMeanHint(queue, names)));
      }
    };
    check(workload.at_start, {scenario_.file, {}});
    for (size_t i = 0; i < workload.manifests.size(); ++i)
      check(workload.manifests[i], scenario_.manifest_submissions[i].place);
  }

  // No two jobs of a run have one name, also when the first has ended: its story would go on in
  // the second.
  void Take(const std::string& ns, const std::string& name, const ScenarioPlace& place) {
    const auto [it, is_new] = taken_.emplace(std::pair(ns, name), place.location.line);
    if (is_new) return;
    std::string message = fmt::format("there is a job {}/{} already", ns, name);
    if (it->second > 0) message += fmt::format(", in line {}", it->second);
    diagnostics_.Error(place.file, place.location, std::move(message));
  }

  void CheckName(const JobShape& shape, const std::string& name) {
    Take(shape.ns, name, shape.place);
  }

  // Arrivals are numbered: prefix-1, prefix-2, …
  void CheckPrefix(const JobShape& shape) {
    const std::string prefix = shape.name + "-";
    for (auto it = taken_.lower_bound({shape.ns, prefix});
         it != taken_.end() && it->first.first == shape.ns && it->first.second.starts_with(prefix);
         ++it) {
      const std::string_view rest = std::string_view(it->first.second).substr(prefix.size());
      if (rest.empty() || rest.find_first_not_of("0123456789") != std::string_view::npos) continue;
      diagnostics_.Error(shape.place.file, shape.place.location,
                         fmt::format("jobs that arrive are named {}1, {}2, …, and there is a job "
                                     "{}/{} already",
                                     prefix, prefix, it->first.first, it->first.second));
      return;
    }
    if (!prefixes_.insert({shape.ns, prefix}).second)
      diagnostics_.Error(
          shape.place.file, shape.place.location,
          fmt::format("other jobs that arrive are named {}1, {}2, … already", prefix, prefix));
  }

  const JobTemplate* ReadShape(const JobShape& shape) {
    CheckKnown(shape, "queue", shape.queue, queues_);
    CheckKnown(shape, "priority class", shape.priority_class, classes_);
    for (const TaskShape& task : shape.tasks)
      CheckKnown(shape, "priority class", task.priority_class, classes_);
    return templates_.OfShape(shape, diagnostics_);
  }

  void CheckKnown(const JobShape& shape, std::string_view what, const std::string& name,
                  const std::set<std::string>& known) {
    if (name.empty() || known.contains(name)) return;
    const std::vector<std::string_view> names(known.begin(), known.end());
    diagnostics_.Error(shape.place.file, shape.place.location,
                       fmt::format("job {}/{}: there is no {} {}{}", shape.ns, shape.name, what,
                                   Quoted(name), DidYouMeanHint(name, names)));
  }

  const Scenario& scenario_;
  LiveCluster& live_;
  Templates& templates_;
  const ReadClusterOptions& options_;
  Diagnostics& diagnostics_;
  std::set<std::string> queues_;
  std::set<std::string> classes_;
  std::map<std::pair<std::string, std::string>, int> taken_;  // with the line that took it
  std::set<std::pair<std::string, std::string>> prefixes_;
};

}  // namespace

Workload ReadWorkload(const Scenario& scenario, LiveCluster& live, Templates& templates,
                      const ReadClusterOptions& options, Diagnostics& diagnostics) {
  return Reader(scenario, live, templates, options, diagnostics).Read();
}

}  // namespace krafla
