/// An engine, which a separate process measures because memory and caches interfere.
enum Engine: String, Codable, CaseIterable {
  case sqlite
  case lmdb
  case json
  /// Copies of whole stores between engines.
  case copy

  var title: String {
    switch self {
    case .sqlite: "SQLite"
    case .lmdb: "LMDB"
    case .json: "JSON directory"
    case .copy: "Copying a store"
    }
  }
}

/// The names of contenders, for ratios.
enum Names {
  static let raw = "raw C"
  static let library = "Persistence"
  static let rawArray = "raw C array"
  static let rawSQLite = "raw SQLite"
  static let rawToLMDB = "raw to LMDB"
  static let unverified = "not verified"
  static let grdb = "GRDB"
  static let grdbCodable = "GRDB Codable"
  static let codable = "Codable"
}

/// An error of a contender's engine.
struct Failure: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}
