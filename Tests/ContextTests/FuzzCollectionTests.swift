import Foundation
import OurContexts
import PersistenceConformance
import PersistenceCore
import Testing
import PersistenceDriverSupport

@Suite("Programs that look at collections")
struct FuzzCollectionTests {
  /// Forty rows with ties, looked at from both ends and page by page.
  private func program() throws -> FuzzProgram {
    let schema = try ModelSchema(
      name: "FuzzRecord",
      fields: [
        FieldSchema("id", .int64), FieldSchema("text", .string, isOptional: true),
        FieldSchema("number", .double),
        FieldSchema("count", .int64, isOptional: true), FieldSchema("day", .date, isOptional: true),
        FieldSchema("tag", .string),
      ], key: ["id"],
      indexes: [
        IndexSchema(["text"]), IndexSchema(["tag", "number"]), IndexSchema(["count"], isUnique: true),
      ])
    var rows: [[PersistentValue]] = []
    for number in 0..<40 {
      let text: PersistentValue = number % 3 == 0 ? .null : .text("t\(number % 4)")
      let count: PersistentValue = number % 2 == 0 ? .null : .integer(Int64(number))
      let tag = number % 2 == 0 ? "a" : "b"
      let key = Int64(number * 7 % 40)
      rows.append([.integer(key), text, .double(Double(number % 5)), count, .null, .text(tag)])
    }
    let order = [FieldOrder("tag", isDescending: true), FieldOrder("number")]
    return FuzzProgram(
      schemas: [schema],
      steps: [
        .define(0), .saveMany(0, rows), .collection(FuzzQuery(0), pageSize: 7, part: 3..<9),
        .collection(FuzzQuery(0, order: order, limit: 25, offset: 4), pageSize: 5, part: 2..<30),
        .collection(
          FuzzQuery(0, where: .comparison(field: "number", .less, .double(3))), pageSize: 40, part: 0..<0),
      ])
  }

  @Test("all contexts show what the reference does")
  func agreement() throws {
    for context in ContextUnderTest.ours { try program().run(on: context) }
  }

  @Test("a context whose tokens do not hold is found")
  func wanderingStore() throws {
    let context = ContextUnderTest("wandering") { _, _, _ in WanderingContext() }
    do {
      try program().run(on: context)
      Issue.record("nothing was found")
    } catch let difference as FuzzDifference {
      #expect(difference.expected.hasPrefix("pages by token"), "\(difference)")
      #expect(difference.found.contains("incompatibleContext"), "\(difference)")
      #expect(difference.testSource().contains(".collection(FuzzQuery(0), pageSize: 7, part: 3..<9)"))
    }
  }

  @Test("the programs of chance look at collections, too")
  func programsOfChance() throws {
    let context = ContextUnderTest("wandering") { _, _, _ in WanderingContext() }
    var fuzzer = Fuzzer(seed: 1, operations: 3_000)
    fuzzer.shrinkingTime = .zero
    #expect(try fuzzer.run(on: [context]).differences.count == 1)
  }
}

/// A store in memory that is at another place whenever it is asked, as one would be that names a path it has not
/// made absolute: no page token is its own.
private final class WanderingContext: StorageContextWrapper {
  let wrapped: any StorageContext = MemoryContext()
  var location: String { "wandering:\(UUID().uuidString)" }
}
