import Foundation

/// The command-line options.
struct Options {
  private(set) var rows = 100_000
  private(set) var repetitions = 9
  private(set) var engines = Engine.allCases
  /// The text in the names of the workloads to measure; nil for all.
  private(set) var work: String?
  /// The path of the results as JSON.
  private(set) var results = "results.json"
  /// The path of the chart; nil for none.
  private(set) var chart: String?
  /// The folder of the stores, removed at the end.
  private(set) var folder = FileManager.default.temporaryDirectory.path + "/persistence-workloads"
  /// The path of the scaling chart; if set, only scaling is measured.
  private(set) var scaling: String?
  /// The largest number of rows for scaling.
  private(set) var largest = 1_000_000
  /// The number of rows at which this process measures one engine; nil in other modes.
  private(set) var size: Int?
  /// Whether this process measures one engine's readers.
  private(set) var readsSideBySide = false
  /// Whether this process measures one engine.
  private(set) var isChild = false

  static let usage = """
    Workloads [--rows N] [--repetitions N] [--engine sqlite|lmdb|json|copy] [--work NAME] \
    [--results FILE] [--chart FILE] [--folder FOLDER] | --scaling FILE [--largest N]
    """

  init(_ arguments: some Sequence<String>) throws {
    var arguments = arguments.makeIterator()
    while let option = arguments.next() {
      guard let value = arguments.next() else { throw Failure(Self.usage) }
      switch option {
      case "--rows": rows = try Self.number(value, atLeast: 20_000)
      case "--repetitions": repetitions = try Self.number(value, atLeast: 1)
      case "--engine", "--child":
        guard let engine = Engine(rawValue: value) else { throw Failure(Self.usage) }
        engines = [engine]
        isChild = option == "--child"
      case "--work": work = value
      case "--results": results = value
      case "--chart": chart = value
      case "--folder": folder = value
      case "--scaling": scaling = value
      case "--largest": largest = try Self.number(value, atLeast: 1_000)
      case "--size": size = try Self.number(value, atLeast: 1_000)
      case "--readers":
        guard let engine = Engine(rawValue: value) else { throw Failure(Self.usage) }
        engines = [engine]
        readsSideBySide = true
      default: throw Failure(Self.usage)
      }
    }
  }

  private static func number(_ text: String, atLeast least: Int) throws -> Int {
    guard let number = Int(text), number >= least else {
      throw Failure("\(text) is below the minimum \(least)")
    }
    return number
  }
}
