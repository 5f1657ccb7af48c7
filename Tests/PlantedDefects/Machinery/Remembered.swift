import Synchronization

/// The memory of a broken context between its calls.
final class Remembered<Value: Sendable>: Sendable {
  private let state: Mutex<Value>

  init(_ value: Value) { state = Mutex(value) }

  var value: Value { state.withLock { $0 } }

  func change<Result: Sendable>(_ body: @Sendable (inout Value) -> Result) -> Result {
    state.withLock { value in body(&value) }
  }
}
