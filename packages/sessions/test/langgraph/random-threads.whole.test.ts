/** Random threads, stored by Strata's saver and by LangGraph's own: both must always return the same. */
import type { RunnableConfig } from "@langchain/core/runnables"
import {
  type ChannelVersions,
  type Checkpoint,
  type CheckpointMetadata,
  type CheckpointTuple,
  MemorySaver,
} from "@langchain/langgraph-checkpoint"
import { memoryStore } from "@strata/core"
import fc from "fast-check"
import { expect, test } from "vitest"
import { isWhole, size } from "../../../core/test/size.ts"
import { type StrataSaver, strataSaver } from "../../src/langgraph.ts"

const THREAD = "thread of Ada: 7"
const NAMESPACES = ["", "inner", "call:1"]
const LARGE = "x".repeat(150_000) // after a few of them a new segment is due
const LONG = "y".repeat(2000)

/** `late`: by a machine with a slow clock. `older`: by an older LangGraph, on a parent that was never stored. */
type Odd = "none" | "late" | "older"

type Step =
  | {
      readonly kind: "put"
      readonly ns: number
      readonly from: number
      readonly size: number
      readonly drop: number
      readonly odd: Odd
    }
  | { readonly kind: "put again"; readonly at: number; readonly change: boolean }
  | { readonly kind: "copy"; readonly at: number }
  | {
      readonly kind: "writes"
      readonly at: number
      readonly task: number
      readonly channel: string
      readonly size: number
    }
  | { readonly kind: "another process" }
  | { readonly kind: "the other process" }
  | { readonly kind: "delete" }

const small = fc.nat({ max: 3 })
const STEP: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 40,
    arbitrary: fc.record({
      kind: fc.constant("put" as const),
      ns: fc.nat({ max: 2 }),
      from: small,
      size: small,
      drop: small,
      odd: fc.constantFrom<Odd[]>("none", "none", "none", "none", "none", "late", "older"),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant("put again" as const), at: fc.nat({ max: 40 }), change: fc.boolean() }),
  },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("copy" as const), at: fc.nat({ max: 40 }) }) },
  {
    weight: 25,
    arbitrary: fc.record({
      ...{ kind: fc.constant("writes" as const), at: fc.nat({ max: 40 }), task: fc.nat({ max: 2 }), size: small },
      channel: fc.constantFrom("messages", "__interrupt__", "__error__"),
    }),
  },
  { weight: 5, arbitrary: fc.constant({ kind: "another process" as const }) },
  { weight: 10, arbitrary: fc.constant({ kind: "the other process" as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: "delete" as const }) },
)

const idOf = (number: number, isLate = false): string => {
  const time = isLate ? (number >> 1) * 1000 + number : number * 1000
  return `00000000-0000-6000-8000-${time.toString(16).padStart(12, "0")}`
}
const NEVER_PUT = idOf(0).replace("8000", "9000")

interface Put {
  readonly config: RunnableConfig
  readonly checkpoint: Checkpoint
  readonly metadata: CheckpointMetadata
}

/** Runs the same steps with both savers. */
class Both {
  readonly theirs = new MemorySaver()
  readonly #store = memoryStore()
  ours: StrataSaver = strataSaver({ store: this.#store })
  #other: StrataSaver = strataSaver({ store: { ...this.#store } })
  #puts: Put[] = []
  #count = 0

  async make(step: Step): Promise<void> {
    if (step.kind === "another process") {
      await this.ours.close()
      const { store } = { store: { ...this.#store } } // another object, so that nothing in memory is shared
      this.ours = strataSaver({ store })
    } else if (step.kind === "the other process") {
      await this.ours.close()
      ;[this.ours, this.#other] = [this.#other, this.ours] // continues with its own state
    } else if (step.kind === "delete") {
      for (const saver of [this.theirs, this.ours]) await saver.deleteThread(THREAD)
      this.#puts = []
    } else if (step.kind === "put") await this.#put(step)
    else if (step.kind === "put again") await this.#putAgain(step)
    else if (step.kind === "copy") await this.#copy(step)
    else await this.#writes(step)
  }

  async #put({ ns: at, from, size, drop, odd }: Extract<Step, { kind: "put" }>): Promise<void> {
    const number = this.#count++
    const ns = NAMESPACES[at]!
    const own = this.#puts.filter(({ config }) => config.configurable!.checkpoint_ns === ns)
    const parent = own.at(-1 - from) ?? own.at(-1)
    const before = (parent?.checkpoint.channel_values.messages ?? []) as readonly unknown[]
    const topic = size === 0 ? undefined : parent?.checkpoint // most steps leave this channel unchanged
    const values = {
      topic: topic?.channel_values.topic ?? `topic ${number}`,
      messages: [...before.slice(drop), { role: "user", content: `message ${number} ${size === 3 ? LONG : ""}` }],
      scratch: `${number} ${size > 1 ? LARGE : ""}`,
      files: {
        "a.md": "the same for ever, and longer than what is written where it is used: eighty characters",
        [`${number % 3}`]: [number],
      },
      ...(size === 0 ? {} : { sometimes: null }),
    }
    const checkpoint: Checkpoint = {
      ...{ v: odd === "older" ? 3 : 4, id: idOf(number, odd === "late"), ts: new Date(number).toISOString() },
      channel_values: values,
      channel_versions: { topic: topic?.channel_versions.topic ?? number, messages: number, scratch: number },
      versions_seen: { agent: { messages: number } },
    }
    const id = odd === "older" ? { checkpoint_id: NEVER_PUT } : parent && { checkpoint_id: parent.checkpoint.id }
    const config = { configurable: { thread_id: THREAD, checkpoint_ns: ns, ...id } }
    const put: Put = { config, checkpoint, metadata: { source: "loop", step: number % 4, parents: {} } }
    const { topic: version, ...changed } = checkpoint.channel_versions
    await this.#putBoth(put, topic ? changed : { ...changed, topic: version! })
  }

  async #putAgain({ at, change }: Extract<Step, { kind: "put again" }>): Promise<void> {
    const put = this.#puts.at(-1 - at)
    if (put) await this.#putBoth(change ? { ...put, metadata: { ...put.metadata, source: "update" } } : put, {})
  }

  /** Copies a checkpoint like a graph: as a sibling of the old one, without any changed channel. */
  async #copy({ at }: Extract<Step, { kind: "copy" }>): Promise<void> {
    const put = this.#puts.at(-1 - at)
    if (put) await this.#putBoth({ ...put, checkpoint: { ...put.checkpoint, id: idOf(this.#count++) } }, {})
  }

  async #putBoth(put: Put, newVersions: ChannelVersions): Promise<void> {
    this.#puts = [...this.#puts.filter(({ checkpoint }) => checkpoint.id !== put.checkpoint.id), put].sort((a, b) =>
      a.checkpoint.id < b.checkpoint.id ? -1 : 1,
    )
    await this.theirs.put(put.config, put.checkpoint, put.metadata)
    await this.ours.put(put.config, put.checkpoint, put.metadata, newVersions)
  }

  async #writes({ at, task, channel, size }: Extract<Step, { kind: "writes" }>): Promise<void> {
    const put = this.#puts.at(-1 - at)
    if (!put) return
    const { thread_id, checkpoint_ns } = put.config.configurable!
    const config = { configurable: { thread_id, checkpoint_ns, checkpoint_id: put.checkpoint.id } }
    const value = [{ role: "assistant", content: `answer ${this.#count} ${size === 3 ? LONG : ""}` }]
    for (const saver of [this.theirs, this.ours])
      await saver.putWrites(
        config,
        [
          [channel, value],
          ["other", size],
        ],
        `task-${task}`,
      )
  }

  async compare(): Promise<void> {
    for (const ns of NAMESPACES) {
      const newest = { configurable: { thread_id: THREAD, checkpoint_ns: ns } }
      expect(plain(await this.ours.getTuple(newest))).toEqual(plain(await this.theirs.getTuple(newest)))
      expect(await all(this.ours.list(newest))).toEqual(await all(this.theirs.list(newest)))
      const filter = { filter: { step: 2 }, limit: 3 }
      expect(await all(this.ours.list(newest, filter))).toEqual(await all(this.theirs.list(newest, filter)))
    }
    for (const { config, checkpoint } of this.#puts) {
      const { thread_id, checkpoint_ns } = config.configurable!
      const one = { configurable: { thread_id, checkpoint_ns, checkpoint_id: checkpoint.id } }
      expect(plain(await this.ours.getTuple(one))).toEqual(plain(await this.theirs.getTuple(one)))
      const asked = { config: one, channels: ["messages", "sometimes", "absent"] }
      expect(await this.ours.getDeltaChannelHistory(asked)).toEqual(await this.theirs.getDeltaChannelHistory(asked))
    }
  }
}

async function all(tuples: AsyncIterable<CheckpointTuple>): Promise<unknown[]> {
  const found: unknown[] = []
  for await (const tuple of tuples) found.push(plain(tuple))
  return found
}

/** Sorts writes, which come in any order of tasks. */
const plain = (tuple: CheckpointTuple | undefined): unknown =>
  tuple && {
    ...tuple,
    pendingWrites: tuple.pendingWrites?.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)),
  }

test.runIf(isWhole)(
  "BEY-12: random threads are answered as LangGraph's own saver answers, also by other processes",
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(STEP, { minLength: 5, maxLength: 60, size: "max" }), async (steps) => {
        const both = new Both()
        for (const step of steps) await both.make(step)
        await both.compare()
        await both.make({ kind: "another process" })
        await both.compare()
      }),
      { numRuns: size(3, 20), endOnFailure: true },
    )
  },
)
