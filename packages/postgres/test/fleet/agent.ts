/** An agent of the fleet. It writes its conversation and the data that belongs to it, in a seeded order, until it is asked to finish. */

import { ConversationLockedError, MemoryChangedError, type Store } from "@strata/core"
import { MemberNameTakenError } from "@strata/core/base"
import { dailyBudgetIn, type Journal, type Mailbox, type Membership } from "@strata/core/store"
import { type Entries, entriesOf } from "../../../store-contract/src/entries.ts"
import { type Random, seededRandom } from "../../../store-contract/src/random.ts"
import {
  ADDED_DOLLARS,
  type AgentState,
  allEntries,
  blobText,
  DAY,
  type DoneKind,
  type FleetRecord,
  hashOf,
  LOG,
  MEMORY_FILES,
  PROJECT,
  stateIn,
  TEAM,
} from "./records.ts"

export interface AgentOptions {
  readonly store: Store
  readonly name: string
  readonly team: readonly string[]
  readonly seed: number
  readonly write: (record: FleetRecord) => void
  readonly pause: () => Promise<void>
  /** Runs one action. Returns nothing if no more are wanted. */
  readonly step: (work: () => Promise<void>) => Promise<void> | undefined
  /** Resolves when all agents have finished. */
  readonly everyoneIsQuiet: Promise<void>
}

export async function runAgent(options: AgentOptions): Promise<void> {
  const journal = await opened(options)
  const mailbox = options.store.mailboxes({ project: PROJECT, team: TEAM })
  const member = await joined(options, mailbox)
  try {
    const agent = await FleetAgent.resume({ ...options, journal, mailbox })
    await agent.work()
  } finally {
    await member.leave()
    await mailbox.close()
    await journal.close()
  }
}

async function opened({ store, name, pause }: AgentOptions): Promise<Journal> {
  for (;;)
    try {
      return await store.open({ project: PROJECT, id: name }, { access: "write", create: true, preload: true })
    } catch (error) {
      if (!(error instanceof ConversationLockedError)) throw error
      await pause() // until the lease of a killed process ends
    }
}

async function joined({ name, pause }: AgentOptions, mailbox: Mailbox): Promise<Membership> {
  for (;;)
    try {
      return await mailbox.join({ name, conversation: name })
    } catch (error) {
      if (!(error instanceof MemberNameTakenError)) throw error
      await pause()
    }
}

type FleetAgentOptions = AgentOptions & { readonly journal: Journal; readonly mailbox: Mailbox }

class FleetAgent {
  readonly #parts: FleetAgentOptions
  readonly #fence: number
  readonly #random: Random
  readonly #entries: Entries
  #step = 0
  cursor: string | undefined

  static async resume(parts: FleetAgentOptions): Promise<FleetAgent> {
    const agent = new FleetAgent(parts)
    const all = await allEntries(parts.journal)
    const last = all.map(stateIn).findLast((state) => state !== undefined)
    agent.#step = last?.step ?? 0
    agent.cursor = last?.cursor
    const tail = parts.journal.preloaded!.tail.entries
    const resumed = {
      ...{ lines: all.length, all: hashOf(all), tail: hashOf(tail), tailLines: tail.length },
      ...(tail[0] ? { tailFirst: tail[0].uuid } : {}),
    }
    parts.write({ type: "opened", agent: parts.name, fence: agent.#fence, resumed })
    return agent
  }

  constructor(parts: FleetAgentOptions) {
    this.#parts = parts
    this.#fence = parts.journal.fence!
    const seed = `${parts.seed} ${parts.name} ${this.#fence}`
    this.#random = seededRandom(seed)
    this.#entries = entriesOf(seed)
  }

  async work(): Promise<void> {
    const { step, pause, everyoneIsQuiet } = this.#parts
    const does = [
      () => this.#append(),
      () => this.#append(),
      () => this.#read(),
      () => this.#send(),
      () => this.#writeBlob(),
      () => this.#writeNotes(),
      () => this.#changeMemory(),
      () => this.#spend(),
      () => this.#log(),
      () => this.#alone(),
    ]
    for (;;) {
      const stepping = step(this.#random.pick(does))
      if (!stepping) break
      await stepping
      await pause()
    }
    await everyoneIsQuiet
    await this.#read()
  }

  async #append(took: AgentState["took"] = [], cursor = this.cursor): Promise<void> {
    const { journal, name, write } = this.#parts
    const states = Array.from({ length: 1 + this.#random.below(3) }, (_, at): AgentState => {
      const step = ++this.#step
      return { agent: name, fence: this.#fence, step, took: at === 0 ? took : [], ...(cursor ? { cursor } : {}) }
    })
    const stateEntries = states.map((state) => this.#entries.user(JSON.stringify(state)))
    const entries = this.#random.chance(0.1) ? [this.#entries.boundary(), ...stateEntries] : stateEntries
    await journal.append(entries)
    this.cursor = cursor
    write({ type: "appended", agent: name, fence: this.#fence, uuids: entries.map(({ uuid }) => uuid) })
  }

  async #read(): Promise<void> {
    const { mailbox, name } = this.#parts
    const { messages, cursor } = await mailbox.read(this.cursor, name)
    const mine = messages.filter(({ to }) => to.includes(name))
    await this.#append(
      mine.map(({ from, sequence }) => [from, sequence] as const),
      cursor,
    )
  }

  async #send(): Promise<void> {
    const { mailbox, name, team, write } = this.#parts
    const to = new Set(Array.from({ length: 1 + this.#random.below(3) }, () => this.#random.pick(team)))
    // sent concurrently: they keep their order
    const ids = [this.#name(), this.#name()]
    await Promise.all(
      ids.map(async (id) => {
        const { sequence } = await mailbox.send({ from: name, to: [...to], content: { id } })
        write({ type: "sent", agent: name, id, sequence })
      }),
    )
  }

  #writeBlob(): Promise<void> {
    return this.#noted("blob", async (name) => void (await this.#parts.journal.writeBlob(name, blobText(name))))
  }

  /** Writes the notes; their text is the name of this write. */
  async #writeNotes(): Promise<void> {
    const { journal } = this.#parts
    const before = (await journal.readNotes()) ?? null
    await this.#noted("notes", async (name) => {
      if (!(await journal.writeNotes(name, before))) throw new Error("The notes were changed by no one, and refused.")
    })
  }

  /** Adds a line to a file that all agents share. */
  #changeMemory(): Promise<void> {
    const files = this.#parts.store.memories({ project: PROJECT })
    const path = `shared-${this.#random.below(MEMORY_FILES)}.md`
    return this.#noted("memory", async (name) => {
      for (;;)
        try {
          const before = (await files.read(path)) ?? null
          return void (await files.install([{ path, text: `${before ?? ""}${name}\n`, expected: before }]))
        } catch (error) {
          if (!(error instanceof MemoryChangedError)) throw error
        }
    })
  }

  #spend(): Promise<void> {
    return this.#noted("sum", async () => {
      await dailyBudgetIn(this.#parts.store.memories({ project: PROJECT })).add(ADDED_DOLLARS, DAY)
    })
  }

  #log(): Promise<void> {
    return this.#noted("log", (name) => this.#parts.store.log({ project: PROJECT, name: LOG }).append(name))
  }

  async #alone(): Promise<void> {
    const { store, name, write } = this.#parts
    const attempt = await store.permit({ project: PROJECT, name: "alone" }).take({ id: this.#name(), max: 1 })
    if (attempt.state === "full") return
    write({ type: "permitted", agent: name, fence: attempt.permit.fence })
    await attempt.permit.release()
  }

  async #noted(kind: DoneKind, work: (name: string) => Promise<void>): Promise<void> {
    const { name: agent, write } = this.#parts
    const name = this.#name()
    write({ type: "trying", kind, agent, name })
    await work(name)
    write({ type: "did", kind, agent, name })
  }

  #names = 0

  /** A name that no other process of the fleet uses. */
  #name(): string {
    return `${this.#parts.name}-${this.#fence}-${++this.#names}`
  }
}
