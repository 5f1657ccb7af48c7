import Foundation
import PersistenceConformance
import PersistenceCore
import PersistenceDriverSupport

extension PlantedDefect {
  /// U1: the updates of observers.
  static let observation: [PlantedDefect] = [
    PlantedDefect(
      "one commit in three is not reported", .u1,
      telling: { telling in
        let count = Remembered(0)
        telling.commit = { observers, transaction, commit in
          let isThird = count.change { count in
            count += 1
            return count.isMultiple(of: 3)
          }
          if isThird { try commit() } else { try observers.commit(transaction, commit) }
        }
      }
    ).hanging(),
    PlantedDefect(
      "a commit is reported twice", .u1,
      telling: { telling in
        telling.commit = { observers, transaction, commit in
          try observers.commit(transaction, commit)
          hesitate()
          try observers.commit(transaction) {}
        }
      }),
    PlantedDefect(
      "a commit is reported before it happens", .u1,
      telling: { telling in
        telling.commit = { observers, transaction, commit in
          try observers.commit(transaction) {}
          hesitate()
          try commit()
        }
      }),
    PlantedDefect(
      "a commit is visible before it is reported", .u1,
      telling: { telling in
        telling.commit = { observers, transaction, commit in
          try commit()
          hesitate()
          try observers.commit(transaction) {}
        }
      }),
    PlantedDefect(
      "rolled-back nested changes are reported", .u1,
      telling: { telling in
        telling.wrap = { UnnestedTransaction($0, engine: $1) }
      }),
    PlantedDefect(
      "rolled-back changes are reported", .u1,
      telling: { telling in
        telling.undone = { observers, transaction in try observers.commit(transaction) {} }
      }),
    PlantedDefect(
      "closing a context leaves its observers waiting", .u1,
      telling: { telling in
        telling.endsWithTheContext = false
      }
    ).hanging(),
    PlantedDefect(
      "a change of the schema does not reach the observers", .s11, .u1,
      telling: { telling in
        telling.wrap = { UnevolvedTransaction($0, engine: $1) }
      }),
  ]

  /// A defect of reporting, which no result of a request shows.
  private init(
    _ name: String, _ rules: ContractRule...,
    telling: @escaping @Sendable (inout TellingContext.Telling) -> Void
  ) {
    self.init(
      name, rules: rules,
      opening: { _, options, monitoring in
        TellingContext(memory(options, monitoring), monitoring, telling)
      })
  }
}

/// Waits long enough for an observer to read in between.
private func hesitate() { usleep(3000) }

/// A transaction whose nested transactions bypass the recording of changes.
private final class UnnestedTransaction: StorageTransactionWrapper {
  let wrapped: any StorageTransaction
  private let engine: any StorageTransaction

  init(_ wrapped: any StorageTransaction, engine: any StorageTransaction) {
    self.wrapped = wrapped
    self.engine = engine
  }

  func nested(_ body: () throws -> Void) throws { try engine.nested(body) }
}

/// A transaction whose changes of schemas bypass the recording of changes.
private final class UnevolvedTransaction: StorageTransactionWrapper {
  let wrapped: any StorageTransaction
  private let engine: any StorageTransaction

  init(_ wrapped: any StorageTransaction, engine: any StorageTransaction) {
    self.wrapped = wrapped
    self.engine = engine
  }

  func evolve(_ change: SchemaChange) throws { try engine.evolve(change) }
}
