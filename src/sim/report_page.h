// The sources of the report's page, as the build put them into the program (see CMakeLists.txt).
#pragma once

#include <string_view>

namespace krafla {

struct ReportPage {
  std::string_view html;  // with {{TITLE}}, {{STYLE}}, {{DATA}} and {{SCRIPT}}
  std::string_view css;
  std::string_view js;
};
ReportPage EmbeddedReportPage();

}  // namespace krafla
