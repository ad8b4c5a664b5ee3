
//===----------------------------------------------------------------------===//
// The results of a warp
//===----------------------------------------------------------------------===//
//
// A fragment spreads a row over four lanes, two columns each. So a warp leaves
// 16 rows at a time in shared memory, and each lane finishes neighbouring
// columns. For that, Problem has
//
//   width                              columns that are finished together
//   ofColumn(batch, n)                 what the epilogue reads for columns n,
//                                      n + 1, ... in every row (OfColumn)
//   ofRow(batch, m, n)                 what else it reads for them (OfRow)
//   prefetchRow(batch, m, n)           asks for lines of 128 bytes of that, of
//                                      `columnsOfLine` columns (0: of nothing)
//   finish(column, row, batch, m, n, sums)   their epilogue
//
// `width` divides the number of columns, so all or none of a run exist.

/// Stores neighbours in global memory.
template <int N, typename T>
MLC_DEVICE void storeResults(T *to, const Vector<T, N> &values) {
  constexpr int wide = Vector<T, N>::wide;
  if constexpr (sizeof(T) <= 4 && wide * sizeof(T) == 16) {
    constexpr int perWord = 4 / sizeof(T);
#pragma unroll
    for (int i = 0; i < N; i += wide) {
      uint32_t words[4] = {};
#pragma unroll
      for (int e = 0; e < wide; ++e)
        words[e / perWord] |= bitsOf(values.at[i + e])
                              << (e % perWord * 8 * sizeof(T));
      storeWords(to + i, words);
    }
  } else {
    storeVector(to, values);
  }
}

/// The results of a warp: FM x FN fragments of 16 x 8 sums. A lane has
/// `togetherM` neighbouring rows and `togetherN` neighbouring columns
/// (Fragments::together).
template <typename Problem, typename Sum, int FM, int FN, int togetherM,
          int togetherN>
struct Results {
  static constexpr int columns = FN * 8, width = Problem::width;
  /// Rows in shared memory begin as many banks apart as keep the lanes' writes
  /// in different banks.
  static constexpr int stride = columns + (togetherN == 1 ? 8 : 4);
  /// Lanes read runs of two vectors 32 columns apart at the same time. Vectors
  /// of a pair are exchanged in every second 32 columns, so that these are in
  /// different banks.
  MLC_DEVICE static int place(int row, int column) {
    return row * stride + (column ^ (column >> 3 & 4));
  }
  static constexpr int words = 16 * stride;
  static_assert(columns % 32 == 0, "a warp has a whole number of runs");
  static constexpr int perRow = columns / width, passes = 16 * perRow / 32;
  /// Runs of a lane have as many different columns.
  static constexpr int places = perRow > 32 ? perRow / 32 : 1;

  const Problem &problem;
  Index batch, firstM, firstN;

  MLC_DEVICE static int row(int pass) {
    return (threadIdx.x % 32 + pass * 32) / perRow;
  }
  MLC_DEVICE static int column(int pass) {
    return (threadIdx.x % 32 + pass * 32) % perRow * width;
  }

  /// Finishes all of them. `rows`: the warp's shared memory, of `words` sums.
  MLC_DEVICE void finish(const Sum (&sums)[FM][FN][4], Sum *rows) const {
    auto leaveRow = [&](int i, Sum *to) { leave(sums[i], to); };
    if (firstM + FM * 16 <= problem.rows() &&
        firstN + columns <= problem.columns())
      finishAll<true>(leaveRow, rows);
    else
      finishAll<false>(leaveRow, rows);
  }

  /// Leaves a row of fragments in shared memory.
  MLC_DEVICE static void leave(const Sum (&sums)[FN][4], Sum *rows) {
    // Neighbouring columns of a lane are of one fragment, or of several.
    constexpr int wide = togetherN == 1 ? 2 : togetherN;
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < FN * 4 / wide; ++i) {
      const int j = togetherN == 1 ? i / 2 : i / 4 * wide;
      const int half = togetherN == 1 ? i % 2 : i / 2 % 2;
      const int column =
          togetherN == 1 ? lane % 4 * 2 : (lane % 4 * 2 + i % 2) * wide;
      Vector<Sum, wide> run;
#pragma unroll
      for (int e = 0; e < wide; ++e)
        run.at[e] = togetherN == 1 ? sums[j][half * 2 + e] : sums[j + e][i % 4];
      storeVector(rows + place(lane / 4 + half * 8, j * 8 + column), run);
    }
  }

  /// What the epilogue of 16 rows reads.
  struct Operands {
    typename Problem::OfColumn ofColumn[places];
    typename Problem::OfRow ofRow[passes];
  };
  template <bool isWhole> MLC_DEVICE void read(Operands &operands) const {
    readColumns<isWhole>(operands.ofColumn);
#pragma unroll
    for (int pass = 0; pass < passes; ++pass)
      readRow<isWhole>(operands.ofRow[pass], 0, pass);
  }
  /// Finishes 16 rows that are in shared memory.
  template <bool isWhole>
  MLC_DEVICE void finishRead(const Operands &operands, const Sum *rows) const {
#pragma unroll
    for (int pass = 0; pass < passes; ++pass)
      finishRun<isWhole>(operands.ofColumn[pass % places], operands.ofRow[pass],
                         0, pass, rows);
  }

private:
  template <bool isWhole>
  MLC_DEVICE void
  readColumns(typename Problem::OfColumn (&ofColumn)[places]) const {
#pragma unroll
    for (int i = 0; i < places; ++i)
      if (isWhole || firstN + column(i) < problem.columns())
        ofColumn[i] = problem.ofColumn(batch, firstN + column(i));
  }

  MLC_DEVICE Index rowOf(int number, int pass) const {
    return firstM + rowOfFragment<togetherM>(number, row(pass));
  }

  template <bool isWhole>
  MLC_DEVICE void readRow(typename Problem::OfRow &ofRow, int number,
                          int pass) const {
    const Index m = rowOf(number, pass), n = firstN + column(pass);
    if (isWhole || (m < problem.rows() && n < problem.columns()))
      ofRow = problem.ofRow(batch, m, n);
  }

  /// Finishes the run of a lane.
  template <bool isWhole>
  MLC_DEVICE void finishRun(const typename Problem::OfColumn &ofColumn,
                            const typename Problem::OfRow &ofRow, int number,
                            int pass, const Sum *rows) const {
    const Index m = rowOf(number, pass), n = firstN + column(pass);
    constexpr int wide = width < 4 ? width : 4;
    Sum sums[width];
#pragma unroll
    for (int e = 0; e < width; e += wide) {
      const Vector<Sum, wide> part =
          loadVector<wide>(rows + place(row(pass), column(pass) + e));
#pragma unroll
      for (int j = 0; j < wide; ++j)
        sums[e + j] = part.at[j];
    }
    if (isWhole || (m < problem.rows() && n < problem.columns()))
      problem.finish(ofColumn, ofRow, batch, m, n, sums);
  }

  template <bool isWhole, typename LeaveRow>
  MLC_DEVICE void finishAll(LeaveRow leaveRow, Sum *rows) const {
    typename Problem::OfColumn ofColumn[places];
    readColumns<isWhole>(ofColumn);
#pragma unroll
    for (int i = 0; i < FM; ++i) {
      // The rows before have been read.
      syncWarp();
      leaveRow(i, rows);
      syncWarp();
      finishRows<isWhole>(ofColumn, i, rows);
    }
  }

  /// Finishes the rows of fragments `number`.
  template <bool isWhole>
  MLC_DEVICE void
  finishRows(const typename Problem::OfColumn (&ofColumn)[places], int number,
             const Sum *rows) const {
    // Whole tiles read the operands of several runs at a time.
    constexpr int together = isWhole && passes % 4 == 0 ? 4 : places;
#pragma unroll isWhole ? passes / together : 1
    for (int pass = 0; pass < passes; pass += together) {
      typename Problem::OfRow ofRow[together];
#pragma unroll
      for (int i = 0; i < together; ++i)
        readRow<isWhole>(ofRow[i], number, pass + i);
#pragma unroll
      for (int i = 0; i < together; ++i)
        finishRun<isWhole>(ofColumn[i % places], ofRow[i], number, pass + i,
                           rows);
    }
  }
};
