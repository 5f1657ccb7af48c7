import Synchronization

public import Logging

/// Watches over one context: logs what it does, and tracks the results that pin its snapshots.
public final class ContextMonitor: Sendable {
  /// What is watched, and where it is reported.
  public let settings: Monitoring

  /// The logger, with the store's location in its metadata.
  public let logger: Logger

  private let pins = Mutex(Pins())
  private let wholeness = Atomic<Bool>(false)

  /// Makes a monitor for a store.
  ///
  /// - Parameters:
  ///   - settings: What is watched.
  ///   - location: The store, without secrets.
  public init(_ settings: Monitoring, location: String) {
    self.settings = settings
    var logger = settings.logger
    logger[metadataKey: "store"] = .string(location)
    self.logger = logger
  }

  /// Whether the store has been found to hold everything that it should: no migration into it is unfinished.
  public var isKnownComplete: Bool { wholeness.load(ordering: .relaxed) }

  /// Notes what is known of that; what begins to fill the store says that it is not complete.
  public func note(isComplete: Bool) { wholeness.store(isComplete, ordering: .relaxed) }

  /// Reports that the store was opened.
  public func opened(_ details: @autoclosure () -> String) {
    logger.debug("opened", metadata: ["details": .string(details())])
  }

  /// Reports that work which a killed process left behind was finished or undone.
  public func recovered(_ details: @autoclosure () -> String) {
    logger.notice("recovered", metadata: ["details": .string(details())])
  }

  /// Measures a request and reports it, with its plan, where it was slow.
  ///
  /// - Parameters:
  ///   - request: What was asked; its shape is logged, its values at debug level only.
  ///   - plan: Asked for the plan where the request was slow.
  ///   - body: The work.
  /// - Returns: What the work returns.
  /// - Throws: What the work throws.
  public func measure<Result>(
    _ request: FetchRequest, plan: () throws -> QueryPlan, _ body: () throws -> Result
  ) rethrows -> Result {
    let start = ContinuousClock.now
    let result = try body()
    let duration = ContinuousClock.now - start
    if duration > settings.slowRequest {
      let plan = (try? plan().description) ?? "unknown"
      logger.warning(
        "slow request",
        metadata: [
          "request": .string(request.shape), "plan": .string(plan), "duration": .string("\(duration)"),
        ])
      logger.debug("slow request, with its values", metadata: ["request": .string(request.description)])
    }
    return result
  }
}

extension ContextMonitor {
  private struct Pins {
    var next: UInt64 = 0
    /// In the order of their tokens: few, and a dictionary would be made for its key's type when a store's first
    /// result is, which takes as long as reading it.
    var held: [Pin] = []

    /// Where the pin of a token stands; nil where it was released.
    func index(of token: UInt64) -> Int? {
      var (low, high) = (0, held.count)
      while low < high {
        let middle = (low + high) / 2
        if held[middle].token < token { low = middle + 1 } else { high = middle }
      }
      return low < held.count && held[low].token == token ? low : nil
    }
  }

  private struct Pin {
    var token: UInt64
    var place: CallSite
    var request: String
    var since: ContinuousClock.Instant
    var isReported = false
  }

  /// Notes that a result pins a snapshot, and reports those that have been held for too long.
  ///
  /// - Parameters:
  ///   - request: What the result shows.
  ///   - place: Where in the sources it was asked for.
  /// - Returns: A token for ``released(_:)``.
  public func pinned(_ request: FetchRequest, place: CallSite) -> UInt64 {
    let token = pins.withLock { pins in
      pins.next += 1
      pins.held.append(Pin(token: pins.next, place: place, request: request.shape, since: .now))
      return pins.next
    }
    reportLongHeldResults()
    return token
  }

  /// Notes that a result was released, and reports it where it was held for too long.
  public func released(_ token: UInt64) {
    let pin = pins.withLock { pins in pins.index(of: token).map { pins.held.remove(at: $0) } }
    guard let pin else { return }
    let duration = ContinuousClock.now - pin.since
    if duration > settings.longHeldResult, !pin.isReported { report(pin, duration) }
  }

  /// How many results pin a snapshot now.
  public var liveResults: Int { pins.withLock(\.held.count) }

  /// Reports results that have been held for longer than ``Monitoring/longHeldResult``, each once.
  ///
  /// It is called whenever a result is made and whenever a transaction commits.
  public func reportLongHeldResults() {
    let now = ContinuousClock.now
    let late = pins.withLock { pins -> [Pin] in
      guard !pins.held.isEmpty else { return [] }
      var late: [Pin] = []
      for (index, pin) in pins.held.enumerated()
      where !pin.isReported && now - pin.since > settings.longHeldResult {
        pins.held[index].isReported = true
        late.append(pin)
      }
      return late
    }
    for pin in late { report(pin, now - pin.since) }
  }

  private func report(_ pin: Pin, _ duration: Duration) {
    logger.warning(
      "a result was held for long: it keeps the store from reusing space",
      metadata: [
        "place": .string("\(pin.place)"), "request": .string(pin.request), "duration": .string("\(duration)"),
      ])
  }
}
