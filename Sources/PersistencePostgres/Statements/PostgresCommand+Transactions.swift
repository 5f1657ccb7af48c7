extension PostgresCommand {
  /// The begin of a transaction that reads.
  static let beginReading = PostgresCommand("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", prepared: -6)

  /// The begin of a transaction that runs beside others, with its first writes.
  static let beginReplayable = PostgresCommand("BEGIN ISOLATION LEVEL SERIALIZABLE", prepared: -14)
  static let commit = PostgresCommand("COMMIT", prepared: -5)
  static let rollback = PostgresCommand("ROLLBACK")

  /// The begin of a read that can be undone alone.
  static let savepointOfRead = PostgresCommand("SAVEPOINT read", prepared: -1)
  static let releaseOfRead = PostgresCommand("RELEASE read", prepared: -2)

  /// The statements around prepared ones that the server plans for their values each time.
  ///
  /// The connection is outside of transactions, so a batch that fails undoes the first one.
  static let planForValues = PostgresCommand("SET plan_cache_mode = force_custom_plan", prepared: -23)
  static let planAsUsual = PostgresCommand("SET plan_cache_mode TO DEFAULT", prepared: -24)

  /// The statement that limits how long transactions that are committed as one wait for a lock: less than the server does
  /// before it looks for a deadlock of two such groups.
  static let lockTimeoutOfGroup = lockTimeout(.milliseconds(50), prepared: -25)

  /// The statement that limits how long the statements of a transaction wait for locks.
  static func lockTimeout(_ time: Duration, prepared: Int? = nil) -> PostgresCommand {
    // 0 would mean no limit, and a long time may exceed any integer.
    let milliseconds = Int64(max(1, min(time / .milliseconds(1), Double(Int32.max))))
    return PostgresCommand("SET LOCAL lock_timeout = \(milliseconds)", prepared: prepared)
  }
}
