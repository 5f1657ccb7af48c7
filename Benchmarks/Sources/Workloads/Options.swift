import Foundation

/// What the command line asks for.
struct Options {
  private(set) var rows = 100_000
  private(set) var repetitions = 9
  private(set) var engines = Engine.allCases
  /// What the names of the workloads that are measured contain; nil for all.
  private(set) var work: String?
  /// Where the results are written as JSON.
  private(set) var results = "results.json"
  /// Where the chart is drawn; nil for none.
  private(set) var chart: String?
  /// Where the stores are made; removed at the end.
  private(set) var folder = FileManager.default.temporaryDirectory.path + "/persistence-workloads"
  /// Where the plot of costs by size and of readers by number is drawn, which are then all that is measured.
  private(set) var scaling: String?
  /// The most rows that costs are measured at.
  private(set) var largest = 1_000_000
  /// The size that this process measures one engine's costs at; nil where it does not.
  private(set) var size: Int?
  /// Whether this process measures one engine's readers.
  private(set) var readsSideBySide = false
  /// Whether this is the process of one engine.
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
    guard let number = Int(text), number >= least else { throw Failure("\(text) is not at least \(least)") }
    return number
  }
}
