import Foundation

/// The growth of costs with the rows, and of throughput with the readers.
struct ScalingReport: Codable {
  var cores: Int
  /// The machine's load over the last minute, before and after.
  var load: [Double]
  var points: [Growth.Point]
  var readers: [Readers.Result]

  /// The tolerance of a cost's growth, and the minimum throughput of readers with two cores.
  static let tolerance = 1.5
  static let leastSpeedup = 1.7

  /// One operation of one engine, at all sizes.
  struct Curve {
    let points: [Growth.Point]

    private var first: Growth.Point { points[0] }
    private var last: Growth.Point { points[points.count - 1] }

    /// Returns a contender's cost at the largest size, as a multiple of that at the smallest.
    func growth(of name: String) -> Double? {
      guard let start = first.seconds[name], let end = last.seconds[name], start > 0 else { return nil }
      return end / start
    }

    /// The expected growth of a unit's cost.
    var lawful: Double {
      switch first.law {
      case .logarithmic: log(Double(last.rows)) / log(Double(first.rows))
      case .linear: 1
      }
    }

    /// Whether the library's cost grows as expected, or as the engine's own cost if small caches increase it.
    var isGood: Bool {
      let allowed = max(lawful, growth(of: Names.raw) ?? 0) * ScalingReport.tolerance
      return (growth(of: Names.library) ?? .infinity) <= allowed
    }
  }

  var curves: [Curve] {
    var order: [String] = []
    var found: [String: [Growth.Point]] = [:]
    for point in points {
      let name = "\(point.engine.title): \(point.work)"
      if found[name] == nil { order.append(name) }
      found[name, default: []].append(point)
    }
    return order.compactMap { found[$0].map(Curve.init) }
  }

  /// Whether reads of an engine scale with the cores.
  func scales(_ engine: Engine) -> Bool {
    guard cores > 1 else { return true }
    return readers.contains {
      $0.engine == engine && $0.name == Names.library && $0.threads == 2 && $0.speedup >= Self.leastSpeedup
    }
  }

  var isGood: Bool {
    curves.allSatisfy(\.isGood) && Set(readers.map(\.engine)).allSatisfy(scales)
  }
}
