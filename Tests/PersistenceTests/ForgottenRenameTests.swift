import Foundation
import PersistenceCore
import PersistenceDriver
import PersistenceDriverSupport
import Testing

/// A version of the declaration of one field, and of the name of its model.
private protocol PriceField: Sendable {
  static var model: String { get }
  static var formerModels: [String] { get }
  static var name: String { get }
  static var formerNames: [String] { get }
  static var fill: Double? { get }
}

extension PriceField {
  static var model: String { "Ticket" }
  static var formerModels: [String] { [] }
  static var name: String { "cost" }
  static var formerNames: [String] { [] }
  static var fill: Double? { nil }
}

private struct Ticket<Price: PriceField>: PersistentRecord {
  var id: Int
  var price: Double

  static var schema: RecordSchema<Ticket> {
    .shared(for: Ticket.self) {
      RecordSchema(
        Price.model, was: Price.formerModels,
        fields: [
          .field("id", \.id), .field(Price.name, \.price, was: Price.formerNames, fill: Price.fill),
        ], key: [\.id])
    }
  }

  var primaryKey: Int { id }

  init(id: Int, price: Double) { (self.id, self.price) = (id, price) }

  init(from row: borrowing Row) throws { (id, price) = (try row.decode(at: 0), try row.decode(at: 1)) }

  func encode(into row: RowBuffer) throws {
    row.encode(id, at: 0)
    row.encode(price, at: 1)
  }
}

private enum Shop<Price: PriceField>: StoreSchema {
  static var models: [any PersistentRecord.Type] { [Ticket<Price>.self] }
}

/// `cost` becomes `price`, and the developer forgets `was:`.
@Suite("A forgotten was:")
struct ForgottenRenameTests {
  private enum Before: PriceField {}
  private enum Bare: PriceField { static let name = "price" }
  private enum Right: PriceField {
    static let name = "price"
    static let formerNames = ["cost"]
  }
  private enum Defaulted: PriceField {
    static let name = "price"
    static let fill: Double? = 0
  }
  private enum Late: PriceField {
    static let name = "price"
    static let formerNames = ["cost"]
    static let fill: Double? = 0
  }
  private enum Third: PriceField {
    static let name = "price2"
    static let formerNames = ["cost"]
  }

  private let context = MemoryContext()

  private func fill() throws {
    try Repository(context, schema: Shop<Before>.self)
      .insert(contentsOf: (1...5).map { Ticket<Before>(id: $0, price: Double($0)) })
  }

  private func prices<Price: PriceField>(_ price: Price.Type) throws -> [Double] {
    try Repository(context, schema: Shop<Price>.self).filter(Ticket<Price>.self).sorted(by: \.id).result()
      .map(\.price)
  }

  @Test("the error names the stored fields first, since a default would hide their values; its advice works")
  func advice() throws {
    try fill()
    let error = #expect(throws: PersistenceError.self) { try prices(Bare.self) }
    let message = error?.message ?? ""
    let (renamed, fill) = (message.range(of: "was: \"cost\""), message.range(of: "default value"))
    #expect(renamed != nil && fill != nil && message.contains("StoreSchema"), "\(message)")
    if let renamed, let fill { #expect(renamed.lowerBound < fill.lowerBound) }
    #expect(try prices(Right.self) == [1, 2, 3, 4, 5])
  }

  @Test("S8 values that a default hid are taken by a third name, as the guide says")
  func repair() throws {
    try fill()
    #expect(try prices(Defaulted.self) == [0, 0, 0, 0, 0])
    #expect(try prices(Late.self) == [0, 0, 0, 0, 0], "the store has both fields")
    #expect(try prices(Third.self) == [1, 2, 3, 4, 5])
    let repository = try Repository(context, schema: Shop<Third>.self)
    try repository.insert(Ticket<Third>(id: 6, price: 6))
    #expect(try prices(Third.self) == [1, 2, 3, 4, 5, 6])
  }

  private enum RenamedModel: PriceField { static let model = "Pass" }
  private enum ThirdModel: PriceField {
    static let model = "Pass2"
    static let formerModels = ["Ticket"]
  }

  @Test("S8 records of a model renamed without a word are taken by a third name, as the guide says")
  func model() throws {
    try fill()
    #expect(try prices(RenamedModel.self) == [])
    try Repository(context).insert(Ticket<RenamedModel>(id: 6, price: 6))
    #expect(try prices(ThirdModel.self) == [1, 2, 3, 4, 5])
    #expect(try prices(RenamedModel.self) == [6], "what was saved under the second name stays there")
  }
}
