/** The second conversation of the demo: it starts empty, in the same project, and knows what the first one learned. */
import type { Agent, Memory, MemoryBank } from "@strata/core"
import { memoriesOfferedIn, type OfferedMemory } from "@strata/core/memory"
import { sourceWords } from "@strata/page"
import type { LedgerSummary } from "../display/ledger.ts"
import { ageOf, counted } from "../display/numbers.ts"
import type { Terminal } from "../display/terminal.ts"
import { firstLine, indented, wrapped } from "../display/text.ts"
import { printable } from "../display/visible.ts"
import { happeningLine } from "./picture.ts"
import { type DemoScreen, plainScreen } from "./screen.ts"

/** What a memory says, who said it, and when. */
export interface UsedMemory {
  readonly text: string
  readonly source: string
  readonly age: string
}

/** What the summary says about the second conversation. */
export interface NextDay {
  /** What the first conversation left. */
  readonly kept: readonly string[]
  /** What the second one was offered. */
  readonly used: readonly UsedMemory[]
  /** Files that it wrote. */
  readonly written: readonly string[]
  readonly spent: LedgerSummary | undefined
}

export interface MemoryPlace {
  readonly bank: MemoryBank
  readonly now: () => Date
}

type Page = Pick<Terminal, "print" | "style" | "columns">

const WIDEST = 100
const MOST_CHARACTERS = 100 // of a memory
const SIGN_COLUMNS = 6 // turn and sign before a line of the log

/** Says what the first conversation left, and that another one begins. Returns the texts. */
export async function openNextDay({ bank }: MemoryPlace, { print, style, columns }: Page): Promise<readonly string[]> {
  const width = Math.min(columns, WIDEST)
  const memories = await bank.all()
  const left = `The first conversation is closed. It left ${counted(memories.length, "memory", "memories")} in this project:`
  const lines = [
    "",
    ...wrapped(left, width),
    ...memories.flatMap((memory) => indented(wrapped(`"${textOf(memory)}" (${sourceWords(memory)})`, width - 2), 2)),
    "",
    style.bold("A second conversation, the next day"),
    "",
  ]
  print(`${lines.join("\n")}\n`)
  return memories.map(textOf)
}

/** One line per event. It is short enough to show also what the model says. */
export function nextDayScreen(terminal: Terminal): Pick<DemoScreen, "show"> {
  const plain = plainScreen(terminal)
  const { print, style } = terminal
  const width = Math.min(terminal.columns, WIDEST)
  return {
    show(state, event) {
      if (event.type === "notice" && event.quiet) return
      plain.show(state, event)
      const newest = state.happenings.at(-1)
      if (event.type === "response" && newest?.kind === "said") print(`${happeningLine(newest, { style, width })}\n`)
    },
  }
}

/** Collects what a conversation is offered, and shows it. */
export function watchMemories(agent: Agent, place: MemoryPlace) {
  const waiting: OfferedMemory[] = []
  const used: UsedMemory[] = []
  agent.conversation.on("entry", ({ entry }) => void waiting.push(...memoriesOfferedIn(entry)))
  return {
    used,
    async show({ print, style, columns }: Page): Promise<void> {
      for (const offer of waiting.splice(0)) {
        const memory = await usedMemory(offer, place)
        used.push(memory)
        const [first = "", ...more] = wrapped(usedWords(memory), Math.min(columns, WIDEST) - SIGN_COLUMNS)
        print(`${[`    ${style.cyan("+")} ${first}`, ...indented(more, SIGN_COLUMNS)].join("\n")}\n`)
      }
    },
  }
}

async function usedMemory(offer: OfferedMemory, { bank, now }: MemoryPlace): Promise<UsedMemory> {
  const memory = offer.from === "conversation" ? undefined : await bank.get(offer.path)
  if (memory) return { text: `"${textOf(memory)}"`, source: sourceWords(memory), age: ageOf(memory.confirmed, now()) }
  const { age = "of unknown age", source = "from an earlier conversation", words } = offer
  return { text: `a passage of an earlier conversation, about ${words.join(", ")}`, source, age }
}

/** `recalled: "Never delete a file." (you said it, yesterday)` */
const usedWords = ({ text, source, age }: UsedMemory): string => `recalled: ${text} (${source}, ${age})`

const textOf = ({ body }: Memory): string => firstLine(printable(body), MOST_CHARACTERS)
