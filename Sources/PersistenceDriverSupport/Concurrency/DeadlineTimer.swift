import Dispatch

/// Calls a closure once after a time, unless it is cancelled before.
package struct DeadlineTimer {
  private let source = DispatchSource.makeTimerSource()

  package init(after time: Duration, _ body: @escaping @Sendable () -> Void) {
    source.schedule(deadline: .now() + time.timeInterval)
    source.setEventHandler(handler: body)
    source.activate()
  }

  package func cancel() { source.cancel() }
}
