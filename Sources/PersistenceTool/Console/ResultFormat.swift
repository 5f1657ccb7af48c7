import Foundation

/// How a command prints its result.
enum ResultFormat: String, CaseIterable {
  case table, json
}

/// How a command prints rows.
enum RowFormat: String, CaseIterable {
  case table, json, csv
}

enum JSONReport {
  /// Encodes a report over several lines.
  static func text(_ report: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(report), as: UTF8.self)
  }

  /// Encodes a report on one line.
  static func line(_ report: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(report), as: UTF8.self)
  }
}
