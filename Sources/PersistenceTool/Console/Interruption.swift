import Dispatch
import Foundation
import Synchronization

/// Notices that the user wants the tool to stop.
package final class Interruption: Sendable {
  private let requests = Atomic<Int>(0)
  nonisolated(unsafe) private let source:  // only kept alive; never touched after init
    any DispatchSourceSignal

  /// Begins to watch for interrupts.
  package init() {
    signal(SIGINT, SIG_IGN)
    source = DispatchSource.makeSignalSource(signal: SIGINT, queue: .global(qos: .userInteractive))
    source.setEventHandler { [weak self] in
      guard let count = self?.requests.add(1, ordering: .relaxed).newValue, count > 1 else { return }
      _exit(ToolFailure.Exit.interrupted.rawValue)
    }
    source.activate()
  }

  /// Whether the user wants the tool to stop.
  package var isRequested: Bool { requests.load(ordering: .relaxed) > 0 }
}
