#if CommandLineTool
  import PersistenceDriver
  import PersistenceDriverSupport
  import PersistenceJSON

  #if LMDB
    import PersistenceLMDB
  #endif

  /// The check of one store by `verify`.
  struct StoreVerification {
    let stores: ToolStores
    let session: ToolSession

    /// The result, as `--format json` prints it.
    private struct Report: Encodable {
      var store: String
      var records: Int
      var counts: [String: Int] = [:]
      var findings: [StoreFinding] = []
    }

    func run(_ url: String, _ command: VerifyCommand) throws -> ToolFailure.Exit {
      let store: any StorageContext
      do {
        store = try command.accept ? stores.openForWriting(url, mustExist: true) : stores.openForReading(url)
      } catch let error as PersistenceError where error.code == .damaged {
        // An engine may refuse to open what it finds damaged.
        let object = error.location ?? StoreURL.redacted(url)
        var report = Report(store: object, records: 0)
        report.findings = [StoreFinding(.damaged, object, error.message)]
        report.counts = [StoreFinding.Kind.damaged.rawValue: 1]
        return try print(report, command)
      }
      return try stores.with(store) { store in
        var report = Report(store: store.location, records: 0)
        func add(_ finding: StoreFinding) throws {
          try session.checkInterrupt()
          report.counts[finding.kind.rawValue, default: 0] += 1
          if report.findings.count < command.limit { report.findings.append(finding) }
        }
        if let verifiable = store.innermost as? any VerifiableContext {
          try verifiable.verify(add)
        } else {
          try store.snapshot().verifyByReading(add)
        }
        let snapshot = try store.snapshot()
        if report.counts[StoreFinding.Kind.damaged.rawValue] == nil || !Self.endsWhenDamaged(store) {
          try check(snapshot, of: store, add)
        }
        for schema in try snapshot.catalog() where !schema.isReserved {
          // A damaged model may not be countable.
          report.records += (try? snapshot.count(FetchRequest(schema))) ?? 0
        }
        return try print(report, command, accepted: command.accept ? accept(store) : nil)
      }
    }

    /// Checks what records say of each other: their references, and their indexes.
    private func check(
      _ snapshot: any StorageSnapshot, of store: any StorageContext, _ add: (StoreFinding) throws -> Void
    ) throws {
      let references = try ReferenceLedger.references(snapshot) + ReferenceLedger.foreign(snapshot)
      for reference in references {
        do {
          try snapshot.forEachDangling(of: reference) { record, target in
            try add(
              StoreFinding(
                .dangling, "\(reference.model) \(record)",
                "“\(reference.field)” refers to \(reference.target) \(target), which does not exist"))
            return true
          }
        } catch let error as PersistenceError where error.code == .damaged {
          // The other findings are worth more than the rest of this reference.
          try add(StoreFinding(.damaged, reference.model, error.message))
        }
      }
      guard !IndexVerification.isPartOfCheck(by: store) else { return }
      try IndexVerification(snapshot: snapshot, session: session).run(add)
    }

    /// Whether reading a damaged store may end the process, and thus lose the findings.
    private static func endsWhenDamaged(_ store: any StorageContext) -> Bool {
      #if LMDB
        return store.innermost is LMDBContext
      #else
        return false
      #endif
    }

    private func print(_ report: Report, _ command: VerifyCommand, accepted: Int? = nil) throws
      -> ToolFailure.Exit
    {
      let hasLoss = StoreFinding.Kind.allCases.contains { $0.isLoss && report.counts[$0.rawValue] != nil }
      try session.print(report, as: command.format) { output in
        for finding in report.findings { try output.line(TerminalText.safe(finding.description)) }
        let total = report.counts.values.reduce(0, +)
        if total > report.findings.count { try output.line("… and \(total - report.findings.count) more") }
        let state = hasLoss ? "the store is damaged, or records are missing" : "the store is intact"
        try output.line("\(state); records: \(report.records)")
        if let accepted { try output.line("recorded the checksums of \(accepted) files") }
      }
      return hasLoss ? .differences : .success
    }

    private func accept(_ store: any StorageContext) throws -> Int {
      guard let directory = store.innermost as? JSONDirectoryContext else {
        throw ToolFailure.usage("--accept is for JSON directories, which people may edit")
      }
      return try directory.recordChecksums()
    }
  }
#endif
