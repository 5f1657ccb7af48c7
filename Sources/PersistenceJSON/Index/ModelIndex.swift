import PersistenceDriver
import Synchronization

/// What is known of a model's records without opening their files: a cache, checked against the status of each file
/// before it is believed.
///
/// A record is kept only where its file was last changed clearly before it was read. So any later change, by
/// whomever, shows in the file's size, inode or times, also one of the same size within the same tick of the file
/// system's clock. What is kept does not belong to a version of the store: a snapshot asks for the files that it
/// would read, and reads those that have other statuses.
final class ModelIndex: Sendable {
  /// Fewer new records than this are not worth writing a file.
  static let leastUnsaved = 64

  /// The fields, as one declaration of the model has them: another may have them at other positions.
  private let fields: IndexedFields
  private let file: IndexFile
  private let state = Mutex(State())

  private struct State {
    var records: [String: IndexedRecord] = [:]
    var isLoaded = false
    /// How many records were kept since the file was read or written.
    var unsaved = 0
  }

  init(_ fields: IndexedFields, _ file: IndexFile) {
    self.fields = fields
    self.file = file
  }

  /// Whether the index keeps these fields, wherever rows have them.
  func keeps(_ other: IndexedFields) -> Bool { fields.signature == other.signature }

  /// What is known of a record, were its file still the same.
  func record(_ name: String) -> IndexedRecord? {
    state.withLock { state in
      if !state.isLoaded {
        state.isLoaded = true
        state.records = file.read(fields)
      }
      return state.records[name]
    }
  }

  /// Keeps what a file's reading gave.
  ///
  /// - Parameters:
  ///   - name: The file's name.
  ///   - row: The record.
  ///   - fields: The fields, as the row has them.
  ///   - status: The file's status after it was read.
  ///   - start: A moment before it was read.
  /// - Returns: What is kept; nil where a later change might not show.
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

  /// Writes the file, where enough is new to be worth it.
  ///
  /// - Parameter names: Gives the names of all files, so that the others are forgotten.
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

/// The indexes of a store's models.
final class ModelIndexes: Sendable {
  private let known = Mutex<[String: ModelIndex]>([:])

  /// The index of a model's folder.
  func index(of folder: String, _ fields: IndexedFields, _ file: () -> IndexFile) -> ModelIndex {
    known.withLock { known in
      if let index = known[folder], index.keeps(fields) { return index }
      let index = ModelIndex(fields, file())
      known[folder] = index
      return index
    }
  }
}
