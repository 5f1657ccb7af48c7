import PersistenceCore

/// A record with a unique tag and a version that it shares with others.
struct Mark: PersistentRecord {
  var id: Int
  var version: Int
  var tag: String?

  static let schema = RecordSchema<Mark>(
    "Mark", fields: [.field("id", \.id), .field("version", \.version), .field("tag", \.tag)], key: [\.id],
    indexes: [RecordIndex([\.tag], isUnique: true), RecordIndex([\.version])])
  var primaryKey: Int { id }

  init(id: Int, version: Int, tag: String?) {
    self.id = id
    self.version = version
    self.tag = tag
  }

  init(from row: borrowing Row) throws {
    id = try row.decode(at: 0)
    version = try row.decode(at: 1)
    tag = try row.decode(at: 2)
  }

  func encode(into row: RowBuffer) throws {
    row.encode(id, at: 0)
    row.encode(version, at: 1)
    row.encode(tag, at: 2)
  }
}

/// A record of another model, written in the same transactions.
struct Echo: PersistentRecord {
  var id: Int
  var version: Int
  var text: String

  static let schema = RecordSchema<Echo>(
    "Echo", fields: [.field("id", \.id), .field("version", \.version), .field("text", \.text)], key: [\.id])
  var primaryKey: Int { id }

  init(id: Int, version: Int, text: String) {
    self.id = id
    self.version = version
    self.text = text
  }

  init(from row: borrowing Row) throws {
    id = try row.decode(at: 0)
    version = try row.decode(at: 1)
    text = try row.decode(at: 2)
  }

  func encode(into row: RowBuffer) throws {
    row.encode(id, at: 0)
    row.encode(version, at: 1)
    row.encode(text, at: 2)
  }
}

/// An account of a bank whose total must stay constant.
struct Account: PersistentRecord {
  var id: Int
  var balance: Int
  var transfers: Int

  static let schema = RecordSchema<Account>(
    "Account", fields: [.field("id", \.id), .field("balance", \.balance), .field("transfers", \.transfers)],
    key: [\.id])
  var primaryKey: Int { id }

  init(id: Int, balance: Int, transfers: Int) {
    self.id = id
    self.balance = balance
    self.transfers = transfers
  }

  init(from row: borrowing Row) throws {
    id = try row.decode(at: 0)
    balance = try row.decode(at: 1)
    transfers = try row.decode(at: 2)
  }

  func encode(into row: RowBuffer) throws {
    row.encode(id, at: 0)
    row.encode(balance, at: 1)
    row.encode(transfers, at: 2)
  }
}
