public import Foundation
public import Persistence

/// A model that other modules see.
@Persistent
public struct PublicLine: Hashable {
  /// The order.
  @ID public var order: UUID
  /// The line's number.
  @ID public let `default`: Int
  /// How many.
  public private(set) var amount: Int {
    didSet { changes += 1 }
  }
  var first, second: Int
  /// How often the amount was changed.
  @Transient public var changes = 0
  private var secret: String?

  /// Makes a line.
  public init(order: UUID, number: Int, amount: Int, secret: String? = nil) {
    self.order = order
    self.default = number
    self.amount = amount
    self.secret = secret
    first = 1
    second = 2
  }

  /// What no other type sees.
  public var revealed: String? { secret }

  /// Whether there is anything.
  public var isEmpty: Bool { amount == 0 }

  mutating func add(_ more: Int) { amount += more }
}

/// A wrapper of a key.
public struct BookID: RawRepresentable, PersistentKey, PersistentValueConvertible {
  /// The number.
  public let rawValue: Int64

  /// Makes a key.
  public init(rawValue: Int64) { self.rawValue = rawValue }
}

/// A type around a model.
public enum Library {
  /// A nested model with a key of its own type.
  @Persistent
  public struct Book: Hashable {
    /// The number.
    public var id: BookID
    /// The title.
    @Field("Der Titel") public var title: String
  }
}

/// A model for each type of value.
@Persistent
struct Box<Value: Codable & Sendable & Hashable>: Hashable {
  var id: Int
  var value: Value?
}

/// A generic model whose value is a kind that stores know.
@Persistent("counter")
struct Counter<Value: PersistentValueConvertible & Sendable & Hashable>: Hashable {
  var id = "counter"
  @Indexed var value: Value
  #Index<Counter>([\.value, \.id])
}

/// A model with a type of each name that the generated code could confuse with its own.
@Persistent
struct Grid: Hashable {
  struct Row: Codable, Hashable { var cells: [Int] }
  struct RecordSchema: Codable, Hashable {}
  var id = 0
  var row = Row(cells: [])
  var rows: [Row] = []
  var buffer: RecordSchema?
}

/// A generic type around a model that does not mention the type's parameter.
enum Shelf<Kind> {
  @Persistent
  struct Item: Hashable {
    var id: Int
  }
}

extension Shelf {
  /// A model that is nested by an extension of a generic type.
  @Persistent
  struct Label: Hashable {
    var id: Int
  }
}

extension Grid {
  /// A model that is nested by an extension.
  @Persistent
  struct Cell: Hashable {
    var id: Int
    fileprivate(set) var text = ""
  }
}

/// A model of one kind of context.
@Persistent(contexts: OtherContext.self)
struct Restricted {
  var id: Int
}

/// A context that keeps nothing.
final class OtherContext: PersistentContext {}

@Persistent
private struct Hidden: Hashable {
  var id: Int
  var text: String
}

private enum HiddenLibrary {
  @Persistent
  struct Book: Hashable {
    @ID var shelf: Int
    @ID var `inout`: String
    private var pages = 0

    init(shelf: Int, name: String, pages: Int) {
      self.shelf = shelf
      self.inout = name
      self.pages = pages
    }
  }
}

/// Saves and finds models that only this file sees.
func hiddenRoundTrip(in repository: any PersistentRepository) throws -> Bool {
  let hidden = Hidden(id: 1, text: "x")
  let book = HiddenLibrary.Book(shelf: 1, name: "x", pages: 9)
  try repository.save(hidden)
  try repository.save(book)
  let key = HiddenLibrary.Book.PrimaryKey(shelf: 1, `inout`: "x")
  return try repository.find(Hidden.self, id: 1) == hidden
    && repository.find(HiddenLibrary.Book.self, id: key) == book
}
