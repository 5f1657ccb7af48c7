import CSQLite
import PersistenceDriver

/// Which new tables are clustered: SQLite keeps their rows in the B-tree of the key (`WITHOUT ROWID`).
///
/// A table with row IDs keeps a key that is not an integer in an index besides. A look-up then takes two searches, and
/// rows in the order of the key are scattered over the file. A clustered table has one B-tree, and no copy of the key.
/// Its inner pages hold whole rows, though, so large rows make it deep.
enum SQLiteClustering {
  /// The most bytes that a record of a clustered table is expected to take: a twentieth of SQLite's page of 4 KiB.
  ///
  /// SQLite's documentation advises this limit (https://sqlite.org/withoutrowid.html).
  static let largestRecord = 200

  /// The first version of SQLite with which new tables are clustered: earlier ones may not count the rows of a clustered
  /// table that they empty.
  private static let firstVersion: Int32 = 3_039_000

  /// Whether the table of a new model is clustered, given the names of the models that the app declares as such.
  ///
  /// The reserved models keep their row IDs: a store of models with integer keys stays readable for earlier versions of
  /// the package.
  static func suits(_ schema: ModelSchema, declared: [String]) -> Bool {
    guard sqlite3_libversion_number() >= firstVersion, isPossible(for: schema), !schema.isReserved else {
      return false
    }
    let name = StoredName(schema.name)
    if declared.contains(where: { StoredName($0) == name }) { return true }
    guard let size = largestSize(of: schema) else { return false }
    return size <= largestRecord
  }

  /// Whether the table of a model can be clustered: a single integer key is the row ID itself.
  static func isPossible(for schema: ModelSchema) -> Bool { schema.singleIntegerKey == nil }

  /// The most bytes that SQLite takes for a record, with texts of ordinary length in the key; nil if there is no limit.
  private static func largestSize(of schema: ModelSchema) -> Int? {
    var size = 0
    for (position, field) in schema.fields.enumerated() {
      let isInKey = schema.keyPositions.contains(position)
      guard let bytes = field.kind.largestSize ?? (isInKey ? ordinaryKeyText : nil) else { return nil }
      // The record's header has a byte or two for each field.
      size += bytes + 1
    }
    return size
  }

  /// The bytes of an ordinary text in a key, which tables with row IDs hold twice.
  private static let ordinaryKeyText = 32
}

extension ModelSchema {
  /// The position of the only key field if it is an integer, which SQLite makes the row ID.
  var singleIntegerKey: Int? {
    keyPositions.count == 1 && fields[keyPositions[0]].kind == .int64 ? keyPositions[0] : nil
  }
}

extension FieldKind {
  /// The most bytes of a value in SQLite's format; nil if there is no limit.
  fileprivate var largestSize: Int? {
    switch self {
    case .bool, .int8, .uint8: 1
    case .int16, .uint16: 2
    case .int32, .uint32: 4
    case .int64, .float, .double, .date: 8
    case .uuid: 16
    // A sign, a point and 38 digits; only numbers of extreme exponents have more.
    case .decimal: 40
    case .string, .url, .data, .document: nil
    }
  }
}

extension SQLiteConnection {
  /// Whether the rows of a table have IDs, by its definition in the file.
  ///
  /// The schema `temp` skips a table of the file that has the name of SQLite's own table.
  func hasRowIDs(_ table: String) throws -> Bool {
    try rows("SELECT 1 FROM temp.pragma_table_list(?1) WHERE schema = 'main' AND wr", [.text(table)]).isEmpty
  }
}
