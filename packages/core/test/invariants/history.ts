/** Runs the steps of a random history with a conversation on a real disk, with the default layers. */
import { cp, mkdir, readFile, rm, truncate } from "node:fs/promises"
import { join } from "node:path"
import { manualClock, projectName, seededIds } from "../../src/base/clock.ts"
import {
  CompactionFailedError,
  ContextFullError,
  EmptyConversationError,
  NothingToUndoError,
  RangeRefusedError,
} from "../../src/base/errors.ts"
import { localUser } from "../../src/base/owner.ts"
import { type Conversation, engineOf } from "../../src/conversation/conversation.ts"
import { internalsOf } from "../../src/conversation/internals.ts"
import { openConversation } from "../../src/conversation/open.ts"
import { leaveOutReceived } from "../../src/conversation/refused-content.ts"
import { isMessage } from "../../src/journal/entries.ts"
import { journalPaths } from "../../src/journal/file/layout.ts"
import type { Block } from "../../src/messages/blocks.ts"
import type { Step } from "./history-steps.ts"

export const MODEL = "claude-opus-4-6"
const ID = "c"

export interface HistoryOptions {
  readonly memory: boolean
  /** The size at which automatic compaction begins. */
  readonly autoCompactTokens: number
}

const TEXTS = [
  "Which port has the staging server?",
  "Fix the failing test in parser.ts.",
  "The heron host must never be restarted.",
  "What did we decide about the cache?",
  "Go on.",
  "Use tabs, not spaces.",
  "The build of the parser is slow.",
  "Why is the staging server down?",
]

const EARLIER = ["The staging server has the port 7071.", "We decided to keep the cache for an hour."]

/** Errors of actions that are impossible in the current state. */
const EXPECTED = [CompactionFailedError, NothingToUndoError, RangeRefusedError, EmptyConversationError]

async function refusable<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work
  } catch (error) {
    if (EXPECTED.some((kind) => error instanceof kind)) return undefined
    throw error
  }
}

/** Paths are in requests, so all have the same length. */
export const homeName = (number: number) => `home-${String(number).padStart(5, "0")}`

/** The request without differences between two copies of a home directory, and with truncated texts, so that a failure is readable. */
export const comparable = (request: string): string =>
  request
    .replaceAll(/\bhome-\d{5}\b/g, "home")
    .replaceAll(/(more words |a line of code\\n){4,}/g, (filling) => `[${filling.length}]`)

/** One conversation, and the processes that open it one after another. */
export class History {
  readonly #options: HistoryOptions
  readonly #homes: string
  readonly #clock = manualClock("2026-03-10T12:00:00.000Z")
  #home: string
  #count = 0
  #opened = 0
  chat!: Conversation

  /** `homes`: a directory for this history alone. */
  constructor(homes: string, options: HistoryOptions) {
    this.#homes = homes
    this.#home = join(homes, homeName(0))
    this.#options = options
  }

  /** Starts the conversation. Earlier conversations of the project may be recalled. */
  async start(): Promise<void> {
    await mkdir(join(this.#homes, "project"), { recursive: true })
    if (this.#options.memory)
      for (const [at, text] of EARLIER.entries()) {
        const chat = await this.#open(this.#home, `earlier-${at}`)
        await chat.add(text)
        await chat.close()
      }
    this.chat = await this.#open(this.#home)
  }

  /** Uses new ids: a process never reuses those of another one. */
  #open(dir: string, id = ID): Promise<Conversation> {
    const { memory, autoCompactTokens } = this.#options
    return openConversation({
      ...{ model: MODEL, id, cwd: join(this.#homes, "project"), dir, env: {}, system: "You help." },
      memory: { owner: localUser },
      settings: {
        ...{ autoCompactTokens, memory: memory ? "auto" : "off", flush: "never" },
      },
      clock: this.#clock,
      ids: seededIds(`${this.#opened++}`),
    })
  }

  /** Copies the files that another process would find, without data that is only in memory. */
  async #copied({ lost = 0 } = {}): Promise<string> {
    const to = join(this.#homes, homeName(++this.#count))
    const isKept = (path: string) => !/\.(lock|sock|sqlite(-wal|-shm)?)$/.test(path)
    await cp(this.#home, to, { recursive: true, preserveTimestamps: true, filter: isKept })
    if (lost > 0) {
      const { journal } = journalPaths(to, { project: projectName(join(this.#homes, "project")), id: ID })
      const { length: bytes } = await readFile(journal).catch(() => Buffer.alloc(0))
      if (bytes > 0) await truncate(journal, Math.max(0, bytes - lost))
    }
    return to
  }

  /** Runs work with the conversation as another process would open it now. */
  async elsewhere<T>(work: (chat: Conversation) => Promise<T>): Promise<T> {
    await this.chat.whenIdle()
    const home = await this.#copied()
    const chat = await this.#open(home)
    try {
      return await work(chat)
    } finally {
      await chat.close()
      await rm(home, { recursive: true })
    }
  }

  async #dies(lost: number): Promise<void> {
    const home = await this.#copied({ lost })
    await this.chat.close()
    await rm(this.#home, { recursive: true })
    this.#home = home
    this.chat = await this.#open(home)
  }

  async remove(): Promise<void> {
    await this.chat.close()
    await rm(this.#homes, { recursive: true })
  }

  /** Passes more than an hour without use, optionally with a constant observer. Resolves with whether the conversation was unloaded. */
  async idle({ isWatched }: { readonly isWatched: boolean }): Promise<boolean> {
    await this.chat.whenIdle()
    return idle(this.chat, { clock: this.#clock, isWatched })
  }

  async take(step: Step): Promise<void> {
    const { chat } = this
    const { context, undoable } = engineOf(chat).views
    switch (step.kind) {
      case "say":
      case "enqueue": {
        const text = `${TEXTS[step.text]} ${"more words ".repeat(step.length)}`
        await (step.kind === "say" ? chat.add(text) : chat.enqueue(text))
        return
      }
      case "answer":
        await this.#answer(step)
        return
      case "results":
        await this.#addResults(step)
        return
      case "clear":
        await chat.clearResults({ downTo: step.less ? Math.max(0, chat.windowUsage().used - step.less) : step.downTo })
        return
      case "fold":
      case "snip": {
        const inView = context.storedMessages()
        const at = (number: number) => inView[number % Math.max(1, inView.length)]?.uuid ?? "none"
        await refusable(chat[step.kind]({ from: at(step.from), to: at(step.to) }))
        return
      }
      case "fold-down":
        await refusable(chat.fold({ downTo: step.downTo }))
        return
      case "unfold": {
        const { hiddenRanges } = context
        const range = hiddenRanges[step.which % Math.max(1, hiddenRanges.length)]
        await refusable(chat.unfold(range?.decision.uuid ?? "none"))
        return
      }
      case "undo": {
        const { keepLater, isNewest, which } = step
        const decision = undoable.list[which % Math.max(1, undoable.list.length)]?.uuid
        await refusable(chat.undo(isNewest || decision === undefined ? { keepLater } : { keepLater, decision }))
        return
      }
      case "compact":
        await refusable(chat.compact())
        return
      case "rewind": {
        const places = step.isInView ? context.rawMessages.map(({ uuid }) => uuid) : await this.#messages()
        if (places.length > 0) await chat.rewind(places[step.to % places.length]!)
        return
      }
      case "refused":
        await this.#refused(step.after)
        return
      case "wait":
        this.#clock.advance(3_600_000)
        return
      case "reopen":
        await chat.close()
        this.chat = await this.#open(this.#home)
        return
      case "kill":
        await this.#dies(step.lost)
    }
  }

  async #messages(): Promise<readonly string[]> {
    const found: string[] = []
    for await (const entry of this.chat.entries()) if (isMessage(entry)) found.push(entry.uuid)
    return found
  }

  async #answer({ calls, thinks, usage }: Extract<Step, { kind: "answer" }>): Promise<void> {
    const n = ++this.#count
    const content: unknown[] = [
      ...(thinks ? [{ type: "thinking", thinking: `Thought ${n}.`, signature: "sig" }] : []),
      { type: "text", text: `Answer ${n}.` },
      ...Array.from({ length: calls }, (_, at) => ({
        ...{ type: "tool_use", id: `toolu_${n}_${at}`, name: "Read" },
        input: { file_path: `/src/file${at}.ts` },
      })),
    ]
    await this.chat.record({
      ...{ id: `msg_${n}`, model: MODEL, content, stop_reason: calls > 0 ? "tool_use" : "end_turn" },
      usage: { input_tokens: usage, output_tokens: 10 },
    })
  }

  /** Adds results to the newest open calls in view: to the first, or to all. */
  async #addResults({ length, all }: Extract<Step, { kind: "results" }>): Promise<void> {
    const { lastResponse } = engineOf(this.chat).views.context
    const content = lastResponse?.message.content
    const calls = Array.isArray(content) ? content.flatMap((block) => (block.type === "tool_use" ? block.id : [])) : []
    const open = calls.filter((id) => !engineOf(this.chat).views.context.originalResult(id))
    const blocks = (all ? open : open.slice(0, 1)).map(
      (id): Block => ({ type: "tool_result", tool_use_id: id, content: `${id}\n${"a line of code\n".repeat(length)}` }),
    )
    if (blocks.length > 0) await this.chat.add({ role: "user", content: blocks })
  }

  /** Simulates a request that the server refused with 400, and the reaction of the loop. */
  async #refused(after: Extract<Step, { kind: "refused" }>["after"]): Promise<void> {
    await tryPrepare(this.chat)
    if (after === "overflow") await refusable(this.chat.compact({ trigger: "auto", overflowed: true }))
    else if (after === "received") await leaveOutReceived(engineOf(this.chat))
  }
}

const IDLE_MINUTES = 72 // long enough that a request without an answer no longer keeps it loaded
const LOOK_MINUTES = 4 // shorter than the idle time before it is unloaded

export async function idle(
  chat: Conversation,
  { clock, isWatched }: { readonly clock: ReturnType<typeof manualClock>; readonly isWatched: boolean },
): Promise<boolean> {
  for (let minutes = 0; minutes < IDLE_MINUTES; minutes += LOOK_MINUTES) {
    clock.advance(LOOK_MINUTES * 60_000)
    if (isWatched) chat.windowUsage()
    await chat.whenIdle()
    await internalsOf(chat).isAsleep()
  }
  return internalsOf(chat).isAsleep()
}

/** Returns `undefined` if there is nothing to send, or if it does not fit: both are documented. */
export async function tryPrepare(chat: Conversation) {
  try {
    return await chat.prepare()
  } catch (error) {
    if (error instanceof EmptyConversationError || error instanceof ContextFullError) return undefined
    throw error
  }
}
