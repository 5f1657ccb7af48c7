import PersistenceCore

/// A version of the model: the number of its added fields, and where their values come from.
protocol Version: Sendable {
  static var added: Int { get }
  /// Whether the newest added field is computed from `length`; otherwise, each has a fill.
  static var isComputed: Bool { get }
}

extension Version {
  static var isComputed: Bool { false }
}

enum Old: Version { static let added = 0 }
enum Added1: Version { static let added = 1 }
enum Added2: Version { static let added = 2 }
enum Added3: Version { static let added = 3 }
enum Added4: Version { static let added = 4 }
enum Added5: Version { static let added = 5 }
enum Added6: Version { static let added = 6 }

protocol ComputedVersion: Version {}
extension ComputedVersion { static var isComputed: Bool { true } }
enum Computed1: ComputedVersion { static let added = 1 }
enum Computed2: ComputedVersion { static let added = 2 }
enum Computed3: ComputedVersion { static let added = 3 }
enum Computed4: ComputedVersion { static let added = 4 }

/// A movie that gets more fields from version to version.
struct Grown<Form: Version>: PersistentRecord {
  var id: Int
  var title: String
  var length: String
  var votes: Int
  var price: Double
  var added1 = 0
  var added2 = 0
  var added3 = 0
  var added4 = 0
  var added5 = 0
  var added6 = 0

  static var added: [SendableKeyPath<Grown, Int>] {
    [\.added1, \.added2, \.added3, \.added4, \.added5, \.added6]
  }

  static var schema: RecordSchema<Grown> {
    .shared(for: Grown.self) {
      let added = zip(added, 1...6).prefix(Form.added).map { path, number in
        RecordField<Grown>.field("added\(number)", path, fill: Form.isComputed ? nil : number)
      }
      return RecordSchema(
        "Movie",
        fields: [
          .field("id", \.id), .field("title", \.title), .field("length", \.length), .field("votes", \.votes),
          .field("price", \.price),
        ] + added, key: [\.id])
    }
  }

  var primaryKey: Int { id }

  /// The movie of a number, which is the same in every run.
  init(number: Int) {
    id = number
    title = "Movie number \(number % 9973) of many"
    length = "\(number % 3):\(number % 50 + 10)"
    votes = number &* 7919 % 1_000_000
    price = Double(number % 1000) / 4
  }

  init(from row: borrowing Row) throws {
    id = try row.decode(at: 0)
    title = try row.decode(at: 1)
    length = try row.decode(at: 2)
    votes = try row.decode(at: 3)
    price = try row.decode(at: 4)
    if Form.added > 0 { added1 = try row.decode(at: 5) }
    if Form.added > 1 { added2 = try row.decode(at: 6) }
    if Form.added > 2 { added3 = try row.decode(at: 7) }
    if Form.added > 3 { added4 = try row.decode(at: 8) }
    if Form.added > 4 { added5 = try row.decode(at: 9) }
    if Form.added > 5 { added6 = try row.decode(at: 10) }
  }

  func encode(into row: RowBuffer) throws {
    row.encode(id, at: 0)
    row.encode(title, at: 1)
    row.encode(length, at: 2)
    row.encode(votes, at: 3)
    row.encode(price, at: 4)
    if Form.added > 0 { row.encode(added1, at: 5) }
    if Form.added > 1 { row.encode(added2, at: 6) }
    if Form.added > 2 { row.encode(added3, at: 7) }
    if Form.added > 3 { row.encode(added4, at: 8) }
    if Form.added > 4 { row.encode(added5, at: 9) }
    if Form.added > 5 { row.encode(added6, at: 10) }
  }
}

/// The app in a version.
enum App<Form: Version>: StoreSchema {
  static var models: [any PersistentRecord.Type] { [Grown<Form>.self] }
  static var evolution: [EvolutionRule] {
    guard Form.isComputed else { return [] }
    return [
      .compute(Grown<Form>.added[Form.added - 1], from: "length") { old in
        minutes(try old("length", as: String.self).utf8)
      }
    ]
  }
}

/// The minutes of a length, such as `1:57`, for all contenders.
@inline(__always)
func minutes(_ length: some Sequence<UInt8>) -> Int {
  var (hours, number) = (0, 0)
  for byte in length {
    if byte == UInt8(ascii: ":") {
      (hours, number) = (number, 0)
    } else {
      number = number * 10 + Int(byte) - 48
    }
  }
  return hours * 60 + number
}
