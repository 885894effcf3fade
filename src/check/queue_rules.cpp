// K5: what queues are promised, against what the cluster has. All of it is proportion's business.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "check/check_input.h"
#include "check/check_rule.h"

namespace krafla {

namespace {

// "2.5 cpu", "48Gi memory"
std::string Amount(double amount, int kind, const ResourceKinds& kinds) {
  if (kind == ResourceKinds::kMemory) {
    static constexpr std::string_view kUnits[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi"};
    size_t unit = 0;
    while (unit + 1 < std::size(kUnits) && std::fabs(amount) >= 1024) {
      amount /= 1024;
      ++unit;
    }
    return fmt::format("{:.4g}{} memory", amount, kUnits[unit]);
  }
  const double units = kind == ResourceKinds::kPods ? amount : amount / 1000;
  return fmt::format("{:.6g} {}", units, kinds.Name(kind));
}

// Kinds that both count for proportion's shares and are named, in order; pods are no matter of
// shares.
template <class F>
void ForEachKind(const Resource& resource, F&& f) {
  for (uint64_t mask = resource.mask(); mask != 0; mask &= mask - 1) {
    const int kind = std::countr_zero(mask);
    if (kind != ResourceKinds::kPods) f(kind);
  }
}

bool HasProportion(const CheckInput& input) {
  return input.FindPlugin("proportion") != nullptr;
}

Place PlaceOfQueue(const CheckInput& input, QueueId queue, std::string_view field) {
  return input.objects.PlaceOf("Queue", {}, input.cluster->QueueName(queue), field);
}

std::string Title(const CheckInput& input, QueueId queue) {
  return fmt::format("Queue {}", input.cluster->QueueName(queue));
}

void GuaranteesExceedCluster(const CheckInput& input, RuleReport& report) {
  if (!HasProportion(input)) return;
  const Cluster& cluster = *input.cluster;
  if (cluster.nodes.empty()) return;
  Resource sum;
  for (QueueId id : cluster.queues_by_name)
    if (cluster.queues[id].guarantee) sum.Add(*cluster.queues[id].guarantee);
  ForEachKind(sum, [&](int kind) {
    if (sum.Get(kind) <= cluster.total.Get(kind) + kTolerance) return;
    std::vector<std::string> parts;
    QueueId first;
    for (QueueId id : cluster.queues_by_name) {
      const Queue& queue = cluster.queues[id];
      if (!queue.guarantee || queue.guarantee->Get(kind) <= 0) continue;
      if (!first.valid()) first = id;
      parts.push_back(fmt::format("{} {}", cluster.QueueName(id),
                                  Amount(queue.guarantee->Get(kind), kind, cluster.kinds)));
    }
    report.Add(
        {.place = PlaceOfQueue(input, first, "spec.guarantee"),
         .object = Title(input, first),
         .message = fmt::format("queues are guaranteed {} together, and the cluster has {} "
                                "({})",
                                Amount(sum.Get(kind), kind, cluster.kinds),
                                Amount(cluster.total.Get(kind), kind, cluster.kinds), List(parts)),
         .consequence = fmt::format("the guarantees cannot all be kept, and queues without "
                                    "one deserve no {} beyond what these leave: nothing",
                                    cluster.kinds.Name(kind)),
         .fix = "lower the guarantees until their sum fits into the cluster"});
  });
}

// cpu and memory of 0 mean "not limited", as for proportion.
bool IsLimited(const Resource& capability, int kind) {
  const bool always_named = kind == ResourceKinds::kCpu || kind == ResourceKinds::kMemory;
  return capability.Has(kind) && (!always_named || capability.Get(kind) > 0);
}

void CapabilityBeyondCluster(const CheckInput& input, RuleReport& report) {
  if (!HasProportion(input)) return;
  const Cluster& cluster = *input.cluster;
  if (cluster.nodes.empty()) return;
  for (QueueId id : cluster.queues_by_name) {
    const Queue& queue = cluster.queues[id];
    if (!queue.capability) continue;
    std::vector<std::string> parts;
    ForEachKind(*queue.capability, [&](int kind) {
      const double limit = queue.capability->Get(kind);
      if (IsLimited(*queue.capability, kind) && limit > cluster.total.Get(kind) + kTolerance)
        parts.push_back(fmt::format("{} of {}", Amount(limit, kind, cluster.kinds),
                                    Amount(cluster.total.Get(kind), kind, cluster.kinds)));
    });
    if (parts.empty()) continue;
    report.Add(
        {.place = PlaceOfQueue(input, id, "spec.capability"),
         .object = Title(input, id),
         .message = fmt::format("its capability is more than the cluster has: {}", List(parts)),
         .consequence = "the limit is never reached and limits nothing",
         .fix = "lower it, or take it out; keep it if the cluster is to grow"});
  }
}

void GuaranteeOverCapability(const CheckInput& input, RuleReport& report) {
  if (!HasProportion(input)) return;
  const Cluster& cluster = *input.cluster;
  for (QueueId id : cluster.queues_by_name) {
    const Queue& queue = cluster.queues[id];
    if (!queue.capability || !queue.guarantee) continue;
    ForEachKind(*queue.guarantee, [&](int kind) {
      const double guarantee = queue.guarantee->Get(kind);
      const double limit = queue.capability->Get(kind);
      if (!IsLimited(*queue.capability, kind) || guarantee <= limit + kTolerance) return;
      report.Add({.place = PlaceOfQueue(input, id, "spec.guarantee"),
                  .object = Title(input, id),
                  .message = fmt::format("it is guaranteed {} and may use {}",
                                         Amount(guarantee, kind, cluster.kinds),
                                         Amount(limit, kind, cluster.kinds)),
                  .consequence =
                      "the guarantee is kept from all other queues, and jobs of this one "
                      "are let in up to the capability only: the difference lies idle",
                  .fix = "raise the capability or lower the guarantee"});
    });
  }
}

void WeightZero(const CheckInput& input, RuleReport& report) {
  if (!HasProportion(input)) return;
  for (QueueId id : input.cluster->queues_by_name) {
    if (input.cluster->queues[id].weight > 0) continue;
    report.Add({.place = PlaceOfQueue(input, id, "spec.weight"),
                .object = Title(input, id),
                .message = "its weight is 0",
                .consequence = "it deserves nothing beyond its guarantee: its pods are not placed, "
                               "even in an empty cluster",
                .fix = "give it a weight of 1 or more, or close the queue"});
  }
}

// What the weights alone give a queue when all others want their part.
void WeightBeyondCapability(const CheckInput& input, RuleReport& report) {
  if (!HasProportion(input)) return;
  const Cluster& cluster = *input.cluster;
  double weights = 0;
  for (QueueId id : cluster.queues_by_name) weights += std::max(cluster.queues[id].weight, 0);
  if (weights <= 0 || cluster.nodes.empty()) return;
  for (QueueId id : cluster.queues_by_name) {
    const Queue& queue = cluster.queues[id];
    if (!queue.capability || queue.weight <= 1) continue;  // 1 is what a queue has by default
    std::vector<std::string> parts;
    ForEachKind(*queue.capability, [&](int kind) {
      const double share = cluster.total.Get(kind) * queue.weight / weights;
      const double limit = queue.capability->Get(kind);
      if (IsLimited(*queue.capability, kind) && share > limit + kTolerance)
        parts.push_back(fmt::format("{} by weight, {} by capability",
                                    Amount(share, kind, cluster.kinds),
                                    Amount(limit, kind, cluster.kinds)));
    });
    if (parts.empty()) continue;
    report.Add(
        {.place = PlaceOfQueue(input, id, "spec.weight"),
         .object = Title(input, id),
         .message = fmt::format("its weight of {} entitles it to more than its capability: {}",
                                queue.weight, List(parts)),
         .consequence = "the capability counts; what the weight promises beyond it goes to "
                        "the other queues",
         .fix = "lower the weight or raise the capability, if the weight is meant to count"});
  }
}

// The most a queue may have, as proportion computes it.
Resource Ceiling(const Cluster& cluster, const Queue& queue) {
  Resource guaranteed;
  for (QueueId id : cluster.queues_by_name)
    if (cluster.queues[id].guarantee) guaranteed.Add(*cluster.queues[id].guarantee);
  Resource ceiling = Resource::Exceeding(cluster.total, guaranteed);
  if (queue.guarantee) ceiling.Add(*queue.guarantee);
  if (queue.capability) {
    Resource limit = *queue.capability;
    for (int kind : {ResourceKinds::kCpu, ResourceKinds::kMemory})
      if (limit.Get(kind) <= 0) limit.Set(kind, std::numeric_limits<double>::max());
    ceiling.CapBy(limit, Missing::kInfinity);
  }
  return ceiling;
}

bool ProportionJudgesEntry(const CheckInput& input) {
  if (!input.config.HasAction("enqueue")) return false;
  for (const Tier& tier : input.config.tiers)
    for (const PluginOption& plugin : tier.plugins)
      if (plugin.name == "proportion" && plugin.Enabled(Switch::kJobEnqueued)) return true;
  return false;
}

void JobLargerThanQueue(const CheckInput& input, RuleReport& report) {
  const Cluster& cluster = *input.cluster;
  // sla may let a job in although proportion is against it.
  if (!ProportionJudgesEntry(input) || cluster.nodes.empty() || input.FindPlugin("sla") != nullptr)
    return;
  for (JobId id : cluster.jobs_by_name) {
    const Job& job = cluster.jobs[id];
    if (!job.IsPending() || !job.min_resources) continue;
    const Resource ceiling = Ceiling(cluster, cluster.queues[job.queue]);
    const int kind = job.min_resources->FirstExceeding(ceiling, *job.min_resources);
    if (kind < 0) continue;
    report.Add({.place = input.PlaceOf(id, "spec.minResources"),
                .object = input.Title(id),
                .message = fmt::format("its minResources ask for {}, and queue {} can have {} at "
                                       "most",
                                       Amount(job.min_resources->Get(kind), kind, cluster.kinds),
                                       cluster.QueueName(job.queue),
                                       Amount(ceiling.Get(kind), kind, cluster.kinds)),
                .consequence = "the job never enters its queue",
                .fix = "lower minResources, raise the queue's capability, lower the guarantees of "
                       "other queues, or use another queue"});
  }
}

void QueuesWithoutProportion(const CheckInput& input, RuleReport& report) {
  if (HasProportion(input)) return;
  std::vector<std::string> names;
  QueueId first;
  for (QueueId id : input.cluster->queues_by_name) {
    const Queue& queue = input.cluster->queues[id];
    if (!queue.capability && !queue.guarantee && queue.weight == 1) continue;
    if (!first.valid()) first = id;
    names.emplace_back(input.cluster->QueueName(id));
  }
  if (names.empty()) return;
  report.Add({.place = PlaceOfQueue(input, first, {}),
              .object = Title(input, first),
              .message = fmt::format(
                  "{} weight, capability or guarantee ({}), and proportion is not "
                  "configured",
                  names.size() == 1 ? "1 queue sets" : fmt::format("{} queues set", names.size()),
                  List(names)),
              .consequence = "they have no effect: no queue has a share or a limit",
              .fix = "add proportion, or take them out"});
}

constexpr FindingLevel kWarning = FindingLevel::kWarning;
constexpr FindingLevel kNote = FindingLevel::kNote;

constexpr std::array kRules = {
    CheckRule{"K501", "guarantees-exceed-cluster", kWarning, RuleNeeds::kCluster,
              "The guarantees of all queues are more than the cluster has.",
              &GuaranteesExceedCluster},
    CheckRule{"K502", "capability-exceeds-cluster", kNote, RuleNeeds::kCluster,
              "A queue's capability is more than the cluster has.", &CapabilityBeyondCluster},
    CheckRule{"K503", "guarantee-over-capability", kWarning, RuleNeeds::kCluster,
              "A queue is guaranteed more than it may use.", &GuaranteeOverCapability},
    CheckRule{"K504", "weight-zero", kWarning, RuleNeeds::kCluster, "A queue's weight is 0.",
              &WeightZero},
    CheckRule{"K505", "weight-over-capability", kNote, RuleNeeds::kCluster,
              "A queue's weight entitles it to more than its capability.", &WeightBeyondCapability},
    CheckRule{"K506", "job-larger-than-queue", kWarning, RuleNeeds::kCluster,
              "A job asks for more than its queue can ever have.", &JobLargerThanQueue},
    CheckRule{"K507", "queues-without-proportion", kNote, RuleNeeds::kCluster,
              "Queues have shares or limits, and proportion is not configured.",
              &QueuesWithoutProportion},
};

}  // namespace

std::span<const CheckRule> QueueRules() {
  return kRules;
}

}  // namespace krafla
