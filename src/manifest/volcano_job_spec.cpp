#include "manifest/volcano_job_spec.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/did_you_mean.h"
#include "manifest/json_slice.h"

namespace krafla {

namespace {

// A slip of the pen (replicas: 1000000000) must not fill the memory.
constexpr int64_t kMaxPods = 250'000;

constexpr int32_t kMaxInt32 = std::numeric_limits<int32_t>::max();

class JobDecoder {
 public:
  explicit JobDecoder(ObjectReader& reader) : reader_(reader) {}

  VolcanoJob Decode();

 private:
  // What is known of a task before all of them are read.
  struct TaskNotes {
    const char* min_available_at = nullptr;  // null when it is not given
    std::vector<std::string> depends_on;
  };

  void ReadMetadata(JsonValue& value);
  void ReadSpec(JsonValue& value);
  void ReadVolumes(JsonValue& value);
  void ReadTask(JsonValue& value);
  void ReadPartitions(JsonValue& value, VolcanoTask& task);
  void ReadDependencies(JsonValue& value, VolcanoTask& task, TaskNotes& notes);
  void ReadTemplate(JsonValue& value, VolcanoTask& task);
  void ReadPodSpec(std::string_view spec, VolcanoTask& task);
  void ReadStatus(JsonValue& value);
  TextPairs ReadTexts(JsonValue& value);
  // JSON of an object; empty for null and for what is wrong.
  std::string_view ReadObject(JsonValue& value);
  void ReadTextUnlessEmpty(JsonValue& value, std::string& text);

  void SetDefaults();
  void NameTasks();
  void CheckNumbers();

  ObjectReader& reader_;
  VolcanoJob job_;
  const char* min_available_at_ = nullptr;
  std::vector<TaskNotes> notes_;                         // by task
  std::map<std::string, int64_t, std::less<>> started_;  // by the task's name
};

VolcanoJob JobDecoder::Decode() {
  ForEachFieldOf(reader_.json(), reader_, [&](std::string_view key, JsonValue& value) {
    if (key == "metadata") ReadMetadata(value);
    if (key == "spec") ReadSpec(value);
    if (key == "status") ReadStatus(value);
  });
  if (reader_.HasErrors() || job_.IsOver()) return std::move(job_);
  if (job_.name.empty()) reader_.WrongField("metadata.name", "missing");
  if (job_.tasks.empty()) reader_.WrongField("spec.tasks", "a Job needs at least one task");
  SetDefaults();
  NameTasks();
  CheckNumbers();
  return std::move(job_);
}

void JobDecoder::ReadMetadata(JsonValue& value) {
  reader_.ForEachField(value, [&](std::string_view key, JsonValue& field) {
    if (key == "name") job_.name = reader_.Text(field);
    if (key == "namespace") ReadTextUnlessEmpty(field, job_.ns);
    if (key == "uid") job_.uid = reader_.Text(field);
    if (key == "labels") job_.labels = ReadTexts(field);
    if (key == "annotations") job_.annotations = ReadTexts(field);
    if (key == "deletionTimestamp") job_.deleting = !ObjectReader::IsNull(field);
    if (key == "creationTimestamp" && !ObjectReader::IsNull(field)) {
      job_.created = ObjectReader::Token(field);
      reader_.Time(field);
    }
  });
}

void JobDecoder::ReadSpec(JsonValue& value) {
  reader_.ForEachField(value, [&](std::string_view key, JsonValue& field) {
    if (key == "schedulerName") {
      ReadTextUnlessEmpty(field, job_.scheduler_name);
    } else if (key == "queue") {
      ReadTextUnlessEmpty(field, job_.queue);
    } else if (key == "priorityClassName") {
      job_.priority_class = reader_.Text(field);
    } else if (key == "minAvailable") {
      min_available_at_ = ObjectReader::At(field);
      job_.min_available = reader_.Int32(field, 0).value_or(0);
    } else if (key == "networkTopology") {
      job_.network_topology = ReadObject(field);
    } else if (key == "volumes") {
      ReadVolumes(field);
    } else if (key == "tasks") {
      reader_.ForEachItem(field, [&](JsonValue& task) { ReadTask(task); });
    }
  });
}

void JobDecoder::ReadVolumes(JsonValue& value) {
  reader_.ForEachItem(value, [&](JsonValue& volume) {
    const char* at = ObjectReader::At(volume);
    std::string claim;
    reader_.ForEachField(volume, [&](std::string_view key, JsonValue& field) {
      if (key == "volumeClaimName") claim = reader_.Text(field);
    });
    if (claim.empty()) {
      // The controller makes a claim and writes its name here. It is a Kubernetes object of its
      // own, which a scheduler cannot know anything about before it exists.
      reader_.Warn(at,
                   "the claim for this volume does not exist yet; the pods are placed without it");
    } else if (std::find(job_.claims.begin(), job_.claims.end(), claim) == job_.claims.end()) {
      job_.claims.push_back(std::move(claim));
    }
  });
}

void JobDecoder::ReadTask(JsonValue& value) {
  VolcanoTask& task = job_.tasks.emplace_back();
  TaskNotes& notes = notes_.emplace_back();
  task.at = ObjectReader::At(value);
  reader_.ForEachField(value, [&](std::string_view key, JsonValue& field) {
    if (key == "name") {
      task.name = reader_.Text(field);
    } else if (key == "replicas") {
      task.replicas = reader_.Int32(field, 0).value_or(0);
    } else if (key == "minAvailable" && !ObjectReader::IsNull(field)) {
      notes.min_available_at = ObjectReader::At(field);
      task.min_available = reader_.Int32(field, 0).value_or(0);
    } else if (key == "topologyPolicy") {
      task.topology_policy = reader_.Text(field);
    } else if (key == "partitionPolicy" && !ObjectReader::IsNull(field)) {
      ReadPartitions(field, task);
    } else if (key == "dependsOn") {
      ReadDependencies(field, task, notes);
    } else if (key == "template") {
      ReadTemplate(field, task);
    }
  });
}

void JobDecoder::ReadPartitions(JsonValue& value, VolcanoTask& task) {
  VolcanoPartitions partitions;
  reader_.ForEachField(value, [&](std::string_view key, JsonValue& field) {
    if (key == "partitionSize") partitions.size = reader_.Int32(field, 0).value_or(0);
    if (key == "minPartitions") partitions.min_partitions = reader_.Int32(field, 0).value_or(0);
    if (key == "networkTopology") partitions.network_topology = ReadObject(field);
  });
  task.partitions = partitions;
}

void JobDecoder::ReadDependencies(JsonValue& value, VolcanoTask& task, TaskNotes& notes) {
  reader_.ForEachField(value, [&](std::string_view key, JsonValue& field) {
    if (key == "name") {
      reader_.ForEachItem(
          field, [&](JsonValue& name) { notes.depends_on.emplace_back(reader_.Text(name)); });
    } else if (key == "iteration") {
      task.any_dependency_will_do = reader_.Text(field) == "any";
    }
  });
}

void JobDecoder::ReadTemplate(JsonValue& value, VolcanoTask& task) {
  reader_.ForEachField(value, [&](std::string_view key, JsonValue& field) {
    if (key == "metadata") {
      reader_.ForEachField(field, [&](std::string_view name, JsonValue& entry) {
        if (name == "labels") task.labels = ReadTexts(entry);
        if (name == "annotations") task.annotations = ReadTexts(entry);
      });
    } else if (key == "spec") {
      const std::string_view spec = ReadObject(field);
      ReadPodSpec(spec, task);
      task.usage = DecodePodUsage(reader_, spec);
    }
  });
}

void JobDecoder::ReadPodSpec(std::string_view spec, VolcanoTask& task) {
  ForEachFieldOf(spec, reader_, [&](std::string_view key, JsonValue& field) {
    if (key == "schedulerName") {
      task.scheduler_name = reader_.Text(field);
    } else if (key == "priorityClassName") {
      task.priority_class = reader_.Text(field);
    } else {
      task.pod_fields.emplace_back(key, reader_.Raw(field));
    }
  });
}

void JobDecoder::ReadStatus(JsonValue& value) {
  reader_.ForEachField(value, [&](std::string_view key, JsonValue& field) {
    if (key == "version") job_.version = reader_.Int32(field).value_or(0);
    if (key == "retryCount") job_.retry_count = reader_.Int32(field).value_or(0);
    if (key == "state") {
      reader_.ForEachField(field, [&](std::string_view name, JsonValue& entry) {
        if (name == "phase") job_.phase = reader_.Text(entry);
      });
    }
    if (key == "taskStatusCount") {
      reader_.ForEachField(field, [&](std::string_view task, JsonValue& state) {
        int64_t& started = started_[std::string(task)];
        reader_.ForEachField(state, [&](std::string_view name, JsonValue& phases) {
          if (name != "phase") return;
          reader_.ForEachField(phases, [&](std::string_view phase, JsonValue& count) {
            if (phase != "Running" && phase != "Succeeded") return;
            started += reader_.Int32(count).value_or(0);
          });
        });
      });
    }
  });
}

TextPairs JobDecoder::ReadTexts(JsonValue& value) {
  TextPairs texts;
  reader_.ForEachField(value, [&](std::string_view key, JsonValue& field) {
    texts.insert_or_assign(std::string(key), std::string(reader_.Text(field)));
  });
  return texts;
}

std::string_view JobDecoder::ReadObject(JsonValue& value) {
  if (ObjectReader::IsNull(value)) return {};
  if (ObjectReader::Token(value).front() == '{') return reader_.Raw(value);
  reader_.WrongType(value, "an object");
  return {};
}

void JobDecoder::ReadTextUnlessEmpty(JsonValue& value, std::string& text) {
  const std::string_view given = reader_.Text(value);
  if (!given.empty()) text = given;
}

void JobDecoder::SetDefaults() {
  int64_t sum = 0;
  for (size_t i = 0; i < job_.tasks.size(); ++i) {
    VolcanoTask& task = job_.tasks[i];
    if (task.usage.empty()) task.usage = DecodePodUsage(reader_, {});
    if (task.name.empty()) task.name = "default" + std::to_string(i);
    if (notes_[i].min_available_at == nullptr) {
      const int64_t partitioned = task.partitions ? int64_t{task.partitions->min_partitions} *
                                                        int64_t{task.partitions->size}
                                                  : 0;
      task.min_available = partitioned > 0
                               ? static_cast<int32_t>(std::min<int64_t>(partitioned, kMaxInt32))
                               : task.replicas;
    }
    sum += task.min_available;
  }
  if (job_.min_available == 0) {
    job_.min_available = static_cast<int32_t>(std::min<int64_t>(sum, kMaxInt32));
  }
}

// Names must be unique; whatever refers to a task by name is resolved.
void JobDecoder::NameTasks() {
  std::map<std::string_view, size_t> index_of;
  for (size_t i = 0; i < job_.tasks.size(); ++i) {
    VolcanoTask& task = job_.tasks[i];
    if (!index_of.emplace(task.name, i).second) {
      reader_.Wrong(task.at, fmt::format("there is a task {} already", Quoted(task.name)));
    }
    const auto started = started_.find(task.name);
    if (started != started_.end()) task.started = started->second;
  }
  for (size_t i = 0; i < job_.tasks.size(); ++i) {
    VolcanoTask& task = job_.tasks[i];
    for (const std::string& name : notes_[i].depends_on) {
      const auto found = index_of.find(name);
      if (found == index_of.end()) {
        reader_.Wrong(task.at,
                      fmt::format("depends on {}, which is no task of the job", Quoted(name)));
      } else {
        task.depends_on.push_back(found->second);
      }
    }
  }
}

void JobDecoder::CheckNumbers() {
  int64_t total = 0;
  for (size_t i = 0; i < job_.tasks.size(); ++i) {
    const VolcanoTask& task = job_.tasks[i];
    total += task.replicas;
    if (task.min_available > task.replicas) {
      const char* at = notes_[i].min_available_at;
      reader_.Wrong(at != nullptr ? at : task.at,
                    fmt::format("minAvailable ({}) is more than the task's replicas ({})",
                                task.min_available, task.replicas));
    }
  }
  if (total > kMaxPods) {
    reader_.WrongField("spec.tasks", fmt::format("the tasks have {} replicas together; at most {} "
                                                 "pods of one Job are made",
                                                 total, kMaxPods));
  }
  if (min_available_at_ != nullptr && job_.min_available > total) {
    reader_.Wrong(min_available_at_,
                  fmt::format("minAvailable ({}) is more than the replicas of all tasks ({})",
                              job_.min_available, total));
  }
}

}  // namespace

bool VolcanoJob::IsOver() const {
  static constexpr std::array<std::string_view, 7> kOver = {
      "Completed", "Failed", "Terminated", "Aborted", "Completing", "Terminating", "Aborting"};
  return deleting || std::find(kOver.begin(), kOver.end(), phase) != kOver.end();
}

VolcanoJob DecodeVolcanoJob(ObjectReader& reader) {
  return JobDecoder(reader).Decode();
}

}  // namespace krafla
