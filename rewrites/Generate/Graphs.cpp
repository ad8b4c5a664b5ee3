//===- Graphs.cpp - Enumerated graphs and their fingerprints --------------===//

#include "rewrites/Generate/Graphs.h"
#include "llvm/ADT/STLExtras.h"

using llvm::SmallVector;

namespace mlc::generate {

static std::vector<uint32_t> leafClasses(const Catalog &catalog) {
  std::vector<uint32_t> classes;
  for (unsigned l = 0; l < catalog.getLeafSet().leaves.size(); ++l)
    classes.push_back(catalog.typeOfLeaf(l));
  return classes;
}

GraphStore::GraphStore(Catalog &catalog)
    : catalog(catalog), renamings(leafClasses(catalog)),
      kept(catalog.getNumInstantiations()) {
  for (unsigned s = 0; s < renamings.size(); ++s)
    coefficients.push_back(mix(s + 1000) | 1);
  std::vector<uint32_t> classes = leafClasses(catalog);
  for (auto [l, type] : llvm::enumerate(classes)) {
    // One graph represents all leaves of a type.
    if (llvm::is_contained(llvm::ArrayRef(classes).take_front(l), type))
      continue;
    Graph leaf;
    leaf.a = l;
    leaf.type = type;
    leaf.symmetry = 0;
    for (unsigned r = 0; r < renamings.size(); ++r)
      leaf.symmetry |= (renamings.apply(r, l) == l) << r;
    add(leaf);
  }
  keepValues(0, size(), /*inAll=*/true);
}

void GraphStore::collectOperators(Renamed root,
                                  llvm::SmallVectorImpl<Renamed> &out) const {
  const Graph &graph = graphs[root.graph];
  if (graph.application == Graph::none)
    return;
  collectOperators({graph.a, root.renaming}, out);
  if (graph.b != Graph::none)
    collectOperators(rename({graph.b, graph.renaming}, root.renaming), out);
  Renamed own = normalize(root);
  if (!llvm::is_contained(out, own))
    out.push_back(own);
}

unsigned GraphStore::leavesOf(const Graph &graph) const {
  if (graph.application == Graph::none)
    return 1u << graph.a;
  unsigned leaves = leavesOf(graphs[graph.a]);
  if (graph.b == Graph::none)
    return leaves;
  unsigned right = leavesOf(graphs[graph.b]);
  for (unsigned l = 0; right >> l; ++l)
    if (right >> l & 1)
      leaves |= 1u << renamings.apply(graph.renaming, l);
  return leaves;
}

uint64_t GraphStore::hashUnder(const Samples &samples, unsigned r) const {
  uint64_t sum = 0;
  for (unsigned s = 0; s < renamings.size(); ++s)
    sum += coefficients[s] * samples.hashes[renamings.multiply(s, r)];
  return sum;
}

Fingerprint GraphStore::fingerprint(const Samples &samples) const {
  Fingerprint result;
  uint64_t identity = hashUnder(samples, 0);
  result.key = identity;
  for (unsigned r = 1; r < renamings.size(); ++r) {
    uint64_t hash = hashUnder(samples, r);
    if (hash == identity)
      result.symmetry |= 1 << r;
    if (hash < result.key) {
      result.key = hash;
      result.renaming = r;
    }
  }
  return result;
}

void GraphStore::keepValues(uint32_t first, uint32_t last, bool inAll) {
  Sampler sampler(*this);
  for (unsigned i = 0; i < (inAll ? numInstantiations() : 1); ++i) {
    if (kept[i].size() < last)
      kept[i].resize(last);
    for (uint32_t g = first; g < last; ++g) {
      if (!graphs[g].isRepresentative)
        continue;
      size_t count = catalog.type(graphs[g].type).counts[i] * renamings.size();
      const Guided *from = sampler.values(graphs[g], i, 0);
      kept[i][g].assign(from, from + count);
    }
  }
}

//===----------------------------------------------------------------------===//
// Sampler
//===----------------------------------------------------------------------===//

const Guided *Sampler::values(uint32_t graph, unsigned i, unsigned depth) {
  const auto &kept = store.kept[i];
  if (graph < kept.size() && !kept[graph].empty())
    return kept[graph].data();
  return values(store.graphs[graph], i, depth);
}

const Guided *Sampler::values(const Graph &graph, unsigned i, unsigned depth) {
  while (levels.size() <= depth)
    levels.push_back(std::make_unique<Level>());
  Level &level = *levels[depth];
  Catalog &catalog = store.catalog;
  const Renamings &renamings = store.renamings;
  uint32_t count = catalog.type(graph.type).counts[i];
  level.result.resize(count * renamings.size());
  if (graph.application == Graph::none) {
    for (unsigned s = 0; s < renamings.size(); ++s) {
      uint64_t leaf = renamings.apply(s, graph.a);
      std::vector<Guided> sample =
          sampleValues(mix(leaf * 131 + 7) + i, count,
                       signsOf(leaf, i, store.numInstantiations()));
      llvm::copy(sample, level.result.begin() + s * count);
    }
    return level.result.data();
  }
  const Application &application = catalog.application(graph.application);
  // The left operand is usually the same for many consecutive graphs.
  if (level.leftGraph != graph.a || level.leftInstantiation != i) {
    const Graph &left = store.graphs[graph.a];
    size_t size = catalog.type(left.type).counts[i] * renamings.size();
    const Guided *from = values(graph.a, i, depth + 1);
    level.left.assign(from, from + size);
    level.leftGraph = graph.a;
    level.leftInstantiation = i;
  }
  const Guided *right = nullptr;
  uint32_t leftCount = catalog.type(store.graphs[graph.a].type).counts[i];
  uint32_t rightCount = 0;
  if (graph.b != Graph::none) {
    rightCount = catalog.type(store.graphs[graph.b].type).counts[i];
    right = values(graph.b, i, depth + 1);
  }
  SmallVector<const Guided *, 2> operands;
  for (unsigned s = 0; s < renamings.size(); ++s) {
    operands.assign(1, level.left.data() + size_t(s) * leftCount);
    if (right)
      operands.push_back(right + size_t(renamings.multiply(s, graph.renaming)) *
                                     rightCount);
    catalog.run(application, i, operands,
                level.result.data() + size_t(s) * count);
  }
  return level.result.data();
}

Samples Sampler::sample(const Graph &graph, unsigned i) {
  Samples result;
  uint32_t count = store.catalog.type(graph.type).counts[i];
  dividedByZero = false;
  const Guided *at = values(graph, i, 0);
  result.dividesByZero = dividedByZero;
  uint64_t number = at->residue;
  for (unsigned s = 0; s < store.renamings.size(); ++s) {
    uint64_t hash = mix(graph.type + 1);
    bool isDefined = true;
    for (uint32_t k = 0; k < count; ++k, ++at) {
      isDefined &= std::isfinite(at->guide) != 0;
      result.isConstant &= at->residue == number;
      hash = (hash ^ at->residue) * 0x9e3779b97f4a7c15;
      hash ^= hash >> 29;
    }
    result.hashes.push_back(isDefined ? hash | 1 : Samples::undefined);
    result.isDefined &= isDefined;
  }
  return result;
}

} // namespace mlc::generate
