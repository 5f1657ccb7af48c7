package import PersistenceDriver

/// A context that can pass on the rows of a request in one pass, without results that live on.
///
/// Results must show their moment for as long as they live (contract R2). A caller that reads all rows once needs
/// neither a snapshot nor a copy for that.
package protocol SinglePassContext: StorageContext {
  /// Passes on the rows of a request, which have all fields, in order and as they are at one moment.
  ///
  /// - Parameters:
  ///   - request: The rows.
  ///   - body: Called with each borrowed row. Its error ends the pass.
  /// - Returns: The number of rows; nil if only ``StorageReader/fetch(_:)`` can answer the request, before any row was
  ///   passed on.
  /// - Throws: ``PersistenceError``, and the closure's error.
  func readOnce(_ request: FetchRequest, _ body: (borrowing Row) throws -> Void) throws -> Int?
}
