import PersistenceDriver
import Synchronization

/// The index of a model: a cache of indexed values, validated against the status of each file before use.
///
/// The index keeps a record only if its file was last changed clearly before it was read. So any later change
/// shows in the file's size, inode or times, even one of the same size within the same tick of the file
/// system's clock. Entries do not belong to a version of the store: a snapshot validates them against the
/// files that it would read.
final class ModelIndex: Sendable {
  /// The minimum of new records that is worth writing a file.
  static let leastUnsaved = 64

  /// The fields of one declaration of the model; another may have other positions.
  private let fields: IndexedFields
  private let file: IndexFile
  private let state = Mutex(State())

  private struct State {
    var records: [String: IndexedRecord] = [:]
    var isLoaded = false
    /// The number of records added since the file was read or written.
    var unsaved = 0
  }

  init(_ fields: IndexedFields, _ file: IndexFile) {
    self.fields = fields
    self.file = file
  }

  /// Whether the index contains these fields, at any positions.
  func keeps(_ other: IndexedFields) -> Bool { fields.signature == other.signature }

  /// The entry of a record, which is valid only while its file is unchanged.
  func record(_ name: String) -> IndexedRecord? {
    state.withLock { state in
      if !state.isLoaded {
        state.isLoaded = true
        state.records = file.read(fields)
      }
      return state.records[name]
    }
  }

  /// Adds a record that was read after `start`; returns nil if a later change might not show in the status.
  @discardableResult
  func keep(
    _ name: String, _ row: borrowing Row, _ fields: IndexedFields, status: FileStatus,
    readAfter start: FileTime
  ) -> IndexedRecord? {
    guard status.isSettled(at: start), let record = IndexedRecord(row, fields, status: status) else {
      return nil
    }
    state.withLock { state in
      state.records[name] = record
      state.unsaved += 1
    }
    return record
  }

  /// Writes the file if enough records are new, without entries of other files than those of `names`.
  func saveIfWorthwhile(_ names: () throws -> [String]) {
    let isWorthwhile = state.withLock { state in
      guard state.unsaved >= max(Self.leastUnsaved, state.records.count / 8) else { return false }
      state.unsaved = 0
      return true
    }
    guard isWorthwhile, let names = try? Set(names()) else { return }
    let records = state.withLock { state in
      if state.records.count > names.count { state.records = state.records.filter { names.contains($0.key) } }
      return state.records
    }
    file.write(records, fields)
  }
}
