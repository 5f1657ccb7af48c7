import PersistenceDriver

/// A place in the write-ahead log, up to which a server has written or replayed it.
struct PostgresPosition: Sendable, Comparable {
  /// The number of the server's history, which grows with each promotion.
  let timeline: Int64
  /// The number of bytes of the log before the place.
  let offset: Int64

  init(timeline: Int64, offset: Int64) { (self.timeline, self.offset) = (timeline, offset) }

  /// The position in the answer to ``ofPrimary`` or ``ofStandby``.
  init?(_ result: PostgresResult?) {
    guard let result, result.count == 1, let timeline = result.integer(0, 0),
      let offset = result.integer(0, 1)
    else { return nil }
    self.init(timeline: timeline, offset: offset)
  }

  static func < (one: Self, other: Self) -> Bool {
    (one.timeline, one.offset) < (other.timeline, other.offset)
  }

  /// Whether a standby that has replayed this much shows all that was committed before another position.
  ///
  /// A standby that still follows a replaced server may be further in the log, and lacks what the new server commits.
  func includes(_ other: Self) -> Bool { timeline >= other.timeline && offset >= other.offset }

  /// The statement that reads the position behind all commits that have returned.
  ///
  /// The position of the last flush would lack commits that do not wait for one. That of the last insertion may be behind
  /// records that the server has not flushed, and so has not sent.
  static let ofPrimary = PostgresCommand(
    "SELECT ('x' || pg_catalog.left(pg_catalog.pg_walfile_name(place), 8))::bit(32)::int8, "
      + "pg_catalog.pg_wal_lsn_diff(place, '0/0')::int8 "
      + "FROM (SELECT CASE pg_catalog.current_setting('synchronous_commit') "
      + "WHEN 'off' THEN pg_catalog.pg_current_wal_insert_lsn() "
      + "ELSE pg_catalog.pg_current_wal_flush_lsn() END AS place) AS newest", prepared: -12)

  /// The statement that reads what a standby has replayed.
  ///
  /// The control file learns of a new timeline at the next restart point. The receiver knows it at once, and tells it to
  /// members of pg_monitor.
  static let ofStandby = PostgresCommand(
    "SELECT GREATEST(point.timeline_id, recovery.min_recovery_end_timeline, receiver.received_tli)::int8, "
      + "coalesce(pg_catalog.pg_wal_lsn_diff(pg_catalog.pg_last_wal_replay_lsn(), '0/0'), 0)::int8 "
      + "FROM pg_catalog.pg_control_checkpoint() AS point, pg_catalog.pg_control_recovery() AS recovery "
      + "LEFT JOIN pg_catalog.pg_stat_wal_receiver AS receiver ON true", prepared: -13)
}
