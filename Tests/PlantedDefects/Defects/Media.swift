import Foundation
import PersistenceConformance
import PersistenceCore
import PersistenceSQLite
import PersistenceDriverSupport

extension PlantedDefect {
  /// W5, R4, E5, C2: stores on a medium.
  static let media: [PlantedDefect] = [
    PlantedDefect(
      "a transaction is written to disk record by record", .w5,
      opening: { path, options, monitoring in
        try MirroredContext(sqlite(path, options, monitoring), before: memory(options, monitoring)) {
          back, _, commits in
          for write in commits.last ?? [] { try back.transaction { try write.apply(to: $0) } }
        }
      }),
    PlantedDefect(
      "a commit is written to disk only with the next one", .w5,
      opening: { path, options, monitoring in
        try MirroredContext(sqlite(path, options, monitoring), before: memory(options, monitoring)) {
          back, isClosing, commits in
          try back.apply(isClosing ? commits.last : commits.dropLast().last)
        }
      }),
    PlantedDefect(
      "closing loses the last commit", .w5, .r3,
      opening: { path, options, monitoring in
        try MirroredContext(sqlite(path, options, monitoring), before: memory(options, monitoring)) {
          back, isClosing, commits in
          if !isClosing { try back.apply(commits.dropLast().last) }
        }
      }),
    PlantedDefect(
      "a context declares several processes, but caches its reads", .c2,
      opening: { path, options, monitoring in
        try MirroredContext(
          sqlite(path, options, monitoring), before: memory(options, monitoring), isMultiProcess: true
        ) {
          back, isClosing, commits in
          if !isClosing { try back.apply(commits.last) }
        }
      }),
    PlantedDefect(
      "a damaged store is opened as an empty one", .e5, .r4,
      opening: { path, options, monitoring in
        do {
          return try sqlite(path, options, monitoring)
        } catch let error as PersistenceError where error.code == .damaged {
          return FlawedContext(MemoryContext(monitoring: monitoring), durable)
        }
      }),
    PlantedDefect(
      "unreadable records are skipped", .r4, .e5,
      opening: { path, options, monitoring in
        var flaw = Flaw()
        flaw.fetch = { request, reader in
          guard let results = try? reader.fetch(request) else { return RowList([]) }
          return FlawedResults(
            results,
            read: { results, offset, limit, body in
              var count = 0
              _ = try? results.read(from: offset, limit: limit) { row in
                try body(row)
                count += 1
              }
              return count
            })
        }
        return FlawedContext(try sqlite(path, options, monitoring), flaw)
      }),
    PlantedDefect(
      "a file of another kind is overwritten", .e5,
      opening: { path, options, monitoring in
        do {
          return try sqlite(path, options, monitoring)
        } catch let error as PersistenceError where error.code == .notAStore && !options.isReadOnly {
          try FileManager.default.removeItem(atPath: path)
          return try sqlite(path, options, monitoring)
        }
      }),
    PlantedDefect(
      "a read-only store is written to", .e5,
      opening: { path, options, monitoring in
        var options = options
        options.isReadOnly = false
        return try sqlite(path, options, monitoring)
      }),
    PlantedDefect(
      "a missing store is always created", .e5,
      opening: { path, options, monitoring in
        var options = options
        options.creates = true
        return try sqlite(path, options, monitoring)
      }),
    PlantedDefect(
      "a missing folder is created", .e5,
      opening: { path, options, monitoring in
        try FileManager.default.createDirectory(
          at: URL(fileURLWithPath: path).deletingLastPathComponent(), withIntermediateDirectories: true)
        return try sqlite(path, options, monitoring)
      }),
  ]

  private static var durable: Flaw {
    var flaw = Flaw()
    flaw.capabilities = { $0.isDurable = true }
    return flaw
  }
}

/// An SQLite store, opened with a check's options.
func sqlite(_ path: String, _ options: OpeningOptions, _ monitoring: Monitoring) throws -> any StorageContext
{
  var parts = ["create=\(options.creates)", "readonly=\(options.isReadOnly)"]
  if let busy = options.busyMilliseconds { parts.append("busy=\(busy)ms") }
  let context = try StorageEngine.open(
    "sqlite:\(path)?\(parts.joined(separator: "&"))", engines: [.sqlite], monitoring: monitoring)
  guard let storage = context as? any StorageContext else {
    throw PersistenceError.unsupported("be used as a driver", by: "\(type(of: context))")
  }
  return storage
}

extension StorageContext {
  /// Applies writes in one transaction.
  func apply(_ writes: [WriteRecorder.Write]?) throws {
    guard let writes else { return }
    try transaction { transaction in for write in writes { try write.apply(to: transaction) } }
  }
}
