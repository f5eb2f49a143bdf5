#pragma once
// Regions whose tensors lie on a device. Until a device has kernels of its own from the nests, the host runs the
// region: it waits for the current stream, opens the memory of what comes in, and what the region makes lies on the
// device. Knows executables and devices; nothing of scripts. Keeps: while the program runs a statement in the middle of
// it the memory is closed, and what the statement has queued is waited for.
#include <memory>
#include <optional>

#include "jit/executable.h"
#include "runtime/device/place.h"

namespace tsc::interp {

// `place`: where the region's tensors lie; empty: where those lie that come in. An engine without devices gets back
// what it gave.
std::unique_ptr<jit::Executable> with_devices(std::unique_ptr<jit::Executable> code, std::optional<Place> place);

}  // namespace tsc::interp
