/**
 * Compares the PostgreSQL store with the file store, in one run on one disk: a turn, opening a long conversation, appends per second with
 * 1, 8 and 64 writers, many conversations in one process, and bytes on disk per MB of conversation. Both wait for the disk with every
 * acknowledged write. The server is the newest from npm, over TCP on loopback, with its own flushes on.
 *
 *     npm run bench -- postgres
 */
import { globSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { type Conversation, type Entry, localUser, openConversation, type Store } from "@strata/core"
import pg from "pg"
import { fileStore } from "../../../packages/core/src/journal/file/file-store.ts"
import { postgresStore } from "../../../packages/postgres/src/index.ts"
import { newestPrograms, startServer } from "../../../packages/postgres/test/server.ts"
import { inTemporaryDirectory, isShort, milliseconds, quantile, timed } from "../measure.ts"

const MODEL = "claude-opus-4-6"
const TURNS = isShort ? 30 : 300
const SIZES = isShort ? [50_000] : [1_000_000, 10_000_000]
const TOKENS_EACH = 2_000 // in a message and its answer
const CHARACTERS_EACH = 6_800
const BATCH = 75 // messages: 150,000 tokens
const MANY = isShort ? 50 : 1_000
const WRITERS = [1, 8, 64]
const APPENDS = isShort ? 200 : 3_000 // divided among all writers
const MAX_CONNECTIONS = 20

setFlagsFromString("--expose-gc")
const collectGarbage = runInNewContext("gc") as () => void

/** Real text: Strata's own code. */
const sources = globSync("packages/core/src/**/*.ts")
  .map((path) => readFileSync(path, "utf8"))
  .join("")
const sourceText = (at: number): string => {
  const from = (at * CHARACTERS_EACH) % (sources.length - CHARACTERS_EACH)
  return sources.slice(from, from + CHARACTERS_EACH)
}

const open = (store: Store, id: string): Promise<Conversation> =>
  openConversation({
    ...{ store, id, cwd: "/project", project: "bench", model: MODEL, env: {} },
    memory: { owner: localUser },
    // the window is far from every threshold and nothing is compacted, so that opening reads the full conversation
    settings: { autoCompactEnabled: false, planner: "off", models: { [MODEL]: { window: 40_000_000 } } },
  })

async function exchange(chat: Conversation, number: number, text: string): Promise<void> {
  await chat.add(`What about file-${number}.ts?`)
  await chat.prepare()
  await chat.record({
    id: `msg_${number}`,
    model: MODEL,
    content: [{ type: "text", text }],
    stop_reason: "end_turn",
    usage: {
      input_tokens: 10,
      output_tokens: 50,
      cache_read_input_tokens: number * 100,
      cache_creation_input_tokens: 100,
    },
  })
}

async function turn(store: Store): Promise<string> {
  const chat = await open(store, "turns")
  const times: number[] = []
  for (let number = 0; number < TURNS; number++)
    times.push((await timed(() => exchange(chat, number, `In file-${number}.ts it is the parser.`))).ms)
  await chat.close()
  return `${milliseconds(quantile(times, 0.5))} (p95 ${milliseconds(quantile(times, 0.95))})`
}

const entry = (number: number, parentUuid: string | null, text: string): Entry => ({
  uuid: `00000000-0000-4000-8000-${number.toString(16).padStart(12, "0")}`,
  parentUuid,
  type: "user",
  timestamp: new Date(1_790_000_000_000 + number).toISOString(),
  message: { role: "user", content: text },
})

const boundary = (number: number): Entry => ({
  ...{ type: "system", subtype: "compact_boundary", parentUuid: null },
  uuid: `00000000-0000-4000-9000-${number.toString(16).padStart(12, "0")}`,
  timestamp: new Date(1_790_000_000_000 + number).toISOString(),
  compactMetadata: { trigger: "auto", preTokens: BATCH * TOKENS_EACH },
})

interface Growth {
  readonly project: string
  readonly id: string
  readonly size: number
  /** Whether a boundary follows each batch, as with default settings. */
  readonly isCompacted?: boolean
}

/** Creates a conversation of this size in large batches. Resolves with its bytes. */
async function grow(store: Store, { project, id, size, isCompacted = false }: Growth): Promise<number> {
  const journal = await store.open({ project, id }, { access: "write", create: true })
  let parent: string | null = null
  for (let number = 0; number < size / TOKENS_EACH; ) {
    const batch: Entry[] = isCompacted && number > 0 ? [boundary(number)] : []
    parent = batch[0]?.uuid ?? parent
    for (const end = number + BATCH; number < Math.min(end, size / TOKENS_EACH); number++) {
      const one: Entry = entry(number, parent, sourceText(number))
      parent = one.uuid
      batch.push(one)
    }
    await journal.append(batch)
  }
  await journal.close()
  return (await store.list(project, { isBare: true }))[0]!.bytes
}

async function opening(store: Store, growth: Pick<Growth, "size" | "isCompacted">): Promise<string> {
  const [place] = await store.projects()
  const id = `size-${growth.size}${growth.isCompacted ? "-compacted" : ""}`
  await grow(store, { ...growth, project: place!, id })
  const times: number[] = []
  await (await open(store, id)).close() // the first opening writes the checkpoints, as an agent would have done
  for (let time = 0; time < 3; time++) {
    const { result, ms } = await timed(() => open(store, id))
    times.push(ms)
    await result.close()
  }
  return milliseconds(quantile(times, 0.5))
}

async function appends(store: Store, writers: number): Promise<string> {
  const journals = await Promise.all(
    Array.from({ length: writers }, (_, at) =>
      store.open({ project: `writers-${writers}`, id: `w${at}` }, { access: "write", create: true }),
    ),
  )
  const text = sourceText(1).slice(0, 1_000)
  const each = Math.ceil(APPENDS / writers)
  const { ms } = await timed(() =>
    Promise.all(
      journals.map(async (journal) => {
        for (let number = 0; number < each; number++) await journal.append([entry(number, null, text)])
      }),
    ),
  )
  await Promise.all(journals.map((journal) => journal.close()))
  return `${Math.round((each * writers) / (ms / 1_000)).toLocaleString("en")}/s`
}

async function many(store: Store, connections: () => number): Promise<string> {
  collectGarbage()
  const before = process.memoryUsage().heapUsed
  const chats: Conversation[] = []
  for (let at = 0; at < MANY; at++) chats.push(await open(store, `many-${at}`))
  await Promise.all(chats.map((chat, at) => exchange(chat, at, "Yes.")))
  await Promise.all(chats.map((chat) => chat.whenIdle()))
  collectGarbage()
  const heap = (process.memoryUsage().heapUsed - before) / 1_000_000
  const used = connections()
  await Promise.all(chats.map((chat) => chat.close()))
  return `${heap.toFixed(0)} MB of heap${used > 0 ? `, ${used} connections` : ""}`
}

if (newestPrograms() === undefined) {
  console.log("There is no PostgreSQL for this platform, so nothing was measured.")
  process.exit(0)
}
const server = await startServer({ settings: { fsync: "on", max_wal_size: "4GB" } })
try {
  await inTemporaryDirectory(async (directory) => {
    const pool = new pg.Pool({ connectionString: await server.database(), max: MAX_CONNECTIONS })
    const owner = new pg.Pool({ connectionString: server.url("strata_1"), max: 1 })
    const files = fileStore({ root: directory, flush: "always" })
    const stores = [
      { name: "files", store: files, connections: () => 0 },
      { name: "PostgreSQL", store: postgresStore({ pool }), connections: () => pool.totalCount },
    ]
    const table: (readonly [string, ...string[]])[] = []
    const row = async (what: string, measure: (of: (typeof stores)[number]) => Promise<string>) => {
      const cells: string[] = []
      for (const each of stores) cells.push(await measure(each))
      table.push([what, ...cells])
      console.log([what, ...cells].join(" | "))
    }
    console.log(["", ...stores.map(({ name }) => name)].join(" | "))
    await row(`a turn, median of ${TURNS}`, ({ store }) => turn(store))
    for (const size of SIZES)
      for (const isCompacted of [true, false])
        await row(
          `opening ${size / 1_000_000}M tokens, ${isCompacted ? "compacted on the way" : "never compacted"}`,
          (each) => opening(each.store, { size, isCompacted }),
        )
    for (const writers of WRITERS) await row(`appends, ${writers} writers`, ({ store }) => appends(store, writers))
    await row(`${MANY} conversations`, ({ store, connections }) => many(store, connections))
    await row("bytes on disk per byte", async ({ name, store }) => {
      const project = "sizes"
      const relations = "('strata.line'), ('strata.journal'), ('strata.listing')"
      const onServer = async () => {
        await owner.query("vacuum (full) strata.line")
        const { rows } = await owner.query<{ bytes: string }>(
          `select sum(pg_total_relation_size(t.name::regclass)) as bytes from (values ${relations}) as t (name)`,
        )
        return Number(rows[0]!.bytes)
      }
      const before = name === "files" ? 0 : await onServer()
      const bytes = await grow(store, { project, id: "one", size: SIZES[0]! })
      const folder = join(directory, "projects", project)
      const onDisk = globSync(join(folder, "**")).reduce((sum, file) => sum + statSync(file).size, 0)
      return ((name === "files" ? onDisk : (await onServer()) - before) / bytes).toFixed(2)
    })
    await pool.end()
    await owner.end()
  })
} finally {
  await server.stop()
}
