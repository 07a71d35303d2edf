// The memory of a sparse DNC at one word of one story, and its gradients.
// Equation numbers are those of Rae et al. (2016); ../sdnc.py is the same in PyTorch: the oracle.

#pragma once

#include <aten.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "content.h"

namespace tpr {

template <typename T>
class Sdnc {
 public:
  const int64_t heads, n, size, reads, links;
  const int64_t interface_size, trace_size, state_size, adjoint_size;

  Sdnc(int64_t heads, int64_t locations, int64_t size, at::IntArrayRef settings)
      : heads(heads),
        n(locations),
        size(size),
        reads(std::min(settings[0], n)),
        links(std::min(settings[1], n)),
        interface_size(heads * size + size + heads + 2 + 3 * heads),
        trace_size(4 * n + 4 * heads * n + heads + 2),
        state_size(n * size + 4 * n * links),
        adjoint_size(n * size + heads * n) {}

  template <typename P>
  struct Interface {
    P keys, vector, strengths, interpolation, write_gate, modes;

    Interface(P xi, const Sdnc& of)
        : keys(xi),
          vector(keys + of.heads * of.size),
          strengths(vector + of.size),
          interpolation(strengths + of.heads),
          write_gate(interpolation + 1),
          modes(write_gate + 1) {}
  };

  template <typename P>
  struct Trace {
    P write, precedence, accessed, lengths, read, kept, content, cosine, scale, oldest, clock;

    Trace(P row, const Sdnc& of)
        : write(row),
          precedence(write + of.n),
          accessed(precedence + of.n),
          lengths(accessed + of.n),
          read(lengths + of.n),
          kept(read + of.heads * of.n),  // 1 where a read weighting was not cut
          content(kept + of.heads * of.n),
          cosine(content + of.heads * of.n),
          scale(cosine + of.heads * of.n),  // by which forward weightings were shortened
          oldest(scale + of.heads),         // the least recently accessed location
          clock(oldest + 1) {}
  };

  // The rows of N or P: each has at most so many entries, with their columns.
  template <typename P>
  struct Rows {
    P values, columns;
  };

  template <typename P>
  struct State {
    P memory;
    Rows<P> next, previous;  // N and P

    State(P row, const Sdnc& of)
        : memory(row),
          next{row + of.n * of.size, row + of.n * (of.size + of.links)},
          previous{row + of.n * (of.size + 2 * of.links), row + of.n * (of.size + 3 * of.links)} {}
  };

  void start(T* trace) const {
    std::fill_n(trace, trace_size, T(0));
    std::fill_n(Trace<T*>(trace, *this).lengths, n, std::sqrt(T(EPSILON)));
  }

  void activate(at::Tensor xi) const {
    at::Tensor strengths = xi.narrow(1, strengths_at(), heads);
    strengths.copy_(at::softplus(strengths)).add_(1);
    xi.narrow(1, gates_at(), 2).sigmoid_();
    at::Tensor modes = xi.narrow(1, gates_at() + 2, 3 * heads).unflatten(1, {heads, 3});
    modes.copy_(at::softmax(modes, 2));
  }

  void activate_backward(const T* xi, T* g) const {
    strengths_backward(xi + strengths_at(), heads, g + strengths_at());
    gates_backward(xi + gates_at(), 2, g + gates_at());
    modes_backward(xi + gates_at() + 2, heads, g + gates_at() + 2);
  }

  struct Scratch {
    std::vector<T> last, forward, backward, row, g_read, g_write;
    std::vector<std::pair<T, int64_t>> entries;
    std::vector<int64_t> written, preceding;

    explicit Scratch(const Sdnc& of)
        : last(of.n),
          forward(of.heads * of.n),
          backward(of.heads * of.n),
          row(of.n),
          g_read(of.heads * of.n),
          g_write(of.n) {}
  };

  void forward(const T* interface, const T* trace_before, T* trace, T* state, T* found,
               Scratch& room) const {
    const Interface<const T*> xi(interface, *this);
    const Trace<const T*> before(trace_before, *this);
    const Trace<T*> now(trace, *this);
    const State<T*> of(state, *this);

    *now.clock = *before.clock + 1;
    const int64_t oldest = std::min_element(before.accessed, before.accessed + n) - before.accessed;
    *now.oldest = T(oldest);
    mean_read(before.read, room.last.data());
    const T gamma = *xi.interpolation, alpha = *xi.write_gate;
    for (int64_t i = 0; i < n; ++i)
      now.write[i] = alpha * (gamma * room.last[i] + (1 - gamma) * T(i == oldest));  // eq. 5
    update(xi, before, Trace<const T*>(trace, *this), of, room);
    const T left = 1 - sum(now.write, n);
    for (int64_t i = 0; i < n; ++i)
      now.precedence[i] = left * before.precedence[i] + now.write[i];  // eq. 11
    keep_largest(now.precedence, links, nullptr, room);

    for (int64_t i = 0; i < n; ++i) now.lengths[i] = length(of.memory + i * size, size);
    for (int64_t head = 0; head < heads; ++head) {
      T *content = now.content + head * n, *read = now.read + head * n;
      const T* last = before.read + head * n;
      look_up_nearest({of.memory, now.lengths, n, size}, xi.keys + head * size, xi.strengths[head],
                      now.cosine + head * n, content, room);
      T *forward = room.forward.data(), *backward = room.backward.data();
      follow(of.next, last, forward);       // eq. 21
      follow(of.previous, last, backward);  // eq. 22
      now.scale[head] = 1 / std::max(T(1), sum(forward, n));
      const T* pi = xi.modes + 3 * head;
      for (int64_t i = 0; i < n; ++i)
        read[i] = pi[0] * backward[i] + pi[1] * content[i] +
                  pi[2] * (now.scale[head] * forward[i]);
      keep_largest(read, reads, now.kept + head * n, room);
    }
    std::fill_n(found, heads * size, T(0));
    for (int64_t head = 0; head < heads; ++head)
      for (int64_t i = 0; i < n; ++i)
        if (now.read[head * n + i] != 0)
          add(now.read[head * n + i], of.memory + i * size, size, found + head * size);
    mean_read(now.read, room.last.data());
    for (int64_t i = 0; i < n; ++i)
      now.accessed[i] =
          now.write[i] + room.last[i] > T(ACCESS) ? *now.clock : before.accessed[i];
  }

  void replay(const T* interface, const T* trace_before, const T* trace, const T* state, T* after,
              Scratch& room) const {
    std::copy_n(state, state_size, after);
    update(Interface<const T*>(interface, *this), Trace<const T*>(trace_before, *this),
           Trace<const T*>(trace, *this), State<T*>(after, *this), room);
  }

  void backward(const T* interface, const T* trace_before, const T* trace,
                const T* /* state before */, const T* state_after, const T* g_found, T* adjoint, T* g_interface,
                Scratch& room) const {
    const Interface<const T*> xi(interface, *this);
    const Interface<T*> g(g_interface, *this);
    const Trace<const T*> before(trace_before, *this), now(trace, *this);
    T *g_memory = adjoint, *of_read = adjoint + n * size;
    std::fill_n(g_interface, interface_size, T(0));
    const State<const T*> state(state_after, *this);

    T *g_read = room.g_read.data(), *g_write = room.g_write.data();
    for (int64_t head = 0; head < heads; ++head)
      for (int64_t i = 0; i < n; ++i) {
        const int64_t at = head * n + i;
        if (now.kept[at] == 0) {
          g_read[at] = 0;
          continue;
        }
        g_read[at] = of_read[at] + dot(g_found + head * size, state.memory + i * size, size);
        add(now.read[at], g_found + head * size, size, g_memory + i * size);
      }
    std::fill_n(of_read, heads * n, T(0));
    for (int64_t head = 0; head < heads; ++head) {
      T *g_content = g_read + head * n, *of_last = of_read + head * n;
      const T *pi = xi.modes + 3 * head, *last = before.read + head * n;
      T *ahead = room.forward.data(), *behind = room.backward.data();
      follow_back(state.next, g_content, ahead);
      follow_back(state.previous, g_content, behind);
      T* g_modes = g.modes + 3 * head;
      g_modes[0] = dot(last, behind, n);
      g_modes[1] = dot(g_content, now.content + head * n, n);
      g_modes[2] = now.scale[head] * dot(last, ahead, n);
      for (int64_t i = 0; i < n; ++i) {
        of_last[i] += pi[0] * behind[i] + pi[2] * now.scale[head] * ahead[i];
        g_content[i] *= pi[1];
      }
      look_up_backward<T>({state.memory, now.lengths, n, size}, xi.keys + head * size,
                          xi.strengths[head], now.cosine + head * n, now.content + head * n,
                          g_content, g.keys + head * size, g.strengths + head, g_memory);
    }
    const int64_t oldest = static_cast<int64_t>(*now.oldest);
    for (int64_t i = 0; i < n; ++i) {
      g_write[i] = dot(xi.vector, g_memory + i * size, size);
      add(now.write[i], g_memory + i * size, size, g.vector);
    }
    std::fill_n(g_memory + oldest * size, size, T(0));
    T* last = room.last.data();
    mean_read(before.read, last);
    const T gamma = *xi.interpolation, alpha = *xi.write_gate;
    const T along_last = dot(g_write, last, n), along_oldest = g_write[oldest];
    *g.write_gate = gamma * along_last + (1 - gamma) * along_oldest;
    *g.interpolation = alpha * (along_last - along_oldest);
    for (int64_t head = 0; head < heads; ++head)
      add(alpha * gamma / heads, g_write, n, of_read + head * n);
  }

 private:
  static constexpr double ACCESS = 0.005;  // delta: weights above it are an access

  int64_t strengths_at() const { return (heads + 1) * size; }
  int64_t gates_at() const { return strengths_at() + heads; }

  void mean_read(const T* read, T* mean) const {
    std::fill_n(mean, n, T(0));
    for (int64_t head = 0; head < heads; ++head) add(1 / T(heads), read + head * n, n, mean);
  }

  // The softmax over the nearest locations alone; the others have weight 0.
  void look_up_nearest(const Locations<T>& memory, const T* key, T strength, T* cosine,
                       T* weights, Scratch& room) const {
    cosines(memory, key, cosine);
    std::copy_n(cosine, n, weights);
    T* kept = room.forward.data();
    keep_largest(weights, reads, kept, room);
    T largest = -std::numeric_limits<T>::infinity(), total = 0;
    for (int64_t i = 0; i < n; ++i)
      if (kept[i] != 0) largest = std::max(largest, strength * cosine[i]);
    for (int64_t i = 0; i < n; ++i)
      total += weights[i] = kept[i] != 0 ? std::exp(strength * cosine[i] - largest) : T(0);
    for (int64_t i = 0; i < n; ++i) weights[i] /= total;
  }

  // Of some numbers the largest so many stay, of equal ones the first; the rest becomes 0.
  void keep_largest(T* x, int64_t count, T* kept, Scratch& room) const {
    if (kept) std::fill_n(kept, n, T(1));
    if (count >= n) return;
    auto& entries = room.entries;
    entries.clear();
    for (int64_t i = 0; i < n; ++i) entries.emplace_back(x[i], i);
    largest_first(entries, count);
    for (int64_t place = count; place < n; ++place) {
      x[entries[place].second] = 0;
      if (kept) kept[entries[place].second] = 0;
    }
  }

  static void largest_first(std::vector<std::pair<T, int64_t>>& entries, int64_t count) {
    if (static_cast<int64_t>(entries.size()) <= count) return;
    std::nth_element(entries.begin(), entries.begin() + count, entries.end(),
                     [](const auto& x, const auto& y) {
                       return x.first > y.first || (x.first == y.first && x.second < y.second);
                     });
  }

  // y = L w, for a matrix L that is given by its rows
  void follow(const Rows<T*>& rows, const T* w, T* y) const {
    for (int64_t i = 0; i < n; ++i) {
      T total = 0;
      for (int64_t k = i * links; k < (i + 1) * links; ++k)
        total += rows.values[k] * w[static_cast<int64_t>(rows.columns[k])];
      y[i] = total;
    }
  }

  // w = L' y
  void follow_back(const Rows<const T*>& rows, const T* y, T* w) const {
    std::fill_n(w, n, T(0));
    for (int64_t i = 0; i < n; ++i)
      if (y[i] != 0)
        for (int64_t k = i * links; k < (i + 1) * links; ++k)
          w[static_cast<int64_t>(rows.columns[k])] += rows.values[k] * y[i];
  }

  // Memory and links, when the write weighting is known.
  void update(const Interface<const T*>& xi, const Trace<const T*>& before,
              const Trace<const T*>& now, const State<T*>& state, Scratch& room) const {
    std::fill_n(state.memory + static_cast<int64_t>(*now.oldest) * size, size, T(0));  // eq. 8
    for (int64_t i = 0; i < n; ++i)
      if (now.write[i] != 0) add(now.write[i], xi.vector, size, state.memory + i * size);
    room.written.clear();
    room.preceding.clear();
    for (int64_t i = 0; i < n; ++i) {
      if (now.write[i] != 0) room.written.push_back(i);
      if (before.precedence[i] != 0) room.preceding.push_back(i);
    }
    for (const int64_t i : room.written)  // eq. 19
      add_to_row(state.next, i, 1 - now.write[i], now.write[i], before.precedence, room.preceding,
                 room);
    for (int64_t k = 0; k < n * links; ++k)  // eq. 20
      state.previous.values[k] *= 1 - now.write[static_cast<int64_t>(state.previous.columns[k])];
    for (const int64_t i : room.preceding)
      add_to_row(state.previous, i, T(1), before.precedence[i], now.write, room.written, room);
  }

  // row i <- keep row i + weight x, without the diagonal; the largest entries stay
  void add_to_row(const Rows<T*>& rows, int64_t i, T keep, T weight, const T* x,
                  const std::vector<int64_t>& places, Scratch& room) const {
    T *values = rows.values + i * links, *columns = rows.columns + i * links;
    T* row = room.row.data();  // all its columns, 0 before and after
    auto& entries = room.entries;
    entries.clear();
    for (int64_t k = 0; k < links; ++k) {
      const int64_t j = static_cast<int64_t>(columns[k]);
      if (keep * values[k] == 0) continue;
      row[j] = keep * values[k];
      entries.emplace_back(0, j);
    }
    for (const int64_t j : places) {
      if (j == i) continue;
      if (row[j] == 0) entries.emplace_back(0, j);
      row[j] += weight * x[j];
    }
    for (auto& entry : entries) {
      entry.first = row[entry.second];
      row[entry.second] = 0;
    }
    largest_first(entries, links);
    for (int64_t k = 0; k < links; ++k) {
      const bool there = k < static_cast<int64_t>(entries.size());
      values[k] = there ? entries[k].first : T(0);
      columns[k] = there ? T(entries[k].second) : T(0);
    }
  }
};

}  // namespace tpr
