import Foundation
import PersistenceDriver
import PersistenceLMDB
import Testing

@Suite("E5 R4: damaged records")
struct DamageTests {
  @Test("R4 a record with a changed byte throws, naming model, key and store; other records can be read")
  func changedByte() throws {
    let scratch = try Scratch()
    let schema = try Scratch.schema()
    let context = try scratch.open()
    let marker = "the text that will be damaged"
    try context.save((0..<40).map { ("key \($0)", $0 == 23 ? marker : "sound") }, schema)
    try context.close()
    var data = try Data(contentsOf: scratch.data)
    while let place = data.range(of: Data(marker.utf8)) { data[place.lowerBound + 4] ^= 0x01 }
    try data.write(to: scratch.data)

    let again = try scratch.open()
    #expect(try again.text("key 1", schema) == .text("sound"))
    for body in [
      { _ = try again.text("key 23", schema) }, { _ = try again.keys(FetchRequest(schema)) },
      {
        _ = try again.count(FetchRequest(schema, where: .comparison(field: "text", .equal, .text("sound"))))
      },
    ] as [() throws -> Void] {
      let error = expectError(.damaged) { try body() }
      #expect(error?.model == "Note")
      #expect(error?.key == RecordKey([.text("key 23")]))
      #expect(error?.location == again.location)
    }
    // A damaged record can be replaced.
    try again.save([("key 23", "sound again")], schema)
    #expect(try again.keys(FetchRequest(schema)).count == 40)
  }
}
