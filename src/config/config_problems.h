// The complaints of one reading of a configuration: worded alike, capped, and handed over in the
// order of the file. Decides what `lenient` turns from an error into a warning.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostics.h"
#include "config/scheduler_config.h"

namespace krafla {

// What kind of mistake it is, for whoever lists complaints by kind.
enum class ConfigTopic : uint8_t {
  kStructure,         // not the shape of a configuration
  kSyntax,            // not YAML
  kUnknownKey,        // of the file, a tier or an action's configuration
  kUnknownAction,     //
  kUnknownPlugin,     //
  kNotAvailable,      // an action or a plugin of Volcano that is not built
  kUnknownSwitch,     // any unknown key of a plugin
  kUnknownArgument,   //
  kBadValue,          // of an argument or a switch
  kCompatibility,     // an unknown profile or switch of the compatibility block
  kRepeatedPlugin,    //
  kRepeatedSettings,  // an action configured twice, a switch given in both spellings
  kNoQueueShares,     // the only plugin that shared the cluster among queues is not built
};

// What a complaint is about: "plugin tdm" and "tdm.evict.period". Either may be empty.
struct ConfigSubject {
  std::string object;
  std::string field;
  ConfigTopic topic = ConfigTopic::kStructure;
};

// A complaint with what its message alone does not say.
struct ConfigProblem {
  Diagnostic diagnostic;
  ConfigTopic topic = ConfigTopic::kStructure;
  std::string consequence;  // what a lenient reading does about it: "it is left out"
  std::string suggestion;   // the word that was probably meant
};

class ConfigProblems {
 public:
  explicit ConfigProblems(const ConfigReadOptions& options) : options_(options) {}

  void Error(const ConfigSubject& subject, Location at, std::string message);
  void Warning(const ConfigSubject& subject, Location at, std::string message);
  // An error on the command line, so of no file.
  void OptionError(std::string_view option, std::string message);
  // An error; when lenient a warning that adds the consequence ("it is left out"), if there is one.
  void Complain(const ConfigSubject& subject, Location at, std::string message,
                std::string_view consequence);
  // Complain about `word`, which is none of `known`: `unknown plugin "gan"; did you mean "gang"?`
  void ComplainUnknown(const ConfigSubject& subject, Location at, std::string_view what,
                       std::string_view word, std::span<const std::string_view> known,
                       std::string_view consequence);

  // True when a further complaint would not be listed, and its wording not be worth any work.
  bool IsFull() const { return (options_.lenient ? warnings_ : errors_) >= kMaxListed; }

  // Hands everything over, sorted by line and column. The last call.
  void MoveTo(Diagnostics& diagnostics);
  std::vector<ConfigProblem> Take();

 private:
  // Past this many of a kind a file is noise, and listing the rest would only take time.
  static constexpr int kMaxListed = 200;

  // True when another problem of this severity may be listed.
  bool MakeRoom(Severity severity);
  ConfigProblem& Add(Severity severity, const ConfigSubject& subject, Location at,
                     std::string message);

  const ConfigReadOptions& options_;
  std::vector<ConfigProblem> items_;
  int errors_ = 0;
  int warnings_ = 0;
};

// ReadSchedulerConfig for somebody who wants to know more about each problem than its message.
SchedulerConfig ReadSchedulerConfig(std::string_view text, const Vocabulary& vocabulary,
                                    const ConfigReadOptions& options,
                                    std::vector<ConfigProblem>& problems);

}  // namespace krafla
