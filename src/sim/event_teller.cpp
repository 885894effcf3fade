#include "sim/event_teller.h"

namespace krafla {

SimEvent& EventTeller::Begin(SimEventKind kind) {
  SimEvent& e = event_;
  e.kind = kind;
  e.at = now_;
  for (std::string* text : {&e.pod, &e.job, &e.queue, &e.node, &e.zone, &e.action, &e.reason,
                            &e.for_pod, &e.for_job, &e.text})
    text->clear();
  e.permitted_by.clear();
  e.priority = 0;
  e.minimum = 0;
  e.count = 0;
  e.share = 0;
  e.amounts.clear();
  e.deserved.clear();
  e.budget_floor = -1;
  return e;
}

void EventTeller::SetPlace(SimNodeId node) {
  if (!node.valid()) return;
  event_.node = world_.Text(world_.nodes()[node].facts.node.name);
  event_.zone = world_.Text(world_.ZoneOf(node));
}

SimEvent& EventTeller::BeginPod(SimEventKind kind, SimPodId id) {
  const SimPod& pod = world_.pod(id);
  BeginJob(kind, pod.job);
  event_.pod.append(world_.Text(world_.job(pod.job).ns)).append("/").append(world_.Text(pod.name));
  event_.priority = pod.priority;
  SetPlace(pod.node);
  return event_;
}

SimEvent& EventTeller::BeginJob(SimEventKind kind, SimJobId id) {
  Begin(kind);
  const SimJob& job = world_.job(id);
  if (!job.made_of->has_group) return event_;
  event_.job.append(world_.Text(job.ns)).append("/").append(world_.Text(job.name));
  event_.queue = world_.Text(job.queue);
  event_.priority = job.priority;
  return event_;
}

SimEvent& EventTeller::BeginNode(SimEventKind kind, SimNodeId node) {
  Begin(kind);
  SetPlace(node);
  return event_;
}

void EventTeller::Send() {
  ++count_;
  for (SimObserver* observer : observers_) observer->On(event_);
}

void EventTeller::TellPod(SimEventKind kind, SimPodId pod, std::string_view text) {
  BeginPod(kind, pod).text = text;
  Send();
}

void EventTeller::TellText(SimEventKind kind, std::string_view text) {
  Begin(kind).text = text;
  Send();
}

}  // namespace krafla
