package import PersistenceDriver

extension FittedContext: SinglePassContext {
  /// Passes on the mapped rows of a request; nil if the wrapped context does not pass rows on.
  package func readOnce(_ request: FetchRequest, _ body: (borrowing Row) throws -> Void) throws -> Int? {
    guard let context = wrapped as? any SinglePassContext else { return nil }
    return try fits.withMapping(of: request.schema, wrapped) { mapping in
      guard let mapping else { return try context.readOnce(request, body) }
      let stored = try mapping.request(request)
      if mapping.keepsRows { return try context.readOnce(stored, body) }
      let width = request.schema.fields.count
      if mapping.keepsFirstFields {
        return try context.readOnce(stored) { try body(try $0.prefix(width)) }
      }
      let mapped = RowBuffer(count: width)
      return try context.readOnce(stored) { row in
        try mapping.fill(mapped, from: row)
        try mapped.withRow(body)
      }
    }
  }
}
