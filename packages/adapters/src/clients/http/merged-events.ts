/** Merges the event streams of several responses into one, without the calls of a tool that the client does not have. */

import { definedFields, type MergeOptions, sumUsage } from "../merged-answer.ts"
import type { ApiBody } from "../plan.ts"

interface Event {
  readonly type?: string
  readonly index?: number
  readonly content_block?: { readonly type?: string; readonly name?: string }
  readonly message?: { readonly usage?: ApiBody }
  readonly delta?: ApiBody & { readonly text?: string }
  readonly usage?: ApiBody
}

interface HeldEvent {
  readonly event: Event
  readonly bytes: Buffer
}

const HIDDEN = -1
const JSON_BEGINS = /^\s*[[{"\d]/

export class MergedEvents {
  readonly #tool: string
  readonly #isJson: boolean
  /** Text held back when JSON is expected, because a call of Strata's tool may follow. */
  #heldText: HeldEvent[] = []
  /** The client's block index for each block of this response. */
  #places = new Map<number, number>()
  #next = 0
  #asksUs = false
  #asksCaller = false
  #usage: ApiBody = {}
  #before: ApiBody | undefined
  #held: Buffer = Buffer.alloc(0)
  #rounds = 0

  constructor({ tool, isJson }: MergeOptions) {
    this.#tool = tool
    this.#isJson = isJson
  }

  /** Number of earlier responses. */
  get rounds(): number {
    return this.#rounds
  }

  /** Whether this response calls Strata's tool and no other. */
  get mayGoOn(): boolean {
    return this.#asksUs && !this.#asksCaller
  }

  /** The bytes that the client receives for an event. The end of a message is held while another may follow. */
  take(data: string, bytes: Buffer): readonly Buffer[] {
    const event = eventIn(data)
    switch (event?.type) {
      case "message_start":
        this.#usage = event.message?.usage ?? {}
        return this.#rounds === 0 ? [bytes] : []
      case "content_block_start":
      case "content_block_delta":
      case "content_block_stop":
        return this.#block(event, bytes)
      case "message_delta":
        return this.#end(event, bytes)
      default:
        return [bytes]
    }
  }

  #block(event: Event, bytes: Buffer): readonly Buffer[] {
    if (!this.#isJson) return this.#passed(event, bytes)
    const isBegin = event.type === "content_block_start"
    const holds = isBegin ? event.content_block?.type === "text" : this.#heldText.at(-1)?.event.index === event.index
    if (!holds)
      return isBegin && !this.#isOurs(event)
        ? [...this.#releaseText(), ...this.#passed(event, bytes)]
        : this.#passed(event, bytes)
    this.#heldText.push({ event, bytes })
    const text = this.#heldText.map(({ event: { delta } }) => delta?.text ?? "").join("")
    return JSON_BEGINS.test(text) ? this.#releaseText() : []
  }

  /** Releases the text that was held. */
  #releaseText(): readonly Buffer[] {
    const words = this.#heldText
    this.#heldText = []
    return words.flatMap(({ event, bytes }) => this.#passed(event, bytes))
  }

  #end(event: Event, bytes: Buffer): readonly Buffer[] {
    if (!this.mayGoOn) return [...this.#releaseText(), this.#rounds === 0 ? bytes : written(this.#whole(event))]
    // a client that sees no call must not wait for one
    const { stop_reason } = event.delta ?? {}
    const closed = stop_reason === "tool_use" ? { ...event.delta, stop_reason: "end_turn" } : event.delta
    this.#held = written(this.#whole({ ...event, ...(closed ? { delta: closed } : {}) }))
    return []
  }

  /** Releases the end that was held. */
  held(): Buffer {
    const bytes = Buffer.concat([...this.#releaseText(), this.#held])
    this.#held = Buffer.alloc(0)
    return bytes
  }

  /** Starts the next response, which continues this one. */
  next(answer: ApiBody): void {
    this.#before = sumUsage(this.#before, answer.usage as ApiBody | undefined)
    this.#rounds++
    this.#places = new Map()
    this.#asksUs = false
    this.#heldText = []
    this.#held = Buffer.alloc(0)
  }

  #isOurs({ content_block: block }: Event): boolean {
    return block?.type === "tool_use" && block.name === this.#tool
  }

  #passed(event: Event, bytes: Buffer): readonly Buffer[] {
    const { index = 0, content_block: block } = event
    if (event.type === "content_block_start") {
      const isOurs = this.#isOurs(event)
      this.#asksUs ||= isOurs
      this.#asksCaller ||= block?.type === "tool_use" && !isOurs
      this.#places.set(index, isOurs ? HIDDEN : this.#next++)
    }
    const place = this.#places.get(index)
    if (place === HIDDEN) return []
    return [place === undefined || place === index ? bytes : written({ ...event, index: place })]
  }

  #whole(event: Event): Event {
    if (!this.#before) return event
    return { ...event, usage: sumUsage(this.#before, { ...this.#usage, ...definedFields(event.usage) }) }
  }
}

/** Parses an event. `undefined` if it is not an event of the API; it then passes unchanged. */
function eventIn(data: string): Event | undefined {
  try {
    return (JSON.parse(data) as Event | null) ?? undefined
  } catch {
    return undefined
  }
}

const written = (event: Event): Buffer => Buffer.from(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
