// Reading words with an LSTM that has a memory, as operators of PyTorch.

#include <aten.h>

#include <tuple>

#include "controller.h"
#include "dnc.h"
#include "sdnc.h"

namespace {

using at::Tensor;
using tpr::Controller;
using tpr::Kept;
using Tensors = std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor>;

// Do some work with a memory, sparse or not; `sizes` are read heads, locations and their size.
template <typename T, typename Work>
void with_memory(bool sparse, at::IntArrayRef sizes, at::IntArrayRef settings,
                 const Work& work) {
  if (sparse)
    work(tpr::Sdnc<T>(sizes[0], sizes[1], sizes[2], settings));
  else
    work(tpr::Dnc<T>(sizes[0], sizes[1], sizes[2], settings));
}

Tensors read_words(const Tensor& inputs, const Tensor& lengths, const Tensor& read_weight,
             const Tensor& hidden_weight, const Tensor& interface_weight,
             const Tensor& interface_bias, bool sparse, at::IntArrayRef sizes,
             at::IntArrayRef settings, bool keep) {
  Kept kept;
  AT_DISPATCH_FLOATING_TYPES(inputs.scalar_type(), "tpr_rnn_controller_read", [&] {
    with_memory<scalar_t>(sparse, sizes, settings, [&](const auto& memory) {
      const Controller controller(memory, lengths, hidden_weight.size(1), scalar_t());
      kept = controller.forward(inputs, read_weight, hidden_weight, interface_weight,
                                interface_bias, keep);
    });
  });
  return {kept.h, kept.r, kept.gates, kept.cells, kept.interfaces, kept.traces, kept.states};
}

std::tuple<Tensor, Tensor> read_words_backward(
    const Tensor& g_h, const Tensor& g_r, const Tensor& h, const Tensor& r, const Tensor& gates,
    const Tensor& cells, const Tensor& interfaces, const Tensor& traces, const Tensor& states,
    const Tensor& lengths, const Tensor& read_weight, const Tensor& hidden_weight,
    const Tensor& interface_weight, bool sparse, at::IntArrayRef sizes,
    at::IntArrayRef settings) {
  const Kept kept{h, r, gates, cells, interfaces, traces, states};
  std::tuple<Tensor, Tensor> gradients;
  AT_DISPATCH_FLOATING_TYPES(g_h.scalar_type(), "tpr_rnn_controller_read_backward", [&] {
    with_memory<scalar_t>(sparse, sizes, settings, [&](const auto& memory) {
      const Controller controller(memory, lengths, hidden_weight.size(1), scalar_t());
      gradients = controller.backward(kept, g_h.contiguous(), g_r.contiguous(), read_weight,
                                      hidden_weight, interface_weight);
    });
  });
  return gradients;
}

}  // namespace

TORCH_LIBRARY(tpr_rnn_controller, library) {
  library.def(
      "read(Tensor inputs, Tensor lengths, Tensor read_weight, Tensor hidden_weight, "
      "Tensor interface_weight, Tensor interface_bias, bool sparse, int[] sizes, "
      "int[] settings, bool keep) "
      "-> (Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor)");
  library.def(
      "read_backward(Tensor g_h, Tensor g_r, Tensor h, Tensor r, Tensor gates, Tensor cells, "
      "Tensor interfaces, Tensor traces, Tensor states, Tensor lengths, Tensor read_weight, "
      "Tensor hidden_weight, Tensor interface_weight, bool sparse, int[] sizes, int[] settings) "
      "-> (Tensor, Tensor)");
}

TORCH_LIBRARY_IMPL(tpr_rnn_controller, CPU, library) {
  library.impl("read", TORCH_FN(read_words));
  library.impl("read_backward", TORCH_FN(read_words_backward));
}
