#if HTTP
  import PersistenceDriver
  import PersistenceDriverSupport
  import Synchronization

  /// A page of records as one JSON object, in chunks.
  ///
  /// A page that is short enough is one chunk. A longer one holds a snapshot until it is sent. One request uses it.
  final class RecordPage: AnswerStream {
    /// A page that is complete, and the token of the next one.
    struct Whole {
      let bytes: [UInt8]
      let next: String?
      let isEmpty: Bool
    }

    private struct Progress {
      var text: PageText
      /// A chunk that was read but not returned.
      var first: [UInt8]?
    }

    private let results: any StorageResults
    private let progress: Mutex<Progress>

    /// Fetches the records of a page, and reads its first chunk.
    ///
    /// The request asks for one record more than the page has.
    init(_ form: PageForm, _ request: AnswerableRequest) throws {
      results = try form.fields.fetch(request)
      var text = PageText(form)
      let first = try Self.chunk(of: &text, results)
      progress = Mutex(Progress(text: text, first: first))
    }

    /// The whole page as a context passes on its rows once; nil if it must be fetched, or is too long.
    static func whole(
      _ form: PageForm, _ request: FetchRequest, passedOnBy context: any SinglePassContext,
      ifTooLong noteLength: () -> Void
    ) throws -> Whole? {
      var text = PageText(form)
      var mustFetch = false
      let bytes = try text.chunk { body in mustFetch = try context.readOnce(request, body) == nil }
      if mustFetch { return nil }
      guard text.isComplete else {
        noteLength()
        return nil
      }
      return Whole(bytes: bytes, next: text.next, isEmpty: text.count == 0)
    }

    /// Whether no record of the page has been read.
    var isEmpty: Bool { progress.withLock { $0.text.count == 0 } }

    /// The whole page, if the first chunk contains it; nil for a longer page.
    func whole() -> Whole? {
      progress.withLock { progress in
        guard progress.text.isComplete, let first = progress.first else { return nil }
        return Whole(bytes: first, next: progress.text.next, isEmpty: progress.text.count == 0)
      }
    }

    func next() throws -> [UInt8]? {
      var progress = progress.withLock { progress in
        defer { progress.first = nil }
        return progress
      }
      if let first = progress.first { return first }
      if progress.text.isComplete { return nil }
      let bytes = try Self.chunk(of: &progress.text, results)
      let reached = progress.text
      self.progress.withLock { $0.text = reached }
      return bytes
    }

    private static func chunk(of text: inout PageText, _ results: any StorageResults) throws -> [UInt8] {
      let (count, wanted) = (text.count, text.wanted)
      return try text.chunk { body in _ = try results.read(from: count, limit: wanted, body) }
    }
  }
#endif
