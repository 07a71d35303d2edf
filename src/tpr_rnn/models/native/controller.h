// An LSTM with a memory, over whole stories, forward and backward: see ../controller.py.
//
// Word after word, for all stories at once: matrix products by ATen, and the memory of each story
// by itself. Stories are sorted, the longest first, so that at each word those that are still going
// on are the first rows, and padding costs nothing. What the memory holds is kept at every few
// words only and computed again on the way back, for it is far larger than all else.

#pragma once

#include <aten.h>

#include <algorithm>
#include <vector>

namespace tpr {

using at::Tensor;

constexpr int64_t PIECE = 16;  // words from one kept state of the memory to the next

// What the way back needs; row 0 of `cells` and `traces` is what was before the first word.
struct Kept {
  Tensor h, r, gates, cells, interfaces, traces, states;
};

template <typename Memory, typename T>
class Controller {
 public:
  Controller(const Memory& memory, const Tensor& lengths, int64_t hidden, T)
      : memory_(memory), hidden_(hidden), stories_(lengths.size(0)) {
    const int64_t* words = lengths.const_data_ptr<int64_t>();
    for (int64_t b = 0; b < stories_; ++b) {
      TORCH_CHECK_VALUE(words[b] >= 0 && (b == 0 || words[b] <= words[b - 1]),
                        "stories must come the longest first");
      for (int64_t t = 0; t < words[b]; ++t) {
        if (b == 0) active_.push_back(0);
        ++active_[t];
      }
    }
  }

  Kept forward(const Tensor& inputs, const Tensor& read_weight, const Tensor& hidden_weight,
               const Tensor& interface_weight, const Tensor& interface_bias, bool keep) const {
    const int64_t words = inputs.size(0), B = stories_, H = hidden_;
    const int64_t found = memory_.heads * memory_.size;
    const auto options = inputs.options();
    const int64_t rows = keep ? words : 1, pieces = keep ? (words + PIECE - 1) / PIECE : 0;
    Kept kept{at::zeros({words, B, H}, options),
              at::zeros({words, B, found}, options),
              at::empty({rows, B, 4 * H}, options),
              at::empty({rows + 1, B, H}, options),
              at::empty({rows, B, memory_.interface_size}, options),
              at::empty({rows + 1, B, memory_.trace_size}, options),
              at::empty({pieces, B, memory_.state_size}, options)};
    kept.cells[0].zero_();
    for (int64_t b = 0; b < B; ++b) memory_.start(row(kept.traces, 0, b));
    Tensor states = at::zeros({B, memory_.state_size}, options);
    for (int64_t t = 0; t < static_cast<int64_t>(active_.size()); ++t) {
      const int64_t n = active_[t], now = keep ? t : 0, before = keep ? t : t % 2,
                    after = keep ? t + 1 : 1 - before;
      Tensor gates = kept.gates[now].narrow(0, 0, n);
      gates.copy_(inputs[t].narrow(0, 0, n));
      if (t) {
        gates.addmm_(kept.r[t - 1].narrow(0, 0, n), read_weight.t());
        gates.addmm_(kept.h[t - 1].narrow(0, 0, n), hidden_weight.t());
      }
      gates.narrow(1, 0, 3 * H).sigmoid_();
      gates.narrow(1, 3 * H, H).tanh_();
      cell(gates, kept.cells[before], kept.cells[after].narrow(0, 0, n),
           kept.h[t].narrow(0, 0, n));
      Tensor interfaces = kept.interfaces[now].narrow(0, 0, n);
      at::addmm_out(interfaces, interface_bias, kept.h[t].narrow(0, 0, n), interface_weight.t());
      memory_.activate(interfaces);
      if (keep && t % PIECE == 0) kept.states[t / PIECE].copy_(states);
      each_story(n, [&](int64_t b, typename Memory::Scratch& room) {
        memory_.forward(row(kept.interfaces, now, b), row(kept.traces, before, b),
                        row(kept.traces, after, b), row(states, b), row(kept.r, t, b), room);
      });
    }
    return kept;
  }

  // The gradients of what goes into the gates, and of the interface vectors.
  std::tuple<Tensor, Tensor> backward(const Kept& kept, const Tensor& g_h, const Tensor& g_r,
                                      const Tensor& read_weight, const Tensor& hidden_weight,
                                      const Tensor& interface_weight) const {
    const int64_t words = g_h.size(0), B = stories_, H = hidden_, length = active_.size();
    const auto options = g_h.options();
    Tensor g_gates = at::zeros({words, B, 4 * H}, options);
    Tensor g_interfaces = at::zeros({words, B, memory_.interface_size}, options);
    Tensor h_later = at::zeros({B, H}, options), c_later = at::zeros({B, H}, options);
    Tensor r_later = at::zeros({B, memory_.heads * memory_.size}, options);
    Tensor adjoints = at::zeros({B, memory_.adjoint_size}, options);
    Tensor states = at::empty({std::min(PIECE, words) + 1, B, memory_.state_size}, options);
    for (int64_t t = length - 1; t >= 0; --t) {
      const int64_t n = active_[t], in_piece = t % PIECE;
      if (t == length - 1 || in_piece == PIECE - 1) replay(kept, t - in_piece, t, states);
      Tensor of_r = r_later.narrow(0, 0, n), of_h = h_later.narrow(0, 0, n);
      of_r.add_(g_r[t].narrow(0, 0, n));
      each_story(n, [&](int64_t b, typename Memory::Scratch& room) {
        T* g_interface = row(g_interfaces, t, b);
        const T* interface = row(kept.interfaces, t, b);
        memory_.backward(interface, row(kept.traces, t, b), row(kept.traces, t + 1, b),
                         row(states, in_piece, b), row(states, in_piece + 1, b), row(r_later, b),
                         row(adjoints, b), g_interface, room);
        memory_.activate_backward(interface, g_interface);
      });
      of_h.add_(g_h[t].narrow(0, 0, n));
      of_h.addmm_(g_interfaces[t].narrow(0, 0, n), interface_weight);
      Tensor g_now = g_gates[t].narrow(0, 0, n);
      cell_backward(kept.gates[t], kept.cells[t], kept.cells[t + 1].narrow(0, 0, n), of_h, c_later,
                    g_now);
      if (t) {
        at::mm_out(of_r, g_now, read_weight);
        at::mm_out(of_h, g_now, hidden_weight);
      }
    }
    return {g_gates, g_interfaces};
  }

 private:
  const Memory memory_;
  const int64_t hidden_, stories_;
  std::vector<int64_t> active_;  // stories that have a word at each time

  static T* row(const Tensor& tensor, int64_t b) {
    return static_cast<T*>(tensor.data_ptr()) + b * tensor.stride(0);
  }
  static T* row(const Tensor& tensor, int64_t t, int64_t b) {
    return static_cast<T*>(tensor.data_ptr()) + t * tensor.stride(0) + b * tensor.stride(1);
  }

  template <typename Work>
  void each_story(int64_t n, const Work& work) const {
    at::parallel_for(0, n, 1, [&](int64_t first, int64_t last) {
      typename Memory::Scratch room(memory_);
      for (int64_t b = first; b < last; ++b) work(b, room);
    });
  }

  // c <- f c + i g, h = o tanh(c)
  void cell(const Tensor& gates, const Tensor& before, const Tensor& cells, const Tensor& h) const {
    for (int64_t b = 0; b < cells.size(0); ++b) {
      const T *__restrict i = row(gates, b), *__restrict f = i + hidden_,
              *__restrict g = f + 2 * hidden_;
      const T* __restrict old = row(before, b);
      T* __restrict c = row(cells, b);
      for (int64_t j = 0; j < hidden_; ++j) c[j] = f[j] * old[j] + i[j] * g[j];
    }
    Tensor out = h;
    at::tanh_out(out, cells);
    out.mul_(gates.narrow(1, 2 * hidden_, hidden_));
  }

  void cell_backward(const Tensor& gates, const Tensor& before, const Tensor& cells,
                     const Tensor& g_h, const Tensor& g_later, const Tensor& g_gates) const {
    const Tensor tanh = at::tanh(cells);
    for (int64_t b = 0; b < cells.size(0); ++b) {
      const int64_t H = hidden_;
      const T *__restrict i = row(gates, b), *__restrict f = i + H, *__restrict o = f + H,
              *__restrict g = o + H;
      const T *__restrict old = row(before, b), *__restrict out = row(tanh, b),
              *__restrict of_h = row(g_h, b);
      T *__restrict of_c = row(g_later, b), *__restrict g_i = row(g_gates, b),
                   *__restrict g_f = g_i + H, *__restrict g_o = g_f + H, *__restrict g_g = g_o + H;
#pragma GCC ivdep
      for (int64_t j = 0; j < H; ++j) {
        const T of_cell = of_c[j] + of_h[j] * o[j] * (1 - out[j] * out[j]);
        g_i[j] = of_cell * g[j] * i[j] * (1 - i[j]);
        g_f[j] = of_cell * old[j] * f[j] * (1 - f[j]);
        g_o[j] = of_h[j] * out[j] * o[j] * (1 - o[j]);
        g_g[j] = of_cell * i[j] * (1 - g[j] * g[j]);
        of_c[j] = of_cell * f[j];
      }
    }
  }

  // The states before and after the words from `first` to `last`, which belong to one piece.
  void replay(const Kept& kept, int64_t first, int64_t last, const Tensor& states) const {
    at::parallel_for(0, active_[first], 1, [&](int64_t begin, int64_t end) {
      typename Memory::Scratch room(memory_);
      for (int64_t b = begin; b < end; ++b) {
        std::copy_n(row(kept.states, first / PIECE, b), memory_.state_size, row(states, 0, b));
        for (int64_t t = first; t <= last && b < active_[t]; ++t) {
          memory_.replay(row(kept.interfaces, t, b), row(kept.traces, t, b),
                         row(kept.traces, t + 1, b), row(states, t - first, b),
                         row(states, t - first + 1, b), room);
        }
      }
    });
  }
};

}  // namespace tpr
