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
        ("XX001", .damaged), ("42P01", .damaged), ("23505", .uniqueViolation), ("23503", .brokenReference),
        ("23514", .invalidRequest),
        ("08006", .unreachable), ("57P01", .unreachable), ("22012", .engineFailure),
      ])
    func codes(_ state: String, _ code: PersistenceError.Code) {
      #expect(PostgresErrorMapping.meaning(of: state).0 == code)
    }

    @Test("W5 a commit without an answer has an unknown outcome")
    func commits() {
      for code in [PersistenceError.Code.unreachable, .timedOut, .snapshotExpired] {
        #expect(PersistenceError(code, "no answer").ofUnansweredCommit.code == .outcomeUnknown)
      }
    }

    static let failures: [(String, PersistenceError.Code?)] = [
      ("FATAL:  28P01: authentification par mot de passe échouée pour « ann »", .unauthorized),
      ("ВАЖНО:  3D000: база данных \"x\" не существует", .missingStore),
      ("FATAL:  53300: désolé, trop de clients sont déjà connectés", .busy),
      ("FATAL:  57P03: le système de bases de données se lance", .unreachable),
      ("fe_sendauth: no password supplied", .unauthorized),
      ("SSL error: certificate verify failed", .untrustedServer),
      ("SSL SYSCALL error: EOF detected", nil), ("could not connect: Connection refused", nil),
      ("FATAL:  ", nil), ("", nil),
    ]

    @Test(
      "E2 an error of connecting is told by its SQLSTATE, in whatever language the server speaks",
      arguments: failures)
    func connecting(_ message: String, _ code: PersistenceError.Code?) {
      #expect(PostgresConnection.meaning(ofFailure: message)?.0 == code)
    }
  }
#endif
