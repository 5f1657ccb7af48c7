#if Postgres
  import Foundation
  import PersistenceDriver
  import PersistenceDriverSupport
  import TestSupport
  import Testing

  @testable import PersistencePostgres

  /// A server looks operators and functions up along a path of schemas, in which other users may have made some.
  @Suite(.withServer, .serialized) struct SearchPathTests {
    /// A role whose path begins with a schema of operators and aggregates that throw.
    ///
    /// They are for all pairs of types for which the server itself has none: it prefers them to its own, which convert.
    private struct HostilePath {
      let scratch: Scratch
      let url: String
      private let name = "hostile_" + UUID().uuidString.lowercased().prefix(8)

      init() throws {
        scratch = try Scratch()
        let (name, role) = (name, scratch.schemaName)
        try scratch.run(
          "CREATE SCHEMA \(name)", Self.operators.replacing("SCHEMA", with: name),
          Self.functions.replacing("SCHEMA", with: name),
          "CREATE ROLE \(role) SUPERUSER LOGIN", "ALTER ROLE \(role) SET search_path = \(name)")
        url = scratch.url.replacing("user=postgres", with: "user=\(scratch.configuration.schema)")
      }

      func open(_ change: (inout PostgresConfiguration) -> Void = { _ in }) throws -> PostgresContext {
        var configuration = scratch.configuration
        change(&configuration)
        return try PostgresContext(url: url, configuration: configuration)
      }

      /// Checks that the path has its effect: another one of the type would be found before.
      func requireHostility() throws {
        #expect(try isMet(by: "SELECT count(n) FROM (VALUES (1), (2)) AS v(n)"))
        #expect(try isMet(by: "SELECT 'a'::varchar = 'a'::text"))
      }

      /// Whether a query of the role fails because it meets a hostile operator or function.
      private func isMet(by query: String) throws -> Bool {
        let store = PostgresStore(
          try PostgresAddress(try StoreURL(url), isReadOnly: false), scratch.configuration)
        let error = failure {
          _ = try PostgresConnection.open(store).run([PostgresCommand(query)], "run a test's statement")
        }
        return error?.isPostgres("P0001") ?? false
      }

      /// Removes the functions in parts: the server has room for some thousands of locks.
      func remove() {
        let parts = ["operator", "aggregate", "function"].map { kind in
          """
          DO $do$ DECLARE f text; n int := 0; BEGIN FOR f IN \(Self.list(kind, in: name)) LOOP
            EXECUTE f; n := n + 1; IF n % 500 = 0 THEN COMMIT; END IF; END LOOP; END $do$
          """
        }
        do {
          for part in parts { try scratch.run(part) }
          try scratch.run(
            "DROP SCHEMA \(name) CASCADE", "DROP OWNED BY \(scratch.schemaName) CASCADE",
            "DROP ROLE \(scratch.schemaName)")
        } catch {
          Issue.record(error)
        }
      }

      /// The query of the statements that remove all objects of a kind.
      private static func list(_ kind: String, in name: String) -> String {
        guard kind == "operator" else {
          return "SELECT 'DROP \(kind) ' || p.oid::regprocedure FROM pg_proc p "
            + "WHERE p.pronamespace = '\(name)'::regnamespace AND p.prokind = '\(kind.prefix(1))'"
        }
        return "SELECT 'DROP OPERATOR ' || p.oid::regoperator FROM pg_operator p "
          + "WHERE p.oprnamespace = '\(name)'::regnamespace"
      }

      private static let types = """
        ARRAY['oid', 'name', 'text', 'varchar', 'bpchar', '"char"', 'int2', 'int4', 'int8', 'float4', 'float8', 'numeric',
          'bool', 'uuid', 'bytea', 'jsonb', 'json', 'xid', 'xid8', 'regclass', 'regnamespace', 'timestamptz', 'timestamp',
          'date']::regtype[]
        """

      private static let operators = """
        DO $do$ DECLARE l regtype; r regtype; o text; result text; BEGIN
          FOREACH l IN ARRAY \(types) LOOP FOREACH r IN ARRAY \(types) LOOP
            EXECUTE format('CREATE FUNCTION SCHEMA.compare(%s, %s) RETURNS bool LANGUAGE plpgsql AS
              $f$BEGIN RAISE ''a hostile operator of %s and %s''; END$f$', l, r, l, r);
            FOREACH o IN ARRAY '{=,<>,<,<=,>,>=,~,!~,~~,!~~,~~*,!~~*,->>,||}'::text[] LOOP
              IF NOT EXISTS (SELECT FROM pg_operator p WHERE p.oprnamespace = 'pg_catalog'::regnamespace
                AND p.oprname = o AND p.oprleft = l AND p.oprright = r) THEN
                EXECUTE format('CREATE OPERATOR SCHEMA.%s (leftarg = %s, rightarg = %s, function = SCHEMA.compare)', o, l, r);
              END IF;
            END LOOP;
          END LOOP; END LOOP; END $do$
        """

      private static let functions = """
        DO $do$ DECLARE t regtype; f text; BEGIN
          FOREACH t IN ARRAY \(types) LOOP
            EXECUTE format('CREATE FUNCTION SCHEMA.step(%s, %s) RETURNS %s LANGUAGE plpgsql AS
              $f$BEGIN RAISE ''a hostile function of %s''; END$f$', t, t, t, t);
            EXECUTE format('CREATE FUNCTION SCHEMA.replace(%s, text, text) RETURNS text LANGUAGE plpgsql AS
              $f$BEGIN RAISE ''a hostile function of %s''; END$f$', t, t);
            FOREACH f IN ARRAY '{count,sum,min,max,bit_xor,string_agg}'::text[] LOOP
              IF NOT EXISTS (SELECT FROM pg_proc p WHERE p.proname = f AND p.pronamespace = 'pg_catalog'::regnamespace
                AND p.proargtypes::oid[] = ARRAY[t::oid]) THEN
                EXECUTE format('CREATE AGGREGATE SCHEMA.%s(%s) (sfunc = SCHEMA.step, stype = %s)', f, t, t);
              END IF;
            END LOOP;
          END LOOP; END $do$
        """
    }

    @Test("E6 operators and functions of other users are never called in a store")
    func stores() throws {
      let path = try HostilePath()
      defer { path.remove() }
      try path.requireHostility()
      let schema = try ModelSchema(
        name: "Thing",
        fields: [
          FieldSchema("id", .int64), FieldSchema("text", .string), FieldSchema("flag", .bool),
          FieldSchema("number", .double, isOptional: true), FieldSchema("amount", .decimal),
          FieldSchema("at", .date), FieldSchema("key", .uuid), FieldSchema("data", .data),
          FieldSchema("more", .document, isOptional: true),
        ], key: ["id"], indexes: [IndexSchema(["text"]), IndexSchema(["key"], isUnique: true)])
      func row(_ id: Int64) throws -> [PersistentValue] {
        [
          .integer(id), .text("text \(id)"), .bool(id == 1), id == 2 ? .null : .double(Double(id)),
          .decimal(Decimal(id)), .date(Double(id)), .uuid(UUID()), .bytes([UInt8(id)]), .null,
        ]
      }
      let context = try path.open()
      try context.transaction { transaction in
        try transaction.define(schema)
        for id in 1...3 as ClosedRange<Int64> { try transaction.save(row(id), in: schema) }
      }
      let memory = MemoryContext()
      try memory.transaction { transaction in
        try transaction.define(schema)
        for values in try context.values(FetchRequest(schema)) { try transaction.save(values, in: schema) }
      }
      let values = try memory.record([.integer(3)], in: schema) ?? []
      var conditions: [PredicateNode] = [
        .text(field: "text", .contains, "t 1", isCaseInsensitive: false),
        .text(field: "text", .hasPrefix, "text", isCaseInsensitive: false),
        .text(field: "text", .contains, "T 2", isCaseInsensitive: true),
      ]
      for (field, value) in zip(schema.fields, values) where !value.isNull {
        conditions.append(.comparison(field: field.name, .equal, value))
        conditions.append(.comparison(field: field.name, .notEqual, value))
        conditions.append(.isIn(field: field.name, [value]))
        guard field.kind != .document else { continue }
        conditions.append(.comparison(field: field.name, .less, value))
        conditions.append(.isBetween(field: field.name, lower: value, upper: value))
      }
      for condition in conditions {
        let request = try FetchRequest(schema, where: condition, order: [FieldOrder("text")], limit: 2)
        #expect(try context.values(request) == memory.values(request), "\(condition)")
        #expect(try context.count(request) == memory.count(request), "\(condition)")
      }
      let totals = try AggregateRequest(
        FetchRequest(schema),
        aggregates: [
          .count, .sum(of: "id"), .average(of: "id"), .minimum(of: "text"), .maximum(of: "at"),
          .average(of: "number"), .sum(of: "amount"),
        ])
      #expect(try context.aggregate(totals) == memory.aggregate(totals))
      #expect(try context.snapshot().aggregate(totals) == memory.aggregate(totals))
      try context.transaction { transaction in
        _ = try transaction.update(
          UpdateRequest(FetchRequest(schema, limit: 2), set: [FieldAssignment("text", .text("new"))]))
        _ = try transaction.delete(FetchRequest(schema, where: .comparison(field: "id", .less, .integer(2))))
        _ = try transaction.delete(RecordKey([.integer(2)]), in: schema)
      }
      #expect(try context.values(FetchRequest(schema)).count == 1)
      #expect(try context.unmappedObjects().isEmpty)
      try context.transaction { try $0.drop(schema) }
      try context.close()
    }

    @Test("E6 operators and functions of other users are never called in tables of other programs")
    func foreignTables() throws {
      let path = try HostilePath()
      defer { path.remove() }
      try path.requireHostility()
      let foreign = ForeignScratch(of: path.scratch)
      let keyed = [
        "CREATE TABLE $.coded (code varchar(9) PRIMARY KEY, name varchar(9) COLLATE \"und-x-icu\")",
        "CREATE TABLE $.sorted (code varchar(9) COLLATE \"und-x-icu\" PRIMARY KEY, name text)",
        "INSERT INTO $.coded VALUES ('a', 'Ä'), ('B', 'b')",
        "INSERT INTO $.sorted VALUES ('a', 'Ä'), ('B', 'b')",
      ]
      try foreign.run(["CREATE SCHEMA $"] + ForeignScratch.library + keyed)
      let context = try path.open { $0.includedViews = ["cheap"] }
      let reference = try foreign.open { $0.includedViews = ["cheap"] }
      #expect(try context.catalog() == reference.catalog())
      #expect(try context.unmappedObjects().count == reference.unmappedObjects().count)
      for schema in try reference.catalog() {
        #expect(try context.values(FetchRequest(schema)) == reference.values(FetchRequest(schema)))
        guard let first = try reference.values(FetchRequest(schema)).first else { continue }
        for (field, value) in zip(schema.fields, first) where !value.isNull {
          for comparison in [ComparisonOperator.equal, .notEqual, .less, .greaterOrEqual] {
            let request = try FetchRequest(
              schema, where: .comparison(field: field.name, comparison, value),
              order: [FieldOrder(field.name)])
            #expect(try context.values(request) == reference.values(request), "\(schema.name).\(field.name)")
          }
          let totals = try AggregateRequest(
            FetchRequest(schema), aggregates: [.count, .minimum(of: field.name), .maximum(of: field.name)])
          #expect(try context.aggregate(totals) == reference.aggregate(totals), "\(field.name)")
        }
      }
      for name in ["coded", "sorted"] {
        let coded = try context.model(name)
        try context.transaction { transaction in
          #expect(try transaction.record([.text("a")], in: coded) == [.text("a"), .text("Ä")])
          try transaction.update([.text("a"), .text("c")], in: coded)
          try transaction.save([.text("d"), .null], in: coded)
          #expect(try transaction.delete(RecordKey([.text("B")]), in: coded))
        }
        #expect(try context.record([.text("a")], in: coded) == [.text("a"), .text("c")])
      }
      let studio = try context.model("Studio")
      let search = try FetchRequest(
        studio, where: .text(field: "Mixed Case", .contains, "X", isCaseInsensitive: true))
      #expect(try context.values(search).count == 3)
      try context.transaction { transaction in
        let changed = try FetchRequest(
          studio, where: .comparison(field: "Mixed Case", .equal, .text("x")))
        #expect(
          try transaction.update(UpdateRequest(changed, set: [FieldAssignment("select", .integer(1))])) == 3)
        #expect(try transaction.delete(RecordKey([.integer(3)]), in: studio))
      }
      try context.close()
      try reference.close()
    }

    @Test("a schema without a store whose tables have the names of a store's is refused")
    func plantedTables() throws {
      let scratch = try Scratch()
      try scratch.run(
        "CREATE SCHEMA \(scratch.schemaName)",
        "CREATE TABLE \(scratch.schemaName).persistence_commits (xid xid8 PRIMARY KEY, at timestamptz)")
      let error = failure { _ = try scratch.open() }
      #expect(error?.code == .unsupported)
      #expect(error?.message.contains("begin with persistence_") == true)
      try scratch.run("DROP TABLE \(scratch.schemaName).persistence_commits")
      try scratch.open().close()
    }
  }
#endif
