/** Lines that the server returns differently from how they were written. */

import pg from "pg"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { needs } from "../../core/test/needs.ts"
import { entriesOf, sketched, textsOf } from "../../store-contract/src/entries.ts"
import { postgresStore } from "../src/index.ts"
import { type SharedServer, sharedServer } from "./shared-server.ts"

const ADDRESS = { project: "shop", id: "damaged" }

describe("BEY-12 a damaged line on PostgreSQL", needs("postgres"), () => {
  let server: SharedServer | undefined
  beforeAll(async () => {
    server = await sharedServer()
  })
  afterAll(() => server?.stop())

  test("BEY-12 is left out and reported with its position in the journal, also where only the tail was read", async () => {
    const connectionString = await server!.database()
    await using store = { ...postgresStore({ connectionString }), [Symbol.asyncDispose]: () => store.close() }
    const written = await store.open(ADDRESS, { access: "write", create: true })
    await written.append(sketched(entriesOf("damage"), "a b | c d e"))
    await written.close()
    const owner = new pg.Client({ connectionString: server!.url(new URL(connectionString).pathname.slice(1)) })
    await owner.connect()
    const { rows } = await owner.query<{ at: string }>("select at from strata.line order by at")
    const offset = Number(rows[4]!.at)
    await owner.query("update strata.line set line = overlay(line placing 'x'::bytea from 20) where at = $1", [offset])
    await owner.end()

    const journal = await store.open(ADDRESS, { access: "write" })
    const heard: number[] = []
    journal.onDamage?.(({ first }) => heard.push(first.line))
    expect(textsOf((await journal.tail()).entries)).toBe("| c e")
    expect(journal.opening).toMatchObject({ damagedCount: 1, damagedLines: [{ line: 5, offset, isLost: true }] })
    const all = []
    for await (const entry of journal.entries()) all.push(entry)
    expect(textsOf(all)).toBe("a b | c e")
    expect(heard).toEqual([5])
    await journal.close()
  })
})
