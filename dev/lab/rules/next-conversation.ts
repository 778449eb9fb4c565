/** The stored memories after a chat, and the first request of the owner's next conversation, with a real store and no model. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, dirname, join } from "node:path"
import { openConversation } from "@strata/core"
import type { RuleChat } from "./chats.ts"

/** Large enough that no rule is missing because of the limit of one request, which would count as a miss of the recognizer. */
const ROOM = 6_000 // tokens at the start of a conversation

interface After {
  /** Messages of the first request, as JSON. */
  readonly start: string
  /** Bodies of the memories. */
  readonly stored: readonly string[]
}

export async function startAfter(
  messages: RuleChat["messages"],
  { extracts }: { readonly extracts: boolean },
): Promise<After> {
  const root = mkdtempSync(join(tmpdir(), "rules-"))
  const figures = { "memory-start": ROOM, ...(extracts ? {} : { "background-share": 0 }) }
  const options = {
    ...{ model: "claude-opus-5-5", cwd: root, dir: join(root, "home"), env: {}, system: "You help." },
    memory: { owner: "a person" },
    settings: { figures, switches: { notes: false, dreaming: false } },
  }
  try {
    const chat = await openConversation(options)
    for (const [at, { speaker, text }] of messages.entries()) {
      if (speaker === "user") await chat.add(text)
      else {
        await chat.prepare()
        await chat.record({ id: `msg_${at}`, content: [{ type: "text", text }], stop_reason: "end_turn" })
        await chat.whenIdle()
      }
    }
    await chat.close()
    const next = await openConversation(options)
    await next.add("Hello")
    const start = JSON.stringify((await next.prepare()).messages)
    await next.close()
    return { start, stored: memoriesUnder(root) }
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}

function memoriesUnder(root: string): readonly string[] {
  const files = readdirSync(root, { recursive: true, encoding: "utf8" }).filter(
    (file) => file.endsWith(".md") && basename(dirname(file)) === "memory" && basename(file) !== "MEMORY.md",
  )
  return files.map((file) =>
    readFileSync(join(root, file), "utf8")
      .replace(/^---\n[\s\S]*?\n---\n/, "")
      .trim(),
  )
}

/** Lines of rules and of facts about the user as they are sent, without their dates. */
export const pinnedIn = (start: string): readonly string[] =>
  [...start.matchAll(/\\n\d{1,2} [A-Z][a-z]{2,3}(?: \d{4})?: ((?:[^\\]|\\(?!n))*)/g)].map(([, text]) => text!)

export const asSent = (text: string) => JSON.stringify(text.replace(/\s+/g, " ")).slice(1, -1)
