import PersistenceDriver
import PersistenceKeyValue
import PersistenceDriverSupport

/// A reader with what keeps its store open, used by one thread at a time.
///
/// A context keeps several between reads, so that threads which read at once count no reference in common.
final class LMDBReaderSlot: @unchecked Sendable {  // whoever took it out of its place is alone with it
  let reader: LMDBReader
  let session: LMDBSession
  let store: KeyValueStore

  init(_ reader: LMDBReader, _ session: LMDBSession) {
    self.reader = reader
    self.session = session
    store = KeyValueStore(session.environment.store)
  }

  /// Gives the reader back to the store.
  func end() { session.environment.release(reader) }
}

typealias LMDBReaderSlots = StripedPool<LMDBReaderSlot>
