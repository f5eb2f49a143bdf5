#pragma once
// How an index that lies outside is told of, in the words of the function that was called: the `mode` of take, gather
// and their like. stdlib/torch/_errors.tsc has the same numbers by name.
#include <cstdint>

namespace tsc {

enum class BoundsReport : int64_t {
  Indexing,      // x[index]
  Selected,      // index_select, embedding
  Target,        // nll_loss
  Placed,        // gather, scatter
  Taken,         // take, put
  Bag,           // embedding_bag
  FirstOffset,   // its first offset, in a table of one
  LastOffset,    // its last offset, in a table of one more than the input has
  Copied,        // index_copy
  Class,         // one_hot
  Margin,        // multi_margin_loss
  Margins,       // multilabel_margin_loss
  MaskedSource,  // masked_scatter
  InputLength,   // ctc_loss: of an input, in a table of one more than there are times
  TargetLength,  // ctc_loss: of a target, in a table of one more than a row of targets has
  UnitInput,     // binary_cross_entropy: whether an input is outside of [0, 1], in a table of one
  UnitTarget,    // the same of a target
  Variance,      // gaussian_nll_loss: whether a variance is below 0, in a table of one
  Probability,   // bernoulli: whether a probability is outside of [0, 1], in a table of one
  Weight,        // multinomial: whether a weight is below 0 or not finite, in a table of one
  WeightSum,     // multinomial: whether all weights of a row are 0, in a table of one
  Rate,          // poisson: whether a rate is below 0, in a table of one
  Deviation,     // normal: whether a deviation is below 0, in a table of one
};

}  // namespace tsc
