import PersistenceConformance
import PersistenceCore
import PersistenceDriverSupport

extension PlantedDefect {
  /// R2, R3: results that change or are inconsistent.
  static let results: [PlantedDefect] = [
    PlantedDefect(
      "a result shows later writes", .r2, isSemantic: false,
      opening: { _, options, monitoring in
        LiveContext(memory(options, monitoring))
      }),
    PlantedDefect(
      "a snapshot shows later writes", .r2, isSemantic: false,
      opening: { _, options, monitoring in
        MovingContext(memory(options, monitoring))
      }),
    PlantedDefect("a result can be read only once", .r3, .r2, isSemantic: false) { flaw in
      flaw.results = { results, _ in
        let furthest = Remembered(0)
        return FlawedResults(
          results,
          read: { results, offset, limit, body in
            guard offset == 0 || offset >= furthest.value else { return 0 }
            let count = try results.read(from: offset, limit: limit, body)
            furthest.change { $0 = max($0, offset + count) }
            return count
          })
      }
    },
    PlantedDefect("a row at a page boundary is repeated", .r3, isSemantic: false) { flaw in
      flaw.results = { results, _ in
        FlawedResults(
          results, read: { try $0.read(from: $1 == 0 ? 0 : $1 - 1, limit: $2, $3) })
      }
    },
    PlantedDefect("a row at a page boundary is skipped", .r3, isSemantic: false) { flaw in
      flaw.results = { results, _ in
        FlawedResults(results, read: { try $0.read(from: $1 == 0 ? 0 : $1 + 1, limit: $2, $3) })
      }
    },
    PlantedDefect("a jump is off by one row", .r3, isSemantic: false) { flaw in
      flaw.results = { results, _ in
        let next = Remembered(0)
        return FlawedResults(
          results,
          read: { results, offset, limit, body in
            let isJump = offset > next.value
            next.change { $0 = offset + limit }
            return try results.read(from: isJump ? offset + 1 : offset, limit: limit, body)
          })
      }
    },
    PlantedDefect("a full last page is not the end", .r3, isSemantic: false) { flaw in
      flaw.results = { results, _ in
        FlawedResults(results, count: { try ($0.count() + 127) / 128 * 128 })
      }
    },
    PlantedDefect("a result's count ignores its limit", .r3, .o4, isSemantic: false) { flaw in
      flaw.fetch = { request, reader in
        let count = try reader.count(request.with { $0.limit = nil })
        return FlawedResults(try reader.fetch(request), count: { _ in count })
      }
    },
    PlantedDefect("closing invalidates open results", .r3, isSemantic: false) { flaw in
      let isClosed = Remembered(false)
      flaw.results = { results, _ in
        FlawedResults(
          results,
          read: { results, offset, limit, body in
            try isClosed.value ? 0 : results.read(from: offset, limit: limit, body)
          })
      }
      flaw.close = { context in
        isClosed.change { $0 = true }
        try context.close()
      }
    },
    PlantedDefect("a count ignores its interruption", .r5, isSemantic: false) { flaw in
      // An interruption of its own hides that of the caller.
      flaw.count = { request, reader in try ReadInterruption().run { try reader.count(request) } }
    },
    PlantedDefect("the read after an interrupted one sees an older state", .r5) { flaw in
      let (last, isStale) = (Remembered<Int?>(nil), Remembered(false))
      flaw.results = { results, _ in
        FlawedResults(
          results,
          read: { results, offset, limit, body in
            if ReadInterruption.isPossible { isStale.change { $0 = true } }
            return try results.read(from: offset, limit: limit, body)
          })
      }
      flaw.count = { request, reader in
        let (count, earlier) = (try reader.count(request), last.value)
        last.change { $0 = count }
        guard isStale.value, let earlier else { return count }
        isStale.change { $0 = false }
        return earlier
      }
    }.caught(by: "reads after many interrupted ones see the newest records"),
    PlantedDefect("a read looks for its interruption only at its start", .r5, isSemantic: false) { flaw in
      flaw.reading = { read in
        try ReadInterruption.check()
        try ReadInterruption().run(read)
      }
      flaw.results = { results, _ in
        FlawedResults(
          results,
          count: { results in
            try ReadInterruption.check()
            return try ReadInterruption().run { try results.count() }
          },
          read: { results, offset, limit, body in
            try ReadInterruption.check()
            return try ReadInterruption().run { try results.read(from: offset, limit: limit, body) }
          })
      }
    }.caught(by: "a read that is interrupted midway stops within a thousand records, whatever it computes"),
    PlantedDefect(
      "an aggregate ignores its interruption", .r5,
      opening: { _, options, monitoring in DeafContext(memory(options, monitoring)) }
    ).caught(by: "an interrupted read throws the error of its interruption, and the store works on"),
    PlantedDefect("a closed context still answers", .r3, isSemantic: false) { flaw in
      flaw.close = { _ in }
    },
    PlantedDefect("closing twice is an error", .r3, isSemantic: false) { flaw in
      let isClosed = Remembered(false)
      flaw.close = { context in
        if isClosed.value { throw PersistenceError.closed("the store") }
        isClosed.change { $0 = true }
        try context.close()
      }
    },
  ]
}

/// A context whose results fetch again for every page.
private final class LiveContext: StorageContextWrapper {
  let wrapped: any StorageContext

  init(_ wrapped: any StorageContext) { self.wrapped = wrapped }

  func wrap(_ results: any StorageResults, of request: FetchRequest) -> any StorageResults {
    let context = wrapped
    return FlawedResults(
      results, count: { _ in try context.count(request) },
      read: { try context.fetch(request).read(from: $1, limit: $2, $3) })
  }
}

/// A context whose aggregates do not learn of an interruption.
private final class DeafContext: StorageContextWrapper {
  let wrapped: any StorageContext

  init(_ wrapped: any StorageContext) { self.wrapped = wrapped }

  func aggregate(_ request: AggregateRequest) throws -> [AggregateGroup] {
    try ReadInterruption().run { try wrapped.aggregate(request) }
  }
}

/// A context whose snapshots are the context itself.
private final class MovingContext: StorageContextWrapper {
  let wrapped: any StorageContext

  init(_ wrapped: any StorageContext) { self.wrapped = wrapped }

  func snapshot() throws -> any StorageSnapshot { MovingSnapshot(wrapped) }
}

private final class MovingSnapshot: StorageSnapshot, StorageReaderWrapper {
  private let context: any StorageContext
  var wrappedReader: any StorageReader { context }

  init(_ context: any StorageContext) { self.context = context }
}
