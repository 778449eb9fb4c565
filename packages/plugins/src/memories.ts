/**
 * Memories for another agent's conversation: the person's, for this project, the same that the program keeps. A prompt gets what fits it;
 * what the person typed as a lasting rule is kept at once, without a model.
 */

import { dayOf, localUser, systemClock, uuidFrom } from "@strata/core/base"
import {
  keepProposals,
  keepRulesIn,
  type MemoryDraft,
  memoryPrompt,
  openProjectMemory,
  type ProjectMemory,
  readAnswer,
  recallFor,
  startOf,
} from "@strata/core/memory"
import { type Attachment, renderAttachment, textOf } from "@strata/core/messages"
import { whichProject } from "@strata/core/projects"
import { storeFrom, strataDirectory } from "@strata/core/store"
import { createEstimator, findModel } from "@strata/core/tokens"
import type { Word } from "@strata/core/views"
import type { Environment } from "./clients.ts"

export interface MemoriesRequest {
  readonly session: string
  readonly cwd: string
  /** What the person typed. Empty at the start of a session. */
  readonly text: string
  /** Files of memories that the session has already. */
  readonly shown?: readonly string[]
  /** Whether it is the first prompt: rules and the list of memories come with it. */
  readonly isFirst?: boolean
}

export interface MemoriesAnswer {
  /** Texts to send beside the prompt. */
  readonly context: readonly string[]
  readonly shown: readonly string[]
  /** Rules that were kept from this prompt. */
  readonly learned: readonly string[]
  /** Whether there is anything to ask for again. */
  readonly hasMemories: boolean
}

const MODEL = "claude-opus-4-6"
const START_TOKENS = 1_500
const MEMORY_TOKENS = 500 // of one
const MAX_AT_ONCE = 3

export async function memories(request: MemoriesRequest, env: Environment): Promise<MemoriesAnswer> {
  return withMemory(request, env, (memory) => found(memory, request))
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
    project: await whichProject({ cwd, env, root, store }),
    cwd,
    mode: "auto",
    clock: systemClock,
  } as const
  const memory = (await openProjectMemory(options))! // it is on, and files have a place for it
  try {
    return await use(memory)
  } finally {
    memory.close()
  }
}

export interface LearnRequest {
  readonly session: string
  readonly cwd: string
  /** What the person typed since the last time, oldest first. */
  readonly typed: readonly string[]
  /** What the model answered to the prompt. Without it, the prompt is asked for. */
  readonly answer?: string
}

export interface LearnAnswer {
  /** For a model, in a request of its own. */
  readonly prompt?: string
  /** Memories that were kept. */
  readonly learned: readonly string[]
}

/** Memories that a model finds in what the person typed. What it proposes is checked here: its source is computed, not believed. */
export async function learn(request: LearnRequest, env: Environment): Promise<LearnAnswer> {
  return withMemory(request, env, async ({ bank, mode }) => {
    const { session, typed, answer } = request
    const now = systemClock.now()
    if (answer === undefined) {
      const { text: index } = await bank.index()
      const asked = memoryPrompt({
        writing: "as-text",
        location: bank.location,
        memories: index,
        today: dayOf(now),
        turns: 1,
      })
      const said = typed.map((text) => JSON.stringify(text)).join("\n")
      return {
        prompt: `What the user typed in a conversation, one message in each line:\n\n${said}\n\n${asked}`,
        learned: [],
      }
    }
    const read = readAnswer(answer)
    if (read.state === "unusable") return { learned: [] }
    const base = new Map<string, string | null>()
    for (const file of read.texts.keys()) base.set(file, (await bank.text(file)) ?? null)
    const words = typed.map((text) => wordOf(text, session, now))
    const kept = await keepProposals(
      { texts: read.texts, base },
      {
        ...{ bank, mode, now, evidence: { conversation: session, words, outside: [] } },
        signal: new AbortController().signal,
      },
    )
    return { learned: kept.memories.map(({ name }) => name) }
  })
}

const wordOf = (text: string, session: string, now: Date): Word => ({
  ...{ uuid: uuidFrom(`${session}:${text}`), timestamp: now.toISOString(), text, rules: [] },
})

async function found(memory: ProjectMemory, request: MemoriesRequest): Promise<MemoriesAnswer> {
  const { session, text, shown = [], isFirst = false } = request
  const now = systemClock.now()
  const estimator = createEstimator(findModel(MODEL).facts.family)
  const estimate = (piece: string) => estimator.text(piece)
  const { bank, gone } = memory
  const word = wordOf(text, session, now)
  const kept = await keptFrom(word, memory, session)
  const standing = isFirst
    ? await startOf({ bank, now, limit: START_TOKENS, estimate, access: "none", gone })
    : undefined
  const files = new Set([...shown, ...filesIn(standing), ...kept.map(({ file }) => file ?? "")])
  const recalled = await recallFor({
    recall: { recall: (question) => memory.recall(question) },
    conversation: session,
    message: {
      ...{ type: "user", uuid: word.uuid, parentUuid: null, timestamp: word.timestamp },
      message: { role: "user", content: text },
    },
    ...{ said: [], inView: { files, messages: new Set() }, shows: () => false, now, gone },
    ...{ limit: MAX_AT_ONCE, maxTokens: MEMORY_TOKENS, estimate },
  })
  const attachments = [...(standing ? [standing] : []), ...recalled]
  return {
    context: attachments.map((attachment) => textOf(renderAttachment(attachment))),
    shown: [...files, ...recalled.flatMap(filesIn)].filter((file) => file !== ""),
    learned: kept.map(({ name }) => name),
    hasMemories: (await bank.all()).length > 0,
  }
}

/** Fails open: a prompt is never held up by what it teaches. */
async function keptFrom(word: Word, { bank, mode }: ProjectMemory, session: string): Promise<readonly MemoryDraft[]> {
  const evidence = { conversation: session, words: [word], outside: [] }
  const rest = { refused: [], now: systemClock.now(), signal: new AbortController().signal }
  const kept = await keepRulesIn([word], { bank, mode, evidence, ...rest }).catch(() => undefined)
  return kept?.memories ?? []
}

const filesIn = (attachment: Attachment | undefined): readonly string[] => {
  if (attachment?.type === "standing_memory") return attachment.files ?? []
  return attachment?.type === "memory" ? [attachment.path] : []
}
