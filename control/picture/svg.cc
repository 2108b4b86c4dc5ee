#include "control/picture/svg.h"

#include <cmath>
#include <iterator>

#include <fmt/format.h>

#include "control/picture/palette.h"
#include "control/picture/xml.h"

namespace railyard::picture {
namespace {

// A length to a tenth of a pixel, without what does not matter.
std::string n(double value) {
  const double tenths = std::round(value * 10);
  return tenths == 0 ? "0" : fmt::format("{:.{}f}", tenths / 10, std::fmod(tenths, 10) == 0 ? 0 : 1);
}

class Writer {
 public:
  std::string write(const Picture& p, bool is_file) {
    out_ = is_file ? fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\"", n(p.width), n(p.height))
                   : "<svg";
    add(" viewBox=\"0 0 {0} {1}\" role=\"img\" "
        "font-family=\"'Helvetica Neue', Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif\">\n",
        n(p.width), n(p.height));
    add("<title>{}</title>\n<desc>{}</desc>\n", escaped(p.title), escaped(p.description));
    add("<rect x=\"0.5\" y=\"0.5\" width=\"{}\" height=\"{}\" rx=\"12\" fill=\"{}\" stroke=\"{}\"/>\n", n(p.width - 1),
        n(p.height - 1), kPaper, kPaperEdge);
    group("tiers", fmt::format("fill=\"{}\"", kBand), p.bands, [&](const Rect& r) { rect(r, 10, ""); });
    group("links", "fill=\"none\" stroke-linejoin=\"round\" stroke-linecap=\"round\"", p.lines,
          [&](const PlacedLine& l) { line(l); });
    group("nodes", "", p.boxes, [&](const PlacedBox& b) { box(b); });
    group("ports", fmt::format("fill=\"{}\"", kPaper), p.ports, [&](const Plate& t) { plate(t, 3); });
    group("rates", fmt::format("fill=\"{}\" fill-opacity=\"0.92\"", kPaper), p.rates,
          [&](const Plate& t) { plate(t, 4); });
    group("legend", "", p.samples, [&](const Sample& s) { sample(s); });
    group("marks", "", p.dots, [&](const Dot& d) { dot(d); });
    group("texts", "", p.texts, [&](const Text& t) { text(t); });
    out_ += "</svg>\n";
    return std::move(out_);
  }

 private:
  template <class... T>
  void add(fmt::format_string<T...> format, T&&... arguments) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<T>(arguments)...);
  }

  template <class Things, class Each>
  void group(const char* name, const std::string& attributes, const Things& things, Each each) {
    if (things.empty()) return;
    add("<g class=\"{}\"{}{}>\n", name, attributes.empty() ? "" : " ", attributes);
    for (const auto& thing : things) each(thing);
    out_ += "</g>\n";
  }

  void rect(const Rect& r, double radius, const std::string& attributes) {
    add("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"{}\"{}/>\n", n(r.x), n(r.y), n(r.width), n(r.height),
        n(radius), attributes);
  }

  void line(const PlacedLine& l) {
    add("<g stroke=\"{}\" stroke-width=\"{}\" stroke-opacity=\"{}\"><title>{}</title>", l.colour, n(l.width),
        n(l.opacity), escaped(l.detail));
    for (const auto& points : l.strands) {
      out_ += "<path d=\"";
      for (std::size_t i = 0; i < points.size(); ++i) {
        const char* command = i == 0 ? "M" : !l.is_arc ? " L" : i == 1 ? " C" : " ";
        add("{}{} {}", command, n(points[i].x), n(points[i].y));
      }
      out_ += "\"/>";
    }
    out_ += "</g>\n";
  }

  void box(const PlacedBox& b) {
    constexpr double kPile = 4;  // how far the next of a pile looks out
    add("<g class=\"{}\"><title>{}</title>\n", b.is_host ? "host" : "switch", escaped(b.detail));
    const std::string look =
        fmt::format(" fill=\"{}\" stroke=\"{}\" stroke-width=\"{}\"", b.fill, b.edge, b.is_host ? "1.2" : "1.6");
    const double radius = b.is_host ? 8 : 6;
    if (b.is_many) rect({b.place.x + kPile, b.place.y + kPile, b.place.width, b.place.height}, radius, look);
    rect(b.place, radius, look);
    for (const Dot& d : b.dots) dot(d);
    for (const Text& t : b.texts) text(t);
    out_ += "</g>\n";
  }

  void plate(const Plate& p, double radius) {
    rect(p.place, radius, p.edge.empty() ? "" : fmt::format(" stroke=\"{}\"", p.edge));
    text(p.text);
  }

  void sample(const Sample& s) {
    add("<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" stroke=\"{}\" stroke-width=\"{}\"/>\n", n(s.from.x), n(s.from.y),
        n(s.to.x), n(s.to.y), s.colour, n(s.width));
  }

  void dot(const Dot& d) {
    add("<circle cx=\"{}\" cy=\"{}\" r=\"{}\" fill=\"{}\"/>\n", n(d.at.x), n(d.at.y), n(d.radius), d.colour);
  }

  void text(const Text& t) {
    const char* anchor = t.anchor == Text::Anchor::kMiddle ? " text-anchor=\"middle\""
                         : t.anchor == Text::Anchor::kEnd  ? " text-anchor=\"end\""
                                                           : "";
    add("<text x=\"{}\" y=\"{}\" font-size=\"{}\"{}{} fill=\"{}\" fill-opacity=\"1\">{}</text>\n", n(t.at.x), n(t.at.y),
        n(t.size), t.bold ? " font-weight=\"bold\"" : "", anchor, t.colour, escaped(t.text));
  }

  std::string out_;
};

}  // namespace

std::string svg(const Picture& picture) { return Writer().write(picture, true); }
std::string inline_svg(const Picture& picture) { return Writer().write(picture, false); }

}  // namespace railyard::picture
