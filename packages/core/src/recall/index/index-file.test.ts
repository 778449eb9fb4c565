import { expect, test } from "vitest"
import { SqliteIndexFile } from "./index-file.ts"

test("BEY-1 an error after which SQLite has rolled back already is reported as it is", () => {
  const file = new SqliteIndexFile(":memory:", { version: 1, tables: ["t"], create: "CREATE TABLE t (x);" })
  const work = () => {
    file.statement("ROLLBACK").run()
    throw new Error("database or disk is full")
  }
  expect(() => file.inTransaction(work)).toThrow("database or disk is full")
  expect(file.inTransaction(() => "goes on")).toBe("goes on")
  file.close()
})
