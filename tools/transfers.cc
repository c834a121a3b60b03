#include "tools/transfers.h"

#include <map>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/errors.h"
#include "hilo/status_macros.h"

namespace hilo::tools {
namespace {

// The item and the element that "in3_1" names; the element is -1 in "in3".
struct FeedIndex {
  int64_t item = 0, element = -1;
};
absl::StatusOr<FeedIndex> IndexOf(absl::string_view name) {
  FeedIndex index;
  absl::string_view rest = name;
  const bool has_prefix = absl::ConsumePrefix(&rest, "in");
  const std::vector<absl::string_view> numbers = absl::StrSplit(rest, '_');
  const bool fits = has_prefix && numbers.size() <= 2 && absl::SimpleAtoi(numbers[0], &index.item) && index.item >= 0 &&
                    (numbers.size() == 1 || (absl::SimpleAtoi(numbers[1], &index.element) && index.element >= 0));
  if (!fits) return InvalidArgument("--infeed: expected arrays called inI or inI_J, got '", name, "'");
  return index;
}

// NumPy has no names for some types: such bytes are taken for what the first infeed reads.
PrimitiveType TypeOf(absl::string_view name, const std::vector<Shape>& shapes) {
  const absl::StatusOr<FeedIndex> index = IndexOf(name);
  if (!index.ok() || shapes.empty()) return PRIMITIVE_TYPE_INVALID;
  if (index->element < 0) return shapes[0].IsArray() ? shapes[0].element_type() : PRIMITIVE_TYPE_INVALID;
  const bool exists = shapes[0].IsTuple() && index->element < shapes[0].tuple_shapes_size();
  return exists ? shapes[0].tuple_shapes(index->element).element_type() : PRIMITIVE_TYPE_INVALID;
}

}  // namespace

absl::StatusOr<std::vector<Literal>> LoadInfeed(const Flags& flags, const std::vector<Shape>& shapes) {
  std::vector<Literal> items;
  for (const std::string& path : flags.All("infeed")) {
    HILO_ASSIGN_OR_RETURN(std::vector<NamedLiteral> arrays,
                          ReadNpz(path, [&](absl::string_view name) { return TypeOf(name, shapes); }));
    std::map<int64_t, std::map<int64_t, Literal>> by_item;
    for (NamedLiteral& array : arrays) {
      HILO_ASSIGN_OR_RETURN(const FeedIndex index, IndexOf(array.name));
      by_item[index.item][index.element] = std::move(array.literal);
    }
    for (auto& [number, elements] : by_item) {
      if (elements.begin()->first < 0) {
        if (elements.size() > 1)
          return InvalidArgument("--infeed: ", path, ": in", number, " is both an array and a tuple");
        items.push_back(std::move(elements.begin()->second));
        continue;
      }
      std::vector<Literal> tuple;
      for (auto& [element, literal] : elements) {
        if (element != static_cast<int64_t>(tuple.size())) {
          return InvalidArgument("--infeed: ", path, " has no in", number, "_", tuple.size());
        }
        tuple.push_back(std::move(literal));
      }
      items.push_back(Literal::MakeTuple(std::move(tuple)));
    }
  }
  return items;
}

Transfers::Transfers(Client* client, int64_t device_count, std::vector<Literal> items)
    : client_(client), items_(std::move(items)), outfeed_(device_count) {
  for (int device = 0; device < device_count; ++device) {
    if (!items_.empty()) {
      threads_.emplace_back([this, device] {
        for (const Literal& item : items_) {
          if (!client_->TransferToInfeed(item, device, {.cancellation = over_}).ok())
            return;  // the run reports the error
        }
      });
    }
    threads_.emplace_back([this, device] {
      while (!over_->stopped()) {
        absl::StatusOr<Literal> item = client_->TransferFromOutfeed(device, {.cancellation = over_});
        if (!item.ok()) return;
        outfeed_[device].push_back(*std::move(item));
      }
    });
  }
}

Transfers::~Transfers() { Stop(); }

void Transfers::Stop() {
  over_->Cancel();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

std::vector<std::vector<Literal>> Transfers::Finish() {
  Stop();
  for (size_t device = 0; device < outfeed_.size(); ++device) {
    while (true) {
      absl::StatusOr<Literal> item =
          client_->TransferFromOutfeed(static_cast<int>(device), {.deadline = absl::ZeroDuration()});
      if (!item.ok()) break;
      outfeed_[device].push_back(*std::move(item));
    }
  }
  return std::move(outfeed_);
}

}  // namespace hilo::tools
