//===- GraphDrawing.h - Parts of graphs as SVG ------------------*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_GRAPHDRAWING_H
#define MLC_TOOLS_MLC_GRAPHDRAWING_H

#include "tools/mlc/DrawnPart.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/raw_ostream.h"

namespace mlc::cli {

/// A picture in SVG without its outermost element, so that several fit into
/// one file.
struct Picture {
  std::string body;
  double width = 0, height = 0;
};

/// Both sides of `part` beside one another.
Picture draw(const DrawnPart &part);

/// Pictures below one another as one file or element, each under its caption.
void writeSvg(llvm::raw_ostream &os, llvm::ArrayRef<Picture> pictures,
              llvm::ArrayRef<std::string> captions);

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_GRAPHDRAWING_H
