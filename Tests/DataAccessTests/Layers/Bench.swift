import DataAccess
import DataAccessTesting
import Foundation
import PersistenceCore

/// Three scripted layers on a clock of their own, and the store over them.
struct LayerBench {
  let clock = TestClock()
  let cache: ScriptedStore<Note>
  let local: ScriptedStore<Note>
  let remote: ScriptedStore<Note>
  let store: LayeredStore<Note>

  static let gone = PersistenceError(.unreachable, "gone")
  static let broken = PersistenceError(.inputOutput, "broken")

  init(_ objects: [Note] = [], change: (inout LayerOptions<Note>) -> Void = { _ in }) throws {
    cache = try ScriptedStore(clock: clock)
    local = try ScriptedStore(clock: clock)
    remote = try ScriptedStore(objects, clock: clock)
    var options = Self.options(clock)
    change(&options)
    store = try LayeredStore(cache: cache, local: local, remote: remote, options: options)
  }

  /// Options by the clock, without chance.
  static func options(_ clock: TestClock) -> LayerOptions<Note> {
    var options = LayerOptions<Note>()
    options.clock = clock
    options.now = { clock.date }
    options.remote = LayerLimits(timeout: .seconds(10), retry: RetryPolicy(attempts: 1, jitter: 0))
    options.local = LayerLimits(timeout: .seconds(5))
    options.cache = LayerLimits(timeout: .seconds(5))
    options.outbox = RetryPolicy(attempts: 3, firstDelay: .seconds(1), longestDelay: .seconds(8), jitter: 0)
    return options
  }

  func layer(_ layer: StoreLayer) -> ScriptedStore<Note> {
    switch layer {
    case .cache: cache
    case .local: local
    case .remote: remote
    }
  }

  /// How many questions a layer was asked.
  func reads(_ layer: StoreLayer) -> Int {
    self.layer(layer).calls.count { [.find, .execute, .count].contains($0.operation) }
  }
}

let everyNote = FetchOptions<Note>()

extension StoreAnswer {
  var isUpToDate: Bool { source == .remote && age == .zero && isComplete }
}
