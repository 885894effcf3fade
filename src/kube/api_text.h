// What the API server sends, taken apart as far as the I/O threads need it: events of a watch,
// pages of a list, what an object says about itself, and refusals.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/group_memory.h"

namespace krafla {

// What an object says about itself, beside its text.
struct ObjectHead {
  std::string ns;
  std::string name;
  std::string uid;
  std::string resource_version;
  std::string controller_uid;  // of the ownerReference with controller: true
  // Of a Queue or a PodGroup: one of Volcano's controllers has written it, as managedFields say.
  bool written_by_controllers = false;
  // Of PodGroups and Queues, as JSON: what is written there next is made of it.
  std::string status;
  GroupMemory memory;  // of PodGroups: our own annotations, those that we have written
  // Names of our annotations that another field manager has written, with commas between.
  std::string foreign_memory;
};

// By this name the server notes in metadata.managedFields what we write (kube/update_fallback.h).
// Also the one it has noted for every version of krafla, after the User-Agent.
inline constexpr std::string_view kFieldManager = "krafla";

// A text with simdjson's padding behind it.
std::string Padded(std::string_view json);

enum class WatchEventType : uint8_t { kAdded, kModified, kDeleted, kBookmark, kError };

struct WatchLine {
  WatchEventType type = WatchEventType::kBookmark;
  std::string object;  // padded
  ObjectHead head;
  bool initial_events_end = false;  // a bookmark that says so
  int error_code = 0;               // of kError: 410 and the like
  std::string error_message;
};

// Keeps its buffers from object to object. One thread.
class ApiTextParser {
 public:
  ApiTextParser();
  ~ApiTextParser();

  // One line of a watch, without its end.
  Result<WatchLine> ParseWatchLine(std::string_view line);
  Result<ObjectHead> ParseHead(const std::string& padded_object);

  struct ListPage {
    std::string resource_version;
    std::string continue_token;
    size_t unnamed = 0;  // objects without metadata.name: left out
  };
  // One page of a list; `on_object` gets each object as padded text with apiVersion and kind.
  Result<ListPage> ParseList(
      const std::string& body,
      const std::function<void(std::string object, ObjectHead head)>& on_object);

 private:
  struct Parsers;
  std::unique_ptr<Parsers> parsers_;
};

// The message of a Status object, or the beginning of a body that is none.
std::string MessageOf(std::string_view body);

}  // namespace krafla
