/**
 * The search index of a namespace, on the server. All processes read and extend the same index, so a new process reads no journal again.
 */

import { validateId } from "@strata/core/base"
import type {
  PassageCursor,
  PassageDelta,
  PassageStore,
  PassageStoreAddress,
  PassageUpdate,
  StoredPassage,
  TextQuery,
  TokenCount,
} from "@strata/core/store"
import type { Database } from "./database.ts"
import { journalNamespaceKey } from "./names.ts"
import { countsIn, factsIn, listIn, rowsIn, stepColumns } from "./passage-bytes.ts"

/** Bytes of the newest part of a token's list, which is rewritten with every new passage that has the token. */
const TAIL_BYTES = 160
/** Bytes of a list in one row. Longer rows would be stored outside their table. */
const SEALED_BYTES = 1_600
const LENGTHS = [TAIL_BYTES, SEALED_BYTES]
/** Number of passages of a source that are read at once before they are removed. */
const REMOVED_AT_ONCE = 1_000

interface PostgresPassageStoreOptions {
  readonly database: Database
  readonly tenant: string
  readonly address: PassageStoreAddress
}

export class PostgresPassageStore implements PassageStore {
  readonly #database: Database
  /** The first arguments of every call. */
  readonly #key: readonly string[]
  #positions = { version: 0, removals: 0, all: new Map<string, string>() }

  constructor({ database, tenant, address }: PostgresPassageStoreOptions) {
    const { only, tokens } = address
    this.#database = database
    const conversation = only === undefined ? "" : validateId("conversation id", only)
    this.#key = [tenant, ...journalNamespaceKey(address), `${tokens}/${conversation}`]
  }

  /** Reads only positions that have changed. */
  async positions(): Promise<ReadonlyMap<string, string>> {
    const { version, removals, all } = this.#positions
    const row = await this.#database.row<PositionsRow>("shelf_marks", ...this.#key, version, removals)
    const changed = Object.entries(JSON.parse(row.marks ?? "{}") as Record<string, string>)
    const known = row.is_all ? new Map(changed) : all
    for (const [name, mark] of changed) known.set(name, mark)
    this.#positions = { version: row.version, removals: row.removals, all: known }
    return known
  }

  async extend(steps: readonly PassageUpdate[]): Promise<readonly boolean[]> {
    const taken = await this.#database.value<string>("shelf_extend", ...this.#key, ...stepColumns(steps), ...LENGTHS)
    return [...taken].map((each) => each === "1")
  }

  async remove(
    positions: ReadonlyMap<string, string>,
    tokensOf: (row: StoredPassage) => readonly string[],
  ): Promise<void> {
    for (const [source, mark] of positions) {
      const counts = new Map<string, number>()
      for await (const row of this.#rowsOf(source, mark))
        for (const token of new Set(tokensOf(row))) counts.set(token, (counts.get(token) ?? 0) + 1)
      await this.#database.rows("shelf_remove", ...this.#key, source, mark, [...counts.keys()], [...counts.values()])
    }
  }

  async *#rowsOf(source: string, mark: string): AsyncGenerator<StoredPassage> {
    for (let after = 0; ; ) {
      const values = [...this.#key, source, mark, after, REMOVED_AT_ONCE]
      const bytes = await this.#database.value<Buffer | null>("shelf_source_rows", ...values)
      const rows = bytes ? rowsIn(bytes) : []
      yield* rows
      if (rows.length < REMOVED_AT_ONCE) return
      after = rows.at(-1)!.id
    }
  }

  async clear(): Promise<void> {
    await this.#database.rows("shelf_clear", ...this.#key)
  }

  async changes(since: PassageCursor): Promise<PassageDelta> {
    const { passage, source, removals, maxRows, tokens, queryTokens, maxMissed, maxSimilar } = since
    const known = [passage, source, removals, maxRows]
    const wanted = [tokens, queryTokens, maxMissed, maxSimilar]
    const [first, ...packs] = await this.#database.rows<ChangesRow>("shelf_news", ...this.#key, ...known, ...wanted)
    const row = first!
    const facts = [...packs, row].flatMap((each) => (each.facts ? [factsIn(each.facts)] : []))
    const isNothingNew = facts.length === 0 && row.removals === removals
    const rows = row.added ? rowsIn(row.added) : isNothingNew ? [] : undefined
    const sources = Object.entries(JSON.parse(row.sources ?? "{}") as Record<string, string>)
    const beginning = Object.entries(JSON.parse(row.beginning ?? "{}") as Record<string, readonly [string, number][]>)
    return {
      ...{ removals: row.removals, facts, ...(rows ? { rows } : {}) },
      sources: new Map(sources.map(([id, name]) => [Number(id), name])),
      documents: row.documents ? countsIn(row.documents) : tokens.map(() => 0),
      byPrefix: new Map(
        beginning.map(([token, similar]) => [
          token,
          similar.map(([each, documents]): TokenCount => ({ token: each, documents })),
        ]),
      ),
    }
  }

  async postings(tokens: readonly string[], source?: number): Promise<readonly Uint32Array[]> {
    const rows = await this.#database.rows<PostingsRow>("shelf_lists", ...this.#key, tokens, source ?? null)
    const lists = new Map(rows.map(({ n, ids }) => [n, ids]))
    return tokens.map((_, at) => listIn(lists.get(at + 1) ?? NOTHING))
  }

  async vocabulary(): Promise<string> {
    const tokens = await this.#database.value<string | null>("shelf_vocabulary", ...this.#key)
    return tokens === null ? "" : `${tokens}\n`
  }

  async rows(ids: readonly number[]): Promise<readonly StoredPassage[]> {
    const bytes = await this.#database.value<Buffer | null>("shelf_rows", ...this.#key, ids)
    return bytes ? rowsIn(bytes) : []
  }

  async containing({ ids, text, max }: TextQuery): Promise<readonly number[]> {
    const values = [[...ids], Buffer.from(text), max]
    const rows = await this.#database.rows<{ readonly id: number }>("shelf_having", ...this.#key, ...values)
    return rows.map(({ id }) => id)
  }

  async neighbors(ids: readonly number[], max: number): Promise<readonly (readonly StoredPassage[])[]> {
    const rows = await this.#database.rows<NeighborsRow>("shelf_around", ...this.#key, ids, max)
    const around = new Map(rows.map(({ n, passages }) => [n, passages]))
    return ids.map((_, at) => rowsIn(around.get(at + 1) ?? NOTHING))
  }
}

/** Passage stores that contain passages of deleted journals. */
export async function listOutdatedPassageStores(
  database: Database,
  tenant: string,
): Promise<readonly PassageStoreAddress[]> {
  const rows = await database.rows<PassageStoreKeyRow>("shelves_outdated", tenant)
  return rows.map(({ project, under, conversation }) => {
    const [tokens, only = ""] = conversation.split("/")
    return {
      ...{ project, tokens: Number(tokens) },
      ...(under === "" ? {} : { under }),
      ...(only === "" ? {} : { only }),
    }
  })
}

interface PassageStoreKeyRow {
  readonly project: string
  readonly under: string
  readonly conversation: string
}

const NOTHING = Buffer.alloc(0)

interface PositionsRow {
  readonly version: number
  readonly removals: number
  readonly is_all: boolean
  /** Positions by source, as JSON. The name is that of the SQL column. */
  readonly marks: string | null
}

interface ChangesRow {
  readonly removals: number
  readonly facts: Buffer | null
  readonly sources: string | null
  readonly added: Buffer | null
  readonly documents: Buffer | null
  readonly beginning: string | null
}

interface PostingsRow {
  readonly n: number
  readonly ids: Buffer
}

interface NeighborsRow {
  readonly n: number
  readonly passages: Buffer
}
