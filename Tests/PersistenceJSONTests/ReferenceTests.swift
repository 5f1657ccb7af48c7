import PersistenceConformance
import PersistenceDriver
import PersistenceDriverSupport
import PersistenceJSON
import Testing

/// Random programs on a JSON directory and in memory, which is the reference, must have equal results.
struct ReferenceTests {
  private struct Undo: Error {}

  /// One change of a transaction.
  private enum Change {
    case save(Int64, String, String?)
    case insert(Int64, String, String?)
    case update(Int64, String, String?)
    case delete(Int64)
    case deleteWhere(String)
    case deleteAll
    case nested([Change], isUndone: Bool)
  }

  private static func change(_ random: inout SeededGenerator, depth: Int = 0) -> Change {
    let id = Int64.random(in: 0..<12, using: &random)
    let title = ["a", "b", "c", "é"].randomElement(using: &random) ?? ""
    let code = [nil, "1", "2", "3", "4", "5", "6"].randomElement(using: &random) ?? nil
    switch Int.random(in: 0..<(depth < 2 ? 12 : 10), using: &random) {
    case 0..<4: return .save(id, title, code)
    case 4..<6: return .insert(id, title, code)
    case 6: return .update(id, title, code)
    case 7, 8: return .delete(id)
    case 9:
      return Int.random(in: 0..<8, using: &random) == 0 ? .deleteAll : .deleteWhere(title)
    default:
      let inner = (0..<Int.random(in: 1...4, using: &random)).map { _ in change(&random, depth: depth + 1) }
      return .nested(inner, isUndone: Bool.random(using: &random))
    }
  }

  /// Makes a change, and says in a word what came of it.
  private static func run(_ change: Change, in transaction: any StorageTransaction) throws -> String {
    func row(_ id: Int64, _ title: String, _ code: String?) -> RowBuffer {
      let row = RowBuffer(count: Films.schema.fields.count)
      row.set(Films.row(id, title, code))
      return row
    }
    do {
      switch change {
      case .save(let id, let title, let code):
        try row(id, title, code).withRow { try transaction.save($0, in: Films.schema) }
      case .insert(let id, let title, let code):
        try row(id, title, code).withRow { try transaction.insert($0, in: Films.schema) }
      case .update(let id, let title, let code):
        try row(id, title, code).withRow { try transaction.update($0, in: Films.schema) }
      case .delete(let id): return "\(try transaction.delete(Films.key(id), in: Films.schema))"
      case .deleteWhere(let title):
        let request = try FetchRequest(
          Films.schema, where: .comparison(field: "title", .equal, .text(title)),
          order: [FieldOrder("code", isDescending: true)], limit: 2)
        return "\(try transaction.delete(request))"
      case .deleteAll: return "\(try transaction.deleteAll(in: Films.schema))"
      case .nested(let changes, let isUndone):
        var outcomes: [String] = []
        do {
          try transaction.nested {
            for change in changes { outcomes.append(try run(change, in: transaction)) }
            if isUndone { throw Undo() }
          }
        } catch is Undo {}
        return outcomes.joined(separator: " ")
      }
      return "done"
    } catch let error as PersistenceError {
      return error.code.rawValue
    }
  }

  @Test(
    "W1 W3 W4 R2 random transactions and snapshots agree with the reference",
    arguments: [1, 2, 3] as [UInt64])
  func agree(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let place = try TemporaryStore()
    var context = try place.open()
    let memory = MemoryContext()
    var held: [(any StorageSnapshot, any StorageSnapshot)] = []
    for contexts in [context, memory] as [any StorageContext] {
      try contexts.transaction { try $0.define(Films.schema) }
    }
    for _ in 0..<120 {
      let changes = (0..<Int.random(in: 1...8, using: &random)).map { _ in Self.change(&random) }
      let isUndone = Int.random(in: 0..<5, using: &random) == 0
      var outcomes: [[String]] = []
      for context in [context, memory] as [any StorageContext] {
        var list: [String] = []
        do {
          try context.transaction { transaction in
            for change in changes { list.append(try Self.run(change, in: transaction)) }
            list.append("\(try transaction.rows())")
            if isUndone { throw Undo() }
          }
        } catch is Undo {}
        outcomes.append(list)
      }
      #expect(outcomes[0] == outcomes[1], "\(changes)")
      #expect(try context.rows() == memory.rows())
      if Int.random(in: 0..<4, using: &random) == 0 {
        held.append((try context.snapshot(), try memory.snapshot()))
      }
      if Int.random(in: 0..<10, using: &random) == 0 { context = try place.open() }
      if held.count > 6 { held.remove(at: Int.random(in: 0..<held.count, using: &random)) }
      for (json, reference) in held { #expect(try json.rows() == reference.rows()) }
    }
  }
}
