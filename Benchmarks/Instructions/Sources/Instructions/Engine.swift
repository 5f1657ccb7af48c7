/// An engine, which a separate process counts.
enum Engine: String, CaseIterable {
  case sqlite
  case lmdb
  case json
  case memory

  /// The number of movies; fewer for JSON, because each is a file.
  var rows: Int { self == .json ? 400 : 4_000 }

  /// Returns the URL of a store in a folder.
  func url(_ name: String, in folder: String) -> String {
    switch self {
    case .memory: "memory:"
    // Valgrind cannot map LMDB's default map size.
    case .lmdb: "lmdb:\(folder)/\(name)?mapsize=256MiB"
    case .sqlite, .json: "\(rawValue):\(folder)/\(name)"
    }
  }
}

/// An error of the counting.
struct Failure: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}
