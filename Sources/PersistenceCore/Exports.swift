// An app that imports the core types errors, schemas, values and monitoring too.
@_exported public import PersistenceDriverSupport
