#pragma once
// The canonical reduction order: what makes a sum the same bits in every tier and at any thread count.
// It depends on n, the number of reduced elements of one result, alone. r is the row-major index over
// the reduced axes:
//   chunks of kChunk consecutive r; in a chunk, lane r % kLanes combines its elements in order, starting
//   from the identity; then lane l takes in lane l + 32, l + 16, l + 8, l + 4, l + 2, l + 1 in turn;
//   the results of the chunks are combined in order. n = 0 gives the identity.
// Lanes that got no element hold the identity, which changes nothing, so a tree over n lanes only gives
// the same bits.
#include <cstdint>

namespace tsc {

inline constexpr int64_t kReduceLanes = 64;
inline constexpr int64_t kReduceChunk = 65536;

}  // namespace tsc
