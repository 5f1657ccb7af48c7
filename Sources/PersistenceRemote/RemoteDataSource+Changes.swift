#if HTTP
  public import DataAccess
  import PersistenceCore
  public import PersistenceDriver
  import PersistenceDriverSupport
  import PersistenceHTTP
  import PersistencePrimitives

  /// The changes of a server of this package; other servers throw ``PersistenceError/Code/unsupported``.
  extension RemoteDataSource: ChangeTrackingDataSource {
    /// The changes since a checkpoint, in one request.
    public func changes(since checkpoint: DataSourceCheckpoint?, limit: Int?) async throws(PersistenceError)
      -> ObjectChanges<Object>
    {
      let schema = try RemoteRecord<Object>.schema()
      return try changes(try await dialect.changes(since: checkpoint?.text, limit: limit, schema), schema)
    }

    /// The changes since a checkpoint, as the server sends them over one connection.
    ///
    /// ``RemoteOptions/readTime`` must be longer than the time between two heartbeats of the server, 15 s by default.
    public func changeEvents(since checkpoint: DataSourceCheckpoint?) -> DataSourceStream<
      ObjectChanges<Object>
    > {
      DataSourceStream {
        let connection = EventConnection(source: self, checkpoint)
        return { () async throws(PersistenceError) in try await connection.next() }
      }
    }

    /// Reads changes from the server's answer.
    func changes(_ json: JSONValue, _ schema: ModelSchema) throws(PersistenceError) -> ObjectChanges<Object> {
      guard case .string(let checkpoint)? = json.member("checkpoint"),
        case .array(let saved)? = json.member("saved"), case .array(let deleted)? = json.member("deleted"),
        case .bool(let hasMore)? = json.member("hasMore")
      else {
        throw PersistenceError(
          .damaged, "the server's answer does not contain changes", model: schema.name,
          location: server.client.location)
      }
      var changes = ObjectChanges<Object>(checkpoint: DataSourceCheckpoint(checkpoint), hasMore: hasMore)
      for record in saved {
        changes.saved.append(
          try RemoteRecord<Object>.object(record, schema, at: server) { (_: borrowing Row) in })
      }
      for key in deleted {
        do {
          changes.deleted.append(try RecordJSON.key(key, schema))
        } catch {
          throw PersistenceError(
            .damaged, "the server's answer has no valid key: \(error)", model: schema.name,
            location: server.client.location)
        }
      }
      return changes
    }
  }
#endif
