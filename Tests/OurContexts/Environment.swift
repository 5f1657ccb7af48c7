import Foundation

/// The environment variables of the tests.
package enum Environment {
  /// Returns the value of a variable; nil if it is unset or empty.
  package static subscript(_ name: String) -> String? {
    ProcessInfo.processInfo.environment[name].flatMap { $0.isEmpty ? nil : $0 }
  }

  /// Whether the long forms of fault and fuzz tests run (`make soak`).
  package static var isSoak: Bool { self["PERSISTENCE_SOAK"] != nil }

  /// The number of kills of each durable context in `make soak`.
  package static var soakKills: Int { self["PERSISTENCE_SOAK_KILLS"].flatMap { Int($0) } ?? 10_000 }

  /// Whether the tests run on a context: all of them, or those that `PERSISTENCE_CONTEXTS` lists (`make check`).
  package static func wants(_ context: String) -> Bool {
    self["PERSISTENCE_CONTEXTS"].map { $0.split(separator: ",").contains { $0 == context } } ?? true
  }
}
