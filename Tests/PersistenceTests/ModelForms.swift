public import Foundation
public import Persistence

/// A model that other modules can access.
@Persistent
public struct PublicLine: Hashable {
  /// The order.
  @ID public var order: UUID
  /// The number of the line.
  @ID public let `default`: Int
  /// The amount.
  public private(set) var amount: Int {
    didSet { changes += 1 }
  }
  var first, second: Int
  /// The number of changes of the amount.
  @Transient public var changes = 0
  private var secret: String?

  /// Creates a line.
  public init(order: UUID, number: Int, amount: Int, secret: String? = nil) {
    self.order = order
    self.default = number
    self.amount = amount
    self.secret = secret
    first = 1
    second = 2
  }

  /// A property that no other type can access.
  public var revealed: String? { secret }

  /// Whether the amount is zero.
  public var isEmpty: Bool { amount == 0 }

  mutating func add(_ more: Int) { amount += more }
}

/// A wrapper of a key.
public struct BookID: RawRepresentable, PersistentKey, PersistentValueConvertible {
  /// The number.
  public let rawValue: Int64

  /// Creates a key.
  public init(rawValue: Int64) { self.rawValue = rawValue }
}

/// A type that contains a model.
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

/// A type that contains models, and the type of their keys.
enum Hotel {
  struct RoomID: RawRepresentable, PersistentKey, PersistentValueConvertible { let rawValue: Int64 }

  @Persistent
  struct Room: Hashable { var id: RoomID }

  @Persistent
  struct Stay: Hashable {
    @ID var room: RoomID
    @ID var day: Int
  }
}

/// A generic model: one model for each type of value.
@Persistent
struct Box<Value: Codable & Sendable & Hashable>: Hashable {
  var id: Int
  var value: Value?
}

/// A generic model whose value is `PersistentValueConvertible`.
@Persistent("counter")
struct Counter<Value: PersistentValueConvertible & Sendable & Hashable>: Hashable {
  var id = "counter"
  @Indexed var value: Value
  #Index<Counter>([\.value, \.id])
}

/// A model beside types whose names could collide with those in the generated code.
@Persistent
struct Grid: Hashable {
  struct Row: Codable, Hashable { var cells: [Int] }
  struct RecordSchema: Codable, Hashable {}
  var id = 0
  var row = Row(cells: [])
  var rows: [Row] = []
  var buffer: RecordSchema?
}

/// A generic type that contains a model without a use of the type's parameter.
enum Shelf<Kind> {
  @Persistent
  struct Item: Hashable {
    var id: Int
  }
}

extension Shelf {
  /// A model nested in an extension of a generic type.
  @Persistent
  struct Label: Hashable {
    var id: Int
  }
}

extension Grid {
  /// A model nested in an extension.
  @Persistent
  struct Cell: Hashable {
    var id: Int
    fileprivate(set) var text = ""
  }
}

/// A model that supports one type of context.
@Persistent(contexts: OtherContext.self)
struct Restricted {
  var id: Int
}

/// A context that stores nothing.
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

/// Saves and finds models that are private to this file.
func hiddenRoundTrip(in repository: any PersistentRepository) throws -> Bool {
  let hidden = Hidden(id: 1, text: "x")
  let book = HiddenLibrary.Book(shelf: 1, name: "x", pages: 9)
  try repository.save(hidden)
  try repository.save(book)
  let key = HiddenLibrary.Book.PrimaryKey(shelf: 1, `inout`: "x")
  return try repository.find(Hidden.self, id: 1) == hidden
    && repository.find(HiddenLibrary.Book.self, id: key) == book
}
