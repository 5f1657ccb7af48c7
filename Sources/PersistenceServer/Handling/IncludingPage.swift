#if HTTP
  import PersistenceDriver
  import PersistenceDriverSupport
  import PersistenceHTTP
  import PersistencePrimitives

  /// A page of records with the related records that a query includes, as one JSON object.
  ///
  /// It is complete before it is sent: if the included records are too many, the page ends earlier.
  struct IncludingPage {
    private struct EndOfPage: Error {}
    private struct TooLong: Error {}

    /// One record of the page.
    private struct Record {
      /// The end of its text.
      let end: Int
      let anchor: [PersistentValue]
      let included: [PersistentValue]
    }

    /// Included records of one model.
    private struct Included {
      let name: String
      let writer: RecordWriter
      var bytes: [UInt8] = []
    }

    private let order: PageOrder
    private let sizeLimit: Int
    private var reader: InclusionReader
    private var bytes: [UInt8] = []
    private var records: [Record] = []
    private var hasMore = false

    /// Reads the records of a page.
    init(_ query: WireQuery, limit: Int, sizeLimit: Int, in service: StoreService) throws {
      self.sizeLimit = sizeLimit
      // One more record shows whether another page follows.
      let asked = try service.answerable(query, limit: limit + 1)
      order = asked.order
      reader = try InclusionReader(
        query.inclusions, of: query.query.schema, asked.request.reader, declared: service.declared,
        keyLimit: service.limits.relatedKeys)
      let fields = AnswerFields(query, order, including: reader.positions)
      var (bytes, records) = ([UInt8](), [Record]())
      do {
        _ = try fields.fetch(asked.request).read(from: 0, limit: limit + 1) { row in
          if records.count == limit || bytes.count > sizeLimit { throw EndOfPage() }
          try fields.writer.append(row, to: &bytes)
          records.append(
            Record(
              end: bytes.count, anchor: try fields.anchor(of: row), included: try fields.included(of: row))
          )
        }
      } catch is EndOfPage {
        hasMore = true
      }
      (self.bytes, self.records) = (bytes, records)
    }

    /// The page and the token of the next one; with half the records until what they include fits.
    consuming func answer() throws -> (bytes: [UInt8], next: String?) {
      var count = records.count
      while true {
        do {
          return try answer(count)
        } catch is TooLong {
          guard count > 1 else {
            throw PersistenceError.invalidRequest(
              "the records that one record includes have more than \(sizeLimit) bytes; ask for them in pages of their own"
            )
          }
          count /= 2
        }
      }
    }

    private mutating func answer(_ count: Int) throws -> (bytes: [UInt8], next: String?) {
      reader.forget()
      for record in records.prefix(count) { reader.note(record.included) }
      let included = try included()
      var text = Array("{\"included\":{".utf8)
      for (index, records) in included.enumerated() {
        if index > 0 { text.append(UInt8(ascii: ",")) }
        text += Array((JSONText.canonical(.string(records.name)) + ":[").utf8)
        text += records.bytes
        text.append(UInt8(ascii: "]"))
      }
      let isPart = hasMore || count < records.count
      let last = isPart ? records.prefix(count).last : nil
      let token = try last.map { try PositionToken.text(order.anchor(of: $0.anchor), of: order) }
      text += Array("},\"next\":\(token.map { "\"\($0)\"" } ?? "null"),\"records\":[".utf8)
      var start = 0
      for record in records.prefix(count) {
        if start > 0 { text.append(UInt8(ascii: ",")) }
        text += bytes[start..<record.end]
        start = record.end
      }
      text += Array("]}".utf8)
      return (text, token)
    }

    /// The included records of each model, ordered by the models' names.
    private func included() throws -> [Included] {
      var (models, size) = ([StoredName: Included](), 0)
      try reader.read { schema, row in
        let name = StoredName(schema.name)
        var records = models[name] ?? Included(name: schema.name, writer: RecordWriter(schema.fields))
        models[name] = nil  // so that the bytes are not copied
        let length = records.bytes.count
        if length > 0 { records.bytes.append(UInt8(ascii: ",")) }
        try records.writer.append(row, to: &records.bytes)
        size += records.bytes.count - length
        models[name] = records
        if size > sizeLimit { throw TooLong() }
      }
      return models.sorted { $0.key < $1.key }.map(\.value)
    }
  }
#endif
