import Foundation
import MigrationStores
import PersistenceDriver
import PersistenceLMDB
import PersistenceMigration
import PersistenceSQLite
import Testing
import PersistenceDriverSupport

@Suite("Size of the destination")
struct SizeTests {
  @Test(
    "No snapshot stays open during the copy: many transactions need little more space than one"
  )
  func pinned() throws {
    try TestStores.withFolder { folder in
      let schema = try ModelSchema(
        name: "Movie", fields: [FieldSchema("id", .int64), FieldSchema("title", .string)], key: ["id"],
        indexes: [IndexSchema(["title"])])
      let source = MemoryContext()
      try source.transaction { transaction in
        try transaction.define(schema)
        let row = RowBuffer(count: 2)
        for number in 0..<20_000 {
          row.reset()
          row.set(.integer(Int64(number)), at: 0)
          // Random values, so that each transaction changes pages throughout the index.
          row.set(.text("\(UInt64(number) &* 0x9E37_79B9_7F4A_7C15)"), at: 1)
          try row.withRow { try transaction.insert($0, in: schema) }
        }
      }
      func size(_ name: String, batch: Int) throws -> Int {
        let path = folder.appendingPathComponent(name).path
        let destination = try TestStores.open("lmdb", path)
        _ = try Migration(
          from: source, to: destination, options: MigrationOptions(batchSize: batch, verification: .none)
        ).run()
        try destination.close()
        let values = try URL(fileURLWithPath: path + "/data.mdb").resourceValues(forKeys: [.fileSizeKey])
        return try #require(values.fileSize)
      }
      let (once, often) = (try size("once", batch: 20_000), try size("often", batch: 200))
      #expect(often < 2 * once, "\(often) bytes by a hundred transactions, \(once) by one")
    }
  }
}
