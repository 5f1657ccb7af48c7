import Foundation

/// The environment variables of the tests.
package enum Environment {
  /// Returns the value of a variable; nil if it is unset or empty.
  package static subscript(_ name: String) -> String? {
    ProcessInfo.processInfo.environment[name].flatMap { $0.isEmpty ? nil : $0 }
  }

  /// Whether the long forms of fault and fuzz tests run (`make soak`).
  package static var isSoak: Bool { self["PERSISTENCE_SOAK"] != nil }

  /// Whether the tests run on a context: all of them, or those that `PERSISTENCE_CONTEXTS` lists (`make check`).
  package static func wants(_ context: String) -> Bool {
    self["PERSISTENCE_CONTEXTS"].map { $0.split(separator: ",").contains { $0 == context } } ?? true
  }
}
