import Foundation

/// How costs grow with the rows, and throughput with the readers.
struct ScalingReport: Codable {
  var cores: Int
  /// The machine's load over the last minute, before and after.
  var load: [Double]
  var points: [Growth.Point]
  var readers: [Readers.Result]

  /// How much more than its law a cost may grow, and readers' throughput with two cores, at least.
  static let tolerance = 1.5
  static let leastSpeedup = 1.7

  /// One work of one engine, at all sizes.
  struct Curve {
    let points: [Growth.Point]

    private var first: Growth.Point { points[0] }
    private var last: Growth.Point { points[points.count - 1] }

    /// What a contender's unit costs at the largest size, in times of the smallest.
    func growth(of name: String) -> Double? {
      guard let start = first.seconds[name], let end = last.seconds[name], start > 0 else { return nil }
      return end / start
    }

    /// How much a unit may grow by its law.
    var lawful: Double {
      switch first.law {
      case .logarithmic: log(Double(last.rows)) / log(Double(first.rows))
      case .linear: 1
      }
    }

    /// Whether the library's cost grows as it should: as the law says, or as the engine's own does, where caches
    /// that are too small make that more.
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
