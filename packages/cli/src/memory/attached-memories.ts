/** Lists the memories attached in a conversation and the reasons, from its journal. Pure apart from reading. */
import { contentOf, type Entry, isFromUser, isMessage, textOf } from "@strata/core"
import { type AttachedMemory, listAttachedMemories } from "@strata/core/memory"
import { fileStem } from "@strata/page"
import { firstLine, indent, wrapText } from "../display/text.ts"
import { escapeToLine } from "../display/visible.ts"

const MESSAGE_COLUMNS = 60

export interface AttachedMemories {
  /** Files in the context from the start. */
  readonly standing: readonly string[]
  /** Memories attached to messages. `message` is the first line of that message; absent if the user had just saved the memory. */
  readonly recalled: readonly AttachedMemory[]
}

export async function findAttachedMemories(entries: AsyncIterable<Entry>): Promise<AttachedMemories> {
  const messages = new Map<string, string>()
  const offered: AttachedMemory[] = []
  for await (const entry of entries) {
    if (isMessage(entry) && isFromUser(entry))
      messages.set(entry.uuid, firstLine(escapeToLine(textOf(contentOf(entry))), MESSAGE_COLUMNS))
    offered.push(...listAttachedMemories(entry))
  }
  const recalled = offered.filter(({ from }) => from !== "start")
  return {
    standing: [...new Set(offered.filter(({ from }) => from === "start").map(({ path }) => path))],
    recalled: recalled.map(({ message: uuid, ...memory }) => {
      const message = uuid && messages.get(uuid)
      return { ...memory, ...(message ? { message } : {}) }
    }),
  }
}

/** Renders the standing memories, then each message with its attached memories. */
export function attachedMemoryLines({ standing, recalled }: AttachedMemories, columns: number): readonly string[] {
  if (standing.length + recalled.length === 0) return ["No memory was offered in this conversation."]
  const start = `At the start, in full: ${standing.map(fileStem).join(", ")}`
  const groups = Map.groupBy(recalled, ({ message }) => message)
  return [
    ...(standing.length === 0 ? [] : wrapText(escapeToLine(start), columns)),
    ...[...groups].flatMap(([message, memories]) => [
      message === undefined ? "Saved in this conversation:" : `For "${message}":`,
      ...memories.flatMap((memory) => memoryLines(memory, columns)),
    ]),
  ]
}

function memoryLines(
  { path, from, age, source, gone = [], words }: AttachedMemory,
  columns: number,
): readonly string[] {
  const name = from === "conversation" ? `a passage of conversation ${path.slice(0, 8)}` : fileStem(path)
  const facts = [age, source].filter((fact) => fact !== undefined).join(", ")
  const why = words.length === 0 ? "" : ` It fits the words ${words.join(", ")}.`
  const lost = gone.length === 0 ? "" : ` The code no longer has ${gone.join(", ")}.`
  const text = `${name}${facts === "" ? "" : ` (${facts})`}.${why}${lost}`
  return indent(wrapText(escapeToLine(text), columns - 2), 2)
}
