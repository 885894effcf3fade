// The files that a directory on the command line stands for.
#pragma once

#include <string>
#include <vector>

#include "base/diagnostics.h"

namespace krafla {

// All .yaml, .yml and .json files below `directory`, by name. Names that start with a dot are left
// out: a mounted ConfigMap shows each file a second time in such a directory. As for kubectl,
// symbolic links to files are followed, those to directories below `directory` are not.
std::vector<std::string> FindManifestFiles(const std::string& directory, Diagnostics& diagnostics);

}  // namespace krafla
