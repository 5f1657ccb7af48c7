import CPostgres
import PersistenceDriver

extension PostgresConnection {
  /// Copies rows into a table, outside of the pipeline, which cannot contain COPY.
  ///
  /// - Throws: ``PersistenceError`` of the first row that the server refuses; it has copied none then, and the transaction
  ///   has failed.
  func copy(_ statement: String, _ bytes: [UInt8], _ action: String) throws {
    guard !isBroken else { throw PostgresErrorMapping.lost(handle, action, store.location) }
    let deadline = store.configuration.statementTimeout.map { ContinuousClock.now + $0 }
    let wait = Wait(deadline: deadline, isReading: false, action: action)
    while unread > 0 { try skipBatch(wait) }
    guard PQexitPipelineMode(handle) == 1, PQsendQuery(handle, statement) == 1 else { throw broken(action) }
    try flush(wait)
    guard let answer = try nextResult(wait) else { throw broken(action) }
    var failure: PersistenceError?
    if PQresultStatus(answer.handle) == PGRES_COPY_IN {
      try send(bytes, wait)
    } else {
      failure = error(of: answer, action)
    }
    while let result = try nextResult(wait) {
      if PQresultStatus(result.handle) != PGRES_COMMAND_OK { failure = failure ?? error(of: result, action) }
    }
    if failure?.isLostConnection ?? false { abandon() }
    if !isBroken, PQenterPipelineMode(handle) != 1 { throw broken(action) }
    if let failure { throw failure }
  }

  private func error(of result: PostgresResult, _ action: String) -> PersistenceError {
    PostgresErrorMapping.error(result.handle, handle, action, store.location)
  }

  private func send(_ bytes: [UInt8], _ wait: Wait) throws {
    var start = 0
    while start < bytes.count {
      let code = bytes[start...].prefix(1 << 16).withUnsafeBytes { part in
        PQputCopyData(handle, part.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(part.count))
      }
      guard code >= 0 else { throw broken(wait.action) }
      // 0 means that libpq's buffer is full.
      if code == 1 { start += 1 << 16 }
      try flush(wait)
    }
    while true {
      let code = PQputCopyEnd(handle, nil)
      guard code >= 0 else { throw broken(wait.action) }
      try flush(wait)
      if code == 1 { return }
    }
  }
}
