import Foundation
import PersistenceDriver
import PersistencePrimitives

/// How requests and answers look to one sort of server: the one seam between stores and servers.
protocol RemoteDialect: Sendable {
  /// Gives the next record of an answer; nil at the end.
  typealias Rows = @Sendable () async throws(PersistenceError) -> JSONValue?

  /// Whether a query may begin after a record.
  var seeksByKey: Bool { get }

  func insert(_ record: any RemoteRow) async throws(PersistenceError) -> JSONValue
  func update(_ record: any RemoteRow, replacing expected: (any RemoteRow)?) async throws(PersistenceError)
    -> JSONValue
  func save(_ record: any RemoteRow) async throws(PersistenceError) -> JSONValue
  /// The record as it was; nil where there was none.
  func delete(_ record: any RemoteRow) async throws(PersistenceError) -> JSONValue?
  /// Whether the changes were made now, rather than by an earlier request of that id.
  func apply(_ changes: [RemoteChange], id: UUID, schema: ModelSchema) async throws(PersistenceError) -> Bool
  func find(_ key: RecordKey, _ schema: ModelSchema) async throws(PersistenceError) -> JSONValue?
  /// The records of a query; nil where the server has none of the model.
  func fetch(_ request: FetchRequest) async throws(PersistenceError) -> Rows?
  func count(_ request: FetchRequest) async throws(PersistenceError) -> Int
}
