// The frames around the picture that hilo graph draws.
#ifndef HILO_TOOLS_GRAPH_PAGE_H_
#define HILO_TOOLS_GRAPH_PAGE_H_

#include <string>

#include "absl/strings/string_view.h"

namespace hilo::tools {

std::string EscapeXml(absl::string_view text);
std::string SvgDocument(double width, double height, const std::string& body);
// A page with the picture, which can be moved, enlarged and searched; it needs nothing else.
std::string HtmlPage(const std::string& title, const std::string& svg);

}  // namespace hilo::tools

#endif  // HILO_TOOLS_GRAPH_PAGE_H_
