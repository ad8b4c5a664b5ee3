//===- Renaming.cpp - Which leaves may be exchanged -----------------------===//

#include "rewrites/Generate/Renaming.h"
#include <algorithm>
#include <cassert>
#include <numeric>

namespace mlc::generate {

Renamings::Renamings(llvm::ArrayRef<uint32_t> classes) {
  std::vector<uint8_t> permutation(classes.size());
  std::iota(permutation.begin(), permutation.end(), 0);
  do {
    bool keeps = true;
    for (size_t l = 0; l < classes.size(); ++l)
      keeps &= classes[l] == classes[permutation[l]];
    if (keeps)
      permutations.push_back(permutation);
  } while (std::next_permutation(permutation.begin(), permutation.end()));
  assert(size() <= 16 && "sets of renamings are 16 bits");
  auto find = [&](const std::vector<uint8_t> &p) -> uint8_t {
    return std::find(permutations.begin(), permutations.end(), p) -
           permutations.begin();
  };
  inverses.resize(size());
  for (unsigned a = 0; a < size(); ++a)
    for (unsigned b = 0; b < size(); ++b) {
      std::vector<uint8_t> product(classes.size());
      for (size_t l = 0; l < classes.size(); ++l)
        product[l] = permutations[a][permutations[b][l]];
      table.push_back(find(product));
      if (table.back() == 0)
        inverses[a] = b;
    }
}

unsigned Renamings::firstOfCoset(unsigned r, uint16_t s) const {
  unsigned first = r;
  for (unsigned k = 0; k < size(); ++k)
    if (s >> k & 1)
      first = std::min(first, multiply(r, k));
  return first;
}

bool Renamings::isFirstOfDoubleCoset(uint16_t s, unsigned r, uint16_t t) const {
  for (unsigned k = 0; k < size(); ++k)
    if ((s >> k & 1) && firstOfCoset(multiply(k, r), t) < r)
      return false;
  return true;
}

} // namespace mlc::generate
