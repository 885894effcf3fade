// The names a configuration may use: those of the plugins and actions that are built in.
#pragma once

#include "config/argument_spec.h"

namespace krafla {

Vocabulary BuiltInVocabulary();

}  // namespace krafla
