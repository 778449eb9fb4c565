/** A Strata conversation with files, rules and long results that is compacted: automatically at its level, or by hand with instructions. */
import { mkdirSync, writeFileSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { openConversation } from "@strata/core"
import { fileStore } from "../../core/src/journal/file/file-store.ts"
import type { MadeConversation } from "./made-conversation.ts"

export const CONTEXT_WINDOW = 60_000 // tokens
export const COMPACTION_LEVEL = 27_000 // tokens, in a window of this size

export interface CompactedOptions {
  readonly dir: string
  readonly cwd: string
  /** Instructions of a compaction by hand. Without them, the conversation is compacted automatically. */
  readonly instructions?: string
  /** How the summary of a compaction by hand was written. Default: `direct`. */
  readonly route?: "direct" | "notes"
  /** A name that only the first result contains, and that an answer uses after the compaction. */
  readonly usedAgain?: string
}

const ROUNDS = 12

export async function compactedConversation(options: CompactedOptions): Promise<MadeConversation> {
  const { dir, cwd, instructions, usedAgain = "", route = "direct" } = options
  mkdirSync(join(cwd, "src"), { recursive: true })
  await using chat = await openConversation({
    ...{ model: "claude-opus-5-5", dir, cwd, env: {}, settings: { contextWindow: CONTEXT_WINDOW } },
  })
  for (let n = 1; n <= ROUNDS; n++) {
    await chat.add(n === 1 ? "Never push to main. Change every part." : `Task ${n}: change src/part-${n}.ts`)
    await chat.prepare()
    const input = { file_path: join(cwd, "src", `part-${n}.ts`), content: `export const part${n} = ${n}\n` }
    writeFileSync(input.file_path, input.content)
    const name = n % 2 === 0 ? "Write" : "Read"
    await chat.record(answer(`m${n}a`, 2_000 + 800 * n, [{ type: "tool_use", id: `call-${n}`, name, input }]))
    const content = `${n === 1 ? `${usedAgain} ` : ""}${`line ${n} of the result\n`.repeat(100)}`
    await chat.add({ role: "user", content: [{ type: "tool_result", tool_use_id: `call-${n}`, content }] })
    await chat.prepare()
    const isFull = n === ROUNDS && instructions === undefined
    const context = isFull ? COMPACTION_LEVEL + 500 : 2_400 + 800 * n
    await chat.record(answer(`m${n}b`, context, [{ type: "text", text: `Part ${n} is changed.` }]))
  }
  if (instructions !== undefined) {
    const plan = await chat.planCompaction({ instructions })
    if (plan.kind === "refused") throw new Error(plan.message)
    const { last } = plan.summarised
    const written = { text: "Every part is being changed, one after the other.", route, last } as const
    await chat.compact({ instructions, written })
  }
  await chat.add("Now look at all of them again.")
  await chat.prepare()
  await chat.record(answer("again", 6_000, [{ type: "text", text: `I look at ${usedAgain || "them"} again.` }]))
  const address = { project: basename(dirname(chat.location)), id: chat.id }
  return { id: chat.id, file: chat.location, at: { store: fileStore({ root: dir }), address } }
}

const answer = (id: string, context: number, content: readonly unknown[]) =>
  ({
    ...{ id, type: "message", role: "assistant", model: "claude-opus-5-5", content, stop_reason: "end_turn" },
    usage: {
      input_tokens: 10,
      output_tokens: 40,
      cache_read_input_tokens: context - 300,
      cache_creation_input_tokens: 290,
    },
  }) as never
