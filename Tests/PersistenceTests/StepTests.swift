import PersistenceCore
import PersistenceDriver
import PersistenceDriverSupport
import Testing

/// Models that a step makes, in later versions of the app.
@Suite("Steps of schema evolution")
struct StepTests {
  private let context = MemoryContext()

  private struct Person: PersistentRecord {
    var id: Int
    var city: String

    static let schema = RecordSchema<Person>(
      "Person", fields: [.field("id", \.id), .field("city", \.city)], key: [\.id])
    var primaryKey: Int { id }
    init(id: Int, city: String) { (self.id, self.city) = (id, city) }
    init(from row: borrowing Row) throws { (id, city) = (try row.decode(at: 0), try row.decode(at: 1)) }
    func encode(into row: RowBuffer) throws {
      row.encode(id, at: 0)
      row.encode(city, at: 1)
    }
  }

  /// The model that the step makes, with a fill.
  private struct Address: PersistentRecord, Equatable {
    var id: Int
    var city: String
    var country = "DE"

    static let schema = RecordSchema<Address>(
      "Address",
      fields: [.field("id", \.id), .field("city", \.city), .field("country", \.country, fill: "DE")],
      key: [\.id])
    var primaryKey: Int { id }
    init(id: Int, city: String) { (self.id, self.city) = (id, city) }
    init(from row: borrowing Row) throws {
      (id, city, country) = (try row.decode(at: 0), try row.decode(at: 1), try row.decode(at: 2))
    }
    func encode(into row: RowBuffer) throws {
      row.encode(id, at: 0)
      row.encode(city, at: 1)
      row.encode(country, at: 2)
    }
  }

  /// A later version without the field that has a fill.
  private struct Bare: PersistentRecord {
    var id: Int
    var city: String

    static let schema = RecordSchema<Bare>(
      "Address", fields: [.field("id", \.id), .field("city", \.city)], key: [\.id])
    var primaryKey: Int { id }
    init(id: Int, city: String) { (self.id, self.city) = (id, city) }
    init(from row: borrowing Row) throws { (id, city) = (try row.decode(at: 0), try row.decode(at: 1)) }
    func encode(into row: RowBuffer) throws {
      row.encode(id, at: 0)
      row.encode(city, at: 1)
    }
  }

  /// A later version under another name.
  private struct Location: PersistentRecord {
    var id: Int
    var city: String

    static let schema = RecordSchema<Location>(
      "Location", was: ["Address"], fields: [.field("id", \.id), .field("city", \.city)], key: [\.id])
    var primaryKey: Int { id }
    init(from row: borrowing Row) throws { (id, city) = (try row.decode(at: 0), try row.decode(at: 1)) }
    func encode(into row: RowBuffer) throws {
      row.encode(id, at: 0)
      row.encode(city, at: 1)
    }
  }

  private enum Second: StoreSchema {
    static let models: [any PersistentRecord.Type] = [Person.self, Address.self]
    static let evolution: [EvolutionRule] = [
      .step(making: Address.self) { old, new in
        for person in try old.fetch(Person.self) {
          try new.save(Address(id: person.id, city: person.city))
        }
      }
    ]
  }

  private enum Third: StoreSchema {
    static let models: [any PersistentRecord.Type] = [Person.self, Location.self]
    static let evolution: [EvolutionRule] = [
      .step(making: Location.self) { _, _ in Issue.record("the step ran again") }
    ]
  }

  private func second() throws -> Repository {
    try Repository(context).save(contentsOf: [Person(id: 1, city: "Oslo"), Person(id: 2, city: "Bergen")])
    return try Repository(context, schema: Second.self)
  }

  @Test("S1 a model that a step made keeps the fills of its first declaration")
  func fills() throws {
    let repository = try second()
    try Repository(context).insert(Bare(id: 3, city: "Bonn"))
    let cities = ["Oslo", "Bergen", "Bonn"].enumerated().map { Address(id: $0.offset + 1, city: $0.element) }
    #expect(try Array(repository.fetch(Address.self)) == cities)
  }

  @Test("S6 a step does not run again when its model has another name")
  func renamed() throws {
    let repository = try second()
    let third = try Repository(context, schema: Third.self)
    #expect(try third.fetch(Location.self).map(\.city) == ["Oslo", "Bergen"])
    // The earlier version, whose step makes the model under the earlier name.
    _ = try Repository(context, schema: Second.self)
    #expect(try repository.fetch(Address.self).map(\.city) == ["Oslo", "Bergen"])
    #expect(try third.count(Location.self) == 2)
  }
}
