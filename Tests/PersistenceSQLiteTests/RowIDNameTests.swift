import PersistenceDriver
import Testing

@testable import PersistenceSQLite

/// The name of the row ID by the text of a table's definition.
struct RowIDNameTests {
  @Test(
    "E6 a table's row ID has the first of its names that the definition does not mention, in any case",
    arguments: [
      ("", "rowid"), ("CREATE TABLE t (a)", "rowid"), ("(rowi, owid, row_id, oid)", "rowid"),
      ("(ROWID INT)", "_rowid_"), ("(_rowid INT, rowid_ INT)", "_rowid_"), ("(a) WITHOUT rOwId", "_rowid_"),
      ("(\"_RowId_\")", "oid"), ("(xrowid_rowid_y)", "oid"), ("(_rowid_, OID)", ""),
      ("(row\u{131}d, row\u{130}d)", "rowid"),
    ])
  func names(definition: String, expected: String) throws {
    let found = Array(definition.utf8).withUnsafeBytes { SQLiteNaming.rowID(unmentionedIn: $0) }
    #expect(found == expected)
    // As SQLite itself finds it.
    let scratch = try Scratch()
    let context = try scratch.open()
    let rows = try context.rows(
      "SELECT CASE WHEN instr(lower(?1), 'rowid') = 0 THEN 'rowid' WHEN instr(lower(?1), '_rowid_') = 0 "
        + "THEN '_rowid_' WHEN instr(lower(?1), 'oid') = 0 THEN 'oid' ELSE '' END", [.text(definition)])
    #expect(rows == [[.text(expected)]])
    try context.close()
  }
}
