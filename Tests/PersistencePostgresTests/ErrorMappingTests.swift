#if Postgres
  import PersistenceDriver
  import Testing

  @testable import PersistencePostgres

  /// SQLSTATEs as the package's errors.
  @Suite struct ErrorMappingTests {
    @Test(
      "E2 E5 each SQLSTATE has the code of its cause",
      arguments: [
        ("55P03", PersistenceError.Code.busy), ("40001", .busy), ("53300", .busy), ("57014", .timedOut),
        ("25P03", .snapshotExpired), ("25006", .readOnly), ("28P01", .unauthorized), ("3D000", .missingStore),
        ("42501", .accessDenied), ("53100", .storeFull), ("54000", .valueTooLarge), ("58030", .inputOutput),
        ("XX001", .damaged), ("42P01", .damaged), ("23505", .uniqueViolation), ("23514", .invalidRequest),
        ("08006", .unreachable), ("57P01", .unreachable), ("22012", .engineFailure),
      ])
    func codes(_ state: String, _ code: PersistenceError.Code) {
      #expect(PostgresErrorMapping.meaning(of: state).0 == code)
    }

    @Test("W5 a commit without an answer has an unknown outcome, and a refused one is its own error")
    func commits() {
      let lost = PersistenceError(.unreachable, "the connection is broken")
      #expect(lost.ofUnansweredCommit.code == .outcomeUnknown)
      #expect(PersistenceError(.storeFull, "full").ofUnansweredCommit.code == .storeFull)
    }
  }
#endif
