import Synchronization

public import Logging

/// Monitors one context: logs its work and tracks the results that pin its snapshots.
public final class ContextMonitor: Sendable {
  /// The settings of the monitor.
  public let settings: Monitoring

  /// The logger, with the location of the store in its metadata.
  public let logger: Logger

  private let pins = Mutex(Pins())
  /// The number of held pins, which each commit asks for.
  private let heldCount = Atomic<Int>(0)
  private let fills: StoreFills
  /// Before which copy the store is known to be complete, and to need no mapping too; 0 if it is not.
  private let checked = Atomic<UInt64>(0)
  private let whole = Atomic<UInt64>(0)
  private let settled = Mutex<[ObjectIdentifier: ModelSchema]>([:])
  /// The object that maps declarations to other stored schemas.
  private let fits = Mutex<(any AnyObject & Sendable)?>(nil)
  private let rules = Mutex<(any Sendable)?>(nil)

  /// Creates a monitor for a store.
  ///
  /// - Parameters:
  ///   - settings: The settings.
  ///   - location: The location of the store, without secrets.
  public convenience init(_ settings: Monitoring, location: String) {
    self.init(settings, location: location, store: location)
  }

  /// Creates a monitor for a store whose location may be written in several ways, or which no other context opens.
  ///
  /// - Parameters:
  ///   - settings: The settings.
  ///   - location: The location of the store, without secrets.
  ///   - store: What all contexts of this process with the store have in common; nil if there is one only.
  package init(_ settings: Monitoring, location: String, store: String?) {
    self.settings = settings
    fills = store.map(StoreFills.of) ?? StoreFills()
    var logger = settings.logger
    logger[metadataKey: "store"] = .string(location)
    self.logger = logger
  }

  /// Whether the store is known to be complete, and needs no mapping of schemas.
  ///
  /// That is, no copy into it is unfinished, and all users of this context declare the stored schemas.
  ///
  /// Every call reads it. If it is false, a call takes longer, and finds out why.
  public var isKnownComplete: Bool {
    whole.load(ordering: .relaxed) == fills.begun.load(ordering: .relaxed)
  }

  /// Runs a copy that fills the store, after which no context of this process relies on what it knew before.
  ///
  /// Before the first transaction commits, the store does not show that it is being filled. So no check that
  /// overlaps the copy is remembered, and neither is the end of the copy: another one may have begun.
  package func whileFilling<Result>(_ body: () throws -> Result) rethrows -> Result { try fills.run(body) }

  /// How many copies have begun, for a check that begins now; nil while one runs.
  package var fillCount: UInt64? { fills.countBeforeCheck }

  /// Remembers that a check has found the store complete, until a copy fills it that has begun since the check has.
  package func noteComplete(before count: UInt64?) {
    guard let count else { return }
    checked.store(count, ordering: .relaxed)
    fits.withLock { if $0 == nil { whole.store(count, ordering: .relaxed) } }
  }

  /// Whether the store is known to be complete, also if it needs mappings.
  package var isCheckedComplete: Bool {
    checked.load(ordering: .relaxed) == fills.begun.load(ordering: .relaxed)
  }

  /// The object that maps declarations to other stored schemas; nil if no program needs it.
  package var schemaFits: (any AnyObject & Sendable)? { fits.withLock(\.self) }

  /// Whether a declared schema with earlier names is known to be the stored one.
  package func isSettled(_ schema: ModelSchema) -> Bool { settled.withLock { $0[schema.identity] != nil } }

  /// Records that a declared schema with earlier names is the stored one.
  package func settle(_ schema: ModelSchema) { settled.withLock { $0[schema.identity] = schema } }

  /// Keeps the object that maps declarations, unless there is one, so that ``isKnownComplete`` stays false.
  package func keepSchemaFits(_ made: any AnyObject & Sendable) {
    fits.withLock { fits in
      if fits == nil { fits = made }
      whole.store(0, ordering: .relaxed)
    }
  }

  /// What the schema that the store was opened with says of its models' past; nil without one.
  package var schemaRules: (any Sendable)? { rules.withLock { $0 } }

  /// Keeps what a schema says of its models' past, for rows outside of the models.
  package func keepSchemaRules(_ rules: any Sendable) { self.rules.withLock { $0 = rules } }

  /// Reports that the store was opened.
  public func opened(_ details: @autoclosure () -> String) {
    logger.debug("opened", metadata: ["details": .string(details())])
  }

  /// Reports recovery: the store completed or rolled back the work of a killed process.
  public func recovered(_ details: @autoclosure () -> String) {
    logger.notice("recovered", metadata: ["details": .string(details())])
  }

  /// Reports that an observation cannot read, and tries again.
  package func delayedObservation(_ error: PersistenceError) {
    logger.warning("an observation cannot read, and tries again", metadata: ["error": "\(error)"])
  }

  /// Measures a request and reports it, with its plan, if it was slow; its values are logged at debug level only.
  package func measure<Result>(
    _ request: FetchRequest, plan: () throws -> QueryPlan, _ body: () throws -> Result
  ) rethrows -> Result {
    let start = ContinuousClock.now
    let result = try body()
    let duration = ContinuousClock.now - start
    if duration > settings.slowRequest {
      var plan = try? plan()
      // The request itself has left the plan.
      plan?.isReused = false
      logger.warning(
        "slow request",
        metadata: [
          "request": Self.bounded(request.shape), "plan": Self.bounded(plan?.description ?? "unknown"),
          "duration": .string("\(duration)"),
        ])
      logger.debug("slow request, with its values", metadata: ["request": Self.bounded(request.description)])
    }
    return result
  }

  /// The beginning of a text for a log: a condition may list thousands of values.
  private static func bounded(_ text: String) -> Logger.MetadataValue {
    let limit = 1_000
    let start = text.unicodeScalars.prefix(limit)
    guard start.endIndex < text.endIndex else { return .string(text) }
    return .string("\(String(start))… (\(text.utf8.count) bytes)")
  }
}

extension ContextMonitor {
  private struct Pins {
    var next: UInt64 = 0
    /// The few pins, in the order of their tokens.
    ///
    /// An array, because creating a dictionary takes as long as reading the first result.
    var held: [Pin] = []

    /// The index of a token's pin; nil if the pin was released.
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

  /// Records that a result pins a snapshot, reports results held for too long, and returns a token for
  /// ``released(_:)``.
  package func pinned(_ request: FetchRequest, place: CallSite) -> UInt64 {
    let token = pins.withLock { pins in
      pins.next += 1
      pins.held.append(Pin(token: pins.next, place: place, request: request.shape, since: .now))
      heldCount.store(pins.held.count, ordering: .relaxed)
      return pins.next
    }
    reportLongHeldResults()
    return token
  }

  /// Records that a result was released, and reports it if it was held for too long.
  package func released(_ token: UInt64) {
    let pin = pins.withLock { pins in
      let pin = pins.index(of: token).map { pins.held.remove(at: $0) }
      heldCount.store(pins.held.count, ordering: .relaxed)
      return pin
    }
    guard let pin else { return }
    let duration = ContinuousClock.now - pin.since
    if duration > settings.longHeldResult, !pin.isReported { report(pin, duration) }
  }

  /// The number of results that pin a snapshot.
  public var liveResults: Int { pins.withLock(\.held.count) }

  /// Reports each result that is held for longer than ``Monitoring/longHeldResult``, once.
  ///
  /// Drivers call it after each commit.
  public func reportLongHeldResults() {
    guard heldCount.load(ordering: .relaxed) > 0 else { return }
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
      "a result held for too long prevents the store from reusing space; release it",
      metadata: [
        "place": .string("\(pin.place)"), "request": Self.bounded(pin.request),
        "duration": .string("\(duration)"),
      ])
  }
}
