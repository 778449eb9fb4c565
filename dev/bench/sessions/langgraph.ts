/**
 * Measures a recorded conversation as the state of a graph, message by message: the storage of Strata's checkpointer, and of LangGraph's
 * own. Each message is a step: the writes of a node, then a checkpoint.
 *
 *     npm run bench -- langgraph [--short]
 */
import { existsSync, readdirSync, statSync } from "node:fs"
import { join } from "node:path"
import { AIMessage, type BaseMessage, HumanMessage } from "@langchain/core/messages"
import type { RunnableConfig } from "@langchain/core/runnables"
import {
  type BaseCheckpointSaver,
  type Checkpoint,
  emptyCheckpoint,
  MemorySaver,
  uuid6,
} from "@langchain/langgraph-checkpoint"
import { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres"
import type { Message } from "@strata/core"
import pg from "pg"
import { fileStore } from "../../../packages/core/src/journal/file/file-store.ts"
import { postgresStore } from "../../../packages/postgres/src/index.ts"
import { newestPrograms, startServer } from "../../../packages/postgres/test/server.ts"
import { strataSaver } from "../../../packages/sessions/src/langgraph.ts"
import { recordedConversations, TUNING_RECORDINGS } from "../../lab/recordings.ts"
import { inTemporaryDirectory, isShort, quantile, timed } from "../measure.ts"

const MAX_MESSAGES = isShort ? 100 : 600 // the storage of LangGraph's own savers grows quadratically
const MEGABYTE = 1_000_000

interface Measured {
  readonly name: string
  readonly bytes: number
  /** Milliseconds of a step in the first tenth of the conversation. The next two are for the last tenth, and for reading its end. */
  readonly early: number
  readonly late: number
  readonly read: number
}

function graphMessage({ type, message, uuid }: Extract<Message, { type: "user" | "assistant" }>): BaseMessage {
  const { content } = message
  const fields = { id: uuid, content: (typeof content === "string" ? content : [...content]) as string }
  return type === "user" ? new HumanMessage(fields) : new AIMessage(fields)
}

function recorded(): { readonly name: string; readonly messages: readonly BaseMessage[] } | undefined {
  if (!existsSync(TUNING_RECORDINGS)) return undefined
  const longest = recordedConversations().toSorted((one, other) => other.messages.length - one.messages.length)[0]
  if (!longest) return undefined
  const messages = longest.messages.flatMap((message) =>
    message.type === "user" || message.type === "assistant" ? [graphMessage(message)] : [],
  )
  return { name: longest.name, messages: messages.slice(0, MAX_MESSAGES) }
}

interface StorageResult {
  readonly name: string
  readonly saver: BaseCheckpointSaver
  bytes(): Promise<number> | number
}

async function play(messages: readonly BaseMessage[], { name, saver, bytes }: StorageResult): Promise<Measured> {
  const times: number[] = []
  let config: RunnableConfig = { configurable: { thread_id: "bench", checkpoint_ns: "" } }
  let state: readonly BaseMessage[] = []
  for (const [at, message] of messages.entries()) {
    state = [...state, message]
    const versions = { messages: at + 1 }
    const checkpoint: Checkpoint = {
      ...emptyCheckpoint(),
      ...{ id: uuid6(at), channel_values: { messages: state }, channel_versions: versions },
      versions_seen: { agent: { messages: at } },
    }
    const { ms } = await timed(async () => {
      if (at > 0) await saver.putWrites(config, [["messages", [message]]], `task-${at}`)
      config = await saver.put(config, checkpoint, { source: "loop", step: at, parents: {} }, versions)
    })
    times.push(ms)
  }
  const { ms: read } = await timed(() => saver.getTuple({ configurable: { thread_id: "bench", checkpoint_ns: "" } }))
  const tenth = Math.ceil(messages.length / 10)
  const early = quantile(times.slice(1, 1 + tenth), 0.5)
  return { name, bytes: await bytes(), early, late: quantile(times.slice(-tenth), 0.5), read }
}

const lengthOf = (data: unknown): number => (data instanceof Uint8Array ? data.length : String(data).length)

function bytesInMemory({ storage, writes }: MemorySaver): number {
  const checkpoints = Object.values(storage).flatMap((spaces) =>
    Object.values(spaces).flatMap((each) => Object.values(each)),
  )
  const stored = checkpoints.reduce((sum, [checkpoint, metadata]) => sum + lengthOf(checkpoint) + lengthOf(metadata), 0)
  const pending = Object.values(writes).flatMap((each) => Object.values(each))
  return pending.reduce((sum, [, , value]) => sum + lengthOf(value), stored)
}

function bytesUnder(directory: string): number {
  return readdirSync(directory, { recursive: true, encoding: "utf8" })
    .map((name) => statSync(join(directory, name)))
    .reduce((sum, file) => sum + (file.isFile() ? file.size : 0), 0)
}

/** Size of tables, indexes and out-of-line storage. */
async function bytesOfTables(connectionString: string, before = 0): Promise<number> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  const sizes = `select sum(pg_total_relation_size(c.oid))::bigint as bytes from pg_class c
    join pg_namespace n on n.oid = c.relnamespace
    where c.relkind = 'r' and n.nspname not in ('pg_catalog', 'information_schema')`
  const { rows } = await client.query<{ bytes: string | null }>(sizes)
  await client.end()
  return Number(rows[0]?.bytes ?? 0) - before
}

async function onServer(messages: readonly BaseMessage[]): Promise<readonly Measured[]> {
  if (newestPrograms() === undefined) {
    console.log("PostgreSQL is not installed for this platform, so it is left out.")
    return []
  }
  const server = await startServer()
  try {
    const pool = new pg.Pool({ connectionString: server.url() })
    pool.on("error", () => undefined) // a connection may still be open when the server ends
    const theirs = new PostgresSaver(pool)
    await theirs.setup()
    const emptyTheirs = await bytesOfTables(server.url())
    const url = await server.database()
    const database = server.url(new URL(url).pathname.slice(1))
    const emptyOurs = await bytesOfTables(database)
    const store = postgresStore({ connectionString: url })
    const ours = strataSaver({ store })
    const measured = [
      await play(messages, { name: "ours, PostgreSQL", saver: ours, bytes: () => bytesOfTables(database, emptyOurs) }),
      await play(messages, {
        name: "PostgresSaver",
        saver: theirs,
        bytes: () => bytesOfTables(server.url(), emptyTheirs),
      }),
    ]
    await ours.close()
    await store.close()
    await theirs.end()
    return measured
  } finally {
    await server.stop()
  }
}

function print(rows: readonly Measured[], bytes: number): void {
  console.log("saver                 MB stored/MB     ms a step, first and last tenth   ms to read the end")
  for (const { name, bytes: stored, early, late, read } of rows) {
    const cells = [(stored / bytes).toFixed(2).padStart(14), `${early.toFixed(2)} ${late.toFixed(2)}`.padStart(33)]
    console.log(`${name.padEnd(20)}${cells.join("")}${read.toFixed(1).padStart(21)}`)
  }
}

const conversation = recorded()
if (!conversation) console.log("There are no recorded conversations next to the repository, so nothing was measured.")
else {
  const { name, messages } = conversation
  const [, state] = await new MemorySaver().serde.dumpsTyped(messages)
  console.log(
    `${name}: ${messages.length} messages, ${(state.length / MEGABYTE).toFixed(2)} MB as LangGraph's serializer writes them`,
  )
  const own = await inTemporaryDirectory(async (root) => {
    const saver = strataSaver({ store: fileStore({ root }) })
    const measured = await play(messages, { name: "ours, files", saver, bytes: () => bytesUnder(root) })
    await saver.close()
    return measured
  })
  const memory = new MemorySaver()
  const theirs = await play(messages, { name: "MemorySaver", saver: memory, bytes: () => bytesInMemory(memory) })
  print([own, theirs, ...(await onServer(messages))], state.length)
}
