import PersistenceCore

extension Query where Model: PersistentRecord {
  /// Fetches the keys of the records, in order.
  func ids() throws -> [Model.PrimaryKey] { try result().map(\.primaryKey) }
}

/// Returns all pages of a query, each after the last record of the previous page.
func pages<Model: PersistentRecord>(of size: Int, _ query: Query<Model>) throws -> [Model] {
  var pages: [Model] = []
  var next = query.limit(size)
  while true {
    let page = Array(try next.result())
    pages += page
    guard page.count == size, let last = page.last else { return pages }
    next = query.limit(size).after(last)
  }
}
