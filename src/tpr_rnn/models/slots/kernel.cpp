// The slots of an EntNet over whole stories (eq. 2-5), and their gradients, as operators of PyTorch.
//
// Stories come longest first, and packed: block t holds the states of those that are longer than
// t - 1 sentences, block 0 the keys. So a step works on the first stories of a block and fills the
// next one, no story is padded, and the products of a step are one matrix product.

#include <aten.h>

#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

namespace {

using at::Tensor;

template <typename T>
T dot(const T* __restrict x, const T* __restrict y, int64_t size) {
  T sum = 0;
  for (int64_t i = 0; i < size; ++i) sum += x[i] * y[i];
  return sum;
}

// One slot reads a sentence; the gate, and the factor of eq. 5, come back.
template <typename T>
std::pair<T, T> update(int64_t d, const T* __restrict s, T match, const T* __restrict from_key,
                       const T* __restrict from_sentence, const T* __restrict slope,
                       const T* __restrict before, T* __restrict p, T* __restrict after) {
  const T g = 1 / (1 + std::exp(-dot(s, before, d) - match));  // eq. 2
  T square = 0;
  for (int64_t i = 0; i < d; ++i) {
    p[i] += from_key[i] + from_sentence[i];
    after[i] = before[i] + g * (p[i] > 0 ? p[i] : slope[i] * p[i]);  // eq. 3, 4
    square += after[i] * after[i];
  }
  const T factor = square > 0 ? 1 / std::sqrt(square) : 0;
  for (int64_t i = 0; i < d; ++i) after[i] *= factor;  // eq. 5
  return {g, factor};
}

// The gradients of it, added to what is there, but for that of p; that of the score comes back.
template <typename T>
T update_backward(int64_t d, const T* __restrict s, const T* __restrict slope, T g, T factor,
                  const T* __restrict before, const T* __restrict p, const T* __restrict after,
                  const T* __restrict g_after, T* __restrict g_before, T* __restrict g_p,
                  T* __restrict g_slope, T* __restrict g_s, T* __restrict g_key,
                  T* __restrict g_sentence) {
  const T along = dot(after, g_after, d);
  T g_gate = 0;
  for (int64_t i = 0; i < d; ++i) {
    const T g_x = (g_after[i] - after[i] * along) * factor;  // eq. 5
    const T rise = p[i] > 0 ? T(1) : slope[i];
    g_before[i] += g_x;
    g_gate += g_x * rise * p[i];  // eq. 4
    g_slope[i] += g * g_x * (p[i] > 0 ? T(0) : p[i]);
    g_p[i] = g * g_x * rise;  // eq. 3
    g_key[i] += g_p[i];
    g_sentence[i] += g_p[i];
  }
  const T g_score = g_gate * g * (1 - g);  // eq. 2
  for (int64_t i = 0; i < d; ++i) {
    g_before[i] += g_score * s[i];
    g_s[i] += g_score * before[i];
  }
  return g_score;
}

// Where the blocks of states begin, in stories; `active` is how many stories each step reads.
struct Blocks {
  std::vector<int64_t> begin;

  Blocks(int64_t stories, at::IntArrayRef active) : begin{0, stories} {
    for (int64_t count : active) begin.push_back(begin.back() + count);
  }
  int64_t total() const { return begin.back(); }
};

// Of each state h, and of each step the candidate before phi, the gate, and the factor of eq. 5.
using Kept = std::tuple<Tensor, Tensor, Tensor, Tensor>;

Kept read_stories(const Tensor& story, int64_t stories, at::IntArrayRef active,
                  const Tensor& sentences, const Tensor& from_sentence, const Tensor& match,
                  const Tensor& keys, const Tensor& from_key, const Tensor& u,
                  const Tensor& slope) {
  const int64_t m = keys.size(0), d = keys.size(1);
  const Blocks blocks(stories, active);
  Tensor h = at::empty({blocks.total() * m, d}, keys.options());
  Tensor candidate = at::empty({(blocks.total() - stories) * m, d}, keys.options());
  Tensor gate = at::empty({(blocks.total() - stories) * m}, keys.options());
  Tensor factor = at::empty_like(gate);
  h.narrow(0, 0, stories * m).view({stories, m, d}).copy_(keys);
  const Tensor u_transposed = u.t();
  const int64_t* rows = story.const_data_ptr<int64_t>();
  AT_DISPATCH_FLOATING_TYPES(keys.scalar_type(), "tpr_rnn_slots_read", [&] {
    using T = scalar_t;
    const T* s = sentences.const_data_ptr<T>();
    const T* told = from_sentence.const_data_ptr<T>();
    T* states = h.mutable_data_ptr<T>();
    for (size_t t = 0; t < active.size(); ++t) {
      const int64_t from = blocks.begin[t] * m, to = blocks.begin[t + 1] * m;
      const int64_t step = to - stories * m, count = active[t] * m;
      Tensor made = candidate.narrow(0, step, count);
      at::mm_out(made, h.narrow(0, from, count), u_transposed);
      for (int64_t n = 0; n < count; ++n) {
        const int64_t row = rows[(step + n) / m], j = n % m;
        const auto [g, by] = update(
            d, s + row * d, match.const_data_ptr<T>()[row * m + j],
            from_key.const_data_ptr<T>() + j * d, told + row * d, slope.const_data_ptr<T>(),
            states + (from + n) * d, made.mutable_data_ptr<T>() + n * d, states + (to + n) * d);
        gate.mutable_data_ptr<T>()[step + n] = g;
        factor.mutable_data_ptr<T>()[step + n] = by;
      }
    }
  });
  return {h, candidate, gate, factor};
}

// The gradients of sentences, from_sentence, match, keys, from_key, u and slope.
using Gradients = std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor>;

Gradients read_stories_backward(
    const Tensor& outside, const Tensor& h, const Tensor& candidate, const Tensor& gate,
    const Tensor& factor, const Tensor& story, int64_t stories, at::IntArrayRef active,
    const Tensor& sentences, const Tensor& from_sentence, const Tensor& match, const Tensor& keys,
    const Tensor& u, const Tensor& slope) {
  const int64_t m = keys.size(0), d = keys.size(1);
  const Blocks blocks(stories, active);
  Tensor of_h = outside.clone();
  Tensor of_candidate = at::zeros_like(h);  // that of the step from each state
  Tensor of_sentences = at::zeros_like(sentences), of_from_sentence = at::zeros_like(from_sentence);
  Tensor of_match = at::zeros_like(match), of_from_key = at::zeros_like(keys);
  Tensor of_slope = at::zeros_like(slope);
  const int64_t* rows = story.const_data_ptr<int64_t>();
  AT_DISPATCH_FLOATING_TYPES(keys.scalar_type(), "tpr_rnn_slots_read_backward", [&] {
    using T = scalar_t;
    const T* states = h.const_data_ptr<T>();
    T* g_states = of_h.mutable_data_ptr<T>();
    for (int64_t t = int64_t(active.size()) - 1; t >= 0; --t) {
      const int64_t from = blocks.begin[t] * m, to = blocks.begin[t + 1] * m;
      const int64_t step = to - stories * m, count = active[t] * m;
      for (int64_t n = 0; n < count; ++n) {
        const int64_t row = rows[(step + n) / m], j = n % m;
        of_match.mutable_data_ptr<T>()[row * m + j] += update_backward(
            d, sentences.const_data_ptr<T>() + row * d, slope.const_data_ptr<T>(),
            gate.const_data_ptr<T>()[step + n], factor.const_data_ptr<T>()[step + n],
            states + (from + n) * d, candidate.const_data_ptr<T>() + (step + n) * d,
            states + (to + n) * d, g_states + (to + n) * d, g_states + (from + n) * d,
            of_candidate.mutable_data_ptr<T>() + (from + n) * d, of_slope.mutable_data_ptr<T>(),
            of_sentences.mutable_data_ptr<T>() + row * d, of_from_key.mutable_data_ptr<T>() + j * d,
            of_from_sentence.mutable_data_ptr<T>() + row * d);
      }
      Tensor of_before = of_h.narrow(0, from, count);
      at::addmm_out(of_before, of_before, of_candidate.narrow(0, from, count), u);
    }
  });
  const Tensor of_keys = of_h.narrow(0, 0, stories * m).view({stories, m, d}).sum(0);
  const Tensor of_u = at::mm(of_candidate.t(), h);
  return {of_sentences, of_from_sentence, of_match, of_keys, of_from_key, of_u, of_slope};
}

}  // namespace

TORCH_LIBRARY(tpr_rnn_slots, library) {
  library.def(
      "read(Tensor story, int stories, int[] active, Tensor sentences, Tensor from_sentence, "
      "Tensor match, Tensor keys, Tensor from_key, Tensor u, Tensor slope) "
      "-> (Tensor, Tensor, Tensor, Tensor)");
  library.def(
      "read_backward(Tensor outside, Tensor h, Tensor candidate, Tensor gate, Tensor factor, "
      "Tensor story, int stories, int[] active, Tensor sentences, Tensor from_sentence, "
      "Tensor match, Tensor keys, Tensor u, Tensor slope) "
      "-> (Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor)");
}

TORCH_LIBRARY_IMPL(tpr_rnn_slots, CPU, library) {
  library.impl("read", TORCH_FN(read_stories));
  library.impl("read_backward", TORCH_FN(read_stories_backward));
}
