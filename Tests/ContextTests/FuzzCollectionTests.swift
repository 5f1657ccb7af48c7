import Foundation
import OurContexts
import PersistenceConformance
import PersistenceCore
import Testing
import PersistenceDriverSupport

@Suite("Fuzzing of collections")
struct FuzzCollectionTests {
  /// Forty rows with ties, read from both ends and page by page.
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

  @Test("all contexts give the same results as the reference model")
  func agreement() throws {
    for context in ContextUnderTest.ours { try program().run(on: context) }
  }

  @Test("S1 a typed collection of a store without the model's optional fields is that of nil in them")
  func lackingFields() throws {
    let stored = try ModelSchema(
      name: "FuzzRecord",
      fields: [FieldSchema("id", .int64), FieldSchema("number", .double), FieldSchema("tag", .string)],
      key: ["id"])
    let rows = (0..<9).map { number -> [PersistentValue] in
      [.integer(Int64(number)), .double(Double(number % 3)), .text("t")]
    }
    let program = FuzzProgram(
      schemas: [stored],
      steps: [
        .define(0), .saveMany(0, rows),
        .collection(FuzzQuery(0, order: [FieldOrder("number")]), pageSize: 4, part: 2..<5),
      ])
    for context in ContextUnderTest.ours { try program.run(on: context) }
  }

  @Test("the fuzzer finds a context that rejects its own tokens")
  func wanderingStore() throws {
    let context = ContextUnderTest("wandering") { _, _, _ in WanderingContext() }
    do {
      try program().run(on: context)
      Issue.record("the fuzzer found nothing")
    } catch let difference as FuzzDifference {
      #expect(difference.expected.hasPrefix("pages by token"), "\(difference)")
      #expect(difference.found.contains("incompatibleContext"), "\(difference)")
      #expect(difference.testSource().contains(".collection(FuzzQuery(0), pageSize: 7, part: 3..<9)"))
    }
  }

  @Test("random programs include collections")
  func programsOfChance() throws {
    let context = ContextUnderTest("wandering") { _, _, _ in WanderingContext() }
    var fuzzer = Fuzzer(seed: 1, operations: 3_000)
    fuzzer.shrinkingTime = .zero
    #expect(try fuzzer.run(on: [context]).differences.count == 1)
  }
}

/// An in-memory store whose location changes on every read, as with a relative path, so that it rejects its
/// own page tokens.
private final class WanderingContext: StorageContextWrapper {
  let wrapped: any StorageContext = MemoryContext()
  var location: String { "wandering:\(UUID().uuidString)" }
}
