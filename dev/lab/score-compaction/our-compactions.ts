/**
 * Compacts a recorded conversation with Strata's compaction layer at the positions where the recording was compacted. A second compaction
 * begins with the result of the first one, followed by the recorded messages since.
 */
import { type Conversation, findModel, type Ids, isMessage, type Message, type Store } from "@strata/core"
import { manualClock, projectName, seededIds } from "../../../packages/core/src/base/clock.ts"
import type { ForkToolState } from "../../../packages/core/src/forks/fork.ts"
import { memoryStore } from "../../../packages/core/src/journal/in-memory/store.ts"
import { compaction } from "../../../packages/core/src/layers/4-compaction/compaction.ts"
import { openConversation } from "../../../packages/core/src/public-functions.ts"
import { FileReads } from "../../../packages/core/src/tools/files/read-state.ts"
import { writeImported } from "../../../packages/transcripts/src/import/into-journal.ts"
import type { RecordedConversation } from "../recordings.ts"
import type { RecordedCompaction } from "./recorded-compactions.ts"
import { textSentIn } from "./statements.ts"
import { type SummariserName, summariserModel } from "./summarisers.ts"

const MODEL = "claude-opus-4-6" // the recorded model makes no difference to compaction
const WINDOW = 200_000 // in tokens, the window that the defaults were chosen for
const LARGER_WINDOW = 258_400 // in tokens, the window of the recorded Codex conversations
const CWD = "/nowhere"
const ID = "recording"

/** The text of the next request after each compaction of the recording. */
export async function ourCompactions(
  recording: RecordedConversation,
  compactions: readonly RecordedCompaction[],
  kind: SummariserName,
): Promise<readonly string[]> {
  const store = memoryStore()
  const window = compactions.some(({ tokensBefore }) => tokensBefore > WINDOW) ? LARGER_WINDOW : WINDOW
  const ids = seededIds(kind) // the same ids in every run
  const standing: string[] = []
  let newest: string | undefined
  for (const { since, summary } of compactions) {
    if (newest === undefined) await importBeginning(store, recording, since)
    else await appendMessages(store, since, newest)
    const chat = await openCompacting({ store, window, kind, ids, recorded: summary })
    await chat.compact()
    const { messages } = await chat.prepare()
    standing.push(messages.map(({ content }) => textSentIn(content)).join("\n"))
    newest = await newestMessage(chat)
    await chat.close()
  }
  return standing
}

async function importBeginning(store: Store, recording: RecordedConversation, messages: readonly Message[]) {
  const { format, model, name } = recording
  const report = { lines: messages.length, understood: {}, notUnderstood: {}, notes: [] }
  await writeImported(
    { format, id: ID, model, messages, report },
    { store, project: projectName(CWD), clock: manualClock(), source: name, id: ID },
  )
}

async function appendMessages(store: Store, messages: readonly Message[], newest: string): Promise<void> {
  let parentUuid = newest
  const chained = messages.map((message) => {
    const placed = { ...message, parentUuid }
    parentUuid = message.uuid
    return placed
  })
  const journal = await store.open({ project: projectName(CWD), id: ID }, { access: "write" })
  await journal.append(chained)
  await journal.close()
}

async function newestMessage(chat: Conversation): Promise<string> {
  let newest = ""
  for await (const entry of chat.entries()) if (isMessage(entry)) newest = entry.uuid
  return newest
}

interface Opening {
  readonly store: Store
  readonly window: number
  readonly kind: SummariserName
  readonly ids: Ids
  readonly recorded: string | undefined
}

/** Opens a conversation with compaction alone, so that clearing and notes do not affect the results. */
function openCompacting({ store, window, kind, ids, recorded }: Opening): Promise<Conversation> {
  const models = { [MODEL]: { window } }
  const model = summariserModel({ name: MODEL, facts: findModel(MODEL, models).facts, kind, recorded })
  const reads = new FileReads()
  const parent = { model, tools: [], reads, toolContext: surroundings }
  const timing = { every: () => () => undefined, wait: async () => undefined }
  return openConversation({
    ...{ store, id: ID, cwd: CWD, dir: CWD, env: {}, model: MODEL, system: "You help." },
    ids,
    clock: manualClock(),
    settings: { models, ...(kind === "sentence" ? { switches: { "compact-audit": false } } : {}) }, // such a summary states nothing
    layers: [compaction({ parent, reads, timing })],
  })
}

const surroundings: ForkToolState = {
  env: {},
  clock: { now: () => new Date(0) },
  directory: { get: () => CWD, set: () => undefined },
  todos: { get: () => [], set: () => undefined },
  plan: { isActive: () => false, enter: () => undefined, leave: async () => ({ approved: false }) },
}
