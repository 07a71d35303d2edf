// The parallel memory in C++: stories in, and what each operation changed, the final memory, and
// what queries find at their positions out; and all gradients.
//
// A story is a list of rows of a table of sentences, each of which says e1, e2, r1, r2, r3. Each
// story is read at its own length, so that padding costs nothing, and its gradients go straight to
// the sentences that it is made of. A short story is solved whole; a longer one in chunks, with a
// dense memory that is carried from one to the next.

#include <aten.h>

#include <optional>
#include <tuple>

#include "batch.h"
#include "gradient.h"
#include "story.h"

namespace {

using at::Tensor;
using tpr::Batch;
using tpr::Gradient;
using tpr::Shares;
using tpr::Story;
using tpr::Maybe;

// Changes behind the ends of stories are zero if `padded`, else whatever was in memory.
std::tuple<Tensor, Tensor, Tensor> update(
    const Tensor& table, const Tensor& story, const Maybe& lengths, const Maybe& state,
    const Tensor& asked, const Tensor& row, const Maybe& about, const Tensor& position,
    const Maybe& scale, const Maybe& shift, int64_t entity_size, int64_t operations, int64_t chunk,
    int64_t longest_whole, bool padded) {
  const Batch batch(table, story, lengths, state, asked, row, about, position, scale, shift,
                    entity_size, operations, chunk, longest_whole);
  // Of a batch with one long story most is padding; to write zeros there takes a while.
  Tensor change = padded ? at::zeros(batch.change_shape(), batch.table.options())
                         : at::empty(batch.change_shape(), batch.table.options());
  Tensor final_state =
      state ? at::empty_like(batch.state) : at::empty({0}, batch.table.options());
  Tensor found = at::empty(batch.found_shape(), batch.table.options());
  const Shares shares(batch);
  AT_DISPATCH_FLOATING_TYPES(batch.table.scalar_type(), "tpr_rnn_update", [&] {
    at::parallel_for(0, shares.count, 1, [&](int64_t first, int64_t last) {
      for (int64_t share = first; share < last; ++share) {
        Story<scalar_t> one(batch, shares.begin(share), shares.end(share), false);
        for (int64_t b = shares.begin(share); b < shares.end(share); ++b)
          one.forward(b, change.mutable_data_ptr<scalar_t>(),
                      state ? final_state.mutable_data_ptr<scalar_t>() : nullptr,
                      found.mutable_data_ptr<scalar_t>());
      }
    });
  });
  return {change, final_state, found};
}

// Gradients of the table of sentences, of the memory before the first of them, of the table of
// queries, and of all scales and all shifts.
std::tuple<Tensor, Tensor, Tensor, Tensor> update_backward(
    const Maybe& g_change, const Maybe& g_final, const Maybe& g_found, const Tensor& change,
    const Tensor& table, const Tensor& story, const Maybe& lengths, const Maybe& state,
    const Tensor& asked, const Tensor& row, const Maybe& about, const Tensor& position,
    const Maybe& scale, const Maybe& shift, int64_t entity_size, int64_t operations, int64_t chunk,
    int64_t longest_whole) {
  const Batch batch(table, story, lengths, state, asked, row, about, position, scale, shift,
                    entity_size, operations, chunk, longest_whole);
  const Tensor kept = change.contiguous();
  const Tensor of_change = tpr::contiguous(g_change), of_final = tpr::contiguous(g_final),
               of_found = tpr::contiguous(g_found);
  tpr::check("a change", kept, batch.change_shape());
  tpr::check("a gradient of changes", of_change, batch.change_shape());
  if (state) tpr::check("a gradient of states", of_final, batch.state.sizes());
  tpr::check("a gradient of what was found", of_found, batch.found_shape());
  const auto options = batch.table.options();
  Tensor g_state = state ? at::empty_like(batch.state) : at::empty({0}, options);
  Tensor g_table, g_asked, g_norm;
  const Shares shares(batch);
  AT_DISPATCH_FLOATING_TYPES(batch.table.scalar_type(), "tpr_rnn_update_backward", [&] {
    Gradient<scalar_t> table_gradient(shares.count, batch.table.sizes(), options);
    Gradient<scalar_t> asked_gradient(shares.count, batch.asked.sizes(), options);
    Gradient<scalar_t> norm_gradient(shares.count, {2, batch.hops}, options);
    at::parallel_for(0, shares.count, 1, [&](int64_t first, int64_t last) {
      for (int64_t share = first; share < last; ++share) {
        Story<scalar_t> one(batch, shares.begin(share), shares.end(share), true);
        for (int64_t b = shares.begin(share); b < shares.end(share); ++b)
          one.backward(b, kept.const_data_ptr<scalar_t>(), tpr::data<scalar_t>(of_change),
                       tpr::data<scalar_t>(of_final), tpr::data<scalar_t>(of_found),
                       table_gradient.of(share),
                       state ? g_state.mutable_data_ptr<scalar_t>() : nullptr,
                       asked_gradient.of(share), norm_gradient.of(share));
      }
    });
    g_table = table_gradient.total();
    g_asked = asked_gradient.total();
    g_norm = norm_gradient.total();
  });
  return {g_table, g_state, g_asked, g_norm};
}

}  // namespace

TORCH_LIBRARY(tpr_rnn_native, library) {
  library.def(
      "update(Tensor table, Tensor story, Tensor? lengths, Tensor? state, Tensor asked, Tensor row, "
      "Tensor? about, Tensor position, Tensor? scale, Tensor? shift, int entity_size, "
      "int operations, int chunk, int longest_whole, bool padded) -> (Tensor, Tensor, Tensor)");
  library.def(
      "update_backward(Tensor? g_change, Tensor? g_final, Tensor? g_found, Tensor change, "
      "Tensor table, Tensor story, Tensor? lengths, Tensor? state, Tensor asked, Tensor row, "
      "Tensor? about, Tensor position, Tensor? scale, Tensor? shift, int entity_size, "
      "int operations, int chunk, int longest_whole) -> (Tensor, Tensor, Tensor, Tensor)");
}

TORCH_LIBRARY_IMPL(tpr_rnn_native, CPU, library) {
  library.impl("update", TORCH_FN(update));
  library.impl("update_backward", TORCH_FN(update_backward));
}
