import Foundation

/// The environment variables that steer the tests.
package enum Environment {
  /// The value of a variable; nil where it is not set or empty.
  package static subscript(_ name: String) -> String? {
    ProcessInfo.processInfo.environment[name].flatMap { $0.isEmpty ? nil : $0 }
  }

  /// Whether the long forms of fault and fuzz tests run (`make soak`).
  package static var isSoak: Bool { self["PERSISTENCE_SOAK"] != nil }
}
