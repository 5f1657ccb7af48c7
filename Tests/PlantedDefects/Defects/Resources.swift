import Foundation
import PersistenceConformance
import PersistenceCore
import PersistenceDriverSupport

extension PlantedDefect {
  /// C3: what contexts leave behind.
  static let resources: [PlantedDefect] = [
    leaving("each opening leaves a descriptor open") { path in _ = open(path, O_RDONLY | O_CLOEXEC) },
    leaving("each opening leaves a thread behind") { _ in
      Thread.detachNewThread { DispatchSemaphore(value: 0).wait() }
    },
    leaving("each opening leaves a temporary file behind") { path in
      try Data("temporary".utf8).write(to: URL(fileURLWithPath: "\(path)-\(UInt32.random(in: 0 ... .max))"))
    },
    leaving("each opening leaves 100 KiB of memory behind") { _ in keepMemory() },
    PlantedDefect(
      "each update leaves 100 KiB of memory behind", .c3,
      opening: { path, options, monitoring in
        var flaw = Flaw()
        flaw.transaction = { context, body in
          try context.transaction(body)
          keepMemory()
        }
        return FlawedContext(try sqlite(path, options, monitoring), flaw)
      }
    ).caught(by: cycling),
    PlantedDefect(
      "each transaction that rolls back leaves a descriptor open", .c3,
      opening: { path, options, monitoring in
        var flaw = Flaw()
        flaw.transaction = { context, body in
          let descriptor = open(path, O_RDONLY | O_CLOEXEC)
          try context.transaction(body)
          close(descriptor)
        }
        return FlawedContext(try sqlite(path, options, monitoring), flaw)
      }
    ).caught(by: cycling),
    PlantedDefect(
      "a closed context keeps a snapshot", .c3,
      opening: { path, options, monitoring in
        var flaw = Flaw()
        flaw.close = { context in
          let snapshot = try? context.snapshot()
          keptSnapshots.change { $0 += [snapshot].compactMap(\.self) }
          try context.close()
        }
        return FlawedContext(try sqlite(path, options, monitoring), flaw)
      }
    ).caught(by: "a context that is closed and released has no file open"),
    PlantedDefect(
      "released snapshots are kept", .c3,
      opening: { path, options, monitoring in
        PinningContext(try sqlite(path, options, monitoring))
      }
    ).caught(by: growing),
    PlantedDefect(
      "released results keep their snapshots", .c3,
      opening: { path, options, monitoring in
        let kept = Remembered<[any StorageResults]>([])
        var flaw = Flaw()
        flaw.fetch = { request, reader in
          let results = try reader.fetch(request)
          kept.change { $0.append(results) }
          return results
        }
        return FlawedContext(try sqlite(path, options, monitoring), flaw)
      }
    ).caught(by: growing),
    PlantedDefect(
      "old versions of records are never removed", .c3,
      opening: { path, options, monitoring in
        try LogContext(path, options, monitoring) { $0.compacts = false }
      }
    ).caught(by: growing),
  ]

  private static let cycling =
    "opening, using and closing a store many times leaves no descriptors, threads, memory or files behind"
  private static let growing =
    "updates, and released results and snapshots, leave no old versions in the store"

  private static let keptSnapshots = Remembered<[any StorageSnapshot]>([])
  private static let keptMemory = Remembered<[[UInt8]]>([])

  private static func keepMemory() { keptMemory.change { $0.append(Array(repeating: 1, count: 100 << 10)) } }

  /// A defect of each opening that succeeds.
  private static func leaving(
    _ name: String, _ leave: @escaping @Sendable (String) throws -> Void
  ) -> PlantedDefect {
    PlantedDefect(
      name, .c3,
      opening: { path, options, monitoring in
        let context = try sqlite(path, options, monitoring)
        try leave(path)
        return context
      }
    ).caught(by: cycling)
  }
}

/// A context that keeps every snapshot.
private final class PinningContext: StorageContextWrapper {
  let wrapped: any StorageContext
  private let kept = Remembered<[any StorageSnapshot]>([])

  init(_ wrapped: any StorageContext) { self.wrapped = wrapped }

  func wrap(_ snapshot: any StorageSnapshot) -> any StorageSnapshot {
    kept.change { $0.append(snapshot) }
    return snapshot
  }
}
