//===- Enumerate.cpp - All graphs up to a size, and equal pairs -----------===//

#include "rewrites/Generate/Enumerate.h"
#include "rewrites/Support/Parallel.h"
#include "llvm/Support/FormatVariadic.h"
#include <chrono>

namespace mlc::generate {

/// Left operands of one batch: large enough to keep threads busy, small enough
/// for its records to stay in memory.
static constexpr uint32_t batchGraphs = 4096;
static constexpr uint32_t chunkGraphs = 64;
/// Maximum number of classes of one key that a graph is compared with.
static constexpr unsigned maxClasses = 8;
static constexpr size_t maxConditional = 20000;
/// Representatives whose samples are kept between batches.
static constexpr size_t maxCached = 200000;

static uint64_t pairKey(uint32_t a, uint32_t b) {
  return uint64_t(a) << 32 | b;
}

Enumerator::Enumerator(GraphStore &store, const EnumerateOptions &options)
    : store(store), options(options) {
  for (unsigned t = 0; t < options.jobs; ++t)
    samplers.push_back(std::make_unique<Sampler>(store));
  // Each leaf is its own class.
  firstOfSize = {0, store.size()};
  for (uint32_t g = 0; g < store.size(); ++g) {
    registerGraph(g, makeRecord(store[g], false, *samplers[0]));
    operators.emplace_back();
  }
}

//===----------------------------------------------------------------------===//
// Records
//===----------------------------------------------------------------------===//

Enumerator::Record Enumerator::makeRecord(const Graph &graph, bool isLast,
                                          Sampler &sampler) const {
  Record record;
  record.graph = graph;
  for (KeyKind kind : {Signed, Positive}) {
    // At the last size, only graphs without the first key need the second.
    if (kind == Positive && isLast && record.has[Signed])
      break;
    Samples samples = sampler.sample(graph, instantiationOf(kind));
    if (samples.dividesByZero)
      return {};
    record.has[kind] = samples.isDefined;
    if (!samples.isDefined)
      continue;
    record.print[kind] = store.fingerprint(samples);
    // A graph with one value in two instantiations counts as a constant, even
    // if the value is a size.
    if (samples.isConstant && sampler.sample(graph, 1).isConstant) {
      record.isConstant = true;
      return record;
    }
  }
  if (record.has[Signed])
    record.graph.symmetry = record.print[Signed].symmetry;
  else if (record.has[Positive])
    record.graph.symmetry = record.print[Positive].symmetry;
  record.equalToItself = findSymmetries(record.graph, sampler);
  return record;
}

/// Whether two renamed graphs agree wherever both are defined; nullopt if they
/// are never both defined.
static std::optional<bool> sameSamples(const Renamings &renamings,
                                       const Samples &a, unsigned ra,
                                       const Samples &b, unsigned rb) {
  std::optional<bool> result;
  for (unsigned s = 0; s < renamings.size(); ++s) {
    uint64_t x = a.hashes[renamings.multiply(s, ra)],
             y = b.hashes[renamings.multiply(s, rb)];
    if (x != Samples::undefined && y != Samples::undefined)
      result = result.value_or(true) && x == y;
  }
  return result;
}

uint16_t Enumerator::findSymmetries(const Graph &graph,
                                    Sampler &sampler) const {
  const Renamings &renamings = store.getRenamings();
  unsigned leaves = store.leavesOf(graph);
  uint16_t candidates = 0;
  for (unsigned r = 1; r < renamings.size(); ++r) {
    bool movesOwn = false;
    for (unsigned l = 0; leaves >> l; ++l)
      movesOwn |= (leaves >> l & 1) && renamings.apply(r, l) != l;
    candidates |= (movesOwn && (graph.symmetry >> r & 1)) << r;
  }
  for (unsigned i = 0; candidates && i < store.numInstantiations(); ++i) {
    Samples samples = sampler.sample(graph, i);
    for (unsigned r = 1; r < renamings.size(); ++r)
      if (!sameSamples(renamings, samples, r, samples, 0).value_or(true))
        candidates &= ~(1 << r);
  }
  return candidates;
}

void Enumerator::registerGraph(uint32_t id, const Record &record) {
  for (KeyKind kind : {Signed, Positive}) {
    keyRenaming[kind].resize(id + 1);
    if (!record.has[kind])
      continue;
    keyRenaming[kind][id] = record.print[kind].renaming;
    auto [it, isNew] =
        firstWithKey[kind].try_emplace(record.print[kind].key, id);
    if (isNew)
      continue;
    // Later classes of a key are never compared with.
    uint32_t last = it->second;
    unsigned length = 1;
    for (auto next = nextWithKey[kind].find(last);
         next != nextWithKey[kind].end(); next = nextWithKey[kind].find(last)) {
      last = next->second;
      ++length;
    }
    if (length < maxClasses)
      nextWithKey[kind][last] = id;
  }
}

//===----------------------------------------------------------------------===//
// Applications
//===----------------------------------------------------------------------===//

const std::vector<uint32_t> &Enumerator::applicationsOf(uint32_t a,
                                                        uint32_t b) const {
  static const std::vector<uint32_t> none;
  auto it = binaryApplications.find(pairKey(a, b));
  return it == binaryApplications.end() ? none : it->second;
}

/// Requests the applications of every pair of types that can meet at this size,
/// on one thread, so that their numbers are the same in every run.
void Enumerator::prepareApplications(unsigned size) {
  Catalog &catalog = store.getCatalog();
  std::vector<std::set<uint32_t>> typesOfSize(size);
  std::set<std::pair<uint32_t, uint32_t>> wanted;
  for (uint32_t g = 0; g < firstOfSize[size]; ++g) {
    const Graph &graph = store[g];
    if (!graph.isRepresentative)
      continue;
    typesOfSize[graph.numOperators].insert(graph.type);
    for (Renamed part : operators[g]) {
      wanted.insert({graph.type, store[part.graph].type});
      wanted.insert({store[part.graph].type, graph.type});
    }
  }
  for (unsigned i = 0; i < size; ++i)
    for (unsigned j = 0; i + j < size || (i == 2 && j == 2 && size == 4); ++j) {
      if (i >= size || j >= size)
        break;
      for (uint32_t a : typesOfSize[i])
        for (uint32_t b : typesOfSize[j])
          wanted.insert({a, b});
    }
  for (auto [a, b] : wanted) {
    auto [it, isNew] = binaryApplications.try_emplace(pairKey(a, b));
    if (!isNew)
      continue;
    for (uint32_t variant : catalog.binaryVariants())
      if (std::optional<uint32_t> made = catalog.apply(variant, {a, b}))
        binaryApplications[pairKey(a, b)].push_back(*made);
  }
  // New types may come from these; they are results, not operands yet.
  for (const std::set<uint32_t> &types : typesOfSize)
    for (uint32_t type : types) {
      if (unaryApplications.size() <= type)
        unaryApplications.resize(type + 1);
      if (!unaryApplications[type].empty())
        continue;
      for (uint32_t variant : catalog.unaryVariants())
        if (std::optional<uint32_t> made = catalog.apply(variant, {type}))
          unaryApplications[type].push_back(*made);
    }
}

//===----------------------------------------------------------------------===//
// Graphs of one size
//===----------------------------------------------------------------------===//

/// Operators of graph `a` and of renamed graph `b` together.
unsigned Enumerator::unionSize(uint32_t a, Renamed b) const {
  unsigned shared = 0;
  for (Renamed part : operators[b.graph]) {
    Renamed own = store.normalize(store.rename(part, b.renaming));
    shared += llvm::is_contained(operators[a], own);
  }
  return operators[a].size() + operators[b.graph].size() - shared;
}

/// All graphs of `size` operators whose larger operand is `large`.
void Enumerator::generate(unsigned size, uint32_t large, Sampler &sampler,
                          std::vector<Record> &out, SizeCounts &count) const {
  const Graph graph = store[large];
  const Renamings &renamings = store.getRenamings();
  const Catalog &catalog = store.getCatalog();
  bool isLast = size == options.maxOperators;
  auto emit = [&](uint32_t application, uint32_t a, Renamed b) {
    Graph made;
    made.application = application;
    made.a = a;
    made.b = b.graph;
    made.renaming = b.renaming;
    made.type = catalog.application(application).type;
    made.numOperators = size;
    Record record = makeRecord(made, isLast, sampler);
    ++count.graphs;
    count.constant += record.isConstant;
    if (record.isConstant)
      return;
    if (!record.has[Signed] && !record.has[Positive])
      ++count.undefined;
    else
      out.push_back(record);
  };
  // op(a, b renamed); commutative operators have the larger operand first.
  auto pair = [&](uint32_t a, Renamed b, bool isSwapped) {
    for (uint32_t application :
         applicationsOf(store[a].type, store[b.graph].type)) {
      const Variant &variant =
          allVariants()[catalog.application(application).variant];
      if (!variant.isCommutative || !isSwapped)
        emit(application, a, b);
    }
  };
  auto bothOrders = [&](uint32_t other) {
    for (unsigned r = 0; r < renamings.size(); ++r) {
      if (renamings.isFirstOfDoubleCoset(graph.symmetry, r,
                                         store[other].symmetry) &&
          unionSize(large, {other, r}) + 1 == size) {
        bool isLater =
            store[other].numOperators == graph.numOperators && other > large;
        pair(large, {other, r}, isLater);
      }
      // Between graphs of one size, the other order comes from the other graph.
      if (store[other].numOperators < graph.numOperators &&
          renamings.isFirstOfDoubleCoset(store[other].symmetry, r,
                                         graph.symmetry) &&
          unionSize(other, {large, r}) + 1 == size)
        pair(other, {large, r}, true);
    }
  };
  unsigned own = graph.numOperators, rest = size - 1 - own;
  if (rest == 0) {
    for (uint32_t application : unaryApplications[graph.type])
      emit(application, large, {Graph::none, 0});
    for (Renamed part : operators[large]) {
      pair(large, part, false);
      if (part.graph != large)
        pair(part.graph,
             store.normalize({large, renamings.inverse(part.renaming)}), true);
    }
  }
  if (rest <= own)
    for (uint32_t other = firstOfSize[rest]; other < firstOfSize[rest + 1];
         ++other)
      if (store[other].isRepresentative)
        bothOrders(other);
  // Two graphs of two operators that share one.
  if (size == 4 && own == 2)
    for (Renamed part : operators[large])
      if (auto it = parents.find(part.graph); it != parents.end())
        for (uint32_t other : it->second)
          bothOrders(other);
}

void Enumerator::runNextSize() {
  auto start = std::chrono::steady_clock::now();
  unsigned size = firstOfSize.size() - 1;
  SizeCounts &count = counts.emplace_back();
  count.numOperators = size;
  pairs.clear();
  prepareApplications(size);
  // Larger operands have at least half of the other operators.
  uint32_t begin = firstOfSize[size / 2], end = firstOfSize[size];
  count.operands = end - begin;
  const uint64_t most = size == options.maxOperators && options.maxMade
                            ? options.maxMade
                            : UINT64_MAX;
  for (uint32_t first = begin; first < end && count.graphs < most;
       first += batchGraphs) {
    uint32_t last = std::min(end, first + batchGraphs);
    runBatch(size, first, last);
    count.extended = last - begin;
    options.progress(llvm::formatv(
        "{0}: {1} operators, {2} of {3} operands, {4} graphs, {5} pairs",
        store.getCatalog().getLeafSet().name, size, count.extended,
        count.operands, count.graphs, count.pairs));
  }
  firstOfSize.push_back(store.size());
  if (size < options.maxOperators)
    prepareExtension(size);
  count.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
}

/// Prepares the data of graphs of `size` operators that serve as operands.
void Enumerator::prepareExtension(unsigned size) {
  for (uint32_t g = operators.size(); g < store.size(); ++g) {
    operators.emplace_back();
    if (!store[g].isRepresentative)
      continue;
    store.collectOperators({g, 0}, operators.back());
    if (size == 2)
      for (Renamed part : operators.back())
        if (part.graph != g)
          parents[part.graph].push_back(g);
  }
  if (size <= 2)
    store.keepValues(firstOfSize[size], firstOfSize[size + 1], size == 1);
}

void Enumerator::run() {
  std::vector<EqualPair> all;
  while (counts.size() < options.maxOperators) {
    runNextSize();
    llvm::append_range(all, pairs);
  }
  pairs = std::move(all);
}

//===----------------------------------------------------------------------===//
// Batches
//===----------------------------------------------------------------------===//

std::vector<Enumerator::Record>
Enumerator::generateBatch(unsigned size, uint32_t first, uint32_t last) {
  SizeCounts &total = counts.back();
  size_t numChunks = llvm::divideCeil(last - first, chunkGraphs);
  std::vector<std::vector<Record>> chunks(numChunks);
  std::vector<SizeCounts> chunkCounts(numChunks);
  forEach(numChunks, options.jobs, [&](size_t c, unsigned thread) {
    uint32_t from = first + c * chunkGraphs;
    for (uint32_t g = from; g < std::min(last, from + chunkGraphs); ++g)
      if (store[g].isRepresentative)
        generate(size, g, *samplers[thread], chunks[c], chunkCounts[c]);
  });
  std::vector<Record> records;
  for (size_t c = 0; c < numChunks; ++c) {
    llvm::append_range(records, chunks[c]);
    total.graphs += chunkCounts[c].graphs;
    total.constant += chunkCounts[c].constant;
    total.undefined += chunkCounts[c].undefined;
    chunks[c] = {};
  }
  return records;
}

/// Adds a representative and its self-pairs; returns its number, or none if no
/// more are kept.
uint32_t Enumerator::keep(const Record &record) {
  SizeCounts &total = counts.back();
  bool isLast = record.graph.numOperators == options.maxOperators;
  if (isLast && store.size() >= options.maxGraphs) {
    ++total.notKept;
    return Graph::none;
  }
  uint32_t id = store.add(record.graph);
  registerGraph(id, record);
  ++total.representatives;
  for (unsigned r = 1; record.equalToItself >> r; ++r)
    if (record.equalToItself >> r & 1) {
      ++total.pairs;
      pairs.push_back({{id, r}, {id, 0}, 1, 1});
    }
  return id;
}

/// Records the pair of a hit, or a class that turned out to be new.
void Enumerator::settle(Hit &hit, const Record &record) {
  SizeCounts &total = counts.back();
  bool isPair = hit.isEqual;
  if (hit.isEqual) {
    ++total.pairs;
  } else if (hit.pair.compared != 0) {
    isPair = ++total.conditional <= maxConditional;
    total.conditionalNotKept += !isPair;
  }
  uint32_t id = Graph::none;
  if (!hit.isEqual) {
    id = keep(record);
  } else {
    // One side of a pair: no key, never extended.
    Graph side = record.graph;
    side.isRepresentative = false;
    id = store.add(side);
    for (KeyKind kind : {Signed, Positive})
      keyRenaming[kind].resize(id + 1);
  }
  if (!isPair || id == Graph::none)
    return;
  hit.pair.graph.graph = id;
  pairs.push_back(hit.pair);
}

void Enumerator::runBatch(unsigned size, uint32_t first, uint32_t last) {
  if (sampleCache.size() > maxCached)
    sampleCache.clear();
  std::vector<Record> records = generateBatch(size, first, last);
  // Graphs without the signed key are compared by the positive one.
  std::vector<Hit> hits;
  for (auto [i, record] : llvm::enumerate(records)) {
    KeyKind kind = record.has[Signed] ? Signed : Positive;
    auto it = firstWithKey[kind].find(record.print[kind].key);
    if (it == firstWithKey[kind].end())
      keep(record);
    else
      hits.push_back({static_cast<uint32_t>(i), kind, it->second});
  }
  forEach(hits.size(), options.jobs, [&](size_t h, unsigned thread) {
    compare(hits[h], records[hits[h].record], *samplers[thread]);
  });
  for (Hit &hit : hits) {
    // Classes that this batch added may be equal.
    if (!hit.isEqual)
      compare(hit, records[hit.record], *samplers[0]);
    settle(hit, records[hit.record]);
  }
}

std::vector<Samples> Enumerator::allSamples(const Graph &graph,
                                            Sampler &sampler) const {
  std::vector<Samples> result;
  for (unsigned i = 0; i < store.numInstantiations(); ++i)
    result.push_back(sampler.sample(graph, i));
  return result;
}

const std::vector<Samples> &Enumerator::samplesOf(uint32_t id,
                                                  Sampler &sampler) {
  {
    std::lock_guard<std::mutex> lock(cacheMutex);
    if (auto it = sampleCache.find(id); it != sampleCache.end())
      return *it->second;
  }
  auto made =
      std::make_unique<std::vector<Samples>>(allSamples(store[id], sampler));
  std::lock_guard<std::mutex> lock(cacheMutex);
  auto [it, isNew] = sampleCache.try_emplace(id, std::move(made));
  return *it->second;
}

void Enumerator::compare(Hit &hit, const Record &record, Sampler &sampler) {
  if (hit.last != Graph::none) {
    auto next = nextWithKey[hit.kind].find(hit.last);
    hit.next = next == nextWithKey[hit.kind].end() ? Graph::none : next->second;
  }
  if (hit.next == Graph::none || hit.numCompared == maxClasses)
    return;
  std::vector<Samples> own = allSamples(record.graph, sampler);
  unsigned renaming = record.print[hit.kind].renaming;
  for (; hit.numCompared < maxClasses; ++hit.numCompared) {
    uint32_t other = hit.last = hit.next;
    unsigned otherRenaming = keyRenaming[hit.kind][other];
    const std::vector<Samples> &theirs = samplesOf(other, sampler);
    EqualPair pair{{0, renaming}, {other, otherRenaming}};
    for (unsigned i = 0; i < own.size(); ++i) {
      std::optional<bool> agree = sameSamples(
          store.getRenamings(), own[i], renaming, theirs[i], otherRenaming);
      pair.compared += agree.has_value();
      pair.agree += agree.value_or(false);
    }
    bool sameType = record.graph.type == store[other].type;
    if (sameType && pair.compared > 0 && !pair.isConditional()) {
      hit.pair = pair;
      hit.isEqual = true;
      return;
    }
    if (sameType && hit.pair.compared == 0 && pair.agree >= minAgreements)
      hit.pair = pair;
    auto next = nextWithKey[hit.kind].find(other);
    if (next == nextWithKey[hit.kind].end())
      return;
    hit.next = next->second;
  }
}

} // namespace mlc::generate
