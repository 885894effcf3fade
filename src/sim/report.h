// The HTML report of a simulation: one file that needs nothing else, made to be looked at, printed
// and sent to others. Its page is in report/ beside this file and is built into the program.
//
// The collector keeps series by buckets of time, not events: with 1,000 nodes a few megabytes,
// however long the run. Buckets become wider as the run goes on.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/zone_window.h"
#include "sim/sim_event.h"
#include "sim/summary.h"

namespace krafla {

// How much a report may hold; beyond, rows are joined and evictions thinned out, and the report
// says so.
struct ReportLimits {
  size_t buckets = 720;
  size_t node_rows = 1'500;
  size_t evictions = 3'000;
  size_t queues = 16;
  size_t explanation_bytes = 1'500;
};

class ReportCollector : public SimObserver {
 public:
  explicit ReportCollector(TimeZone zone, ReportLimits limits = {});
  ~ReportCollector() override;
  ReportCollector(const ReportCollector&) = delete;
  ReportCollector& operator=(const ReportCollector&) = delete;

  void On(const SimEvent& event) override;

  // The data of the page as JSON; ReportHtml embeds it.
  void WriteJson(JsonWriter& json, const Summary& summary) const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

// An expectation of the scenario and what became of it.
struct ReportExpectation {
  std::string text;
  bool met = true;
  std::string detail;  // why not; may be empty
};

struct ReportNotes {
  std::string command;  // how to make the same run again; may be empty
  std::vector<ReportExpectation> expectations;
};

// The whole page.
std::string ReportHtml(const ReportCollector& collector, const Summary& summary,
                       const ReportNotes& notes = {});

// Writes `folder`/index.html, making the folder if need be. Gives the file's path.
Result<std::string> WriteReport(const std::string& folder, const ReportCollector& collector,
                                const Summary& summary, const ReportNotes& notes = {});

}  // namespace krafla
