package import PersistenceDriver

extension FittedContext: SinglePassContext {
  /// Passes on the rows of a request; nil if the wrapped context does not pass rows on, or a mapping changes rows: a fetch
  /// then reads only the stored fields that the declaration has.
  package func readOnce(_ request: FetchRequest, _ body: (borrowing Row) throws -> Void) throws -> Int? {
    guard let context = wrapped as? any SinglePassContext, !fits.isKnownToChange(rowsOf: request.schema)
    else {
      return nil
    }
    var failure: (any Error)?
    do {
      return try fits.withMapping(of: request.schema, wrapped) { mapping in
        if mapping?.keepsRows == false { return nil }
        return try context.readOnce(mapping?.request(request) ?? request) { row in
          do {
            try body(row)
          } catch {
            // It says nothing about the mapping, with which rows must not be passed on again.
            failure = error
            throw EndedPass()
          }
        }
      }
    } catch is EndedPass {
      throw failure ?? EndedPass()
    }
  }
}

/// The end of a pass whose closure has thrown.
private struct EndedPass: Error {}
