/** Creates a Strata conversation with results, a compaction and hostile texts, with the library and without a model. */
import { basename, dirname } from "node:path"
import { localUser, openConversation } from "@strata/core"
import { fileStore } from "../../core/src/journal/file/file-store.ts"
import type { JournalLocation } from "../src/live/live-source.ts"

export interface MadeConversation {
  readonly id: string
  readonly file: string
  /** Location of the journal. */
  readonly at: JournalLocation
}

export interface ConversationOptions {
  readonly dir: string
  readonly cwd: string
  readonly rounds: number
  /** Texts for messages and results. */
  readonly texts?: readonly string[]
  /** Characters of each result. */
  readonly resultCharacters?: number
  readonly isCompacted?: boolean
  /** Whether it belongs to the user, like those of `strata chat`. Default: it has no owner. */
  readonly isOwned?: boolean
}

const MODEL = "claude-opus-5-5"

export async function makeConversation({
  dir,
  cwd,
  rounds,
  texts = [],
  resultCharacters = 400,
  isCompacted = false,
  isOwned = false,
}: ConversationOptions): Promise<MadeConversation> {
  await using chat = await openConversation({
    ...{ model: MODEL, dir, cwd, env: {} },
    ...(isOwned ? { memory: { owner: localUser } } : {}),
  })
  let context = 4_000
  for (let round = 1; round <= rounds; round++) {
    const text = texts[(round - 1) % Math.max(1, texts.length)] ?? `Task ${round}: look at src/part-${round}.ts`
    await chat.add(text)
    await chat.prepare()
    await chat.record(
      response(`m${round}a`, context, [
        {
          type: "tool_use",
          id: `call-${round}`,
          name: "Read",
          input: { file_path: `src/part-${round}.ts`, note: text },
        },
      ]),
    )
    const line = `${round} ${text} `
    const result = line.repeat(Math.ceil(resultCharacters / line.length)).slice(0, resultCharacters)
    await chat.add({ role: "user", content: [{ type: "tool_result", tool_use_id: `call-${round}`, content: result }] })
    await chat.prepare()
    context += 300
    await chat.record(response(`m${round}b`, context, [{ type: "text", text: `Answer ${round}. ${text}` }]))
    context += 300
    if (isCompacted && round === Math.ceil(rounds * 0.6)) {
      const plan = await chat.planCompaction()
      if (plan.kind === "refused") throw new Error(plan.message)
      const { last } = plan.summarised
      await chat.compact({ written: { text: "The work so far, in short: parts were read.", route: "direct", last } })
      context = 6_000
    }
  }
  const address = { project: basename(dirname(chat.location)), id: chat.id }
  return { id: chat.id, file: chat.location, at: { store: fileStore({ root: dir }), address } }
}

const response = (id: string, context: number, content: readonly unknown[]) =>
  ({
    id,
    type: "message",
    role: "assistant",
    model: MODEL,
    content,
    stop_reason: "end_turn",
    usage: {
      input_tokens: 10,
      output_tokens: 40,
      cache_read_input_tokens: context - 300,
      cache_creation_input_tokens: 290,
    },
  }) as never
