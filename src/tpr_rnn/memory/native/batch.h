// A batch of stories and queries as tensors: checked, since nothing behind looks at bounds again,
// and shared out among threads.

#pragma once

#include <aten.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <vector>

#include "rows.h"

namespace tpr {

using Maybe = std::optional<at::Tensor>;

inline at::Tensor contiguous(const Maybe& tensor) {
  return tensor ? tensor->contiguous() : at::Tensor();
}

inline void check(const char* what, const at::Tensor& tensor, at::IntArrayRef wanted) {
  TORCH_CHECK_VALUE(!tensor.defined() || tensor.sizes() == wanted, what, " is of shape ",
                    tensor.sizes(), ", not ", wanted);
}

template <typename T>
const T* data(const at::Tensor& tensor) {
  return tensor.defined() ? tensor.const_data_ptr<T>() : nullptr;
}

struct Batch {
  const at::Tensor table, story, lengths, state, asked, row, about, position, scale, shift;
  const Shape shape;
  const int64_t stories, time, queries, hops, chunk, longest_whole;
  // The same tensors' numbers: to ask a tensor for them takes longer than to look at one.
  const int64_t *const told, *const ends, *const asks, *const asks_about, *const asks_at;

  Batch(const at::Tensor& table, const at::Tensor& story, const Maybe& lengths, const Maybe& state,
        const at::Tensor& asked, const at::Tensor& row, const Maybe& about,
        const at::Tensor& position, const Maybe& scale, const Maybe& shift,
        int64_t entity_size, int64_t operations, int64_t chunk, int64_t longest_whole)
      : table(table.contiguous()),
        story(story.contiguous()),
        lengths(contiguous(lengths)),
        state(contiguous(state)),
        asked(asked.contiguous()),
        row(row.contiguous()),
        about(contiguous(about)),
        position(position.contiguous()),
        scale(contiguous(scale)),
        shift(contiguous(shift)),
        shape(table.size(1), entity_size, operations),
        stories(story.size(0)),
        time(story.size(1)),
        queries(row.size(0)),
        hops((asked.size(1) - shape.entity) / std::max<int64_t>(shape.relation, 1)),
        chunk(chunk),
        longest_whole(longest_whole),
        told(data<int64_t>(this->story)),
        ends(data<int64_t>(this->lengths)),
        asks(data<int64_t>(this->row)),
        asks_about(data<int64_t>(this->about)),
        asks_at(data<int64_t>(this->position)) {
    check_stories();
    check_queries();
    by_story();
  }

  std::vector<int64_t> change_shape() const {
    return {stories, time, shape.rows_per_sentence, shape.entity};
  }
  std::vector<int64_t> found_shape() const { return {queries, hops, shape.entity}; }
  // Without lengths there is no padding.
  int64_t length(int64_t b) const {
    return ends ? ends[b] : time;
  }
  const int64_t* sentences(int64_t b) const { return told + b * time; }
  // How many sentences of a story are solved at once.
  int64_t piece(int64_t b) const {
    return length(b) <= longest_whole ? std::max<int64_t>(length(b), 1) : chunk;
  }
  // The queries about story b, from the first position to the last: order[first[b] .. first[b + 1]].
  std::vector<int64_t> order, first;
  int64_t row_of(int64_t q) const { return asks[q]; }
  // How many sentences query q has seen; behind the end of a story there is nothing more to see.
  int64_t seen_by(int64_t q) const {
    return std::min(asks_at[q], length(story_of(q)));
  }
  // The story of query q; if that is not given, each has as many as any other.
  int64_t story_of(int64_t q) const {
    return asks_about ? asks_about[q] : q / (queries / stories);
  }

 private:
  void check_stories() const {
    TORCH_CHECK_VALUE(
        shape.relation > 0 && table.size(1) == 2 * shape.entity + 3 * shape.relation,
        "a sentence of ", table.size(1), " numbers is not two entities of ", shape.entity,
        " and three relations");
    check("a batch of lengths", lengths, {stories});
    for (int64_t b = 0; b < stories; ++b) {
      TORCH_CHECK_VALUE(0 <= length(b) && length(b) <= time, "story ", b, " has ", time,
                        " sentences, not ", length(b));
      for (int64_t t = 0; t < length(b); ++t)
        TORCH_CHECK_VALUE(0 <= sentences(b)[t] && sentences(b)[t] < table.size(0),
                          "there is no sentence ", sentences(b)[t], " in a table of ",
                          table.size(0));
    }
    check("a state", state, {stories, shape.entity, shape.relation, shape.entity});
    TORCH_CHECK_VALUE(chunk > 0, "a chunk has 1 sentence or more, not ", chunk);
  }

  void check_queries() const {
    TORCH_CHECK_VALUE(asked.size(1) == shape.entity + hops * shape.relation, "a query of ",
                      asked.size(1), " numbers is not an entity of ", shape.entity,
                      " and relations of ", shape.relation);
    check("a batch of positions", position, {queries});
    check("a batch of stories of queries", about, {queries});
    check("a scale", scale, {hops});
    check("a shift", shift, {hops});
    TORCH_CHECK_VALUE(asks_about || (stories ? queries % stories : queries) == 0, queries,
                      " queries are not the same number for each of ", stories, " stories");
    for (int64_t q = 0; q < queries; ++q) {
      TORCH_CHECK_VALUE(0 <= row_of(q) && row_of(q) < asked.size(0), "there is no query ",
                        row_of(q), " in a table of ", asked.size(0));
      TORCH_CHECK_VALUE(0 <= story_of(q) && story_of(q) < stories, "there is no story ",
                        story_of(q), " among ", stories);
      TORCH_CHECK_VALUE(0 <= asks_at[q] && asks_at[q] <= time, "there is no position ", asks_at[q],
                        " in stories of ", time, " sentences");
    }
  }

  void by_story() {
    first.assign(stories + 1, 0);
    for (int64_t q = 0; q < queries; ++q) ++first[story_of(q) + 1];
    std::partial_sum(first.begin(), first.end(), first.begin());
    order.resize(queries);
    std::vector<int64_t> next(first.begin(), first.end() - 1);
    for (int64_t q = 0; q < queries; ++q) order[next[story_of(q)]++] = q;
    for (int64_t b = 0; b < stories; ++b)
      std::stable_sort(order.begin() + first[b], order.begin() + first[b + 1],
                       [&](int64_t x, int64_t y) { return seen_by(x) < seen_by(y); });
  }
};

// The stories shared out among the threads: neighbours, of about equal work. Which story is in
// which share depends on the batch and the number of threads alone, and so do the sums.
struct Shares {
  int64_t count;

  explicit Shares(const Batch& batch) : count(std::max(at::get_num_threads(), 1)) {
    std::vector<double> work(batch.stories + 1, 0);
    for (int64_t b = 0; b < batch.stories; ++b) work[b + 1] = work[b] + work_of(batch, b);
    bounds.push_back(0);
    for (int64_t share = 1; share < count; ++share) {
      const double wanted = work.back() * share / count;
      bounds.push_back(std::lower_bound(work.begin(), work.end(), wanted) - work.begin());
    }
    bounds.push_back(batch.stories);
    for (int64_t& bound : bounds) bound = std::min(bound, batch.stories);
  }

  int64_t begin(int64_t share) const { return bounds[share]; }
  int64_t end(int64_t share) const { return bounds[share + 1]; }

 private:
  std::vector<int64_t> bounds;

  // About as many rows as are read. A sentence of a story in pieces takes as long as one of the
  // longest story that is solved whole, which is what makes that the longest.
  static double work_of(const Batch& batch, int64_t b) {
    const double rows = batch.shape.rows_per_sentence, itself = 24;
    const bool whole = batch.length(b) <= batch.longest_whole;
    double work = batch.length(b) * rows *
                  (itself + rows * (whole ? batch.length(b) : batch.longest_whole) / 2);
    for (int64_t q = batch.first[b]; q < batch.first[b + 1]; ++q) {
      const int64_t seen = batch.seen_by(batch.order[q]);
      work += batch.hops * (itself + rows * (whole ? seen : batch.longest_whole / 3));
    }
    return work + itself;
  }
};

}  // namespace tpr
