// The manifests word by word: where each object and each field of interest was written, which names
// it refers to, and which of its words nobody knows. Beside the reading that makes a Cluster,
// because that one keeps meanings, not places, and passes over what it does not know.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "check/finding.h"
#include "manifest/object_stream.h"

namespace krafla {

class WrittenObjects {
 public:
  // A word that means nothing where it stands.
  struct OddWord {
    enum class What : uint8_t { kSpecKey, kPodPhase, kMetadataKey };
    What what = What::kSpecKey;
    Place place;
    std::string object;  // "PodGroup ml/train"
    std::string field;   // where: "spec", "status.phase", "metadata.annotations"
    std::string word;
    std::string meant;  // the word that was probably meant; may be empty
  };

  // A Queue or PriorityClass that an object names. An empty queue is the default one.
  struct Reference {
    enum class To : uint8_t { kQueue, kPriorityClass };
    To to = To::kQueue;
    Place place;
    std::string object;
    bool of_pod = false;  // else of a PodGroup or a Volcano Job
    std::string name;
  };

  // The object's text need only live during the call.
  void Read(const ObjectText& text);

  // Of a field by its path below the object ("spec.queue"), or of a label or annotation by its key.
  // Where it is not written, the place of the object; for a pod or PodGroup that was made from a
  // Volcano Job, that of the Job; else no place.
  Place PlaceOf(std::string_view kind, std::string_view ns, std::string_view name,
                std::string_view field = {}) const;
  Place PlaceOf(std::string_view kind, std::string_view name) const {
    return PlaceOf(kind, {}, name);
  }
  // Of the first of `fields` that is written.
  Place PlaceOfFirst(std::string_view kind, std::string_view ns, std::string_view name,
                     std::initializer_list<std::string_view> fields) const;
  // Whether the object is written with this field.
  bool HasField(std::string_view kind, std::string_view ns, std::string_view name,
                std::string_view field) const;
  const std::vector<OddWord>& odd_words() const { return odd_words_; }
  const std::vector<Reference>& references() const { return references_; }
  const std::set<std::string, std::less<>>& queues() const { return queues_; }
  const std::set<std::string, std::less<>>& priority_classes() const { return priority_classes_; }

 private:
  friend class WrittenObjectReader;
  struct Entry {
    uint32_t file = 0;
    Location location;
    std::vector<std::pair<std::string, Location>> fields;
  };
  const Entry* Find(std::string_view kind, std::string_view ns, std::string_view name) const;
  const Entry* FindMaker(std::string_view ns, std::string_view name) const;
  uint32_t FileNumber(std::string_view file);

  std::vector<std::string> files_;
  std::unordered_map<std::string, Entry> entries_;  // by "Pod ml/train-0"
  std::vector<OddWord> odd_words_;
  std::vector<Reference> references_;
  std::set<std::string, std::less<>> queues_;
  std::set<std::string, std::less<>> priority_classes_;
};

// A label or annotation near one that the scheduler reads, and not one itself: the one that was
// meant; empty otherwise.
std::string_view MeantMetadataKey(std::string_view key);

}  // namespace krafla
