#include "tools/graph_page.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"

namespace hilo::tools {
namespace {

constexpr char kStyle[] = R"(
text { font: 11px monospace; fill: #222 }
.title { font: bold 16px sans-serif }
.edge { fill: none; stroke: #889; stroke-width: 1 }
.found rect { stroke: #0050d0; stroke-width: 4 }
.chosen rect { stroke: #0050d0; stroke-width: 3 }
)";

constexpr char kPageStyle[] = R"(
html, body { margin: 0; height: 100%; overflow: hidden; font: 13px sans-serif }
#bar { position: absolute; top: 0; left: 0; right: 0; padding: 6px 10px; background: #fffd; border-bottom: 1px solid #ccd }
#bar input { width: 22em }
#picture { position: absolute; top: 34px; left: 0; right: 0; bottom: 0; cursor: grab }
#picture svg { width: 100%; height: 100% }
.node { cursor: pointer }
#details { position: absolute; right: 0; bottom: 0; max-width: 60%; max-height: 45%; overflow: auto; margin: 0; padding: 8px;
           background: #fffe; border: 1px solid #ccd; white-space: pre-wrap; font: 11px monospace; display: none }
)";

constexpr char kScript[] = R"(
const svg = document.querySelector('#picture svg'), query = document.querySelector('#query'), count = document.querySelector('#count');
const details = document.querySelector('#details'), nodes = [...svg.querySelectorAll('.node')];
const texts = nodes.map(node => { const title = node.querySelector('title'), text = title.textContent; title.remove(); return text; });
let [x, y, w, h] = svg.getAttribute('viewBox').split(' ').map(Number);
svg.removeAttribute('width'); svg.removeAttribute('height');
const show = () => svg.setAttribute('viewBox', [x, y, w, h].join(' '));
const scale = () => Math.max(w / svg.clientWidth, h / svg.clientHeight);
const whole = { w, h };
if (scale() > 2.2) { // too small to read: begin at the first box
  const s = scale(), start = 1.4, box = nodes[0].getBoundingClientRect(), frame = svg.getBoundingClientRect();
  const px = x + w / 2 + (box.left + box.width / 2 - frame.left - frame.width / 2) * s;
  const py = y + h / 2 + (box.top - frame.top - frame.height / 2) * s;
  w = svg.clientWidth * start; h = svg.clientHeight * start; x = px - w / 2; y = py - 60; show();
}
svg.addEventListener('wheel', event => {
  event.preventDefault();
  const factor = Math.exp(event.deltaY * 0.0015), box = svg.getBoundingClientRect(), s = scale();
  const px = x + w / 2 + (event.clientX - box.left - box.width / 2) * s, py = y + h / 2 + (event.clientY - box.top - box.height / 2) * s;
  if (w * factor > 20 * whole.w || w * factor < 20) return;
  x = px - (px - x) * factor; y = py - (py - y) * factor; w *= factor; h *= factor; show();
}, { passive: false });
let drag = null;
svg.addEventListener('pointerdown', event => { drag = { px: event.clientX, py: event.clientY, x, y, moved: false }; });
window.addEventListener('pointermove', event => {
  if (!drag) return;
  drag.moved ||= Math.abs(event.clientX - drag.px) + Math.abs(event.clientY - drag.py) > 4;
  x = drag.x - (event.clientX - drag.px) * scale(); y = drag.y - (event.clientY - drag.py) * scale(); show();
});
let moved = false;
window.addEventListener('pointerup', () => { moved = !!drag && drag.moved; drag = null; });
const choose = i => {
  nodes.forEach((node, j) => node.classList.toggle('chosen', i === j));
  details.style.display = i < 0 ? 'none' : 'block';
  if (i >= 0) details.textContent = texts[i];
};
svg.addEventListener('click', event => { if (!moved) choose(nodes.indexOf(event.target.closest('.node'))); });
let found = [], at = -1;
const go = step => {
  if (!found.length) return;
  at = (at + step + found.length) % found.length;
  const box = nodes[found[at]].getBoundingClientRect(), frame = svg.getBoundingClientRect(), s = scale();
  x += (box.left + box.width / 2 - frame.left - frame.width / 2) * s; y += (box.top + box.height / 2 - frame.top - frame.height / 2) * s;
  show(); choose(found[at]); count.textContent = (at + 1) + ' of ' + found.length;
};
query.addEventListener('input', () => {
  const word = query.value.toLowerCase();
  found = word ? nodes.flatMap((node, i) => texts[i].toLowerCase().includes(word) ? [i] : []) : [];
  nodes.forEach((node, i) => node.classList.toggle('found', found.includes(i)));
  at = -1; count.textContent = word ? found.length + ' found' : '';
});
query.addEventListener('keydown', event => { if (event.key === 'Enter') go(event.shiftKey ? -1 : 1); });
window.addEventListener('keydown', event => {
  if (event.key === '/' && document.activeElement !== query) { event.preventDefault(); query.focus(); }
  if (event.key === 'Escape') { query.blur(); choose(-1); }
});
)";

}  // namespace

std::string EscapeXml(absl::string_view text) {
  return absl::StrReplaceAll(text, {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}});
}

std::string SvgDocument(double width, double height, const std::string& body) {
  return absl::StrCat(
      absl::StrFormat(
          "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\">\n",
          width, height, width, height),
      "<style>", kStyle, "</style>\n",
      "<defs><marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" "
      "orient=\"auto\"><path d=\"M0,0 L8,4 L0,8 z\" fill=\"#889\"/></marker></defs>\n",
      body, "</svg>\n");
}

std::string HtmlPage(const std::string& title, const std::string& svg) {
  return absl::StrCat(
      "<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\"><title>", EscapeXml(title), "</title>\n<style>", kPageStyle,
      "</style></head><body>\n<div id=\"bar\"><b>", EscapeXml(title),
      "</b> &nbsp; <input id=\"query\" placeholder=\"search (/), Enter: the next\"> <span id=\"count\"></span></div>\n"
      "<div id=\"picture\">",
      svg, "</div>\n<pre id=\"details\"></pre>\n<script>", kScript, "</script>\n</body></html>\n");
}

}  // namespace hilo::tools
