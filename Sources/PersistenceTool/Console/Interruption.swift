import Dispatch
import Foundation
import Synchronization

/// Detects that the user interrupts the tool with SIGINT.
package final class Interruption: Sendable {
  private let requests = Atomic<Int>(0)
  nonisolated(unsafe) private let source:  // only retained; never used after init
    any DispatchSourceSignal

  /// Starts to handle SIGINT.
  package init() {
    signal(SIGINT, SIG_IGN)
    source = DispatchSource.makeSignalSource(signal: SIGINT, queue: .global(qos: .userInteractive))
    source.setEventHandler { [weak self] in
      guard let count = self?.requests.add(1, ordering: .relaxed).newValue, count > 1 else { return }
      _exit(ToolFailure.Exit.interrupted.rawValue)
    }
    source.activate()
  }

  /// Whether the user interrupted the tool.
  package var isRequested: Bool { requests.load(ordering: .relaxed) > 0 }
}
