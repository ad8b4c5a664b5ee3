//===- Xml.h - Text in XML and HTML -----------------------------*- C++ -*-===//

#ifndef MLC_SIMULATOR_TIMELINE_XML_H
#define MLC_SIMULATOR_TIMELINE_XML_H

#include <string>
#include <string_view>

namespace mlc::simulator {

/// `text`, which may have any bytes, for text and attributes of XML and HTML.
/// Lines stay apart.
std::string escapeXml(std::string_view text);

} // namespace mlc::simulator

#endif // MLC_SIMULATOR_TIMELINE_XML_H
