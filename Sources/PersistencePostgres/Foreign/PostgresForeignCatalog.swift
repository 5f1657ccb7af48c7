/// The query that describes the tables and views of a schema, as JSON that ``PostgresForeignRelation`` reads.
enum PostgresForeignCatalog {
  static func text(_ namespace: String) -> String {
    """
    WITH RECURSIVE \(domains), \(collations)
    SELECT c.relname::text, pg_catalog.json_build_object(
      'kind', c.relkind::text,
      'isReadable', pg_catalog.has_table_privilege(c.oid, 'SELECT'),
      'hasChildren', EXISTS (
        SELECT 1 FROM pg_catalog.pg_inherits h JOIN pg_catalog.pg_class x ON x.oid = h.inhrelid
        WHERE h.inhparent = c.oid AND NOT x.relispartition),
      'columns', coalesce((\(columns)), '[]'), 'indexes', coalesce((\(indexes)), '[]'),
      'constraints', coalesce((\(constraints)), '[]'), 'triggers', coalesce((\(triggers)), '[]'))::text
    FROM pg_catalog.pg_class c
    WHERE c.relnamespace = \(namespace) AND c.relkind IN ('r', 'p', 'f', 'v', 'm') AND NOT c.relispartition
      AND \(belongsToNoExtension)
    """
  }

  /// The condition that a table `c` belongs to no extension.
  static let belongsToNoExtension = """
    NOT EXISTS (
      SELECT 1 FROM pg_catalog.pg_depend e
      WHERE e.classid = 'pg_catalog.pg_class'::regclass::oid AND e.objid = c.oid AND e.deptype = 'e')
    """

  /// The type below each domain, with the domain's own modifier and NOT NULL.
  private static let domains = """
    base(oid, base, typmod, required) AS (
      SELECT t.oid, t.oid, -1, false FROM pg_catalog.pg_type t WHERE t.typtype <> 'd'
      UNION ALL SELECT d.oid, b.base, CASE WHEN b.typmod >= 0 THEN b.typmod ELSE d.typtypmod END,
        b.required OR d.typnotnull
      FROM base b JOIN pg_catalog.pg_type d ON d.typbasetype = b.oid AND d.typtype = 'd')
    """

  /// Number 100 is the database's default collation.
  private static let collations = """
    collations(oid, isbinary, isdeterministic) AS (
      SELECT l.oid,
        CASE WHEN l.oid = 100::oid THEN d.datcollate IN ('C', 'POSIX')
            AND coalesce(pg_catalog.to_jsonb(d) ->> 'datlocprovider'::text, 'c') = 'c'
          ELSE l.collname IN ('C', 'POSIX', 'ucs_basic') AND l.collnamespace = 'pg_catalog'::regnamespace::oid END,
        l.collisdeterministic
      FROM pg_catalog.pg_collation l, pg_catalog.pg_database d
      WHERE d.datname = pg_catalog.current_database())
    """

  private static let columns = """
    SELECT pg_catalog.json_agg(pg_catalog.json_build_object(
      'name', a.attname, 'type', t.typname, 'isBuiltIn', t.typnamespace = 'pg_catalog'::regnamespace::oid,
      'kind', t.typtype::text,
      'typeName', pg_catalog.quote_ident(n.nspname) || '.' || pg_catalog.quote_ident(t.typname),
      'declared', pg_catalog.format_type(a.atttypid, a.atttypmod),
      'modifier', CASE WHEN a.atttypmod >= 0 THEN a.atttypmod ELSE b.typmod END,
      'isRequired', a.attnotnull OR b.required, 'isBinary', coalesce(l.isbinary, true),
      'isDeterministic', coalesce(l.isdeterministic, true),
      'collation', (
        SELECT o.collname FROM pg_catalog.pg_collation o
        WHERE o.oid = a.attcollation AND o.oid NOT IN (100::oid, t.typcollation)),
      'isGenerated', a.attgenerated <> '', 'identity', a.attidentity::text,
      'default', pg_catalog.pg_get_expr(d.adbin, d.adrelid)) ORDER BY a.attnum)
    FROM pg_catalog.pg_attribute a JOIN base b ON b.oid = a.atttypid
      JOIN pg_catalog.pg_type t ON t.oid = b.base JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace
      LEFT JOIN collations l ON l.oid = a.attcollation
      LEFT JOIN pg_catalog.pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
    WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    """

  private static let indexes = """
    SELECT pg_catalog.json_agg(pg_catalog.json_build_object(
      'name', x.relname, 'isUnique', i.indisunique, 'isPrimary', i.indisprimary,
      'isValid', i.indisvalid AND i.indisready, 'isPartial', i.indpred IS NOT NULL,
      'isImmediate', i.indimmediate,
      'nilsCollide', coalesce(pg_catalog.to_jsonb(i) ->> 'indnullsnotdistinct'::text, 'false') = 'true',
      'isTree', m.amname = 'btree',
      'isDeterministic', NOT EXISTS (
        SELECT 1 FROM pg_catalog.unnest(i.indcollation::oid[]) AS k(number)
        JOIN collations l ON l.oid = k.number WHERE NOT l.isdeterministic),
      'definition', pg_catalog.pg_get_indexdef(i.indexrelid),
      'columns', (
        SELECT pg_catalog.json_agg(a.attname ORDER BY k.place)
        FROM pg_catalog.unnest(i.indkey::int2[]) WITH ORDINALITY AS k(number, place)
        LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.number AND k.number > 0
        WHERE k.place <= i.indnkeyatts)) ORDER BY x.relname)
    FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class x ON x.oid = i.indexrelid
      JOIN pg_catalog.pg_am m ON m.oid = x.relam
    WHERE i.indrelid = c.oid
    """

  private static let constraints = """
    SELECT pg_catalog.json_agg(pg_catalog.json_build_object(
      'name', k.conname, 'kind', k.contype::text, 'definition', pg_catalog.pg_get_constraintdef(k.oid),
      'columns', (
        SELECT pg_catalog.json_agg(a.attname ORDER BY p.place)
        FROM pg_catalog.unnest(k.conkey) WITH ORDINALITY AS p(number, place)
        JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum = p.number),
      'target', CASE WHEN f.relnamespace = c.relnamespace THEN f.relname END,
      'targets', (
        SELECT pg_catalog.json_agg(a.attname ORDER BY p.place)
        FROM pg_catalog.unnest(k.confkey) WITH ORDINALITY AS p(number, place)
        JOIN pg_catalog.pg_attribute a ON a.attrelid = k.confrelid AND a.attnum = p.number),
      'onDelete', k.confdeltype::text, 'onUpdate', k.confupdtype::text) ORDER BY k.conname)
    FROM pg_catalog.pg_constraint k LEFT JOIN pg_catalog.pg_class f ON f.oid = k.confrelid
    WHERE k.conrelid = c.oid AND k.contype IN ('c', 'f', 'x')
    """

  private static let triggers = """
    SELECT pg_catalog.json_agg(pg_catalog.json_build_object(
      'name', g.tgname, 'definition', pg_catalog.pg_get_triggerdef(g.oid)) ORDER BY g.tgname)
    FROM pg_catalog.pg_trigger g WHERE g.tgrelid = c.oid AND NOT g.tgisinternal
    """
}
