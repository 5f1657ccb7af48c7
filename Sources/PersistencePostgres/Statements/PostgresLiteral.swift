import Foundation
import PersistenceDriver

/// Values as SQL, for clauses that take no parameters.
enum PostgresLiteral {
  static func text(of value: PersistentValue) -> String {
    switch value {
    case .null: "NULL"
    case .bool(let value): value ? "TRUE" : "FALSE"
    case .integer(let value): "'\(value)'::int8"
    case .double(let value), .date(let value): number(TotalOrder.normalized(value))
    case .text(let value): quoted(PostgresText.escaped(value))
    case .document(let value): quoted(value) + "::json"
    case .decimal(let value): "'\(value.canonicalText)'::numeric"
    case .bytes(let value):
      "E'\\\\x" + value.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() + "'::bytea"
    case .uuid(let value): "'\(value.uuidString)'::uuid"
    }
  }

  /// A number with the digits that give its bits again.
  private static func number(_ value: Double) -> String {
    let text = value.isNaN ? "NaN" : value.isInfinite ? (value < 0 ? "-Infinity" : "Infinity") : "\(value)"
    return "'\(text)'::float8"
  }

  /// Text in a form that does not depend on a setting of the server.
  private static func quoted(_ text: String) -> String {
    var literal = String.UnicodeScalarView("E'".unicodeScalars)
    for scalar in text.unicodeScalars {
      if scalar == "'" || scalar == "\\" { literal.append(scalar) }
      literal.append(scalar)
    }
    return String(literal) + "'"
  }
}
