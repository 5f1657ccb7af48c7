import DataAccess
import DataAccessTesting
import Foundation
import PersistenceCore

/// Three scripted layers with a clock, and the layered data source over them.
struct LayerTestBed {
  let clock = TestClock()
  let cache: ScriptedDataSource<Note>
  let local: ScriptedDataSource<Note>
  let remote: ScriptedDataSource<Note>
  let source: LayeredDataSource<Note>

  static let gone = PersistenceError(.unreachable, "gone")
  static let broken = PersistenceError(.inputOutput, "broken")

  init(_ objects: [Note] = [], change: (inout LayerOptions<Note>) -> Void = { _ in }) throws {
    cache = try ScriptedDataSource(clock: clock)
    local = try ScriptedDataSource(clock: clock)
    remote = try ScriptedDataSource(objects, clock: clock)
    var options = Self.options(clock)
    change(&options)
    source = try LayeredDataSource(cache: cache, local: local, remote: remote, options: options)
  }

  /// Options with the clock and without jitter.
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

  func layer(_ layer: DataSourceLayer) -> ScriptedDataSource<Note> {
    switch layer {
    case .cache: cache
    case .local: local
    case .remote: remote
    }
  }

  /// The number of reads of a layer.
  func reads(_ layer: DataSourceLayer) -> Int {
    self.layer(layer).calls.count { [.find, .execute, .count].contains($0.operation) }
  }
}

let everyNote = FetchOptions<Note>()

extension LayeredAnswer {
  var isUpToDate: Bool { source == .remote && age == .zero && isComplete }
}
