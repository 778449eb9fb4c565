/**
 * Memories for another agent's conversation: the user's memories of this project, the same that the `strata` program uses. A prompt gets
 * relevant ones. A lasting rule that the user typed is saved at once, without a model.
 */

import { localUser, systemClock, utcDay, uuidFrom } from "@strata/core/base"
import {
  type MemoryDraft,
  memoryPrompt,
  openProjectMemory,
  type ProjectMemory,
  readAnswer,
  recallFor,
  saveProposals,
  saveUserRules,
  standingMemory,
} from "@strata/core/memory"
import { type Attachment, renderAttachment, textOf } from "@strata/core/messages"
import { resolveProject } from "@strata/core/projects"
import { storeFrom, strataDirectory } from "@strata/core/store"
import { createEstimator, findModel } from "@strata/core/tokens"
import type { UserMessageText } from "@strata/core/views"
import type { Environment } from "./clients.ts"

export interface MemoriesRequest {
  readonly session: string
  readonly cwd: string
  /** The user's input. Empty at the start of a session. */
  readonly text: string
  /** Files of memories that the session already has. */
  readonly shown?: readonly string[]
  /** Whether this is the first prompt, which also gets rules and the list of memories. */
  readonly isFirst?: boolean
}

export interface MemoriesResponse {
  /** Texts to send along with the prompt. */
  readonly context: readonly string[]
  readonly shown: readonly string[]
  /** Rules that were saved from this prompt. */
  readonly learned: readonly string[]
  /** Whether there are any memories, so that asking again makes sense. */
  readonly hasMemories: boolean
}

const MODEL = "claude-opus-4-6"
const START_TOKENS = 1_500
const MEMORY_TOKENS = 500 // for one memory
const MAX_AT_ONCE = 3

export async function memories(request: MemoriesRequest, env: Environment): Promise<MemoriesResponse> {
  return withMemory(request, env, (memory) => findMemories(memory, request))
}

async function withMemory<T>(
  { cwd }: { readonly cwd: string },
  env: Environment,
  use: (memory: ProjectMemory) => Promise<T>,
): Promise<T> {
  const [root, store] = [strataDirectory(env), storeFrom({ env })]
  const options = {
    store,
    owner: localUser,
    project: await resolveProject({ cwd, env, root, store }),
    cwd,
    mode: "auto",
    clock: systemClock,
  } as const
  const memory = (await openProjectMemory(options))! // memory is on here, and a file store supports it
  try {
    return await use(memory)
  } finally {
    memory.close()
  }
}

export interface LearnRequest {
  readonly session: string
  readonly cwd: string
  /** User input since the last request, oldest first. */
  readonly typed: readonly string[]
  /** The model's answer to the prompt. Without it, the response contains the prompt. */
  readonly answer?: string
}

export interface LearnResponse {
  /** A prompt for a model, to be sent as a separate request. */
  readonly prompt?: string
  /** Memories that were saved. */
  readonly learned: readonly string[]
}

/** Saves memories that a model finds in user input. Its proposals are checked here: their source is computed instead of trusted. */
export async function learn(request: LearnRequest, env: Environment): Promise<LearnResponse> {
  return withMemory(request, env, async ({ bank, mode }) => {
    const { session, typed, answer } = request
    const now = systemClock.now()
    if (answer === undefined) {
      const { text: index } = await bank.index()
      const asked = memoryPrompt({
        mode: "as-text",
        location: bank.location,
        memories: index,
        today: utcDay(now),
        turns: 1,
      })
      const userTexts = typed.map((text) => JSON.stringify(text)).join("\n")
      return {
        prompt: `What the user typed in a conversation, one message in each line:\n\n${userTexts}\n\n${asked}`,
        learned: [],
      }
    }
    const read = readAnswer(answer)
    if (read.state === "unusable") return { learned: [] }
    const base = new Map<string, string | null>()
    for (const file of read.texts.keys()) base.set(file, (await bank.text(file)) ?? null)
    const words = typed.map((text) => wordOf(text, session, now))
    const saved = await saveProposals(
      { texts: read.texts, base },
      {
        ...{ bank, mode, now, evidence: { conversation: session, words, outside: [] } },
        signal: new AbortController().signal,
      },
    )
    return { learned: saved.memories.map(({ name }) => name) }
  })
}

const wordOf = (text: string, session: string, now: Date): UserMessageText => ({
  ...{ uuid: uuidFrom(`${session}:${text}`), timestamp: now.toISOString(), text, rules: [] },
})

async function findMemories(memory: ProjectMemory, request: MemoriesRequest): Promise<MemoriesResponse> {
  const { session, text, shown = [], isFirst = false } = request
  const now = systemClock.now()
  const estimator = createEstimator(findModel(MODEL).facts.family)
  const estimate = (piece: string) => estimator.text(piece)
  const { bank, findMissingNames } = memory
  const word = wordOf(text, session, now)
  const saved = await saveRules(word, memory, session)
  const standing = isFirst
    ? await standingMemory({ bank, now, limit: START_TOKENS, estimate, access: "none", findMissingNames })
    : undefined
  const files = new Set([...shown, ...filesIn(standing), ...saved.map(({ file }) => file ?? "")])
  const recalled = await recallFor({
    recall: { recall: (question) => memory.recall(question) },
    conversation: session,
    message: {
      ...{ type: "user", uuid: word.uuid, parentUuid: null, timestamp: word.timestamp },
      message: { role: "user", content: text },
    },
    ...{ userMessages: [], inView: { files, messages: new Set() }, shows: () => false, now, findMissingNames },
    ...{ limit: MAX_AT_ONCE, maxTokens: MEMORY_TOKENS, estimate },
  })
  const attachments = [...(standing ? [standing] : []), ...recalled]
  return {
    context: attachments.map((attachment) => textOf(renderAttachment(attachment))),
    shown: [...files, ...recalled.flatMap(filesIn)].filter((file) => file !== ""),
    learned: saved.map(({ name }) => name),
    hasMemories: (await bank.all()).length > 0,
  }
}

/** Fails open: a prompt is never delayed by an error here. */
async function saveRules(
  word: UserMessageText,
  { bank, mode }: ProjectMemory,
  session: string,
): Promise<readonly MemoryDraft[]> {
  const evidence = { conversation: session, words: [word], outside: [] }
  const rest = { refused: [], now: systemClock.now(), signal: new AbortController().signal }
  const saved = await saveUserRules([word], { bank, mode, evidence, ...rest }).catch(() => undefined)
  return saved?.memories ?? []
}

const filesIn = (attachment: Attachment | undefined): readonly string[] => {
  if (attachment?.type === "standing_memory") return attachment.files ?? []
  return attachment?.type === "memory" ? [attachment.path] : []
}
