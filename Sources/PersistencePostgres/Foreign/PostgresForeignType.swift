import PersistenceDriver
import PersistenceSQL

/// What the type of a column means for a model: the kind of its values, and how to compare and write them.
struct PostgresForeignType: Sendable {
  /// What the column refuses, or would change without an error.
  enum Limit: Sendable {
    case none
    case integers(ClosedRange<Int64>)
    /// Text of so many scalars; if it is padded, blanks at the end have no meaning.
    case characters(Int?, isPadded: Bool)
    case float
    /// Numbers with so many digits, of which so many are behind the point.
    case digits(Int, scale: Int)
    /// Dates that are multiples of so many microseconds.
    case moments(step: Int64)
  }

  let kind: FieldKind
  let comparison: SQLColumn.Comparison
  let conversion: SQLColumn.Conversion
  let limit: Limit

  private init(
    _ kind: FieldKind, _ comparison: SQLColumn.Comparison = .plain,
    _ conversion: SQLColumn.Conversion = .none, _ limit: Limit = .none
  ) {
    self.kind = kind
    self.comparison = comparison
    self.conversion = conversion
    self.limit = limit
  }

  /// The meaning of a column's type; nil for a type whose values no kind represents.
  init?(_ column: PostgresForeignRelation.Column) {
    if column.kind == "e" {
      self.init(.string, .asText, .cast(column.typeName))
      return
    }
    if column.type == "citext", !column.isBuiltIn {
      self.init(.string, .asText, .none, .characters(nil, isPadded: false))
      return
    }
    guard column.isBuiltIn else { return nil }
    let length = column.modifier >= 4 ? column.modifier - 4 : nil
    switch column.type {
    case "bool": self.init(.bool)
    case "int2": self.init(.int64, .asInt8, .none, .integers(Int64(Int16.min)...Int64(Int16.max)))
    case "int4": self.init(.int64, .asInt8, .none, .integers(Int64(Int32.min)...Int64(Int32.max)))
    case "int8": self.init(.int64)
    case "float4": self.init(.float, .plain, .none, .float)
    case "float8": self.init(.double)
    case "numeric": self.init(.decimal, .plain, .none, Self.digits(length))
    case "text", "varchar":
      self.init(.string, Self.comparison(column), .none, .characters(length, isPadded: false))
    case "bpchar": self.init(.string, .asText, .none, .characters(length, isPadded: true))
    case "bytea": self.init(.data)
    case "uuid": self.init(.uuid)
    case "json": self.init(.string, .asText, .cast("pg_catalog.json"))
    case "jsonb": self.init(.string, .asText, .exactJSON)
    case "timestamptz": self.init(.date, .plain, .none, Self.moments(column.modifier))
    case "timestamp": self.init(.date, .plain, .localTime, Self.moments(column.modifier))
    case "date": self.init(.date, .plain, .day, .moments(step: PostgresMoment.microsecondsOfDay))
    default: return nil
    }
  }

  /// A deterministic collation has the equality of bytes, whose indexes serve, but another order.
  private static func comparison(_ column: PostgresForeignRelation.Column) -> SQLColumn.Comparison {
    guard column.isDeterministic else { return .asText }
    return column.isBinary ? .plain : .byBytes
  }

  /// The modifier has the number of digits, and in eleven bits those behind the point, which may be negative.
  private static func digits(_ modifier: Int?) -> Limit {
    guard let modifier else { return .none }
    return .digits(modifier >> 16, scale: ((modifier & 0x7FF) ^ 1024) - 1024)
  }

  private static func moments(_ modifier: Int) -> Limit {
    guard (0..<6).contains(modifier) else { return .moments(step: 1) }
    return .moments(step: (modifier..<6).reduce(1) { step, _ in step * 10 })
  }

  /// Whether equal values have equal bytes as the server sees them, so that its unique indexes are those of a model.
  func hasEqualityOfModels(_ column: PostgresForeignRelation.Column) -> Bool {
    column.type != "citext" && column.isDeterministic
  }
}
