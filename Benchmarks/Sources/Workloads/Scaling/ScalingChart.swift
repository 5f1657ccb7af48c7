import Foundation

/// A chart of a scaling report: a plot for each operation and engine, and one for the readers of each engine.
struct ScalingChart {
  let report: ScalingReport

  private static let width = 900
  private static let plot = (width: 280.0, height: 170.0, left: 46.0, top: 26.0, right: 12.0, bottom: 30.0)
  private static let colours = [Names.library: "#e2582a", Names.raw: "#8a8f98"]

  /// The chart as SVG.
  var svg: String {
    var plots = report.curves.map(plot)
    let engines = [Engine.sqlite, .lmdb].filter { engine in report.readers.contains { $0.engine == engine } }
    plots += engines.map(plot)
    let rows = (plots.count + 2) / 3
    let body = plots.enumerated().map { number, plot in
      let (x, y) = (16 + Double(number % 3) * 292, 40 + Double(number / 3) * 190)
      return "<g transform=\"translate(\(x),\(y))\">\(plot)</g>\n"
    }
    let title =
      "What one unit costs in µs at 1,000 to 1,000,000 rows (grey: the raw C interface); at the end, reads"
      + " side by side"
    return """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Self.width) \(50 + rows * 190)" \
      font-family="system-ui, sans-serif" font-size="10">
      <rect width="100%" height="100%" fill="white"/>
      \(Self.text(title, x: 16, y: 20, style: "font-size=\"12\""))\(body.joined())</svg>

      """
  }

  /// Draws a curve on two logarithmic scales.
  private func plot(_ curve: ScalingReport.Curve) -> String {
    let costs = curve.points.flatMap { $0.seconds.values.map { $0 * 1e6 } }
    let low = pow(10, (log10(costs.min() ?? 1)).rounded(.down))
    let high = pow(10, (log10(costs.max() ?? 1)).rounded(.up))
    let scale = Scale(x: 1e3...1e6, y: low...max(high, low * 10))
    var text = frame("\(curve.points[0].engine.title): \(curve.points[0].work), µs a \(curve.points[0].unit)")
    for decade in [1e3, 1e4, 1e5, 1e6] { text += mark(x: scale.place(x: decade), Self.short(decade)) }
    var level = low
    while level <= high * 1.01 {
      text += mark(y: scale.place(y: level), String(format: "%g", level))
      level *= 10
    }
    for name in [Names.raw, Names.library] {
      text += line(
        name,
        curve.points.compactMap { point in
          point.seconds[name].map { (scale.place(x: Double(point.rows)), scale.place(y: $0 * 1e6)) }
        })
    }
    return text
  }

  /// Draws the readers of an engine, relative to one reader.
  private func plot(_ engine: Engine) -> String {
    let scale = Scale(x: 1...8, y: 0.5...8)
    var text = frame("\(engine.title): reads by 1 to 8 threads, in times of one's")
    for threads in [1.0, 2, 4, 8] { text += mark(x: scale.place(x: threads), Self.short(threads)) }
    for level in [0.5, 1, 2, 4, 8] { text += mark(y: scale.place(y: level), String(format: "%g", level)) }
    for name in [Names.raw, Names.library] {
      let results = report.readers.filter { $0.engine == engine && $0.name == name }
      text += line(
        name,
        results.map { (scale.place(x: Double($0.threads)), scale.place(y: $0.speedup)) })
      let slowest = results.map { String(format: "%.0f", $0.slowest) }.joined(separator: ", ")
      text += Self.text(
        "\(name): 99.9 % within \(slowest) µs", x: Self.plot.left + 6,
        y: Self.plot.top + (name == Names.raw ? 24 : 12), style: "fill=\"\(Self.colours[name] ?? "")\"")
    }
    return text
  }

  private struct Scale {
    let x: ClosedRange<Double>
    let y: ClosedRange<Double>

    func place(x value: Double) -> Double {
      let room = ScalingChart.plot.width - ScalingChart.plot.left - ScalingChart.plot.right
      return ScalingChart.plot.left + Self.share(value, of: x) * room
    }

    func place(y value: Double) -> Double {
      let room = ScalingChart.plot.height - ScalingChart.plot.top - ScalingChart.plot.bottom
      return ScalingChart.plot.height - ScalingChart.plot.bottom - Self.share(value, of: y) * room
    }

    private static func share(_ value: Double, of range: ClosedRange<Double>) -> Double {
      let clamped = min(max(value, range.lowerBound), range.upperBound)
      return log(clamped / range.lowerBound) / log(range.upperBound / range.lowerBound)
    }
  }

  private static func short(_ number: Double) -> String {
    number >= 1e6 ? "\(Int(number / 1e6))M" : number >= 1e3 ? "\(Int(number / 1e3))k" : "\(Int(number))"
  }

  private func frame(_ title: String) -> String {
    let (plot, left) = (Self.plot, Self.plot.left)
    return Self.text(title, x: left, y: 16, style: "font-weight=\"bold\"")
      + "<rect x=\"\(left)\" y=\"\(plot.top)\" width=\"\(plot.width - left - plot.right)\" "
      + "height=\"\(plot.height - plot.top - plot.bottom)\" fill=\"none\" stroke=\"#bbbbbb\"/>\n"
  }

  private func mark(x: Double, _ label: String) -> String {
    let y = Self.plot.height - Self.plot.bottom + 14
    return Self.text(label, x: x, y: y, style: "text-anchor=\"middle\" fill=\"#666666\"")
  }

  private func mark(y: Double, _ label: String) -> String {
    "<line x1=\"\(Self.plot.left)\" x2=\"\(Self.plot.width - Self.plot.right)\" y1=\"\(Self.tenth(y))\" "
      + "y2=\"\(Self.tenth(y))\" stroke=\"#eeeeee\"/>\n"
      + Self.text(label, x: Self.plot.left - 4, y: y + 3, style: "text-anchor=\"end\" fill=\"#666666\"")
  }

  private func line(_ name: String, _ places: [(x: Double, y: Double)]) -> String {
    let colour = Self.colours[name] ?? "black"
    let list = places.map { "\(Self.tenth($0.x)),\(Self.tenth($0.y))" }.joined(separator: " ")
    let dots = places.map {
      "<circle cx=\"\(Self.tenth($0.x))\" cy=\"\(Self.tenth($0.y))\" r=\"2.5\" fill=\"\(colour)\"/>"
    }
    return "<polyline points=\"\(list)\" fill=\"none\" stroke=\"\(colour)\" stroke-width=\"1.5\"/>"
      + dots.joined() + "\n"
  }

  private static func tenth(_ number: Double) -> Double { (number * 10).rounded() / 10 }

  private static func text(_ text: String, x: Double, y: Double, style: String) -> String {
    "<text x=\"\(tenth(x))\" y=\"\(tenth(y))\" \(style)>\(text)</text>\n"
  }
}
