#if HTTP
  import PersistenceDriver
  import PersistenceHTTP

  extension StoreService {
    /// The record of a key.
    func find(_ name: String, _ key: [String], _ request: ServiceRequest) throws -> Answer {
      let schema = try schema(name, in: context)
      let parameters = try request.parameters(known: ["select"])
      let selection = try parameters["select"].map { try FieldSelection.positions($0, in: schema) }
      let key = try RecordKey(path: key, in: schema)
      let (wanted, unwanted) = (try request.ifMatchTags(), try request.ifNoneMatchTags())
      let writer = RecordWriter(schema.fields)
      var found: (record: [UInt8], answer: [UInt8])?
      _ = try context.find(key, in: schema) { row in
        var record: [UInt8] = []
        record.reserveCapacity(Self.usualSize)
        try writer.append(row, to: &record)
        let selected = try selection.map { Array(try RecordJSON.line(row, schema, selecting: $0).utf8) }
        found = (record, selected ?? record)
      }
      guard let found else { throw PersistenceError.notFound(key, in: schema) }
      // The tag is that of the whole record, so that it also guards a write.
      let tag = EntityTag(ofLine: found.record)
      guard wanted?.matches(tag) != false else {
        throw Problem(
          status: 412, .conflict, "the stored record differs from the expected one; read it again",
          model: schema.name)
      }
      guard unwanted?.matches(tag) != true else { return Answer(status: 304, tag: tag.text) }
      return Answer(status: 200, tag: tag.text, body: .json(found.answer))
    }

    /// Room for the text of most records, in bytes.
    private static let usualSize = 512

    /// The canonical line of a record; nil if it does not exist.
    func line(of key: RecordKey, _ schema: ModelSchema, in reader: any StorageReader) throws -> String? {
      var line: String?
      _ = try reader.find(key, in: schema) { line = try RecordJSON.line($0, schema) }
      return line
    }
  }
#endif
