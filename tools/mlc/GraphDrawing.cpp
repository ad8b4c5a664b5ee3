//===- GraphDrawing.cpp - Parts of graphs as SVG --------------------------===//

#include "tools/mlc/GraphDrawing.h"
#include "runtime/Text.h"
#include "simulator/timeline/Xml.h"
#include "tools/mlc/GraphLayout.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlc::cli;
using llvm::ArrayRef;
using llvm::formatv;
using llvm::StringRef;
using mlc::simulator::escapeXml;

namespace {

// Monospaced letters, so that widths are known without the font.
constexpr double letter = 6.7, line = 14, padding = 7, margin = 16;
constexpr double headingHeight = 24, captionHeight = 34;
constexpr size_t longestLine = 40;

constexpr const char *style =
    "text{font-family:ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;"
    "font-size:11px;fill:#1f2328}"
    ".op{font-weight:bold}.dim{fill:#59636e}"
    ".heading{font-size:13px;font-weight:bold}.caption{font-size:13px}"
    ".edge{fill:none;stroke:#818b98;stroke-width:1.2}"
    ".same{fill:#f6f8fa;stroke:#d1d9e0}"
    ".gone{fill:#ffebe9;stroke:#cf222e;stroke-width:1.6}"
    ".made{fill:#dafbe1;stroke:#1a7f37;stroke-width:1.6}";

size_t lettersOf(StringRef text) {
  return llvm::count_if(text, [](char c) { return (c & 0xC0) != 0x80; });
}

/// The first `longestLine` letters, all complete.
std::string shortened(StringRef text) {
  if (lettersOf(text) <= longestLine)
    return text.str();
  size_t letters = 0, bytes = 0;
  while (bytes < text.size()) {
    if ((text[bytes] & 0xC0) != 0x80 && ++letters == longestLine)
      break;
    ++bytes;
  }
  return text.take_front(bytes).str() + "…";
}

std::vector<std::string> linesOf(const DrawnNode &node) {
  std::vector<std::string> lines{shortened(node.op)};
  for (const std::string &text : {node.name, node.dims})
    if (!text.empty())
      lines.push_back(shortened(text));
  return lines;
}

LayoutNode boxOf(const DrawnNode &node) {
  std::vector<std::string> lines = linesOf(node);
  size_t letters = 0;
  for (const std::string &text : lines)
    letters = std::max(letters, lettersOf(text));
  return {double(letters) * letter + 2 * padding,
          double(lines.size()) * line + padding, node.inputs};
}

std::string drawEdge(const LayoutEdge &edge) {
  std::string path;
  Point last = edge.points.front();
  path = formatv("M{0:f1},{1:f1}", last.x, last.y).str();
  for (const Point &next : ArrayRef(edge.points).drop_front()) {
    double middle = (last.y + next.y) / 2;
    path += formatv("C{0:f1},{1:f1} {2:f1},{1:f1} {2:f1},{3:f1}", last.x,
                    middle, next.x, next.y)
                .str();
    last = next;
  }
  return "<path class='edge' marker-end='url(#arrow)' d='" + path + "'/>\n";
}

std::string drawNode(const DrawnNode &node, const LayoutNode &box, Point center,
                     const char *rewritten) {
  double left = center.x - box.width / 2, top = center.y - box.height / 2;
  std::string text =
      formatv("<g><title>{0}</title><rect class='{1}' x='{2:f1}' y='{3:f1}' "
              "width='{4:f1}' height='{5:f1}' rx='5'/>",
              escapeXml((node.name.empty() ? "" : node.name + ": ") + node.op +
                        " " + node.dims),
              node.mark == DrawnNode::Mark::Same ? "same" : rewritten, left,
              top, box.width, box.height);
  static constexpr const char *classes[] = {"op", "name", "dim"};
  size_t isNamed = !node.name.empty();
  for (auto [i, words] : llvm::enumerate(linesOf(node)))
    text += formatv("<text class='{0}' x='{1:f1}' y='{2:f1}' "
                    "text-anchor='middle'>{3}</text>",
                    classes[i == 0 ? 0 : i + !isNamed], center.x,
                    top + line * double(i + 1), escapeXml(words))
                .str();
  return text + "</g>\n";
}

Picture drawSide(ArrayRef<DrawnNode> nodes, StringRef heading,
                 const char *rewritten) {
  std::vector<LayoutNode> boxes;
  for (const DrawnNode &node : nodes)
    boxes.push_back(boxOf(node));
  Layout layout = layOut(boxes);
  Picture picture;
  picture.width = std::max(layout.width, double(heading.size()) * 8);
  picture.height = layout.height + headingHeight;
  picture.body = formatv("<text class='heading' x='0' y='12'>{0}</text>\n"
                         "<g transform='translate(0,{1:f1})'>\n",
                         escapeXml(heading), headingHeight);
  for (const LayoutEdge &edge : layout.edges)
    picture.body += drawEdge(edge);
  for (auto [i, node] : llvm::enumerate(nodes))
    picture.body += drawNode(node, boxes[i], layout.centers[i], rewritten);
  picture.body += "</g>\n";
  return picture;
}

} // namespace

Picture mlc::cli::draw(const DrawnPart &part) {
  Picture before = drawSide(part.before, "before", "gone");
  Picture after = drawSide(part.after, "after", "made");
  Picture picture;
  double right = before.width + 4 * margin;
  picture.width = right + after.width;
  picture.height = std::max(before.height, after.height);
  picture.body = before.body;
  picture.body += formatv("<g transform='translate({0:f1},0)'>\n{1}</g>\n",
                          right, after.body);
  return picture;
}

void mlc::cli::writeSvg(llvm::raw_ostream &os, ArrayRef<Picture> pictures,
                        ArrayRef<std::string> captions) {
  double width = 0, height = margin;
  for (auto [picture, caption] : llvm::zip_equal(pictures, captions)) {
    width = std::max({width, picture.width, double(lettersOf(caption)) * 8});
    height += picture.height + captionHeight + margin;
  }
  os << formatv("<svg xmlns='http://www.w3.org/2000/svg' width='{0:f0}' "
                "height='{1:f0}' viewBox='0 0 {0:f0} {1:f0}'>\n",
                width + 2 * margin, height)
     << "<style>" << style
     << "</style>\n<defs><marker id='arrow' viewBox='0 0 8 8' refX='8' "
        "refY='4' markerWidth='7' markerHeight='7' orient='auto'><path "
        "d='M0,0L8,4L0,8z' fill='#818b98'/></marker></defs>\n"
        "<rect width='100%' height='100%' fill='#ffffff'/>\n";
  double top = margin;
  for (auto [picture, caption] : llvm::zip_equal(pictures, captions)) {
    os << formatv("<g transform='translate({0:f1},{1:f1})'>\n"
                  "<text class='caption' x='0' y='14'>{2}</text>\n"
                  "<g transform='translate(0,{3:f1})'>\n{4}</g></g>\n",
                  margin, top, escapeXml(caption), captionHeight, picture.body);
    top += picture.height + captionHeight + margin;
  }
  os << "</svg>\n";
}
