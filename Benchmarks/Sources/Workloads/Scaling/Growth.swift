import Foundation
import PersistenceCore

/// The cost of a unit of work at several sizes of a store.
enum Growth {
  /// The allowed growth of a cost.
  enum Law: String, Codable {
    /// With the logarithm of the number of rows.
    case logarithmic
    /// With the number of rows: a constant cost for each row.
    case linear
  }

  /// The cost of one unit of one operation at one size.
  struct Point: Codable {
    let engine: Engine
    let work: String
    let law: Law
    let unit: String
    let rows: Int
    /// Seconds per unit, by the contender's name.
    let seconds: [String: Double]
  }

  /// The sizes at which an engine is measured; fewer for one file per movie.
  static func sizes(of engine: Engine, upTo largest: Int) -> [Int] {
    [1_000, 10_000, 100_000, 1_000_000].filter { $0 <= largest && (engine != .json || $0 <= 10_000) }
  }

  /// Measures one engine at one size, in this process.
  static func measure(_ engine: Engine, rows: Int, _ options: Options) throws -> [Point] {
    keepMemory()
    let folder = try Folder(options.folder).new("growth-\(engine)-\(rows)")
    defer { try? FileManager.default.removeItem(atPath: folder.path) }
    say("\(engine.title): \(rows) rows")
    let input = Input(rows: rows, singles: 20)
    let location = Library.Location(engine: engine, folder: try Folder(folder.path("library")))
    let library = try Library(location, input)
    let workloads =
      switch engine {
      case .sqlite: sqlite(try RawSQLite(try Folder(folder.path("raw")), input), library, input)
      case .lmdb: lmdb(try RawLMDB(try Folder(folder.path("raw")), input), library, input)
      default: json(library, input)
      }
    return try workloads.map { law, workload in
      let outcome = try workload.measure(repetitions: 5)
      let seconds = outcome.timings.map { ($0.name, $0.median / Double(workload.units)) }
      return Point(
        engine: engine, work: workload.name, law: law, unit: workload.unit, rows: rows,
        seconds: Dictionary(seconds) { $1 })
    }
  }

  private static func sqlite(_ raw: RawSQLite, _ library: Library, _ input: Input) -> [(Law, Workload)] {
    workloads(
      input, [Entrant(Names.raw, raw.getByKey), Entrant(Names.library, library.getByKey)],
      [Entrant(Names.raw, raw.tenByIndex), Entrant(Names.library, library.tenByIndex)],
      [Entrant(Names.raw, raw.iterate), Entrant(Names.library, library.iterate)],
      [Entrant(Names.raw, raw.count), Entrant(Names.library, library.count)])
  }

  private static func lmdb(_ raw: RawLMDB, _ library: Library, _ input: Input) -> [(Law, Workload)] {
    workloads(
      input, [Entrant(Names.raw, raw.getByKey), Entrant(Names.library, library.getByKey)],
      [Entrant(Names.raw, raw.tenByIndex), Entrant(Names.library, library.tenByIndex)],
      [Entrant(Names.raw, raw.iterate), Entrant(Names.library, library.iterate)],
      [Entrant(Names.raw, raw.count), Entrant(Names.library, library.count)])
  }

  private static func json(_ library: Library, _ input: Input) -> [(Law, Workload)] {
    workloads(
      input, [Entrant(Names.library, library.getByKey)], [], [Entrant(Names.library, library.iterate)],
      [Entrant(Names.library, library.count)])
  }

  private static func workloads(
    _ input: Input, _ get: [Entrant], _ index: [Entrant], _ iterate: [Entrant], _ count: [Entrant]
  ) -> [(Law, Workload)] {
    let rows = input.movies.count
    let parts: [(Law, String, Int, String, [Entrant])] = [
      (.logarithmic, "get by key", input.keys.count, "get", get),
      (.logarithmic, "ten by index", Input.starts.count, "query", index),
      (.linear, "iterate", rows, "row", iterate),
      (.linear, "count by scan", rows, "row", count),
    ]
    return parts.filter { !$0.4.isEmpty }.map { law, name, units, unit, entrants in
      (law, Workload(name, units, unit, goal: .infinity, of: entrants[0].name, entrants))
    }
  }
}

extension Input {
  /// The minimum votes of the queries for ten movies.
  static let starts = (0..<200).map { $0 * 4_999 % 980_000 }
}

extension Library {
  /// Returns ten movies by their votes, at many positions of the index.
  fileprivate func tenByIndex(_ watch: inout Stopwatch) throws -> Answer {
    var answer = Answer()
    try watch.measure {
      for start in Input.starts {
        let query = repository.filter(IndexedMovie.self, where: \.movie.votes >= start)
        for found in try query.sorted(by: \.movie.votes).limit(10).result() {
          answer.addLightly(found.movie)
        }
      }
    }
    return answer
  }
}
