/** Makes one stream of events out of those of several answers, without the calls of a tool that the caller does not have. */
import type { Body } from "../plan.ts"
import { addedUp, type Splicing, visible } from "../spliced-answer.ts"

interface Event {
  readonly type?: string
  readonly index?: number
  readonly content_block?: { readonly type?: string; readonly name?: string }
  readonly message?: { readonly usage?: Body }
  readonly delta?: Body & { readonly text?: string }
  readonly usage?: Body
}

interface Held {
  readonly event: Event
  readonly bytes: Buffer
}

const HIDDEN = -1
const JSON_BEGINS = /^\s*[[{"\d]/

export class SplicedEvents {
  readonly #tool: string
  readonly #isJson: boolean
  /** Words where JSON is wanted: they may be followed by a call of our tool. */
  #words: Held[] = []
  /** Where the caller has each block of this answer. */
  #places = new Map<number, number>()
  #next = 0
  #asksUs = false
  #asksCaller = false
  #usage: Body = {}
  #before: Body | undefined
  #held: Buffer = Buffer.alloc(0)
  #rounds = 0

  constructor({ tool, isJson }: Splicing) {
    this.#tool = tool
    this.#isJson = isJson
  }

  /** How many answers came before this one. */
  get rounds(): number {
    return this.#rounds
  }

  /** Whether this answer calls our tool and no other. */
  get mayGoOn(): boolean {
    return this.#asksUs && !this.#asksCaller
  }

  /** What the caller gets of an event. The end of a message waits where another may follow. */
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
    const holds = isBegin ? event.content_block?.type === "text" : this.#words.at(-1)?.event.index === event.index
    if (!holds)
      return isBegin && !this.#isOurs(event)
        ? [...this.#said(), ...this.#passed(event, bytes)]
        : this.#passed(event, bytes)
    this.#words.push({ event, bytes })
    const text = this.#words.map(({ event: { delta } }) => delta?.text ?? "").join("")
    return JSON_BEGINS.test(text) ? this.#said() : []
  }

  /** The words that were held. */
  #said(): readonly Buffer[] {
    const words = this.#words
    this.#words = []
    return words.flatMap(({ event, bytes }) => this.#passed(event, bytes))
  }

  #end(event: Event, bytes: Buffer): readonly Buffer[] {
    if (!this.mayGoOn) return [...this.#said(), this.#rounds === 0 ? bytes : written(this.#whole(event))]
    // a caller that sees no call must not wait for one
    const { stop_reason } = event.delta ?? {}
    const closed = stop_reason === "tool_use" ? { ...event.delta, stop_reason: "end_turn" } : event.delta
    this.#held = written(this.#whole({ ...event, ...(closed ? { delta: closed } : {}) }))
    return []
  }

  /** The end that waited. */
  held(): Buffer {
    const bytes = Buffer.concat([...this.#said(), this.#held])
    this.#held = Buffer.alloc(0)
    return bytes
  }

  /** The next answer continues this one. */
  next(answer: Body): void {
    this.#before = addedUp(this.#before, answer.usage as Body | undefined)
    this.#rounds++
    this.#places = new Map()
    this.#asksUs = false
    this.#words = []
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
    return { ...event, usage: addedUp(this.#before, { ...this.#usage, ...visible(event.usage) }) }
  }
}

/** `undefined`: it is no event of the API, and passes as it is. */
function eventIn(data: string): Event | undefined {
  try {
    return (JSON.parse(data) as Event | null) ?? undefined
  } catch {
    return undefined
  }
}

const written = (event: Event): Buffer => Buffer.from(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
