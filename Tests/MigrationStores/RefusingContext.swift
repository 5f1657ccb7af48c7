package import PersistenceDriver
import PersistenceDriverSupport

/// A wrapper that refuses some records, like a destination with its own rules.
package final class RefusingContext: StorageContextWrapper {
  /// The wrapped context.
  package let wrapped: any StorageContext

  /// Wraps a context.
  package init(_ wrapped: any StorageContext) { self.wrapped = wrapped }

  /// Whether the context refuses a record of ``SampleStores/pairs()``: one in 97.
  package static func refuses(_ row: borrowing Row, in schema: ModelSchema) -> Bool {
    schema.name == "Pair" && Int(row[2].doubleValue * 3 + 0.5).isMultiple(of: 97)
  }

  package func wrap(_ transaction: any StorageTransaction) -> any StorageTransaction {
    Transaction(transaction)
  }

  private final class Transaction: StorageTransactionWrapper {
    let wrapped: any StorageTransaction

    init(_ wrapped: any StorageTransaction) { self.wrapped = wrapped }

    func insert(_ row: borrowing Row, in schema: ModelSchema) throws {
      if RefusingContext.refuses(row, in: schema) {
        throw PersistenceError(.invalidRequest, "the destination takes no such record", model: schema.name)
      }
      try wrapped.insert(row, in: schema)
    }
  }
}
