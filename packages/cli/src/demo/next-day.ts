/** The second conversation of the demo: it starts empty in the same project and recalls what the first one learned. */
import type { Agent, Memory, MemoryBank } from "@strata/core"
import { type AttachedMemory, listAttachedMemories } from "@strata/core/memory"
import { describeSource } from "@strata/page"
import type { LedgerSummary } from "../display/ledger.ts"
import { describeAge, pluralize } from "../display/numbers.ts"
import { firstLine, wrapText } from "../display/text.ts"
import { escapeToLine } from "../display/visible.ts"
import { type DemoScreen, noticeOf } from "./screen.ts"

/** Text, source and age of a memory. */
export interface UsedMemory {
  readonly text: string
  readonly source: string
  readonly age: string
}

/** Results of the second conversation, for the summary. */
export interface NextDay {
  /** Memories that the first conversation saved. */
  readonly kept: readonly string[]
  /** Memories that were attached to the second conversation. */
  readonly used: readonly UsedMemory[]
  /** Files that the second conversation wrote. */
  readonly written: readonly string[]
  readonly spent: LedgerSummary | undefined
}

export interface DemoMemory {
  readonly bank: MemoryBank
  readonly now: () => Date
}

const MAX_WIDTH = 100
const MAX_CHARACTERS = 100 // of a memory's text

/** Announces the second conversation and shows the memories of the first. Returns their texts. */
export async function openNextDay({ bank }: DemoMemory, screen: Pick<DemoScreen, "say">): Promise<readonly string[]> {
  const memories = await bank.all()
  screen.say({
    kind: "panel",
    title: `The first conversation left ${pluralize(memories.length, "memory", "memories")} in this project`,
    lines: (columns) =>
      memories.flatMap((memory) =>
        wrapText(`"${quoteMemory(memory)}" (${describeSource(memory)})`, Math.min(columns, MAX_WIDTH)),
      ),
  })
  screen.say({ kind: "heading", text: "A second conversation, the next day" })
  return memories.map(quoteMemory)
}

/** Collects and shows the memories that are attached to a conversation. */
export function watchMemories(agent: Agent, place: DemoMemory) {
  const waiting: AttachedMemory[] = []
  const used: UsedMemory[] = []
  agent.conversation.on("entry", ({ entry }) => void waiting.push(...listAttachedMemories(entry)))
  return {
    used,
    async show(screen: Pick<DemoScreen, "say">): Promise<void> {
      for (const offer of waiting.splice(0)) {
        const memory = await usedMemory(offer, place)
        used.push(memory)
        screen.say(noticeOf(describeUsedMemory(memory)))
      }
    },
  }
}

async function usedMemory(offer: AttachedMemory, { bank, now }: DemoMemory): Promise<UsedMemory> {
  const memory = offer.from === "conversation" ? undefined : await bank.get(offer.path)
  if (memory)
    return {
      text: `"${quoteMemory(memory)}"`,
      source: describeSource(memory),
      age: describeAge(memory.confirmed, now()),
    }
  const { age = "of unknown age", source = "from an earlier conversation", words } = offer
  return { text: `a passage of an earlier conversation, about ${words.join(", ")}`, source, age }
}

/** Describes a recalled memory with its source and age. */
const describeUsedMemory = ({ text, source, age }: UsedMemory): string => `recalled: ${text} (${source}, ${age})`

const quoteMemory = ({ body }: Memory): string => firstLine(escapeToLine(body), MAX_CHARACTERS)
