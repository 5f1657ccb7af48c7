import PersistenceDriver

/// The texts of records in order, some of which are read ahead of their use.
///
/// A source then looks for later commits once for several files.
struct TextsAhead {
  private let files: RecordFiles
  private let entries: [RecordFiles.Entry]
  /// The positions of the records that were not read yet.
  private var rest: ArraySlice<Int>
  /// The texts that were read, the next one last.
  private var texts: [FileText?] = []

  init(of files: RecordFiles, _ entries: [RecordFiles.Entry], at positions: ArraySlice<Int>) {
    self.files = files
    self.entries = entries
    rest = positions
  }

  /// The text of the next record; nil if its file is gone.
  mutating func next() throws -> FileText? {
    if texts.isEmpty { try read() }
    return texts.popLast() ?? nil
  }

  private mutating func read() throws {
    guard let position = rest.first else { return }
    let (first, source, folder) = (entries[position], files.source, files.folder)
    let names = rest.prefix(source.readAhead).map { entries[$0].file }
    let next = try files.naming(first.file, first.key) { try source.texts(of: names, in: folder) }
    texts = next.reversed()
    rest = rest.dropFirst(next.count)
  }
}
