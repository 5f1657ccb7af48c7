/// What is counted in a process of its own.
enum Engine: String, CaseIterable {
  case sqlite
  case lmdb
  case json
  case memory

  /// How many movies are stored: a file each costs more than it tells.
  var rows: Int { self == .json ? 400 : 4_000 }

  /// The URL of a store in a folder.
  func url(_ name: String, in folder: String) -> String {
    switch self {
    case .memory: "memory:"
    // Valgrind does not map as much as LMDB may use.
    case .lmdb: "lmdb:\(folder)/\(name)?mapsize=256MiB"
    case .sqlite, .json: "\(rawValue):\(folder)/\(name)"
    }
  }
}

/// Something that went otherwise than the counting needs.
struct Failure: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}
