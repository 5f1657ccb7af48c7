import Foundation
import PersistenceDriver

/// What a ``StoreMove`` has copied, and how far the old store has been retired; the new store keeps it.
///
/// The transaction that publishes the copy saves it. A later launch that finds an old store can so tell whether it is the
/// one that was copied.
///
/// The property names are the stored format.
struct MoveReceipt: Codable {
  /// The format that this version of the package writes.
  static let currentFormat = 1

  /// How far the old store has been retired.
  enum State: String, Codable {
    /// It was copied, and is untouched.
    case moved
    /// Its retirement has begun, so that parts of it may be gone.
    case retiring
    /// It was retired.
    case retired
  }

  var format = currentFormat
  var state = State.moved
  /// The ledger of the finished migration, with the counts and digests of the records.
  var head: LedgerHead
  var entries: [LedgerEntry]

  init(_ ledger: Ledger) { (head, entries) = (ledger.head, ledger.entries) }

  static func schema() throws -> ModelSchema {
    try ModelSchema(
      name: ReservedModel.move, fields: [FieldSchema("id", .string), FieldSchema("content", .string)],
      key: ["id"])
  }

  /// The receipt in a store's latest state; nil if nothing was moved to it.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/damaged`` if it is unreadable.
  static func find(in context: any StorageContext) throws -> MoveReceipt? {
    let (reader, schema) = (try context.snapshot(), try schema())
    guard try reader.schema(named: schema.name) != nil else { return nil }
    var data: Data?
    _ = try reader.find(RecordKey([.text("")]), in: schema) { data = Data($0[1].borrowedBytes) }
    guard let data else { return nil }
    do {
      let receipt = try JSONDecoder().decode(MoveReceipt.self, from: data)
      guard receipt.format == currentFormat else { throw damage("has the format \(receipt.format)", context) }
      return receipt
    } catch let error as DecodingError {
      throw damage("is unreadable (\(error))", context)
    }
  }

  /// Saves the receipt, in the transaction that does what it says.
  func save(in transaction: any StorageTransaction) throws {
    let (schema, row) = (try Self.schema(), RowBuffer(count: 2))
    try transaction.define(schema)
    row.setText("", at: 0)
    row.setText(try Ledger.text(self), at: 1)
    try row.withRow { try transaction.save($0, in: schema) }
  }

  private static func damage(_ reason: String, _ context: any StorageContext) -> PersistenceError {
    PersistenceError(
      .damaged,
      "the receipt of the store's move (the model \(ReservedModel.move)) \(reason); the old store was not retired; "
        + "restore the store from a backup, or delete this model if the old store is not needed",
      location: context.location)
  }
}

extension ReservedModel {
  /// The receipt of a move.
  static let move = "persistence.move"
}
