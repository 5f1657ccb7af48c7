import CPostgres

/// What the server said of a statement that it refused, beside the error.
struct PostgresRejection: Sendable {
  let state: String
  let table: String?
  let column: String?
  let constraint: String?

  init(_ result: OpaquePointer?) {
    // The letters are those of the fields in the server's protocol.
    func field(_ letter: Unicode.Scalar) -> String? {
      result.flatMap { PQresultErrorField($0, Int32(letter.value)) }.map { String(cString: $0) }
    }
    state = field("C") ?? ""
    table = field("t")
    column = field("c")
    constraint = field("n")
  }
}
