#if HTTP
  import PersistenceDriver
  import PersistenceHTTP

  extension StoreService {
    /// The record of a key.
    func find(_ name: String, _ key: [String], _ request: ServiceRequest) throws -> Answer {
      let schema = try schema(name, in: context)
      if isUnmapped { known.keep(schema) }
      let read = try RecordRead(key, in: schema, request)
      guard let answer = try answer(to: read, writer ?? RecordWriter(schema.fields)) else {
        throw PersistenceError.notFound(read.key, in: schema)
      }
      return answer
    }

    /// The record of a key, by a schema that the store had earlier; nil if it may have another one.
    func find(_ key: [String], in model: KnownModels.Model, _ request: ServiceRequest) throws -> Answer? {
      let read: RecordRead
      do {
        read = try RecordRead(key, in: model.schema, request)
      } catch {
        // The present schema decides.
        return nil
      }
      if let answer = try answer(to: read, model.writer) { return answer }
      // A model that was renamed or dropped has no records under its name.
      guard try context.schema(named: model.schema.name) == model.schema else {
        known.forget(model.schema)
        return nil
      }
      throw PersistenceError.notFound(read.key, in: model.schema)
    }

    /// The answer to a read; nil if the record does not exist.
    private func answer(to read: RecordRead, _ writer: RecordWriter) throws -> Answer? {
      let (schema, selection) = (read.schema, read.selection)
      var found: (record: [UInt8], answer: [UInt8])?
      _ = try context.find(read.key, in: schema) { row in
        var record: [UInt8] = []
        record.reserveCapacity(Self.usualSize)
        try writer.append(row, to: &record)
        let selected = try selection.map { Array(try RecordJSON.line(row, schema, selecting: $0).utf8) }
        found = (record, selected ?? record)
      }
      guard let found else { return nil }
      // The tag is that of the whole record, so that it also guards a write.
      let tag = EntityTag(ofLine: found.record)
      guard read.wanted?.matches(tag) != false else {
        throw Problem(
          status: 412, .conflict, "the stored record differs from the expected one; read it again",
          model: schema.name)
      }
      guard read.unwanted?.matches(tag) != true else { return Answer(status: 304, tag: tag.text) }
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

  /// What a request asks of one record.
  private struct RecordRead {
    let schema: ModelSchema
    let key: RecordKey
    /// The positions of the fields that the answer has; nil for all.
    let selection: [Int]?
    let wanted: EntityTag.List?
    let unwanted: EntityTag.List?

    init(_ key: [String], in schema: ModelSchema, _ request: ServiceRequest) throws {
      let parameters = try request.parameters(known: ["select"])
      selection = try parameters["select"].map { try FieldSelection.positions($0, in: schema) }
      self.key = try RecordKey(path: key, in: schema)
      wanted = try request.ifMatchTags()
      unwanted = try request.ifNoneMatchTags()
      self.schema = schema
    }
  }
#endif
